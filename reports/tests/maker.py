"""Builds rows, scaling entries, machines and whole results around chosen figures."""

import copy
import random
import statistics

FORMULA = "2*m*n*k operations, m*k + k*n + m*n elements moved once"


def _quartiles(values):
    ordered = sorted(values)
    n = len(ordered)
    return ordered[n // 4], ordered[(3 * n) // 4]


class Maker:
    """Builds rows and scaling entries around chosen figures."""

    def __init__(self, device="cpu", seed=7, launches=3, samples=10, spread=0.01):
        self.random = random.Random(seed)
        self.device, self.launches, self.samples, self.spread = device, launches, samples, spread

    def row(self, benchmark, axes, arm, ranks, flops, seconds, scaling="weak", **changes):
        case = ",".join(f"{k}={v}" for k, v in axes.items())
        raw = [
            [seconds * (1 + abs(self.random.gauss(0, self.spread))) for _ in range(self.samples)]
            for _ in range(self.launches)
        ]
        every = [x for launch in raw for x in launch]
        median, (q1, q3) = statistics.median(every), _quartiles(every)
        rate = flops / median / 1e12
        listed = ",".join(map(str, ranks))
        row = {
            "id": f"gemm/{benchmark}/{case}/{arm}[{listed}]",
            "suite": "gemm",
            "benchmark": benchmark,
            "case": case,
            "axes": axes,
            "scaling": scaling,
            "arm": arm,
            "ranks": ranks,
            "outcome": "ok",
            "reason": None,
            "phase": None,
            "time_s": {
                "median": median,
                "q1": q1,
                "q3": q3,
                "min": min(every),
                "max": max(every),
                "mad": statistics.median(abs(x - median) for x in every),
                "n": len(every),
                "launches": self.launches,
                "ci95": [median * 0.995, median * 1.006],
            },
            "rate": {
                "value": rate,
                "unit": "TFLOPS",
                "ci95": [rate * 0.9941, rate * 1.0052],
                "direction": "higher",
            },
            "work": {"flops": flops, "bytes": flops / 100, "items": len(ranks), "formula": FORMULA},
            "batch": 10,
            "samples_s": raw,
            "per_rank": [
                {
                    "rank": r,
                    "median_s": median * (1 - 0.003 * r),
                    "clock_mhz": None,
                    "power_w": None,
                    "temperature_c": None,
                }
                for r in ranks
            ],
            "notes": [],
            "repeat": f"pairmark run --device {self.device} --suite gemm --filter "
            f"'^gemm/{benchmark}/{case}$' --arms {arm}",
            **self._device_part(
                rate, median, len(ranks), 989.5 * (2 if axes["dtype"] == "fp8" else 1)
            ),
        }
        row.update(changes)
        return row

    def _device_part(self, rate, median, n, peak):
        if self.device == "cpu":
            return {
                "peak": {
                    "boost": None,
                    "boost_share": None,
                    "at_clock": None,
                    "at_clock_share": None,
                    "source": None,
                    "reason": "the peak of this CPU is not in the table",
                },
                "clock_mhz": None,
                "clock_mhz_reason": "cpufreq is not readable here",
                "power_w": None,
                "power_w_reason": "no power sensor on the cpu device",
                "energy_per_op_j": None,
                "energy_per_op_j_reason": "no power sensor on the cpu device",
                "temperature_c": None,
                "throttle": [],
                "verify": {
                    "method": "against plain loops in double",
                    "passed": True,
                    "max_error": 0.127,
                    "bound": "8 * eps(dtype) * sqrt(k)",
                    "elements": 65536,
                },
                "plan": {"library": "oneDNN", "version": "2.7.4", "threads": 1},
            }
        power = 641.7 * n
        return {
            "peak": {
                "boost": peak * n,
                "boost_share": rate / (peak * n),
                "at_clock": 0.9 * peak * n,
                "at_clock_share": rate / (0.9 * peak * n),
                "source": "132 SM x 4096 FMA x 2 x clock",
                "reason": None,
            },
            "clock_mhz": 1642.5,
            "power_w": power,
            "energy_per_op_j": power * median,
            "temperature_c": 61.0,
            "throttle": ["sw power cap"],
            "verify": {
                "method": "against a reference in fp64 on 4096 random elements",
                "passed": True,
                "max_error": 0.31,
                "bound": "4 * eps(bf16) * sqrt(k)",
                "elements": 4096,
            },
            "plan": {
                "library": "cuBLASLt",
                "version": "13.1.0",
                "algorithm": 66,
                "tile": "128x256",
                "tried": 41,
                "gain_over_first": 1.22,
            },
        }

    def case(self, benchmark, axes, flops, seconds, scaling="weak", together=None, n=2):
        """Rows of all arms of a case and its scaling entry."""
        ranks = list(range(n))
        rows = [self.row(benchmark, axes, "solo", [r], flops, seconds, scaling) for r in ranks]
        part = 1 if scaling == "weak" else 1 / n
        total = flops * n * part
        rows.append(
            self.row(benchmark, axes, "apart", ranks, total, seconds * part * 1.04, scaling)
        )
        if together:
            rows.append(
                self.row(
                    benchmark, axes, "together", ranks, total, seconds * part * together, scaling
                )
            )
        return rows, self.scaling(rows, n)

    def scaling(self, rows, n):
        solo = [row["rate"]["value"] for row in rows if row["arm"] == "solo"]
        last = rows[-1]
        value = last["rate"]["value"] / (sum(solo) / n)
        efficiency = value / n
        strong = last["scaling"] == "strong"
        loss = 1 - efficiency
        first = (
            "smaller pieces, shared host, power and heat"
            if strong
            else "shared host, power and heat"
        )
        shares = [(first, 0.7), ("imbalance", 0.1)] + (
            [("exposed communication", 0.2)] if strong else []
        )
        stages = [
            {"stage": s, "loss": loss * k, "ci95": [loss * k - 0.006, loss * k + 0.008]}
            for s, k in shares
        ]
        if not strong:
            stages.append(
                {
                    "stage": "unexplained",
                    "loss": loss * 0.2,
                    "ci95": None,
                    "reason": "too few launches",
                }
            )
        verdict = f"worth it: {value:.2f} times one device"
        if value < 1:
            verdict = "the second device is harmful for this workload"
        elif value < 1.1:
            verdict = "not worth it for this workload"
        work = (
            "one product on one device, two halves of one product on two"
            if strong
            else ("one product on one device, one product on each of two")
        )
        return {
            "suite": "gemm",
            "benchmark": last["benchmark"],
            "case": last["case"],
            "scaling": last["scaling"],
            "world_size": n,
            "arm": last["arm"],
            "outcome": "ok",
            "reason": None,
            "baseline": "the mean of the solo arms of ranks 0 and 1",
            "global_work": work + ".",
            "speedup": {"value": value, "unit": "x", "ci95": [value * 0.989, value * 1.0123]},
            "efficiency": {
                "value": efficiency,
                "unit": "1",
                "ci95": [efficiency * 0.989, efficiency * 1.0123],
            },
            "verdict": verdict,
            "waterfall": stages,
            "flags": [],
            "rows": [row["id"] for row in rows],
        }


def axes(size, dtype, **more):
    return {"m": size, "n": size, "k": size, "dtype": dtype, **more}


def result(device, rows, scaling, headline, **changes):
    counts = {}
    for row in rows:
        counts[row["outcome"]] = counts.get(row["outcome"], 0) + 1
    skipped = changes.get("skipped", [])
    ran = counts.get("ok", 0) + counts.get("unstable", 0)
    made = {
        "schema": {"name": "pairmark-result", "major": 1, "minor": 0},
        "pairmark": {
            "version": "0.1.0",
            "commit": "de4011b",
            "dirty": False,
            "compiler": "GNU 12.2.0",
            "build_type": "Release",
            "cuda": None if device == "cpu" else "13.0",
        },
        "run": {
            "started_utc": "2025-03-01T12:00:00Z",
            "ended_utc": "2025-03-01T12:01:12Z",
            "duration_s": 71.8,
            "complete": True,
            "incomplete_reason": None,
            "command": ["pairmark", "run", "--profile", "quick", "--device", device],
            "profile": "quick",
            "device": device,
            "seed": 1,
            "launches": 3,
            "gpus": [1, 2],
            "resumed": 0,
        },
        "machine": machine(device),
        "ranks": [rank(device, i) for i in range(2)],
        "rows": rows,
        "scaling": scaling,
        "skipped": skipped,
        "findings": [],
        "summary": {
            "headline": headline,
            "ran": ran,
            "skipped": len(skipped),
            "failed": len(rows) - ran,
            "outcomes": counts,
            "exit_code": 0,
        },
    }
    made.update(changes)
    return copy.deepcopy(made)


def rank(device, index):
    if device == "cpu":
        return {
            "rank": index,
            "device": f"cpu:{index}",
            "name": "AMD EPYC 9654 96-Core Processor",
            "uuid": None,
            "bus_id": None,
            "cores": [index],
            "libraries": {"onednn": "2.7.4", "gloo": "0.5"},
        }
    return {
        "rank": index,
        "device": f"cuda:{index}",
        "name": "NVIDIA H200",
        "bus_id": f"00000000:{index + 1}9:00.0",
        "uuid": f"GPU-0f{index}c1de2-5f0a-4b8e-9d6e-5a5d7c1f{index:04}",
        "cores": list(range(16)),
        "libraries": {"cublasLt": "13.1.0", "nccl": "2.28.3"},
    }


def machine(device):
    gpu = {
        "name": "NVIDIA H200",
        "memory_bytes": 150754820096,
        "sm_count": 132,
        "boost_clock_mhz": 1980,
        "power_limit_w": 700.0,
        "persistence": True,
        "ecc": None,
        "ecc_reason": "the driver did not answer",
        "pcie": {"generation": 5, "width": 16, "numa_node": 0},
        "processes": [],
    }
    return {
        "os": {"kernel": "6.1.0", "distribution": "Debian GNU/Linux 12", "container": True},
        "cpu": {
            "model": "AMD EPYC 9654 96-Core Processor",
            "cores": 96,
            "cgroup_quota": 2.0,
            "governor": None,
            "governor_reason": "cpufreq is not readable here",
        },
        "memory_total_bytes": 270582939648,
        "shm_bytes": 67108864,
        "gpus": [] if device == "cpu" else [gpu, {**gpu, "power_limit_w": 650.0}],
        "driver": {"version": None, "cuda": None, "reason": "libnvidia-ml.so.1 is not installed"}
        if device == "cpu"
        else {"version": "580.82", "cuda": "13.0"},
        "links": [{"from": 0, "to": 1, "kind": "NVLink", "lanes": 18}] if device != "cpu" else None,
        "links_reason": "no GPUs" if device == "cpu" else None,
        "environment": {"OMP_NUM_THREADS": "1"},
    }
