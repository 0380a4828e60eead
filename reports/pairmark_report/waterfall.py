"""Waterfall of a case: from the ideal through each loss down to what was measured."""

from .canvas import (
    BLUE,
    GREEN,
    GREY,
    MARGIN,
    PURPLE,
    RED,
    SOFT,
    WIDTH,
    Canvas,
    Scale,
    text_width,
)
from .charts import RIGHT, Rows, case_name, words_of

MAX_PICTURES = 12


def waterfalls(chosen, device):
    """One picture a case: from the ideal through each loss down to what was measured."""
    return [_waterfall(index + 1, entry, device) for index, entry in enumerate(chosen)]


def _waterfall(index, entry, device):
    canvas = Canvas()
    title = case_name(entry.number, entry.benchmark, entry.case)
    canvas.paragraph(title, size=10, bold=True)
    canvas.paragraph(
        f"{entry.kind} scaling, {entry.devices} {device} devices, {entry.n}", size=8.5, color=SOFT
    )
    canvas.y += 2
    scale = _waterfall_scale(entry)
    rows = Rows(canvas, scale, " %")
    _step(rows, "ideal: every device as fast as alone", "100 %", (0, 1), (GREY, ""))
    level = 1.0
    for stage in entry.stages:
        level = _loss(rows, stage, level)
    interval = (entry.efficiency.low, entry.efficiency.high)
    _step(
        rows,
        "measured",
        _short(entry.efficiency),
        (0, entry.efficiency.value),
        (BLUE, ""),
        interval,
    )
    words = "; ".join(
        f"{stage.name}: {stage.text} ({stage.interval_text})" for stage in entry.stages
    )
    alt = f"Waterfall of {title} on {entry.devices} {device} devices, {entry.kind} scaling. "
    alt += f"From 100 % of the ideal: {words}; measured {words_of(entry.efficiency)}."
    return canvas.finish(f"waterfall-{index:02}.png", f"Where the rest goes: {title}", alt)


def _waterfall_scale(entry):
    """Per cent of the ideal, from zero, wide enough for every whisker."""
    levels, level = [0.0, 1.0, entry.efficiency.value, entry.efficiency.high or 0], 1.0
    for stage in entry.stages:
        levels += [level - edge for edge in stage.interval or ()]
        level -= stage.loss or 0
        levels.append(level)
    return Scale(100 * min(levels), 102 * max(levels), MARGIN, RIGHT)


def _short(figure):
    return f"{figure.text} ({figure.interval})" if figure.low is not None else figure.text


def _loss(rows, stage, level):
    """Draws one stage from `level`; returns the level after it."""
    text = f"{stage.text} ({stage.interval_text})" if stage.interval else stage.text
    if stage.loss is None:
        rows.canvas.paragraph(f"{stage.name}: {stage.text}", size=8.5, color=SOFT)
        rows.canvas.y += 6
        return level
    style = (GREEN, "\\\\\\") if stage.loss < 0 else (RED, "///")
    if stage.name == "unexplained":
        style = (PURPLE, "xxx")
    interval = tuple(level - edge for edge in reversed(stage.interval)) if stage.interval else None
    _step(rows, stage.name, text, (level, level - stage.loss), style, interval)
    return level - stage.loss


def _step(rows, name, value, ends, style, interval=None):
    """A line of words and under it a bar between the two ends, which are shares."""
    canvas, scale = rows.canvas, rows.scale
    room = WIDTH - 2 * MARGIN
    if text_width(name, 8.5) + text_width(value, 8.5) + 10 <= room:
        canvas.text(RIGHT, canvas.y + 8.5, value, size=8.5, align="right")
        canvas.paragraph(name, size=8.5)
    else:
        canvas.paragraph(name, size=8.5)
        canvas.text(RIGHT, canvas.y + 8.5, value, size=8.5, align="right")
        canvas.y += 8.5 * 1.35
    rows.band(canvas.y, canvas.y + 12)
    canvas.bar(scale(100 * ends[0]), scale(100 * ends[1]), canvas.y + 1, 10, *style)
    if interval and None not in interval:
        canvas.whisker(scale(100 * interval[0]), scale(100 * interval[1]), canvas.y + 6)
    canvas.y += 17
