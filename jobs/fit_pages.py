#!/usr/bin/env python3
"""Writes pages on a fit from what `fit_constants DIR --found FOLDER` found; jobs/fit_constants calls it.

usage: python3 jobs/fit_pages.py FOUND OUT

FOUND  folder with components.json and shortlist.json
OUT    folder to write components.md and shortlist.md to
"""

import json
import math
import pathlib
import statistics
import sys

import study

COMMAND = "bash jobs/fit_constants DIR"


def table(columns, rows):
    """A table; columns of numbers begin with ">"."""
    lines = [f"| {' | '.join(map(str, cells))} |" for cells in ([column.lstrip(">") for column in columns], *rows)]
    return "\n".join([lines[0], "|" + "|".join("---:" if column[0] == ">" else "---" for column in columns) + "|", *lines[1:]]) + "\n"


def percent(share, form=".1f"):
    return f"{100 * share:{form}}"


def significant(value):
    """Three digits, as short as they can be."""
    return f"{value:.3g}"


def components_page(found):
    errors = [">rows", ">error %"]
    collectives = table(["collective", "size", ">systems", *errors, ">bias %", ">excluded %"], (
        [c["collective"], c["size"], c["systems"], c["rows"], percent(c["error"]), percent(c["bias"], "+.1f"), percent(c["left_out"])]
        for c in found["collectives"]))
    systems = table(["system", *errors, ">bias %"], (
        [s["system"] + (" (apart)" if s["apart"] else ""), s["rows"], percent(s["error"]), percent(s["bias"], "+.1f")]
        for s in found["systems"]))
    kernels = table(["kernels", "precision", "accelerator", *errors, ">bias of the median %", ">excluded %"], (
        [k["kernels"], k["precision"], k["accelerator"], k["rows"], percent(k["error"]), percent(k["bias"], "+.1f"), percent(k["left_out"])]
        for k in found["kernels"]))
    constants = table(["constant", ">value (SI)", ">+- %"], (
        [c["name"], f"{c['share']:.3f}" if "share" in c else significant(c["value"]), percent(c["deviation"], ".0f")]
        for c in found["constants"]))
    return f"""# Components: collectives and kernels alone

Written by `{COMMAND}`. Formulas: docs/methods/collectives.md, docs/methods/kernel-times.md.

## Collectives

Mean over systems (a machine of one source) of their mean errors, by size of the message. Excluded: by fits without the row's families of links.

{collectives}
By system; those that stand apart are not in the fit (a fabric that its source calls misconfigured, racks with an offset of milliseconds).

{systems}
## Kernels

Forward kernels of one engine for each accelerator, in CUDA graphs. 8- and 4-bit products hold the cast of their activation. The shares of each \
accelerator and kind are fitted; windows, experts and largest values have none of their own. Excluded: by shares fitted without the row's family of \
shapes (products of one n and k, attention of one length). Backward kernels are not in the tables.

{kernels}
## Constants that components alone give

The fit to training steps takes them as observations, so the catalog's differ where steps say otherwise; with those of the catalog errors are in \
model-accuracy.md, "Collectives alone".

{constants}"""


LARGE_GROUP = 8  # plans; shares of smaller groups are coarse


def share_limits(hits, count, tail=0.025):
    """Limits of a share by Clopper and Pearson (1934)."""
    def at_least(share, number):
        return sum(math.comb(count, k) * share**k * (1 - share) ** (count - k) for k in range(number, count + 1))

    def crossing(number, wanted):
        low, high = 0.0, 1.0
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (middle, high) if at_least(middle, number) < wanted else (low, middle)
        return low

    return 0.0 if hits == 0 else crossing(hits, tail), 1.0 if hits == count else crossing(hits + 1, 1 - tail)


def summary(name, groups):
    """Means over groups; medians of sizes of large groups and of errors relative to those before the measurement."""
    best = sum(group["exact"] for group in groups)
    low, high = share_limits(best, len(groups))
    near = sum(group["hit"] for group in groups)
    regrets = [percent(statistics.fmean(group[f"{kind}_regret"] for group in groups)) for kind in ("first", "three", "random")]
    strict = [percent(statistics.fmean(group[f"{kind}_strict"] for group in groups)) for kind in ("first", "three")]
    sizes = [group["covering"] / group["plans"] for group in groups if group["plans"] >= LARGE_GROUP]
    others = [group for group in groups if group["error"] > 0.0]
    errors = [[group[error] / group["error"] for group in others] for error in ("error_after", "error_hindsight")]
    inside = [percent(statistics.fmean(group["inside"][k] for group in others), ".0f") if others else "" for k in range(3)]
    return [name, len(groups), percent(best / len(groups), ".0f"), f"{percent(low, '.0f')} to {percent(high, '.0f')}",
            percent(near / len(groups), ".0f"), *regrets, *strict, *(f"{statistics.median(values):.2f}" if values else "" for values in (sizes, *errors)), *inside]


def shortlist_page(found):
    kinds = {}
    for group in found["groups"]:
        place = "one node" if group["one_node"] else "several nodes"
        kinds.setdefault(place, []).append(group)
        kinds.setdefault(f"{place}: {group['source']}", []).append(group)
    means = table(["groups", "number", "has the best, %", "95 % limits", "hits, %", "first", "three", "random", "first, strictly", "three, strictly", "size", "learning", "hindsight", "50 %", "80 %", "95 %"],
                  (summary(name, kinds[name]) for name in sorted(kinds)))
    columns = ["group", "plans", "90 % shortlist", "hit", "has the best", "first, %", "three, %", "random, %", "error before, %", "after, %"]
    errors = ("first_regret", "three_regret", "random_regret", "error", "error_after")
    groups = table(columns, ([g["job"], g["plans"], g["covering"], *("yes" if g[fact] else "no" for fact in ("hit", "exact")),
                              *(percent(g[error]) if g["plans"] > 3 or error.endswith("regret") else "" for error in errors)]
                             for g in found["groups"]))
    all_plans = found["discrepancy"]
    lengths = ", ".join(f"{of['trait']} {of['length']:.1f}" for of in all_plans["lengths"])
    return f"""# Shortlists of measured plans

Written by `{COMMAND}`.

Groups of at least {found["smallest_judged"]} different measured plans. What the columns mean: \
[docs/methods/result-pages.md](../docs/methods/result-pages.md#shortlistmd).

{means}
Discrepancy of all {all_plans["groups"]} groups of at least {found["smallest_fitted"]} plans (standard deviations of logarithms): \
{all_plans["by_plan"]:.3f} by plan, {all_plans["by_job"]:.3f} by job and cluster, {all_plans["repeats"]:.3f} between
repeated measurements; lengths of the plan's part, in octaves or per change of kind: {lengths}.

{groups}"""


PAGES = {"components": components_page, "shortlist": shortlist_page}


def main():
    if len(sys.argv) != 3 or sys.argv[1].startswith("-"):
        print(__doc__, file=sys.stderr)
        return 2
    found, out = map(pathlib.Path, sys.argv[1:])
    for name, page in PAGES.items():
        path = found / f"{name}.json"
        study.write(out, name, page(json.loads(path.read_text(encoding="utf-8"))))
    return 0


if __name__ == "__main__":
    sys.exit(main())
