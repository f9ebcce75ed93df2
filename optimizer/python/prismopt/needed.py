"""Modules that only some calls need."""

import importlib
from typing import Any


def needed(name: str, remedy: str) -> Any:
    """The module. Raises ModuleNotFoundError with the remedy where it, or one that it imports, is missing."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as missing:
        raise ModuleNotFoundError(f"{missing.name} is missing: {remedy}", name=missing.name) from missing
