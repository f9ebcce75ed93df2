"""Searches that run: their messages, and what stopped them."""

import logging
import tempfile
from collections.abc import Callable
from typing import Optional

from prismopt import _core
from prismopt.results import Results

_log = logging.getLogger("prismopt")


def run(
    search: "Callable[[Callable[[str], None]], _core.EndedSearch]",
    path: str,
    folder: "Optional[tempfile.TemporaryDirectory[str]]",
) -> Results:
    """Results of search(log), which may be provisional. `folder`: that is kept as long as the results."""
    end = search(_log.info)
    if end.nothing_to_do:
        return Results.open(path)
    if not end.complete:
        why = "Ctrl-C" if end.interrupted else "its time limit"
        _log.warning("the search was stopped by %s: its front is provisional, and resume() of the results continues it", why)
    return Results(end.results, folder)
