"""A page to draw on in points, y downwards: rows of labels, marks and whiskers in any number.

Matplotlib draws; layout is ours, because text that is measured and wrapped before it is placed
cannot overlap. Colours are drawn as fixed values and become CSS variables in the SVG, so that one
picture serves light and dark pages; PNG files have a white ground.
"""

import functools
import io
import math
import re
from dataclasses import dataclass

import matplotlib

matplotlib.use("Agg")

from matplotlib import font_manager, ft2font  # noqa: E402
from matplotlib.backends.backend_agg import FigureCanvasAgg  # noqa: E402
from matplotlib.figure import Figure  # noqa: E402

matplotlib.rcParams.update(
    {
        "svg.fonttype": "none",
        "svg.hashsalt": "pairmark",
        "text.parse_math": False,
        "font.family": "DejaVu "
        "Sans",  # comes with matplotlib; wider than its substitutes in a browser
        "hatch.linewidth": 0.8,
    }
)

WIDTH = 340.0
MARGIN = 8.0
SIZE = 9.5
LINE = 13.0
_PNG_DPI = 150

INK = "#1a1f26"
SOFT = "#5a6470"
GRID = "#d5dae0"
# Okabe and Ito, "Color Universal Design" (2008).
BLUE = "#0072b2"
ORANGE = "#e69f00"
GREEN = "#009e73"
RED = "#d55e00"
PURPLE = "#cc79a7"
GREY = "#b4bcc6"
_VARIABLES = {
    INK: "--ink",
    SOFT: "--soft",
    GRID: "--grid",
    BLUE: "--blue",
    ORANGE: "--orange",
    GREEN: "--green",
    RED: "--red",
    PURPLE: "--purple",
    GREY: "--grey",
}


@dataclass(frozen=True)
class Picture:
    name: str  # file name without folder, .png
    title: str
    alt: str  # what a reader who cannot see it must know
    svg: str  # for use inside HTML
    png: bytes


