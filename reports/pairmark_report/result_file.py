"""Reads and checks result.json: what passes fits the schema and holds only finite numbers."""

import json
import math
from pathlib import Path

import jsonschema

from .errors import ReportError

NAME = "pairmark-result"
MAJOR = 1


def load(path, schema_path=None):
    """The result as nested dicts and lists. Throws ReportError with one sentence when it cannot "
    "be used."""
    result = _parse(_read(path), path)
    _check_identity(result, path)
    _check_schema(result, path, _load_schema(schema_path))
    return result


def _read(path):
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise ReportError(
            f"{path} is not a text file in UTF-8; give the result.json of a run"
        ) from None
    except OSError as error:
        raise ReportError(
            f"cannot read {path}: {error.strerror}; give the result.json of a run"
        ) from None


def _refuse_constant(token):
    raise ValueError(f"{token} is not JSON")


def _parse(text, path):
    try:
        return json.loads(text, parse_constant=_refuse_constant)
    except RecursionError:
        raise ReportError(
            f"{path} is nested too deeply to be a result; give the result.json of a run"
        ) from None
    except ValueError as error:
        raise ReportError(
            f"{path} is not strict JSON: {error}; give the result.json of a run"
        ) from None


def _check_identity(result, path):
    schema = result.get("schema") if isinstance(result, dict) else None
    if not isinstance(schema, dict) or schema.get("name") != NAME:
        raise ReportError(
            f"{path} is JSON but not a pairmark result; give the result.json of a run"
        )
    major = schema.get("major")
    if isinstance(major, int) and major > MAJOR:
        raise ReportError(
            f"{path} has result format {major} and this program reads format {MAJOR}; use the "
            f"pairmark that wrote it"
        )


def _load_schema(schema_path):
    package = Path(__file__).resolve().parent
    # Installed: share/pairmark/{result.schema.json,python/pairmark_report}. In the source tree:
    # reports/pairmark_report.
    places = [
        package.parent.parent / "result.schema.json",
        package.parent.parent / "harness" / "report" / "schema" / "result.schema.json",
    ]
    if schema_path:
        places = [schema_path]
    for place in places:
        if place.is_file():
            try:
                return json.loads(place.read_text(encoding="utf-8"))
            except (OSError, ValueError) as error:
                raise ReportError(f"cannot use the schema {place}: {error}") from None
    raise ReportError(f"result.schema.json is not at {places[0]}; give it with --schema FILE")


def _check_schema(result, path, schema):
    slim = _without_samples(result, path)
    error = jsonschema.exceptions.best_match(jsonschema.Draft7Validator(schema).iter_errors(slim))
    if error is not None:
        where = "/".join(str(part) for part in error.absolute_path) or "the top level"
        message = " ".join(error.message.split())
        if len(message) > 160:
            message = message[:80] + " ... " + message[-75:]
        raise ReportError(
            f"{path} does not fit the result format: at {where}: {message}; measure again or "
            f"report a bug"
        )
    _check_values(slim, path)


def _without_samples(result, path):
    """A copy for the schema check. Samples, most of a large file, are checked here and faster."""
    rows = result.get("rows")
    if not isinstance(rows, list):
        return result
    slim_rows = []
    for index, row in enumerate(rows):
        launches = row.get("samples_s") if isinstance(row, dict) else None
        if isinstance(launches, list) and all(isinstance(launch, list) for launch in launches):
            for launch in launches:
                if not all(type(x) in (int, float) and math.isfinite(x) for x in launch):
                    raise ReportError(
                        f"{path} does not fit the result format: rows/{index}/samples_s holds a "
                        f"non-number"
                    )
            row = {**row, "samples_s": []}
        slim_rows.append(row)
    return {**result, "rows": slim_rows}


def _check_values(value, path):
    """Refuses what a schema cannot: 1e999 (read as infinity), half a UTF-16 pair (not writable)."""
    pending = [value]
    while pending:
        item = pending.pop()
        if isinstance(item, dict):
            pending.extend(item.keys())
            pending.extend(item.values())
        elif isinstance(item, list):
            pending.extend(item)
        elif isinstance(item, str):
            if any("\ud800" <= c <= "\udfff" for c in item):
                raise ReportError(
                    f"{path} holds text that is not valid Unicode: {ascii(item)[:80]}; measure "
                    f"again"
                )
        elif isinstance(item, (int, float)) and not abs(item) < 1e300:
            raise ReportError(f"{path} holds a number too large to be a figure; measure again")
