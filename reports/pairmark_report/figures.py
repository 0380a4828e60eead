"""Numbers as people read them: three significant digits and a unit, the exact value beside it."""

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Figure:
    """One figure of the result. value None: not known, and reason says why."""

    text: str
    value: float | None = None
    interval: str = ""  # words, or why there is none
    low: float | None = None
    high: float | None = None
    reason: str = ""


def significant(value, digits=3):
    """807.3 -> 807, 0.01234 -> 0.0123; exponents only where digits would not be read."""
    if value == 0:
        return "0"
    magnitude = math.floor(math.log10(abs(value))) + 1
    if magnitude > 9 or magnitude < -5:
        return f"{value:.{digits - 1}e}"
    return f"{value:.{max(0, digits - magnitude)}f}"


_TIME_UNITS = [(1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns")]


def time_unit(seconds):
    """(seconds in one unit, its name), the unit in which the time reads best."""
    for scale, name in _TIME_UNITS:
        if abs(seconds) >= scale or seconds == 0:
            return scale, name
    return _TIME_UNITS[-1]


def seconds(value):
    scale, name = time_unit(value)
    return f"{significant(value / scale)} {name}"


def duration(value):
    """Time of a whole run: 83 s, 4 min 10 s."""
    if value < 120:
        return seconds(value)
    minutes, rest = divmod(round(value), 60)
    return f"{minutes} min {rest} s"


def percent(share):
    return f"{significant(100 * share)} %"


def bytes_text(value):
    if abs(value) < 1024:
        return f"{significant(value)} B"
    for name in ("KiB", "MiB", "GiB", "TiB"):
        value /= 1024
        if abs(value) < 1024 or name == "TiB":
            return f"{significant(value)} {name}"


def known(value, text, reason=None):
    """Figure of a value that may be null."""
    if value is None:
        return Figure("not known", reason=reason or "no reason given")
    return Figure(text(value), value=value)


def quantity(item, withheld="", factor=1.0, unit=None):
    """Figure of a quantity of the schema (value, unit, 95 % interval); factor and unit where people
    read another unit than the stored one (a share in %)."""
    if item is None or item["value"] is None:
        reason = (item or {}).get("reason") or withheld
        return Figure("not known", reason=reason or "no reason given")
    unit = unit or " " + item["unit"]
    text = significant(factor * item["value"]) + unit
    if item["ci95"] is None:
        reason = item.get("reason") or "no reason given"
        return Figure(text, item["value"], interval="no interval: " + reason)
    low, high = item["ci95"]
    words = f"{significant(factor * low)} to {significant(factor * high)}"
    return Figure(text, item["value"], words + (unit if unit == " %" else ""), low, high)
