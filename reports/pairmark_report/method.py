"""How it was measured, in words: the last section of a report."""

NOTES = [
    (
        "solo",
        "one device works alone, without communication code; a row for each device",
    ),
    (
        "apart",
        "all devices work at once, each on its own, without communication",
    ),
    (
        "together",
        "all devices work at once and communicate",
    ),
    (
        "weak and strong",
        "weak: the same work on each device; strong: the same total work, split. Never mixed",
    ),
    (
        "sample",
        "time of one operation, averaged over a batch timed as one; of several ranks the "
        "slowest counts",
    ),
    (
        "n",
        "number of samples over all launches; a launch is a fresh set of worker "
        "processes. The arms of one launch are interleaved, so that heat and other load "
        "meet all of them",
    ),
    (
        "interval",
        "95 % interval of a bootstrap that draws launches first and samples within them second",
    ),
    (
        "speed-up",
        "rate of n devices over the rate of one (what one is stands in the table), in ×",
    ),
    (
        "efficiency",
        "rate of n devices over the sum of the rates of the devices alone, in %",
    ),
    (
        "losses",
        "solo to apart: shared host, power and heat (in strong scaling smaller pieces "
        "too); spread over ranks: imbalance; apart to together: exposed communication; "
        "the rest is named unexplained",
    ),
    (
        "share of peak",
        "rate over the theoretical peak of the devices, at their boost clock and at the "
        "clock measured while timing",
    ),
    (
        "units",
        "TFLOPS = 1e12 operations a second, GB = 1e9 bytes, GiB = 2^30 bytes; power and "
        "energy are sums over the devices of the row",
    ),
    (
        "verified",
        "the largest error of the result against a reference, as a share of its bound (1 "
        "is the limit), and how many elements were compared; before timing and again on "
        "the timed buffers",
    ),
    (
        "withheld",
        "a row that is incorrect, invalid, failed or hung shows no figure",
    ),
    (
        "unstable",
        "measured and verified, but the warm-up never became steady: read with care",
    ),
]
