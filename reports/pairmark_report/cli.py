"""Command line: python3 -m pairmark_report RESULT.json -o DIR."""

import argparse
import importlib
import sys
from pathlib import Path

from .errors import ReportError

EXIT_OK = 0
EXIT_USAGE = 2

# Module to import, Debian package, pip package.
_NEEDED = [
    ("matplotlib", "python3-matplotlib", "matplotlib"),
    ("jinja2", "python3-jinja2", "jinja2"),
    ("jsonschema", "python3-jsonschema", "jsonschema"),
]


class _Parser(argparse.ArgumentParser):
    def error(self, message):
        raise ReportError(f"{message}; see python3 -m pairmark_report --help")


def _parser():
    parser = _Parser(
        prog="pairmark report",
        description="Writes report.html (self-contained), report.md and PNG charts from a result. "
        "Files of an older report in DIR are replaced.",
        allow_abbrev=False,
    )
    parser.add_argument("results", nargs="+", metavar="RESULT.json", help="result of pairmark run")
    parser.add_argument("-o", "--output", required=True, metavar="DIR", help="folder to write to")
    parser.add_argument(
        "--schema",
        type=Path,
        metavar="FILE",
        help="result.schema.json; default: the one installed with this package",
    )
    return parser


def _check_packages():
    missing = []
    for module, debian, pip in _NEEDED:
        try:
            importlib.import_module(module)
        except ImportError:
            missing.append((debian, pip))
    if missing:
        debian = " ".join(entry[0] for entry in missing)
        pip = " ".join(entry[1] for entry in missing)
        raise ReportError(
            f"reports need Python packages that {sys.executable} lacks; "
            f"install them with 'apt install {debian}' or 'pip install {pip}'"
        )


def _run(arguments):
    if len(arguments.results) > 1:
        raise ReportError(
            f"{len(arguments.results)} results were given but a report is made from one; "
            "give one RESULT.json, and a folder of its own to each report"
        )
    _check_packages()
    # Imported late: these need the packages just checked.
    from . import output, render, result_file

    result = result_file.load(Path(arguments.results[0]), arguments.schema)
    folder = output.prepare_folder(Path(arguments.output))
    output.write_all(folder, render.render(result))
    return folder / "report.html"


def main(argv=None):
    """Runs the command; returns the exit code. Errors are one sentence on standard error."""
    try:
        page = _run(_parser().parse_args(argv))
    except ReportError as error:
        print("pairmark report: " + " ".join(str(error).split()), file=sys.stderr)
        return EXIT_USAGE
    print(page)
    return EXIT_OK