def clean(text):
    """One line without control characters, which fonts cannot draw."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


def text_width(text, size=SIZE, bold=False):
    """Points that the text takes in the font of the pictures, without kerning."""
    return size * sum(_advance(c, bold) for c in text)


@functools.cache
def _advance(character, bold):
    """Width of a character of size 1."""
    weight = "bold" if bold else "normal"
    name = font_manager.FontProperties(family="DejaVu Sans", weight=weight)
    font = font_manager.get_font(font_manager.findfont(name))
    font.set_size(100, 72)
    glyph = font.load_char(ord(character), flags=ft2font.LOAD_NO_HINTING)
    return glyph.linearHoriAdvance / 65536 / 100


def wrap(text, width, size=SIZE, bold=False, max_lines=4):
    """Lines that fit the width, broken after commas and spaces or, if it must be, inside a word."""
    lines = [""]
    for word in re.findall(r"[^ ,/]*[ ,/]*", clean(text)):
        if text_width((lines[-1] + word).rstrip(), size, bold) <= width:
            lines[-1] += word
            continue
        lines.append("")
        while text_width(word.rstrip(), size, bold) > width:
            cut = len(word)
            while cut > 1 and text_width(word[:cut], size, bold) > width:
                cut -= 1
            lines[-1] = word[:cut]
            lines.append("")
            word = word[cut:]
        lines[-1] = word
    lines = [line.rstrip() for line in lines if line.strip()]
    if len(lines) > max_lines:
        lines = lines[:max_lines]
        while lines[-1] and text_width(lines[-1] + "…", size, bold) > width:
            lines[-1] = lines[-1][:-1]
        lines[-1] += "…"
    return lines


class Canvas:
    """self.y is where the next row starts; each drawing call is in points."""

    def __init__(self):
        self.figure = Figure(figsize=(1, 1))
        FigureCanvasAgg(self.figure)
        self.axes = self.figure.add_axes((0, 0, 1, 1))
        self.axes.set_axis_off()
        self.y = MARGIN

    def text(self, x, y, text, *, size=SIZE, color=INK, align="left", bold=False):
        """y is the baseline."""
        self.axes.text(
            x,
            y,
            text,
            fontsize=size,
            color=color,
            ha=align,
            va="baseline",
            fontweight="bold" if bold else "normal",
        )

    def paragraph(self, text, *, size=SIZE, color=INK, bold=False, width=None, max_lines=4):
        """Wrapped text at the left; moves y below it."""
        for line in wrap(text, width or WIDTH - 2 * MARGIN, size, bold, max_lines):
            self.text(MARGIN, self.y + size, line, size=size, color=color, bold=bold)
            self.y += size * 1.35

    def line(self, xs, ys, *, color=INK, width=1.0, style="-", order=2):
        self.axes.plot(
            xs, ys, color=color, linewidth=width, linestyle=style, zorder=order, clip_on=False
        )

    def marks(self, xs, ys, marker, color, size=6.5, edge=0.8):
        self.axes.plot(
            xs,
            ys,
            linestyle="none",
            marker=marker,
            markersize=size,
            markerfacecolor=color,
            markeredgecolor=INK,
            markeredgewidth=edge,
            zorder=4,
            clip_on=False,
        )

    def whisker(self, low, high, y, cap=3.0):
        self.line([low, high], [y, y], width=1.3, order=5)
        for x in (low, high):
            self.line([x, x], [y - cap, y + cap], width=1.3, order=5)

    def bar(self, left, right, y, height, color, hatch=""):
        self.axes.add_patch(
            matplotlib.patches.Rectangle(
                (min(left, right), y),
                abs(right - left),
                height,
                facecolor=color,
                edgecolor=INK,
                linewidth=0.8,
                hatch=hatch,
                zorder=3,
                clip_on=False,
            )
        )

    def legend(self, entries):
        """entries: (marker, color, words), on as many lines as they need; moves y below."""
        x = MARGIN
        for marker, color, words in entries:
            width = 14 + text_width(words, 8.5)
            if x > MARGIN and x + width > WIDTH - MARGIN:
                x = MARGIN
                self.y += LINE
            self.marks([x + 4], [self.y + 6], marker, color)
            self.text(x + 12, self.y + 9, words, size=8.5, color=SOFT)
            x += width + 10
        self.y += LINE + 4

    def finish(self, name, title, alt):
        height = self.y + MARGIN
        self.axes.set_xlim(0, WIDTH)
        self.axes.set_ylim(height, 0)
        self.figure.set_size_inches(WIDTH / 72, height / 72)
        png = io.BytesIO()
        self.figure.savefig(png, format="png", dpi=_PNG_DPI, facecolor="white")
        svg = io.StringIO()
        metadata = dict.fromkeys(("Date", "Creator", "Format", "Type"))
        self.figure.savefig(svg, format="svg", transparent=True, metadata=metadata)
        return Picture(name, title, alt, _inline(svg.getvalue()), png.getvalue())


class Scale:
    """Data to points between left and right, linear from zero or logarithmic."""

    def __init__(self, low, high, left, right, log=False):
        locator = matplotlib.ticker.LogLocator() if log else matplotlib.ticker.MaxNLocator(5)
        self.log = log
        self.left, self.right = left, right
        self.ticks = [t for t in locator.tick_values(low, high) if low <= t <= high * 1.0001]
        self.low, self.high = low, high

    def __call__(self, value):
        low, high = self.low, self.high
        if self.log:
            low, high, value = math.log10(low), math.log10(high), math.log10(max(value, low))
        return self.left + (value - low) / (high - low) * (self.right - self.left)


def _inline(svg):
    """The <svg> element alone, for a page: no DOCTYPE or names of the web, no ids used twice."""
    svg = svg[svg.index("<svg") :]
    head, _, body = svg.partition(">")
    head = re.sub(r' xmlns(:xlink)?="[^"]*"', "", head)
    svg = head.replace("<svg ", '<svg aria-hidden="true" focusable="false" ') + ">" + body
    svg = re.sub(r"<(metadata|style)\b.*?</\1>", "", svg, flags=re.DOTALL)
    svg = re.sub(r'<g id="[^"]*">', "<g>", svg)
    svg = re.sub(r' transform="rotate\(-0 [^"]*"', "", svg)
    svg = re.sub(r"(font: [^\"']*)'DejaVu Sans'", r"\1var(--font)", svg)
    for color, variable in _VARIABLES.items():
        svg = re.sub(rf'(?<=[ "]){color}(?=[;"])', f"var({variable})", svg)
    return re.sub(r"\s*\n\s*", " ", svg)
