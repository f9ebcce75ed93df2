"""Searches that run: their messages, and what stopped them."""

import logging
import tempfile
from collections.abc import Callable
from typing import Any, Optional

from prismopt.results import Results

_log = logging.getLogger("prismopt")


def run(
    search: "Callable[[Callable[[str], None]], tuple[Any, bool, bool, bool]]",
    path: str,
    folder: "Optional[tempfile.TemporaryDirectory[str]]",
) -> Results:
    """Results of search(log), which may be provisional. `folder`: that is kept as long as the results."""
    core, complete, interrupted, nothing_to_do = search(_log.info)
    if nothing_to_do:
        return Results.open(path)
    if not complete:
        why = "Ctrl-C" if interrupted else "its time limit"
        _log.warning("the search was stopped by %s: its front is provisional, and it can be continued", why)
    return Results(core, folder)
