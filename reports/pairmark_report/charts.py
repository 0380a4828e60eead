"""Charts in rows: speed-ups, rates, samples. Each function takes what the tables show and returns
Pictures; a new chart is a function and a line in render.py.
"""

from .canvas import (
    BLUE,
    GREEN,
    GREY,
    GRID,
    LINE,
    MARGIN,
    ORANGE,
    SOFT,
    WIDTH,
    Canvas,
    Scale,
    text_width,
)

MAX_ROWS = 60
# Rows in one picture before another is begun (a case is never split), so that wide pages show two
# side by side.
ROWS_A_PICTURE = 16
# Samples drawn of one launch; a longer launch is thinned to every k-th, with its extremes kept.
MAX_SAMPLES = 80

ARM_STYLE = {"solo": ("o", BLUE), "apart": ("s", ORANGE), "together": ("^", GREEN)}
KIND_STYLE = {"weak": ("o", BLUE), "strong": ("D", ORANGE)}
RIGHT = WIDTH - MARGIN


def case_name(number, benchmark, case):
    prefix = f"{number}. " if number else ""
    return f"{prefix}{benchmark} {case}"


def speedups(scaling, kind, device):
    """Speed-up of each case with its interval, one device and the ideal as marks."""
    entries = [s for s in scaling if s.kind == kind][:MAX_ROWS]
    tops = [v for s in entries for v in (s.speedup.value, s.speedup.high) if v is not None]
    if not tops:
        return []
    canvas = Canvas()
    title = f"Speed-up over one {device} device, {kind} scaling"
    canvas.paragraph(title, size=11, bold=True)
    counts = {s.n for s in entries if s.n}
    canvas.paragraph(counts.pop() if len(counts) == 1 else "n: in the table", size=8.5, color=SOFT)
    marker, color = KIND_STYLE[kind]
    canvas.legend([(marker, color, "measured; whisker: 95 % interval"), ("|", GREY, "ideal")])
    scale = Scale(0, 1.05 * max(tops + [s.devices for s in entries]), MARGIN, WIDTH - 118)
    rows = Rows(canvas, scale, "×", emphasis=1)
    for entry in entries:
        canvas.paragraph(case_name(entry.number, entry.benchmark, entry.case), size=8.5)
        y = canvas.y + 8
        canvas.marks([scale(entry.devices)], [y], "|", GREY, 11, 1.6)
        rows.band(y - 8, y + 10)
        _point(canvas, scale, entry.speedup, y, marker, color)
        _value(canvas, entry.speedup, entry.outcome, y)
        canvas.y += 21
    rows.finish()
    words = "; ".join(f"{s.benchmark} {s.case}: {words_of(s.speedup)}" for s in entries[:6])
    more = f"; {len(entries) - 6} more in the table" if len(entries) > 6 else ""
    return [canvas.finish(f"speedup-{kind}.png", title, f"{title}. {words}{more}.")]


def words_of(figure):
    if figure.value is None:
        return f"{figure.text} ({figure.reason})"
    return f"{figure.text} ({figure.interval})"


def _point(canvas, scale, figure, y, marker, color):
    if figure.value is None:
        return
    canvas.marks([scale(figure.value)], [y], marker, color)
    if figure.low is not None:
        canvas.whisker(scale(figure.low), scale(figure.high), y)


def _value(canvas, figure, outcome, y, count=""):
    """Figure in words at the right of its line: two short lines at most."""
    if figure is None or figure.value is None:
        words = "no figure" if outcome == "ok" else f"no figure: {outcome}"
        canvas.text(RIGHT, y + 3, words, size=8, color=SOFT, align="right")
        return
    interval = figure.interval if figure.low is not None else "no interval"
    interval += f", {count}" if count else ""
    canvas.text(RIGHT, y - 1, figure.text, size=8.5, align="right", bold=True)
    canvas.text(RIGHT, y + 8.5, interval, size=7.5, color=SOFT, align="right")


class Rows:
    """Axis labels above rows, and below when they are far, and a grid that is never behind "
    "words."""

    def __init__(self, canvas, scale, unit, emphasis=None):
        self.canvas, self.scale, self.unit, self.emphasis = canvas, scale, unit, emphasis
        self._labels()
        self.top = canvas.y

    def _labels(self):
        canvas, last = self.canvas, float("-inf")
        canvas.y += LINE
        for tick in self.scale.ticks:
            text = f"{tick:g}{self.unit}"
            x, half = self.scale(tick), text_width(text, 8) / 2
            align = "left" if x - half < MARGIN else "right" if x + half > RIGHT else "center"
            left = {"left": x, "center": x - half, "right": x - 2 * half}[align]
            if left > last + 4:
                canvas.text(x, canvas.y - 3, text, size=8, color=SOFT, align=align)
                last = left + 2 * half
        canvas.y += 2

    def band(self, top, bottom):
        for tick in self.scale.ticks:
            x = self.scale(tick)
            self.canvas.line([x, x], [top, bottom], color=GRID, width=0.7, order=1)
        if self.emphasis is not None:
            x = self.scale(self.emphasis)
            self.canvas.line([x, x], [top, bottom], color=SOFT, width=1.4, style="--", order=1)

    def finish(self):
        if self.canvas.y - self.top > 400:
            self._labels()


def _chunks(rows):
    """Rows for one picture after another, the rows of a case together."""
    chunks, number = [], None
    for row in rows[:MAX_ROWS]:
        if not chunks or (row.number != number and len(chunks[-1]) >= ROWS_A_PICTURE):
            chunks.append([])
        chunks[-1].append(row)
        number = row.number
    return chunks


