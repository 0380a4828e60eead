"""Makes reports of synthetic results and reads pages back."""

import functools
import json
import tempfile
from html.parser import HTMLParser
from pathlib import Path

import synthetic
from pairmark_report import render, result_file


@functools.cache
def result(name):
    return synthetic.ALL[name]()


@functools.cache
def files(name):
    """The files of a report, through the same reading and checking as the command's."""
    return report_of(result(name))


def report_of(content):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "result.json"
        path.write_text(json.dumps(content), encoding="utf-8")
        return render.render(result_file.load(path))


class Page(HTMLParser):
    """Tags with attributes (not <wbr>), and the text outside of style and script."""

    def __init__(self, html):
        super().__init__()
        self.tags, self._text, self._hidden = [], [], 0
        self.feed(html.replace("<wbr>", ""))
        self.text = " ".join(" ".join(self._text).split())

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        self._hidden += tag in ("style", "script")

    def handle_endtag(self, tag):
        self._hidden -= tag in ("style", "script")

    def handle_data(self, data):
        if not self._hidden:
            self._text.append(data)

    def values(self):
        return [float(a["value"]) for tag, a in self.tags if tag == "data"]

    def intervals(self):
        return [
            (float(a["data-low"]), float(a["data-high"])) for _, a in self.tags if "data-low" in a
        ]


@functools.cache
def page(name):
    return Page(files(name)["report.html"].decode())
