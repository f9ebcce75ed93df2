"""Plans as words, "tp=8 pp=16 schedule=1f1b", however they are given."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeGuard, Union

if TYPE_CHECKING:
    import pandas

    from prismopt.plans import Plan

OnePlan = Union[str, "Mapping[str, Any]", "Plan"]
ManyPlans = Union["Sequence[OnePlan]", "Mapping[str, Sequence[Any]]", "pandas.DataFrame"]

_columns_of_words = ("plan", "design")


def is_many(plans: "OnePlan | ManyPlans | None") -> "TypeGuard[ManyPlans]":
    """Whether this is several plans: a list, a DataFrame, or columns of values by axis."""
    if isinstance(plans, Mapping):
        return any(_is_column(value) for value in plans.values())
    return _is_column(plans) or _is_data_frame(plans)


def words_of(plan: "OnePlan | None", axes: Mapping[str, Any]) -> str:
    """One plan in words; `axes` follow those of the plan."""
    words = "" if plan is None else plan if isinstance(plan, str) else None
    if words is None:
        words = _axis_words(plan) if isinstance(plan, Mapping) else str(plan)
    return f"{words} {_axis_words(axes)}".strip()


def words_of_all(given: ManyPlans) -> list[str]:
    """Each plan in words. Columns that are called "plan" or "design" hold words; others are axes."""
    plans: Any = given  # by what it has: pandas may be missing
    if not (isinstance(plans, Mapping) or _is_data_frame(plans)):
        return [words_of(plan, {}) for plan in plans]
    columns: dict[str, Any] = {str(name): plans[name] for name in plans}
    for name in _columns_of_words:
        if name in columns:
            return [str(words) for words in columns[name]]
    lengths = {len(column) for column in columns.values() if _is_column(column)}
    if len(lengths) != 1:
        raise ValueError(f"columns of plans need equal lengths, and these have {sorted(lengths)}; give each as many values")
    rows = lengths.pop()
    texts = [_column_words(name, column, rows) for name, column in columns.items()]
    return [" ".join(words) for words in zip(*texts)]


def _column_words(name: str, column: Any, rows: int) -> list[str]:
    if not _is_column(column):
        return [f"{name}={_value_text(column)}"] * rows
    values = column.tolist() if hasattr(column, "tolist") else column
    return [f"{name}={_value_text(value)}" for value in values]


def _axis_words(axes: Mapping[str, Any]) -> str:
    return " ".join(f"{name}={_value_text(value)}" for name, value in axes.items())


def _value_text(value: Any) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, float) and value.is_integer():  # a column of whole numbers with gaps
        return str(int(value))
    return str(value)


def _is_column(value: Any) -> bool:
    return hasattr(value, "__len__") and not isinstance(value, (str, Mapping)) and hasattr(value, "__getitem__")


def _is_data_frame(plans: Any) -> bool:
    return hasattr(plans, "columns") and hasattr(plans, "iloc")
