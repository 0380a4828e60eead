"""The machine snapshot, a free-form tree, as tables within tables. New keys need no change here."""

import json

from . import figures

_MAX_DEPTH = 8
# Lists of objects with more keys than this are turned: a line per key, so that devices stand side
# by side.
_MAX_COLUMNS = 5
_UNITS = {
    "_bytes": figures.bytes_text,
    "_mhz": lambda v: f"{v:g} MHz",
    "_w": lambda v: f"{v:g} W",
    "_j": lambda v: f"{v:g} J",
    "_c": lambda v: f"{v:g} °C",
    "_s": lambda v: f"{v:g} s",
    "_ms": lambda v: f"{v:g} ms",
    "_us": lambda v: f"{v:g} µs",
    "_gb_s": lambda v: f"{v:g} GB/s",
    "_percent": lambda v: f"{v:g} %",
}


def tree(value, depth=0):
    """Nodes for the templates: {"kind": "text"|"fields"|"table"|"list", ...}."""
    if depth >= _MAX_DEPTH and isinstance(value, (dict, list)):
        return _text(json.dumps(value, ensure_ascii=False))
    if isinstance(value, dict):
        return _fields(value, depth)
    if isinstance(value, list):
        return _list(value, depth)
    return _text(_scalar(value))


def _text(text):
    return {"kind": "text", "text": text}


def _scalar(value, key="", reason=None):
    if value is None:
        return f"not known ({reason or 'no reason given'})"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (int, float)):
        for suffix in sorted(_UNITS, key=len, reverse=True):
            if key.endswith(suffix):
                return _UNITS[suffix](value)
        return str(value) if isinstance(value, int) else f"{value:.6g}"
    return value if value else "(empty)"


def _is_reason(key, item):
    """A reason is shown with the null that it explains, not as a line of its own."""
    if key == "reason":
        return any(value is None for value in item.values())
    name = key.removesuffix("_reason")
    return name != key and name in item and (item[name] is None or item[key] is None)


def _label(key):
    if key.upper() == key:  # the name of a variable of the environment
        return key
    for suffix in sorted(_UNITS, key=len, reverse=True):
        if key.endswith(suffix) and key != suffix:
            key = key.removesuffix(suffix)
            break
    return key.replace("_", " ")


def _field(item, key, depth):
    value = item.get(key)
    if isinstance(value, (dict, list)):
        return tree(value, depth + 1)
    if value is None and key not in item:
        return _text("")
    return _text(_scalar(value, key, item.get(key + "_reason") or item.get("reason")))


def _fields(item, depth):
    if not item:
        return _text("(none)")
    keys = [key for key in item if not _is_reason(key, item)]
    return {"kind": "fields", "items": [(_label(key), _field(item, key, depth)) for key in keys]}


def _list(items, depth):
    if not items:
        return _text("(none)")
    if not any(isinstance(item, (dict, list)) for item in items):
        return _text(", ".join(_scalar(item) for item in items))
    if all(isinstance(item, dict) and item for item in items):
        return _table(items, depth)
    return {"kind": "list", "items": [tree(item, depth + 1) for item in items]}


def _table(items, depth):
    keys = []
    for item in items:
        keys += [key for key in item if key not in keys and not _is_reason(key, item)]
    if len(keys) <= _MAX_COLUMNS:
        head = [_label(key) for key in keys]
        rows = [[_field(item, key, depth) for key in keys] for item in items]
        return {"kind": "table", "head": head, "rows": rows, "turned": False}
    head = [""] + [str(index) for index in range(len(items))]
    rows = [[_text(_label(key))] + [_field(item, key, depth) for item in items] for key in keys]
    return {"kind": "table", "head": head, "rows": rows, "turned": True}
