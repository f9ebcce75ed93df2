"""Plans as words, "tp=8 pp=16 schedule=1f1b", however they are given."""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeGuard, Union

if TYPE_CHECKING:
    import pandas

    from prismopt.plans import Plan

OnePlan = Union[str, "Mapping[str, Any]", "Plan"]
ManyPlans = Union["Sequence[OnePlan]", "Mapping[str, Sequence[Any]]", "pandas.DataFrame"]

_columns_of_words = ("plan", "design", "variant")  # hold words rather than values
_as_elsewhere = -1  # in tables of results: the value is not the plan's, but that of the scenario


def is_many(plans: "OnePlan | ManyPlans | None") -> "TypeGuard[ManyPlans]":
    """Whether this is several plans: a list, a DataFrame, or columns of values by axis."""
    if isinstance(plans, Mapping):
        return any(_is_column(value) for value in plans.values())
    return _is_data_frame(plans) or (isinstance(plans, Iterable) and not _is_one(plans))


def words_of(plan: "OnePlan | None", axes: Mapping[str, Any]) -> str:
    """One plan in words; `axes` follow those of the plan."""
    return f"{_words(plan)} {_axis_words(axes)}".strip()


def words_of_all(given: ManyPlans, axes: Mapping[str, Any], known: Collection[str]) -> list[str]:
    """Each plan in words; `axes` follow those of each plan. `known`: names of axes.

    Tables of results (with a column "point"), and those of predictions ("feasible"), may have other columns than axes.
    """
    plans: Any = given  # by what it has: pandas may be missing
    if isinstance(plans, Mapping) or _is_data_frame(plans):
        columns = {str(name): plans[name] for name in plans}
        words = _words_of_columns(columns, known)
    else:
        words = [_words(plan) for plan in plans]
    more = _axis_words(axes)
    return [f"{plan} {more}".strip() for plan in words]


def _words_of_columns(columns: Mapping[str, Any], known: Collection[str]) -> list[str]:
    lengths = {len(column) for column in columns.values() if _is_column(column)}
    if len(lengths) != 1:
        raise ValueError(f"columns of plans need equal lengths, and these have {sorted(lengths)}; give each as many values")
    rows = lengths.pop()
    if "feasible" in columns and "plan" in columns:
        return [str(words) for words in columns["plan"]]
    of_results = "point" in columns
    if of_results:
        columns = {name: column for name, column in columns.items() if name in known or name in _columns_of_words}
    texts = [_column_words(name, column, rows, of_results) for name, column in columns.items()]
    return [" ".join(filter(None, words)) for words in zip(*texts)]


def _column_words(name: str, column: Any, rows: int, of_results: bool) -> list[str]:
    values = list(column) if _is_column(column) else [column] * rows
    if name in _columns_of_words:
        return [str(value) for value in values]
    if of_results:
        values = ["" if value == _as_elsewhere else value for value in values]
    return [_value_words(name, value, f" in row {row}") if value != "" else "" for row, value in enumerate(values)]


def _words(plan: Any) -> str:
    if isinstance(plan, str):
        return plan
    if plan is None:
        return ""
    if isinstance(plan, Mapping):
        return _axis_words(plan)
    if _is_series(plan):
        return _axis_words(plan.to_dict())
    if hasattr(plan, "changed") and hasattr(plan, "axes"):  # a Plan
        return str(plan)
    raise TypeError(f"{plan!r} is not a plan; give words as \"tp=8 pp=2\", a dictionary of axes, or a Plan")


def _axis_words(axes: Mapping[str, Any]) -> str:
    return " ".join(_value_words(str(name), value) for name, value in axes.items())


def _value_words(name: str, value: Any, where: str = "") -> str:
    if hasattr(value, "item"):  # of numpy
        value = value.item()
    if value is None or (isinstance(value, float) and math.isnan(value)):
        raise ValueError(f"{name} has no value{where}; give one, or leave the axis out")
    if isinstance(value, bool):
        return f"{name}={'on' if value else 'off'}"
    if isinstance(value, float) and value.is_integer():
        return f"{name}={int(value)}"
    return f"{name}={value}"


def _is_column(value: Any) -> bool:
    return hasattr(value, "__len__") and hasattr(value, "__getitem__") and not isinstance(value, (str, bytes, Mapping))


def _is_series(plan: Any) -> bool:
    return hasattr(plan, "iloc") and not hasattr(plan, "columns")


def _is_one(plan: Any) -> bool:
    return isinstance(plan, (str, bytes, Mapping)) or (_is_series(plan) and _has_names(plan))


def _has_names(series: Any) -> bool:
    """Whether a Series is a row of a DataFrame, with the names of its columns, rather than a column."""
    return all(isinstance(name, str) for name in series.index)


def _is_data_frame(plans: Any) -> bool:
    return hasattr(plans, "columns") and hasattr(plans, "iloc")
