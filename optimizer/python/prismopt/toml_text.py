"""Values and tables as TOML, which the standard library reads but does not write."""

import json
from collections.abc import Mapping
from typing import Any


def value_text(value: Any) -> str:
    """One value in a line: 128, "450 GB/s", [1, 2], {a = 1}."""
    if hasattr(value, "tolist"):  # of numpy
        value = value.tolist()
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, Mapping):
        pairs = (f"{_key_text(key)} = {value_text(item)}" for key, item in value.items())
        return "{" + ", ".join(pairs) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(value_text(item) for item in value) + "]"
    if hasattr(value, "isoformat"):
        return str(value.isoformat())
    raise TypeError(f"a scenario has no values of type {type(value).__name__}: {value!r}")


def document(tables: Mapping[str, Any]) -> str:
    """A whole file: values first, then a section for each table, and [[section]] for each table in a list."""
    return "\n".join(_lines(tables, "")) + "\n"


def _lines(table: Mapping[str, Any], path: str) -> list[str]:
    lines = [f"{_key_text(key)} = {value_text(value)}" for key, value in table.items() if not _has_sections(value)]
    for key, value in table.items():
        name = f"{path}{_key_text(key)}"
        if isinstance(value, Mapping):
            lines += ["", f"[{name}]", *_lines(value, name + ".")]
        elif _has_sections(value):
            for item in value:
                lines += ["", f"[[{name}]]", *_lines(item, name + ".")]
    return lines


def _has_sections(value: Any) -> bool:
    if isinstance(value, Mapping):
        return True
    return isinstance(value, (list, tuple)) and len(value) > 0 and all(isinstance(item, Mapping) for item in value)


def _key_text(key: Any) -> str:
    name = str(key)
    bare = name.isascii() and name.replace("-", "").replace("_", "").isalnum()
    return name if bare else value_text(name)
