"""What the templates and charts show, picked from the result.

Figures of rows that may not be shown are dropped here, once.
"""

import json
from collections import Counter
from dataclasses import dataclass, field

from . import figures, machine, method
from .figures import Figure

SHOWN = ("ok", "unstable")
FAILED = ("incorrect", "invalid", "error", "hang")
ARMS = ("solo", "apart", "together")
KINDS = ("weak", "strong")


@dataclass
class Row:
    id: str
    number: int
    arm: str
    label: str
    outcome: str
    shown: bool
    reason: str
    raw: dict
    count: str = ""  # n = 30
    launches: str = ""  # 3 launches
    time: Figure | None = None
    quartiles: str = ""
    rate: Figure | None = None
    optional: dict = field(default_factory=dict)  # column key -> Figure
    verify: str = ""
    verify_note: str = ""
    verify_method: str = ""
    details: list = field(default_factory=list)  # how it ran, a line each

    @property
    def n(self):
        return f"{self.count} in {self.launches}" if self.count else ""


@dataclass
class Case:
    number: int
    suite: str
    benchmark: str
    case: str
    scaling: str
    rows: list


@dataclass
class Stage:
    name: str
    loss: float | None
    interval: tuple | None
    text: str
    interval_text: str


@dataclass
class Scaling:
    number: int
    benchmark: str
    case: str
    kind: str
    devices: int
    arm: str
    outcome: str
    shown: bool
    reason: str
    speedup: Figure
    efficiency: Figure
    n: str
    verdict: str
    flags: list
    baseline: str
    global_work: str
    stages: list

    @property
    def no_verdict(self):
        outcome = "" if self.shown else f"{self.outcome}: "
        return f"no verdict: {outcome}{self.reason or 'no reason given'}"

    @property
    def compared(self):
        words = f"1× is {self.baseline.rstrip('.')}. Work: {self.global_work.rstrip('.')}."
        return f"{words} {self.n}." if self.n else words


# Columns of the table of rows that are left out where no row has the value: key, title, value,
# reason, text.
OPTIONAL = [
    (
        "boost",
        "Share of peak, boost clock",
        lambda r: r["peak"]["boost_share"],
        "peak",
        figures.percent,
    ),
    (
        "at_clock",
        "Share of peak, measured clock",
        lambda r: r["peak"]["at_clock_share"],
        "peak",
        figures.percent,
    ),
    ("clock", "Clock", lambda r: r["clock_mhz"], "clock_mhz_reason", lambda v: f"{v:.0f} MHz"),
    (
        "power",
        "Power, all devices",
        lambda r: r["power_w"],
        "power_w_reason",
        lambda v: figures.significant(v) + " W",
    ),
    (
        "energy",
        "Energy per operation",
        lambda r: r["energy_per_op_j"],
        "energy_per_op_j_reason",
        lambda v: figures.significant(v) + " J",
    ),
]


def build(result):
    """Context of the templates."""
    cases = _cases(result["rows"])
    numbers = {_key(case): case.number for case in cases}
    rows = {row.id: row for case in cases for row in case.rows}
    scaling = [_scaling(item, numbers, rows) for item in result["scaling"]]
    run = result["run"]
    return {
        "result": result,
        "device": "cpu" if run["device"] == "cpu" else "GPU",
        "is_cpu": run["device"] == "cpu",
        "cases": cases,
        "rows": list(rows.values()),
        "failed": [row for row in rows.values() if row.outcome in FAILED],
        "unstable": sum(row.outcome == "unstable" for row in rows.values()),
        "scaling": scaling,
        "kinds": [(kind, *_kind(scaling, kind)) for kind in KINDS],
        "columns": [c for c in OPTIONAL if _any_known(rows.values(), c[0])],
        "absent": _absent(rows.values()),
        "skip_reasons": _skip_reasons(result),
        "outcomes": [(k, v) for k, v in result["summary"]["outcomes"].items() if v],
        "machine": machine.tree(result["machine"]),
        "methods": _methods(rows.values()),
        "method": method.NOTES,
    }


