"""Made-up results of the right shape, with numbers like those of real runs."""

from maker import Maker, axes, rank, result


def cpu_quick():
    """Weak and strong GEMM on two halves of a CPU."""
    make, rows, scaling = Maker(), [], []
    for size, dtype, seconds in (
        (256, "fp32", 0.00062),
        (512, "fp32", 0.0041),
        (1024, "fp32", 0.0318),
        (512, "bf16", 0.0139),
    ):
        more, entry = make.case("gemm", axes(size, dtype), 2 * size**3, seconds)
        rows, scaling = rows + more, scaling + [entry]
    for size, together in ((256, 2.31), (1024, 1.29)):
        seconds = 2 * size**3 / 6.6e10
        more, entry = make.case(
            "gemm_split", axes(size, "fp32"), 2 * size**3, seconds, "strong", together
        )
        rows, scaling = rows + more, scaling + [entry]
    rows[4]["outcome"] = "unstable"
    rows[4]["notes"] = ["warm-up never became steady within 10 s"]
    findings = [
        {
            "severity": "warn",
            "text": "The cgroup gives this run 2.0 of 96 cores.",
            "evidence": "cpu.max: 200000 100000",
            "next_step": "Give the container the cores that you want to compare.",
        },
        {
            "severity": "info",
            "text": "No NVIDIA driver was found, so the cpu device was used.",
            "evidence": None,
            "next_step": None,
        },
    ]
    headline = (
        "On this cpu a second device is worth 1.91 to 1.94 times one for whole products, and for "
        "a product "
        "split in two it pays at 1024 (1.55 times) but not at 256."
    )
    skipped = [
        {
            "what": "gemm/gemm/m=256,n=256,k=256,dtype=fp8",
            "outcome": "unsupported",
            "reason": "oneDNN 2.7 has no fp8 product on cpu",
        }
    ]
    return result("cpu", rows, scaling, headline, findings=findings, skipped=skipped)


def gpu_pair():
    """Two H200 with power, energy and shares of peak."""
    make, rows, scaling = Maker("cuda", spread=0.003), [], []
    for dtype, tflops in (("bf16", 807e12), ("fp16", 801e12), ("fp8", 1402e12)):
        more, entry = make.case("gemm", axes(8192, dtype), 2 * 8192**3, 2 * 8192**3 / tflops)
        rows, scaling = rows + more, scaling + [entry]
    more, entry = make.case(
        "gemm_split", axes(8192, "bf16"), 2 * 8192**3, 2 * 8192**3 / 807e12, "strong", 1.11
    )
    headline = (
        "A second H200 is worth 1.92 times one for whole products and 1.80 times for one "
        "product split in two."
    )
    return result("cuda", rows + more, scaling + [entry], headline)


def failures():
    """A row of each bad outcome; each still holds figures, which no page may show."""
    make, rows, scaling = Maker("cuda"), [], []
    bad = [
        ("incorrect", "element 1234 is 7.5, the reference is 3.25", "verify"),
        ("invalid", "rate 2101 TFLOPS is above the peak of 1979 TFLOPS", "recheck"),
        ("hang", "rank 1 passed the deadline of 60 s; last progress: warm-up 3 of 10", "warmup"),
        ("error", "CUDA out of memory: 140 GiB wanted, 12 GiB free", "prepare"),
    ]
    for index, (outcome, reason, phase) in enumerate(bad):
        more, entry = make.case(
            "gemm", axes(1024 + index, "bf16"), 2 * 1024**3, 0.0001234 * (index + 1)
        )
        more[-1].update(outcome=outcome, reason=reason, phase=phase)
        entry.update(outcome=outcome, reason=f"its apart row is {outcome}", verdict=None)
        rows, scaling = rows + more, scaling + [entry]
    rows[2]["verify"] = {**rows[2]["verify"], "passed": False, "max_error": 41.5}
    rows[8].update(time_s=None, rate=None, samples_s=[], verify=None, plan=None, batch=None)
    more, entry = make.case("gemm", axes(4096, "bf16"), 2 * 4096**3, 0.000187)
    findings = [
        {
            "severity": "fail",
            "text": "GPU 1 is 2.7x slower than GPU 0 under equal load.",
            "evidence": "solo rates 801 and 297 TFLOPS",
            "next_step": "Look at its power cable and clocks.",
        }
    ]
    headline = (
        "4 of 5 cases gave no figure: this machine is not fit for a decision until they "
        "are looked into."
    )
    return result("cuda", rows + more, scaling + [entry], headline, findings=findings)


def one_gpu():
    make = Maker("cuda")
    rows = [
        make.row("gemm", axes(8192, d), "solo", [0], 2 * 8192**3, 0.00136) for d in ("bf16", "fp16")
    ]
    reason = "only one GPU is visible (1 of 2)"
    skipped = [
        {
            "what": f"gemm/gemm/m=8192,n=8192,k=8192,dtype={d}/apart[0,1]",
            "reason": reason,
            "outcome": "skipped",
        }
        for d in ("bf16", "fp16")
    ]
    headline = "One GPU was measured; what a second one is worth needs a machine with two."
    return result("cuda", rows, [], headline, skipped=skipped, ranks=[rank("cuda", 0)])


def many():
    """60 rows of long names, a case of every kind of mark-up that a file may hold."""
    make, rows, scaling = Maker("cuda"), [], []
    for index in range(15):
        name = axes(
            8192 + index,
            "bf16",
            transpose_a="no",
            transpose_b="yes",
            epilogue="bias_and_gelu_with_auxiliary_output",
            layout="interleaved_row_major_32_by_8",
        )
        kind = "strong" if index % 2 else "weak"
        together = 1.1 + 0.02 * index
        more, entry = make.case(
            "gemm_with_a_long_epilogue", name, 2e12, 0.002 * 1.3**index, kind, together
        )
        rows, scaling = rows + more, scaling + [entry]
    rows[0]["notes"] = ["<script>document.title='broken'</script> & $x_1$ | `code`"]
    scaling[0]["verdict"] = "<img src=x onerror=alert(1)> & | worth it"
    headline = "15 cases <b>with long names</b> & no mark-up of theirs taken as such."
    return result("cuda", rows, scaling, headline)


def incomplete():
    made = cpu_quick()
    made["rows"], made["scaling"] = made["rows"][:4], made["scaling"][:1]
    made["run"].update(complete=False, incomplete_reason="stopped by Ctrl-C", ended_utc=None)
    made["summary"].update(
        ran=4, headline="Stopped early: 1 of 6 cases was measured on this cpu.", outcomes={"ok": 4}
    )
    return made


ALL = {
    "cpu_quick": cpu_quick,
    "gpu_pair": gpu_pair,
    "failures": failures,
    "one_gpu": one_gpu,
    "many": many,
    "incomplete": incomplete,
}
