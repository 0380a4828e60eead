"""What stands in the report is what stands in result.json."""

import copy
import json
import re
from pathlib import Path

import pytest
import synthetic
from helpers import Page, files, page, report_of, result
from jsonschema import Draft7Validator
from pairmark_report import figures, machine, view

SCHEMA = (
    Path(__file__).resolve().parents[2] / "harness" / "report" / "schema" / "result.schema.json"
)
NAMES = list(synthetic.ALL)


@pytest.mark.parametrize("name", NAMES)
def test_synthetic_results_fit_the_schema(name):
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    assert list(Draft7Validator(schema).iter_errors(result(name))) == []


def shown_rows(content):
    return [row for row in content["rows"] if row["outcome"] in ("ok", "unstable")]


@pytest.mark.parametrize("name", NAMES)
def test_every_figure_of_the_page_is_a_figure_of_the_file_and_none_is_missing(name):
    expected, intervals = [], []
    for row in shown_rows(result(name)):
        expected += [
            row["time_s"]["median"],
            row["rate"]["value"],
            row["peak"]["boost_share"],
            row["peak"]["at_clock_share"],
            row["clock_mhz"],
            row["power_w"],
            row["energy_per_op_j"],
        ]
        intervals.append(tuple(row["rate"]["ci95"]))
    for entry in result(name)["scaling"]:
        if entry["outcome"] == "ok":
            # Efficiency stands in the table of verdicts and at the end of the losses.
            expected += [entry["speedup"]["value"]] + 2 * [entry["efficiency"]["value"]]
            expected += [stage["loss"] for stage in entry["waterfall"]]
            intervals += [tuple(entry["speedup"]["ci95"])] + 2 * [
                tuple(entry["efficiency"]["ci95"])
            ]
    assert sorted(page(name).values()) == sorted(v for v in expected if v is not None)
    assert sorted(page(name).intervals()) == sorted(intervals)


@pytest.mark.parametrize("name", NAMES)
def test_words_beside_a_value_are_that_value(name):
    html = files(name)["report.html"].decode()
    found = re.findall(r'<data value="([^"]+)">([^<]+)</data>', html)
    factors = {"s": 1, "ms": 1e-3, "µs": 1e-6, "%": 1e-2, "points": 1e-2}
    assert found
    for value, text in found:
        number, unit = re.fullmatch(r"([−+]?[0-9.e-]+) ?(\D.*)", text).groups()
        read = float(number.replace("−", "-")) * factors.get(unit, 1)
        if unit == "points":
            read = -read  # a loss is written as a fall
        assert read == pytest.approx(float(value), rel=6e-3), text


@pytest.mark.parametrize("name", NAMES)
def test_headline_counts_verdicts_and_findings_are_quoted(name):
    content, text = result(name), page(name).text
    summary = content["summary"]
    for quoted in [
        summary["headline"],
        *(f["text"] for f in content["findings"]),
        *(f["evidence"] for f in content["findings"] if f["evidence"]),
    ]:
        assert " ".join(quoted.split()) in text
    for entry in content["scaling"]:
        if entry["verdict"]:
            assert entry["verdict"] in text
        assert entry["global_work"] in text and entry["baseline"] in text
    assert re.search(rf"\b{summary['ran']} ran", text)
    assert re.search(rf"\b{summary['failed']} failed", text)
    assert re.search(rf"\b{summary['skipped']} skipped", text)
    for item in content["skipped"]:
        assert item["what"] in text and item["reason"] in text
    for row in content["rows"]:
        assert row["repeat"] in text and row["id"] in text


def test_weak_and_strong_never_share_a_table():
    sections = re.findall(
        r'<section id="(weak|strong)">(.*?)</section>',
        files("cpu_quick")["report.html"].decode(),
        re.S,
    )
    assert [kind for kind, _ in sections] == ["weak", "strong"]
    for kind, body in sections:
        for entry in result("cpu_quick")["scaling"]:
            present = f'value="{entry["speedup"]["value"]}"' in body
            assert present == (entry["scaling"] == kind)


def test_figures_of_bad_rows_are_withheld_everywhere():
    content = copy.deepcopy(result("failures"))
    marks = []
    for row in content["rows"]:
        if row["outcome"] not in ("ok", "unstable"):
            # Figures that can stand in no other row, so that a leak is seen for certain.
            if row["time_s"]:
                row["time_s"].update(median=0.777e-3, q1=0.776e-3, q3=0.778e-3)
                row["rate"].update(value=555.0, ci95=[554.0, 556.0])
                row["samples_s"] = [[0.777e-3] * 9]
            row.update(power_w=444.0, energy_per_op_j=333.0, clock_mhz=1222.0)
            marks += [row["id"]]
    for entry in content["scaling"][:4]:
        entry["speedup"].update(value=1.888)
        entry["efficiency"].update(value=0.944)
        entry["waterfall"][0].update(loss=0.1888)
    made = report_of(content)
    for text in (Page(made["report.html"].decode()).text, made["report.md"].decode()):
        for leak in (
            "777 µs",
            "776 to 778",
            "555",
            "444 W",
            "333 J",
            "1222",
            "1.89",
            "94.4",
            "18.9",
        ):
            assert leak not in text, leak
    text = Page(made["report.html"].decode()).text
    assert len(marks) == 4
    for outcome in ("incorrect", "invalid", "hang", "error"):
        assert outcome in text
    assert text.count("figures withheld:") == 4
    assert "element 1234 is 7.5, the reference is 3.25" in text
    assert "no figure: hang" in text