def _key(item):
    if isinstance(item, Case):
        return item.suite, item.benchmark, item.case
    return item["suite"], item["benchmark"], item["case"]


def _cases(rows):
    """Rows of one case together, arms in order; cases numbered as they come in the file."""
    cases = {}
    for raw in rows:
        key = _key(raw)
        if key not in cases:
            cases[key] = Case(len(cases) + 1, *key, raw["scaling"], [])
        cases[key].rows.append(_row(raw, cases[key].number))
    for case in cases.values():
        case.rows.sort(
            key=lambda row: (len(row.raw["ranks"]), ARMS.index(row.arm), row.raw["ranks"])
        )
    return list(cases.values())


def _row(raw, number):
    outcome = raw["outcome"]
    row = Row(
        raw["id"],
        number,
        raw["arm"],
        arm_label(raw["arm"], raw["ranks"]),
        outcome,
        outcome in SHOWN,
        raw["reason"] or "",
        raw,
    )
    row.verify = "not verified"
    if raw["verify"]:
        verify = raw["verify"]
        row.verify = "passed" if verify["passed"] else "FAILED"
        row.verify_note = f"{verify['elements']} elements"
        if verify["max_error"] is not None:
            error = figures.significant(verify["max_error"])
            row.verify_note = f"error {error} of its bound, {row.verify_note}"
        row.verify_method = f"{verify['method']}; bound: {verify['bound']}"
    if not row.shown:
        row.reason = row.reason or "no reason given"
        return row
    row.details = _details(raw)
    row.time, row.quartiles = _time(raw["time_s"])
    if raw["time_s"]:
        row.count = f"n = {raw['time_s']['n']}"
        row.launches = _launches(raw["time_s"]["launches"])
    row.rate = figures.quantity(raw["rate"], "no rate in the result")
    for key, _, value, reason, text in OPTIONAL:
        why = raw["peak"]["reason"] if reason == "peak" else raw.get(reason)
        row.optional[key] = figures.known(value(raw), text, why)
    return row


def _details(raw):
    """Plan, work, ranks, heat and notes of a row whose figures may be shown."""
    lines = []
    if raw["work"]:
        lines.append("work: " + raw["work"]["formula"])
    if raw["batch"]:
        lines.append(f"{raw['batch']} operations timed as one sample")
    if raw["plan"]:
        lines.append("plan: " + ", ".join(f"{k} {_plain(v)}" for k, v in raw["plan"].items()))
    if len(raw["per_rank"]) > 1:
        lines += [f"rank {rank['rank']}: {_rank(rank)}" for rank in raw["per_rank"]]
    if raw.get("temperature_c") is not None:
        lines.append(f"temperature {raw['temperature_c']:g} °C")
    if raw["throttle"]:
        lines.append("clock limited by: " + ", ".join(raw["throttle"]))
    return lines + raw.get("notes", [])


def _plain(value):
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _rank(rank):
    words = []
    if rank["median_s"] is not None:
        words.append(f"median {figures.seconds(rank['median_s'])}")
    for key, unit in (("clock_mhz", "MHz"), ("power_w", "W"), ("temperature_c", "°C")):
        if rank.get(key) is not None:
            words.append(f"{figures.significant(rank[key])} {unit}")
    return ", ".join(words) or "not known"


def arm_label(arm, ranks):
    return f"{arm} {'+'.join(str(rank) for rank in ranks)}"


def _time(time):
    if time is None:
        return figures.known(None, str, "no time in the result"), ""
    scale, unit = figures.time_unit(time["median"])
    low, high = (figures.significant(time[q] / scale) for q in ("q1", "q3"))
    return Figure(figures.seconds(time["median"]), time["median"]), f"{low} to {high} {unit}"


def _launches(count):
    return f"{count} launch{'' if count == 1 else 'es'}"