def rates(cases, device):
    """Rate of each arm with its interval: pictures for each benchmark and unit."""
    groups = {}
    for case in cases:
        known = [row.raw["rate"] for row in case.rows if row.shown and row.rate.value is not None]
        if known:
            key = (case.benchmark, known[0]["unit"], known[0].get("direction"))
            groups.setdefault(key, []).extend(case.rows)
    pictures = []
    for key, rows in groups.items():
        for chunk in _chunks(rows):
            pictures += _rates(len(pictures) + 1, key, chunk, device)
    return pictures


def _rates(index, key, rows, device):
    benchmark, unit, direction = key
    title = f"{benchmark}: rate on {device}, {unit}"
    canvas = Canvas()
    canvas.paragraph(title, size=11, bold=True)
    better = {"higher": "higher is better", "lower": "lower is better"}.get(direction, "")
    values = [
        v for row in rows if row.rate for v in (row.rate.value, row.rate.low, row.rate.high) if v
    ]
    if not values:
        return []
    log = min(values) > 0 and max(values) / min(values) > 20
    words = ["logarithmic" if log else "", better, "whisker: 95 % interval"]
    canvas.paragraph("; ".join(word for word in words if word), size=8.5, color=SOFT)
    arms = list({row.arm: None for row in rows})
    canvas.legend([(*ARM_STYLE[arm], arm) for arm in ARM_STYLE if arm in arms])
    low = min(values) / 1.3 if log else min(0, *values)
    scale = Scale(low, 1.05 * max(values), MARGIN + 74, WIDTH - 128, log)
    grid = Rows(canvas, scale, "")
    number = None
    for row in rows:
        if row.number != number:
            number = row.number
            canvas.y += 3
            canvas.paragraph(case_name(number, benchmark, row.raw["case"]), size=8.5)
        y = canvas.y + 8
        canvas.text(MARGIN + 4, y + 3, _fit(row.label, 72), size=8.5, color=SOFT)
        grid.band(y - 7, y + 10)
        if row.rate:
            _point(canvas, scale, row.rate, y, *ARM_STYLE[row.arm])
        _value(canvas, row.rate, row.outcome, y, row.count)
        canvas.y += 22
    grid.finish()
    alt = f"{title}, {len(rows)} rows: " + "; ".join(
        f"case {row.number} {row.label} {words_of(row.rate) if row.rate else 'withheld'}"
        for row in rows[:8]
    )
    alt += "; the others are in the table of cases." if len(rows) > 8 else "."
    return [canvas.finish(f"rates-{index}.png", title, alt)]


def _fit(text, width):
    while text_width(text, 8.5) > width:
        text = text[:-2].rstrip("…") + "…"
    return text


def samples(rows, device):
    """Each sample in the order of time, launches side by side: drift and outliers show."""
    drawn = [row for row in rows if row.shown and row.time.value and any(row.raw["samples_s"])]
    return [_samples(i + 1, chunk, device) for i, chunk in enumerate(_chunks(drawn))]


def _samples(index, rows, device):
    canvas = Canvas()
    title = f"Samples in the order they were taken, {device}"
    canvas.paragraph(title, size=11, bold=True)
    words = "Each row on its own scale, from its fastest to its slowest sample; line: the median"
    canvas.paragraph(words, size=8.5, color=SOFT)
    canvas.legend([("o", BLUE, "odd launches"), ("^", ORANGE, "even launches")])
    for row in rows:
        canvas.paragraph(f"{row.number}. {row.label}: {row.raw['case']}", size=8.5, max_lines=2)
        _strip(canvas, row)
    spread = ", ".join(f"case {row.number} {row.label} {_range(row)}" for row in rows)
    alt = f"{title}: {len(rows)} rows. Fastest to slowest sample against the median: {spread}."
    return canvas.finish(f"samples-{index}.png", title, alt)


def _extremes(row):
    every = [x for launch in row.raw["samples_s"] for x in launch]
    return min(every), max(every)


def _range(row):
    low, high = (x / row.time.value - 1 for x in _extremes(row))
    return f"{100 * low:+.1f} % to {100 * high:+.1f} %".replace("-", "−")


def _thin(launch):
    """(position 0..1, seconds) of at most MAX_SAMPLES samples."""
    step = -(-len(launch) // MAX_SAMPLES)
    keep = set(range(0, len(launch), step))
    keep |= {launch.index(min(launch)), launch.index(max(launch))}
    return [(i / max(1, len(launch) - 1), launch[i]) for i in sorted(keep)]


def _strip(canvas, row):
    launches = [launch for launch in row.raw["samples_s"] if launch]
    low, high = _extremes(row)
    top, height, right = canvas.y + 3, 22, WIDTH - 104
    span = (high - low) or 1
    width = (right - MARGIN) / len(launches)
    y_of = lambda x: top + height - (x - low) / span * height if high > low else top + height / 2  # noqa: E731
    canvas.line([MARGIN, right], [y_of(row.time.value)] * 2, color=SOFT, width=0.8, order=1)
    for index, launch in enumerate(launches):
        left = MARGIN + index * width
        points = _thin(launch)
        xs = [left + 4 + position * (width - 8) for position, _ in points]
        style = ("^", ORANGE) if index % 2 else ("o", BLUE)
        canvas.marks(xs, [y_of(x) for _, x in points], *style, size=3.2, edge=0.3)
        if index:
            canvas.line([left, left], [top - 2, top + height + 2], color=GRID, width=0.8, order=1)
    canvas.text(RIGHT, top + 9, _range(row), size=8, align="right")
    canvas.text(RIGHT, top + 20, row.n, size=7.5, color=SOFT, align="right")
    canvas.y = top + height + 8