def test_two_device_arms_that_were_skipped_say_why():
    text = page("one_gpu").text
    assert "No case was compared on more than one device: only one GPU is visible (1 of 2)" in text
    assert "waterfall-01.png" not in files("one_gpu")
    assert "rates-1.png" in files("one_gpu")


def test_markdown_counts_and_figures():
    text = files("cpu_quick")["report.md"].decode()
    assert "20 ran, 0 failed, 1 skipped (19 ok, 1 unstable)." in text
    for entry in result("cpu_quick")["scaling"]:
        low, high = entry["speedup"]["ci95"]
        assert f"| {entry['speedup']['value']:.3g}× ({low:#.3g} to {high:#.3g}) |" in text
    assert text.count("| ok |") == 19 and text.count("| unstable |") == 1


def test_an_incomplete_run_has_a_banner_and_a_complete_one_has_none():
    for suffix in ("report.html", "report.md"):
        assert b"Incomplete run." in files("incomplete")[suffix]
        assert b"stopped by Ctrl-C" in files("incomplete")[suffix]
        assert b"Incomplete run." not in files("cpu_quick")[suffix]


def test_a_cpu_result_says_cpu_in_every_part():
    html = files("cpu_quick")["report.html"].decode()
    assert "This is a cpu result." in html and "This is a cpu result." not in page("gpu_pair").text
    assert re.search(r"<title>pairmark cpu:", html)
    heads = re.findall(r"<h2>(.*?)</h2>", html)
    assert len(heads) >= 7
    for head in heads:
        assert "cpu" in head or head == "How it was measured"
    for label in re.findall(r'<div role="img" aria-label="([^"]*)"', html):
        assert "cpu" in label
    assert "GPU" not in " ".join(heads)


def test_no_more_waterfalls_than_the_limit_and_the_page_says_so():
    names = [name for name in files("many") if name.startswith("waterfall")]
    assert len(names) == 12
    assert "12 of 15 cases are drawn; the table below has all." in page("many").text
    chosen, ready = view.choose_waterfalls(view.build(result("many"))["scaling"], 12)
    labels = [a["aria-label"] for _, a in page("many").tags if a.get("role") == "img"]
    falls = [label for label in labels if label.startswith("Waterfall of")]
    assert len(falls) == 12
    assert all(re.search(r"From 100 % of the ideal: .*; measured [0-9.]+ %", f) for f in falls)
    assert ready == 15 and {s.kind for s in chosen} == {"weak", "strong"}


def test_unknown_values_show_their_reason():
    words = "Power, all devices, Energy per operation: not known for any row "
    assert words + "(no power sensor on the cpu device)" in page("cpu_quick").text
    content = copy.deepcopy(result("gpu_pair"))
    content["rows"][0].update(power_w=None, power_w_reason="NVML said no")
    assert "not known (NVML said no)" in Page(report_of(content)["report.html"].decode()).text


def test_the_machine_is_shown_whole_with_reasons_for_what_is_not_known():
    text = page("cpu_quick").text
    assert "governor not known (cpufreq is not readable here)" in text
    assert "links not known (no GPUs)" in text
    assert "version not known (libnvidia-ml.so.1 is not installed)" in text
    assert "OMP_NUM_THREADS 1" in text
    assert "power limit 700 W 650 W" in page("gpu_pair").text
    assert "ecc not known (the driver did not answer)" in page("gpu_pair").text


def test_a_machine_of_any_shape_is_shown():
    deep = "bottom"
    for _ in range(40):
        deep = {"in": deep}
    odd = {
        "list": [1, "two", None, True],
        "mixed": [{"a": 1}, [2, [3]]],
        "empty": {},
        "none": [],
        "deep": deep,
        "reason": "a line of its own",
        "matrix": [[0, 1], [1, 0]],
        "x_reason": "no x here",
    }
    content = {**result("one_gpu"), "machine": odd}
    made = report_of(content)
    text = Page(made["report.html"].decode()).text
    for part in (
        "1, two, not known (no reason given), yes",
        "a line of its own",
        "no x here",
        "bottom",
        "0, 1",
    ):
        assert part in text
    assert machine.tree(None)["text"] == "not known (no reason given)"
    assert "bottom" in made["report.md"].decode()