def _any_known(rows, key):
    return any(row.shown and row.optional[key].value is not None for row in rows)


def _absent(rows):
    """(titles, reasons) of the columns that no row has a value for."""
    absent = {}
    for key, title, *_ in OPTIONAL:
        reasons = {row.optional[key].reason: None for row in rows if row.shown}
        if reasons and not _any_known(rows, key):
            absent.setdefault("; ".join(reasons), []).append(title)
    return [(", ".join(titles), reasons) for reasons, titles in absent.items()]


def _methods(rows):
    return list({row.verify_method: None for row in rows if row.verify_method})


def _skip_reasons(result):
    reasons = Counter(item["reason"] for item in result["skipped"])
    for raw in result["rows"]:
        if raw["outcome"] in ("skipped", "unsupported"):
            reasons[raw["reason"] or "no reason given"] += 1
    return reasons.most_common()


def _scaling(item, numbers, rows):
    shown = item["outcome"] in SHOWN
    reason = item["reason"] or ("" if shown else "no reason given")
    withheld = Figure("withheld")
    return Scaling(
        number=numbers.get(_key(item), 0),
        benchmark=item["benchmark"],
        case=item["case"],
        kind=item["scaling"],
        devices=item["world_size"],
        arm=item.get("arm", ""),
        outcome=item["outcome"],
        shown=shown,
        reason=reason,
        speedup=figures.quantity(item["speedup"], reason, unit="×") if shown else withheld,
        efficiency=figures.quantity(item["efficiency"], reason, 100.0, " %") if shown else withheld,
        n=_scaling_n([rows[i].raw["time_s"] for i in item["rows"] if i in rows]) if shown else "",
        verdict=(item["verdict"] or "") if shown else "",
        flags=item["flags"],
        baseline=item["baseline"],
        global_work=item["global_work"],
        stages=[_stage(stage) for stage in item["waterfall"]] if shown else [],
    )


def _scaling_n(times):
    counts = sorted(time["n"] for time in times if time)
    if not counts:
        return ""
    each = str(counts[0]) if counts[0] == counts[-1] else f"{counts[0]} to {counts[-1]}"
    launches = max(time["launches"] for time in times if time)
    return f"n = {each} samples a row, {len(counts)} rows, {_launches(launches)}"


def _kind(scaling, kind):
    """Entries of one kind, and what was compared where that is the same for all of them."""
    entries = [s for s in scaling if s.kind == kind]
    works = {(s.baseline, s.global_work) for s in entries}
    counts = {s.compared for s in entries if s.n}
    return entries, counts.pop() if len(works) == len(counts) == 1 else ""


def points(share):
    """Loss as a change of the ideal: 0.05 -> '−5.00 points'; a gain has a plus."""
    return ("−" if share > 0 else "+" if share < 0 else "") + figures.significant(abs(100 * share))


def _stage(stage):
    loss = stage["loss"]
    if loss is None:
        reason = stage.get("reason") or "no reason given"
        return Stage(stage["stage"], None, None, f"not known ({reason})", "")
    interval = tuple(stage["ci95"]) if stage["ci95"] else None
    words = f"{points(interval[0])} to {points(interval[1])}" if interval else ""
    if not interval:
        words = f"no interval: {stage.get('reason') or 'no reason given'}"
    return Stage(stage["stage"], loss, interval, f"{points(loss)} points", words)


def choose_waterfalls(scaling, limit):
    """Cases to draw: weak and strong by turns, so that neither crowds out the other."""
    ready = [s for s in scaling if s.shown and s.stages and s.efficiency.value is not None]
    queues = [[s for s in ready if s.kind == kind] for kind in KINDS]
    chosen = []
    while any(queues) and len(chosen) < limit:
        for queue in queues:
            if queue and len(chosen) < limit:
                chosen.append(queue.pop(0))
    return [s for s in ready if s in chosen], len(ready)
