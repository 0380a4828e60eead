"""Builds the files of a report in memory."""

import logging
import re
import warnings
from pathlib import Path

import jinja2
from markupsafe import Markup, escape

from . import charts, figures, view, waterfall

_TEMPLATES = Path(__file__).resolve().parent / "templates"


def render(result):
    """name -> bytes of every file of the report, report.html last."""
    context = view.build(result)
    pictures = _pictures(context)
    context["pictures"] = pictures
    context["style"] = Markup((_TEMPLATES / "style.css").read_text(encoding="utf-8"))
    files = {picture.name: picture.png for group in pictures.values() for picture in group}
    files["report.md"] = _markdown(context).encode()
    files["report.html"] = _html(context).encode()
    return files


def _pictures(context):
    """Draws all charts. Warnings of the drawing library, as of a missing glyph, help no reader."""
    logging.getLogger("matplotlib").setLevel(logging.ERROR)
    device = context["device"]
    chosen, ready = view.choose_waterfalls(context["scaling"], waterfall.MAX_PICTURES)
    context["waterfalls_ready"] = ready
    context["max_rows"] = charts.MAX_ROWS
    context["max_samples"] = charts.MAX_SAMPLES
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {
            "weak": charts.speedups(context["scaling"], "weak", device),
            "strong": charts.speedups(context["scaling"], "strong", device),
            "waterfall": waterfall.waterfalls(chosen, device),
            "rates": charts.rates(context["cases"], device),
            "samples": charts.samples(context["rows"], device),
        }


def _environment(**options):
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_TEMPLATES),
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
        **options,
    )
    environment.filters["duration"] = _duration
    environment.filters["cores"] = _cores
    return environment


def _html(context):
    environment = _environment(autoescape=True)
    environment.filters["breakable"] = _breakable
    environment.filters["svg"] = Markup  # drawn by charts.py, which escapes its text
    return environment.get_template("report.html.jinja").render(context)


def _markdown(context):
    environment = _environment(autoescape=False, finalize=escape_markdown)
    environment.filters["words"] = _words
    environment.filters["nodes"] = lambda node: _Ready("\n".join(_node_lines(node, 0)))
    text = environment.get_template("report.md.jinja").render(context)
    return re.sub(r"\n{3,}", "\n\n", text)


def _duration(value):
    return "not known" if value is None else figures.duration(value)


def _breakable(text):
    """Long names may break after these marks rather than anywhere."""
    return Markup(re.sub(r"([,/])", r"\1<wbr>", str(escape(text))))


def _cores(numbers):
    """[0, 1, 2, 3, 8] -> 0-3, 8."""
    runs = []
    for number in sorted(numbers):
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in runs) or "not bound"


def _words(figure):
    note = figure.interval if figure.value is not None else figure.reason
    return f"{figure.text} ({note})" if note else figure.text


class _Ready(str):
    """Markdown already escaped."""


def escape_markdown(value):
    """Text from the file as plain text inside Markdown tables: one line, nothing of it markup."""
    if isinstance(value, (_Ready, jinja2.Undefined)):
        return value
    text = " ".join(str(value).split())
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return re.sub(r"([\\`*_{}\[\]|#~$])", r"\\\1", text)


def _node_lines(node, depth):
    """The machine as nested bullets."""
    pad = "  " * depth
    if node["kind"] == "text":
        return [f"{pad}- {escape_markdown(node['text'])}"]
    lines = []
    if node["kind"] == "fields":
        entries = node["items"]
    elif node["kind"] == "list":
        entries = [(str(i), item) for i, item in enumerate(node["items"])]
    elif node["turned"]:
        entries = [
            (
                node["head"][i],
                {"kind": "fields", "items": [(r[0]["text"], r[i]) for r in node["rows"]]},
            )
            for i in range(1, len(node["head"]))
        ]
    else:
        entries = [
            (str(i), {"kind": "fields", "items": list(zip(node["head"], row, strict=True))})
            for i, row in enumerate(node["rows"])
        ]
    for label, item in entries:
        if item["kind"] == "text":
            lines.append(f"{pad}- {escape_markdown(label)}: {escape_markdown(item['text'])}")
        else:
            lines.append(f"{pad}- {escape_markdown(label)}:")
            lines += _node_lines(item, depth + 1)
    return lines