@pytest.mark.parametrize("name", NAMES)
def test_pictures_have_words_and_nothing_comes_from_the_network(name):
    html = files(name)["report.html"].decode()
    images = [a for tag, a in page(name).tags if a.get("role") == "img" or tag == "img"]
    assert len(images) == html.count("<svg ") == sum(n.endswith(".png") for n in files(name))
    for image in images:
        assert len(image.get("aria-label") or image.get("alt") or "") > 30
    for tag, attributes in page(name).tags:
        assert tag not in ("script", "iframe", "object", "embed")
        assert tag != "link" or attributes["href"] == "data:,"
        for key in ("src", "href", "xlink:href", "srcset", "action"):
            assert attributes.get(key, "#").startswith(("#", "data:"))
    assert "//" not in re.sub(r"<text.*?</text>", "", html).replace("NVIDIA//", "")
    assert "@import" not in html and not re.search(r"url\((?!#)", html)
    markdown = files(name)["report.md"].decode()
    pictures = re.findall(r"!\[(.*)\]\(([^)]*)\)", markdown)
    assert sorted(target for _, target in pictures) == sorted(
        n for n in files(name) if n.endswith(".png")
    )
    assert all(len(alt) > 30 for alt, _ in pictures)


def test_anchors_lead_somewhere():
    for name in NAMES:
        ids = {a["id"] for _, a in page(name).tags if "id" in a}
        for tag, attributes in page(name).tags:
            if tag == "a":
                assert attributes["href"][1:] in ids


def test_text_of_the_file_is_never_markup():
    html, markdown = (files("many")[n].decode() for n in ("report.html", "report.md"))
    assert "<img" not in html and "<script" not in html and "<b>with" not in html
    assert "&lt;script&gt;document.title" in html
    assert "<img" not in markdown and "<script" not in markdown
    for line in markdown.splitlines():
        if line.startswith("| ") and "worth it" in line:
            assert len(re.findall(r"(?<!\\)\|", line)) == 7, line


def test_png_files_are_png_files():
    for name, content in files("gpu_pair").items():
        if name.endswith(".png"):
            assert content.startswith(b"\x89PNG\r\n")


@pytest.mark.parametrize(
    "value, text",
    [
        (807.3, "807"),
        (0.01234, "0.0123"),
        (0, "0"),
        (1548.2, "1548"),
        (-0.5, "-0.500"),
        (2.5e-7, "2.50e-07"),
        (1.0, "1.00"),
    ],
)
def test_three_significant_digits(value, text):
    assert figures.significant(value) == text


def test_times_take_the_unit_that_reads_best():
    assert [figures.seconds(v) for v in (1.5, 0.0123, 4.5e-5, 7e-9, 0)] == [
        "1.50 s",
        "12.3 ms",
        "45.0 µs",
        "7.00 ns",
        "0 s",
    ]
    assert figures.duration(250) == "4 min 10 s"


def test_values_at_the_edges_are_shown_or_given_a_reason():
    content = copy.deepcopy(result("cpu_quick"))
    rows, scaling = content["rows"], content["scaling"]
    rows[0]["rate"].update(ci95=None, reason="one launch only")
    rows[1]["rate"].update(value=None, ci95=None, reason="no work was counted")
    rows[2].update(time_s=None, rate=None, samples_s=[])
    rows[3].update(samples_s=[[0.004] * 5, [], [0.004]], verify=None, plan=None, batch=None)
    rows[4]["rate"].update(value=0.0, ci95=[-0.1, 0.1])
    rows[5]["samples_s"] = [[0.004 + 1e-7 * i for i in range(5000)]]
    scaling[0].update(speedup=None, efficiency=None, reason="the baseline hung", verdict=None)
    scaling[1]["waterfall"][0].update(loss=None, ci95=None, reason="no apart arm")
    scaling[2]["waterfall"][0].update(loss=-0.25, ci95=[-0.3, -0.2])
    scaling[2]["efficiency"].update(value=1.31, ci95=None, reason="too few launches")
    scaling[2]["flags"] = ["super-linear: check the baseline (cache, clock, batch)"]
    scaling[3].update(world_size=8, case="unknown to the rows", waterfall=[], rows=["no such row"])
    made = report_of(content)
    text = Page(made["report.html"].decode()).text
    for words in (
        "no interval: one launch only",
        "no work was counted",
        "no time in the result",
        "not verified",
        "the baseline hung",
        "not known (no apart arm)",
        "+25.0 points",
        "131 %",
        "super-linear: check the baseline",
        "8 cpu",
        "no verdict: the baseline hung",
    ):
        assert words in text, words


@pytest.mark.parametrize("empty", ["rows", "scaling", "ranks", "findings"])
def test_results_with_nothing_in_a_part(empty):
    content = copy.deepcopy(result("incomplete"))
    content[empty] = []
    assert (
        result("incomplete")["summary"]["headline"]
        in Page(report_of(content)["report.html"].decode()).text
    )
