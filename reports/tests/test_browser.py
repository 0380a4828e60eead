"""The page in a browser: nothing wider than the screen, no text over text, no errors."""

import html
import json
import re
import shutil
import subprocess

import pytest
from helpers import files

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
WIDTHS = (360, 1440)

# Each page sits in a frame of the width asked for, because a window cannot be as narrow as a phone.
SCRIPT = """
function overlaps(svg) {
  const all = [...svg.querySelectorAll('text')];
  const texts = all.map(t => [t.textContent, t.getBoundingClientRect()]);
  const frame = svg.getBoundingClientRect(), bad = [];
  texts.forEach(([text, a], i) => {
    const inside = a.left > frame.left - 1 && a.right < frame.right + 1;
    if (!inside || a.bottom > frame.bottom + 1) bad.push('outside: ' + text);
    // A third of the height is room for ascenders and descenders, not ink.
    for (const [other, b] of texts.slice(i + 1)) {
      const x = Math.min(a.right, b.right) - Math.max(a.left, b.left);
      const y = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
      if (x > 0.5 && y > a.height / 3) bad.push(text + ' / ' + other);
    }
  });
  return bad;
}
addEventListener('load', () => {
  const out = [...document.querySelectorAll('iframe')].map(frame => {
    const page = frame.contentDocument, root = page.documentElement;
    const pictures = [...page.querySelectorAll('svg')];
    return {asked: frame.clientWidth, inner: frame.contentWindow.innerWidth,
            scroll: root.scrollWidth, height: root.scrollHeight, title: page.title,
            pictures: pictures.length, overlaps: pictures.flatMap(overlaps)};
  });
  const pre = document.createElement('pre');
  pre.textContent = JSON.stringify(out);
  document.body.replaceChildren(pre);
});
"""


@pytest.mark.skipif(CHROMIUM is None, reason="no chromium here")
@pytest.mark.parametrize(
    "name", ["cpu_quick", "gpu_pair", "failures", "one_gpu", "many", "incomplete"]
)
def test_page_fits_screens_of_360_and_1440_pixels(name, tmp_path):
    source = html.escape(files(name)["report.html"].decode())
    frames = "".join(
        f'<iframe style="width:{w}px;height:900px;border:0" srcdoc="{source}"></iframe>'
        for w in WIDTHS
    )
    outer = tmp_path / "outer.html"
    outer.write_text(
        f"<!DOCTYPE html><meta charset=utf-8><script>{SCRIPT}</script><body>{frames}",
        encoding="utf-8",
    )
    flags = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
    flags += [f"--user-data-dir={tmp_path / 'profile'}", "--no-first-run", "--dump-dom"]
    flags += ["--window-size=1900,1000", "--enable-logging=stderr", "--virtual-time-budget=10000"]
    done = subprocess.run(
        [CHROMIUM, *flags, outer.as_uri()], capture_output=True, text=True, timeout=90
    )
    found = re.search(r"<pre>(.*?)</pre>", done.stdout, re.S)
    assert found, done.stderr[-2000:]
    assert not [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    reports = json.loads(html.unescape(found.group(1)))
    assert [r["asked"] for r in reports] == list(WIDTHS)
    for report in reports:
        assert report["scroll"] <= report["inner"], report
        assert report["height"] > 1000 and report["pictures"] >= 2
        assert report["title"].startswith("pairmark ")
        assert report["overlaps"] == []
