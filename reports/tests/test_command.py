"""The command: bad input is one sentence and exit code 2, and what is written is whole."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from helpers import result
from pairmark_report import cli, output

REPORTS = Path(__file__).resolve().parent.parent


@pytest.fixture
def good(tmp_path):
    path = tmp_path / "result.json"
    path.write_text(json.dumps(result("incomplete")), encoding="utf-8")
    return path


def refused(capsys, *arguments):
    """Runs the command, which must refuse; returns its sentence."""
    assert cli.main([str(a) for a in arguments]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1 and captured.err.startswith("pairmark report: ")
    return captured.err


def changed(tmp_path, change):
    content = json.loads(json.dumps(result("incomplete")))
    change(content)
    path = tmp_path / "changed.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def test_a_report_is_written(good, tmp_path, capsys):
    folder = tmp_path / "new" / "report"
    assert cli.main([str(good), "-o", str(folder)]) == 0
    assert capsys.readouterr().out == f"{folder / 'report.html'}\n"
    names = sorted(p.name for p in folder.iterdir())
    assert names == [
        "rates-1.png",
        "report.html",
        "report.md",
        "samples-1.png",
        "speedup-weak.png",
        "waterfall-01.png",
    ]


def test_an_older_report_is_replaced_and_other_files_stay(good, tmp_path):
    for name in ("waterfall-09.png", "mine.png", "waterfall-notes.txt"):
        (tmp_path / name).write_text("old")
    assert cli.main([str(good), "-o", str(tmp_path)]) == 0
    assert not (tmp_path / "waterfall-09.png").exists()
    assert (
        (tmp_path / "mine.png").read_text()
        == (tmp_path / "waterfall-notes.txt").read_text()
        == "old"
    )


def test_a_failed_write_leaves_the_older_report_as_it_was(tmp_path):
    (tmp_path / "report.html").write_text("old")
    (tmp_path / "report.md").mkdir()
    with pytest.raises(output.ReportError):
        output.write_all(tmp_path, {"report.md": b"new", "report.html": b"new"})
    assert (tmp_path / "report.html").read_text() == "old"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["report.html", "report.md"]


@pytest.mark.parametrize("token", ["NaN", "Infinity", "-Infinity"])
def test_tokens_that_are_not_json_are_named(tmp_path, capsys, token):
    path = tmp_path / "bad.json"
    path.write_text('{"schema": {"name": "pairmark-result", "major": %s}}' % token)
    assert f"not strict JSON: {token} is not JSON" in refused(capsys, path, "-o", tmp_path / "out")


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"hello", b'{"a": 1} x', b"\xff\xfe\x00", b"[" * 100000, b"1" * 5000, b"[1,]"],
)
def test_files_that_are_not_json(tmp_path, capsys, content):
    path = tmp_path / "bad.json"
    path.write_bytes(content)
    assert str(path) in refused(capsys, path, "-o", tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "content", [[], 3, None, {}, {"schema": 1}, {"schema": {"name": "other", "major": 1}}]
)
def test_json_that_is_no_result(tmp_path, capsys, content):
    path = tmp_path / "other.json"
    path.write_text(json.dumps(content))
    assert "not a pairmark result" in refused(capsys, path, "-o", tmp_path / "out")


def test_a_newer_format(tmp_path, capsys):
    path = changed(tmp_path, lambda r: r["schema"].update(major=2))
    assert "has result format 2 and this program reads format 1" in refused(
        capsys, path, "-o", tmp_path / "out"
    )


@pytest.mark.parametrize(
    "change, where",
    [
        (lambda r: r.pop("rows"), "the top level"),
        (lambda r: r.update(extra=1), "the top level"),
        (lambda r: r["rows"][1].update(outcome="fine"), "rows/1/outcome"),
        (lambda r: r["rows"][2]["time_s"].update(median="fast\nvery"), "rows/2"),
        (lambda r: r["rows"][0].update(samples_s=[[0.1, None]]), "rows/0/samples_s"),
        (lambda r: r["rows"][0].update(samples_s=[[0.1, True]]), "rows/0/samples_s"),
        (lambda r: r["rows"][0].update(samples_s=7), "rows/0/samples_s"),
        (lambda r: r["schema"].update(major=True), "schema/major"),
    ],
)
def test_results_that_do_not_fit_the_schema(tmp_path, capsys, change, where):
    message = refused(capsys, changed(tmp_path, change), "-o", tmp_path / "out")
    assert "does not fit the result format" in message and where in message


@pytest.mark.parametrize("place", ["samples", "median"])
def test_numbers_that_overflow(good, tmp_path, capsys, place):
    row = result("incomplete")["rows"][0]
    number = row["samples_s"][0][0] if place == "samples" else row["time_s"]["median"]
    good.write_text(good.read_text().replace(repr(number), "1e999", 1))
    assert "number" in refused(capsys, good, "-o", tmp_path / "out")


def test_half_a_character(tmp_path, capsys):
    path = changed(tmp_path, lambda r: r["summary"].update(headline="\ud83d"))
    assert "not valid Unicode" in refused(capsys, path, "-o", tmp_path / "out")


def test_missing_files_and_folders(good, tmp_path, capsys):
    assert "No such file" in refused(capsys, tmp_path / "none.json", "-o", tmp_path / "out")
    assert "Is a directory" in refused(capsys, tmp_path, "-o", tmp_path / "out")
    assert "cannot write to" in refused(capsys, good, "-o", good)
    assert "cannot write to" in refused(capsys, good, "-o", good / "below")
    assert "result.schema.json is not at" in refused(
        capsys, good, "-o", tmp_path, "--schema", tmp_path / "none"
    )


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_without_permission(good, tmp_path, capsys):
    (tmp_path / "locked").mkdir(mode=0o500)
    assert "Permission denied" in refused(capsys, good, "-o", tmp_path / "locked")


def test_usage(good, tmp_path, capsys):
    assert "2 results were given" in refused(capsys, good, good, "-o", tmp_path)
    assert "required" in refused(capsys, good)
    assert "required" in refused(capsys, "-o", tmp_path)
    assert "--nonsense" in refused(capsys, good, "-o", tmp_path, "--nonsense")


def test_schema_is_found_in_an_installed_tree(good, tmp_path):
    share = tmp_path / "share" / "pairmark"
    (share / "python").mkdir(parents=True)
    subprocess.run(["cp", "-r", REPORTS / "pairmark_report", share / "python"], check=True)
    schema = REPORTS.parent / "harness" / "report" / "schema" / "result.schema.json"
    subprocess.run(["cp", schema, share], check=True)
    done = run_module([good, "-o", tmp_path / "out"], share / "python")
    assert (done.returncode, done.stderr) == (0, "")
    (share / "result.schema.json").unlink()
    done = run_module([good, "-o", tmp_path / "out"], share / "python")
    assert done.returncode == 2 and f"is not at {share / 'result.schema.json'}" in done.stderr


def run_module(arguments, folder=REPORTS, flags=()):
    return subprocess.run(
        [sys.executable, *flags, "-m", "pairmark_report", *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": str(folder)},
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=60,
    )


def test_missing_packages_are_named(good, tmp_path):
    done = run_module([good, "-o", tmp_path / "out"], flags=("-S",))  # -S: without site-packages
    assert done.returncode == 2 and done.stderr.count("\n") == 1
    assert "apt install python3-matplotlib python3-jinja2 python3-jsonschema" in done.stderr
    assert "pip install matplotlib jinja2 jsonschema" in done.stderr
