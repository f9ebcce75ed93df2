"""Plots with matplotlib, which is imported when the first is drawn."""

from typing import TYPE_CHECKING, Any, Optional

import numpy as np

from prismopt.needed import needed

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

# Okabe and Ito's colours, which colour-blind readers can distinguish; as in the project's own pictures.
_colours = {
    "F": "#56b4e9",
    "B+W": "#009e73",
    "B": "#009e73",
    "W": "#f0e442",
    "F&B": "#0072b2",
    "bubble": "#eeeeee",
    "transfer": "#d55e00",
    "all-gather": "#cc79a7",
    "reduce-scatter": "#e69f00",
    "optimizer": "#555555",
}
_front_colour = "#d55e00"
_other_colour = "#bbbbbb"
_display_units = (
    ("s", "days", 86400.0),
    ("s", "h", 3600.0),
    ("USD", "million USD", 1e6),
    ("USD", "thousand USD", 1e3),
    ("B", "GB", 1e9),
)


def _axes(ax: "Optional[Axes]", size: tuple[float, float]) -> "Axes":
    if ax is not None:
        return ax
    pyplot = needed("matplotlib.pyplot", "install it, or draw the front as SVG with Results.figure()")
    axes: "Axes" = pyplot.subplots(figsize=size)[1]
    return axes


def _in_display_unit(name: str, units: str, most: float) -> tuple[str, float]:
    """The label of an objective, and what its values are divided by. `most`: the largest of them."""
    words = name.replace("_", " ")
    for unit, label, size in _display_units:
        if unit == units and most >= size:
            return f"{words} ({label})", size
    return f"{words} ({units})" if units else words, 1.0


def _distances(values: "NDArray[np.float64]", limits: "list[NDArray[np.float64]]") -> "NDArray[np.float64]":
    """From values down and up to their confidence limits; none where the draws are too few for a limit."""
    low, high = limits
    distances = np.stack([values - low, high - values])
    return np.where(np.isfinite(distances), distances, 0.0)


def draw_front(results: Any, x: str, y: str, ax: "Optional[Axes]") -> "Axes":
    """Two objectives: the front with its confidence intervals, and all plans with draws."""
    units = results.objectives
    columns = {name: column for name, _, column in results._core.objectives}
    names = list(units)
    x = x or names[0]
    y = y or names[min(1, len(names) - 1)]
    for name in (x, y):
        if name not in units:
            raise ValueError(f"the study has no objective {name!r}; it has {', '.join(names)}")
    if not results._core.front_points:
        raise ValueError("no plan has been drawn yet, so there is no front; continue the search with resume()")
    plans = results.evaluations
    front = set(results._core.front_points)
    others = np.array([point not in front for point in plans["point"]])
    (x_front, *x_limits), (y_front, *y_limits) = (results._core.confirmed(names.index(name)) for name in (x, y))
    x_label, x_unit = _in_display_unit(x, units[x], np.max(x_front))
    y_label, y_unit = _in_display_unit(y, units[y], np.max(y_front))
    ax = _axes(ax, (6.4, 4.2))
    ax.scatter(plans[columns[x]][others] / x_unit, plans[columns[y]][others] / y_unit, s=8, color=_other_colour, label="evaluated in the search")
    ax.errorbar(
        x_front / x_unit,
        y_front / y_unit,
        xerr=_distances(x_front, x_limits) / x_unit,
        yerr=_distances(y_front, y_limits) / y_unit,
        fmt="o",
        markersize=5,
        linewidth=1,
        color=_front_colour,
        label="front, confirmed",
    )
    ax.set_xlabel(x_label)
    ax.set_ylabel(y_label)
    ax.legend(frameon=False)
    return ax


def draw_timeline(events: Any, ax: "Optional[Axes]") -> "Axes":
    """A row per stage: passes of microbatches above, transfers and exchanges as thin lines below them."""
    stages = int(max(events["stage"])) + 1
    ax = _axes(ax, (9.0, 0.9 + 0.45 * stages))
    labelled = set()
    columns = (events[name] for name in ("stage", "stream", "activity", "start_s", "end_s"))
    for stage, stream, activity, start, end in zip(*columns):
        in_lane = stream == "compute"
        place, height = (stage - 0.3, 0.5) if in_lane else (stage + 0.25, 0.12)
        label = None if activity in labelled else activity
        labelled.add(activity)
        ax.broken_barh([(start * 1e3, (end - start) * 1e3)], (place, height), facecolors=_colours[activity], label=label)
    ax.set_yticks(range(stages))
    ax.invert_yaxis()
    ax.set_xlabel("time (ms)")
    ax.set_ylabel("stage")
    ax.legend(frameon=False, ncols=5, loc="upper center", bbox_to_anchor=(0.5, -0.28 if stages < 4 else -0.15), fontsize="small")
    return ax
