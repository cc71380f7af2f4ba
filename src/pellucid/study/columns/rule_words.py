"""A decision tree in the words of the table it was learned from.

A tree of a study asks about features; a person knows columns. So "island = Biscoe > 0.5" reads
"island is Biscoe", a standardised threshold is given in the column's own units, and an indicator
says that a cell is missing. Every label is then a disjunction of conjunctions (DNF).
"""

from typing import TYPE_CHECKING, Any

from pellucid.core.records import show
from pellucid.study.columns.treatments import Items, Levels, Number
from pellucid.tree.rules import Condition, Rule, export_rules

if TYPE_CHECKING:
    from pellucid.study.columns.table_features import TableFeatures


def phrases(features: "TableFeatures") -> dict[str, tuple[str, str]]:
    """For features that are 0 or 1: what is said of 0 and of 1."""
    found = {}
    for name, one in zip(features._feature_names(), features.treatments_, strict=True):
        if isinstance(one, Levels):
            for label, feature in zip(one.labels, one.names(str(name)), strict=True):
                found[feature] = (f"{name} is not {label}", f"{name} is {label}")
        elif isinstance(one, Items):
            for label, feature in zip(one.labels, one.names(str(name)), strict=False):
                found[feature] = (f"{name} has no {label}", f"{name} has {label}")
        if one is not None and getattr(one, "indicator", False):
            found[one.names(str(name))[-1]] = (f"{name} is known", f"{name} is missing")
    return found


def units(features: "TableFeatures") -> dict[str, Number]:
    """The numbers, to give thresholds in their own units."""
    pairs = zip(features._feature_names(), features.treatments_, strict=True)
    return {str(name): one for name, one in pairs if isinstance(one, Number)}


def in_words(
    condition: Condition, truth: dict[str, tuple[str, str]], numbers: dict[str, Number]
) -> str:
    """
    >>> in_words(Condition("sex = m", ">", 0.5), {"sex = m": ("sex is not m", "sex is m")}, {})
    'sex is m'
    >>> in_words(Condition("x", "<=", 0.5), {}, {"x": Number(0.0, 10.0, 2.0, False, 0.0, 1.0)})
    'x <= 11'
    """
    name, op, value = condition
    if name in truth:
        return truth[name][op == ">"]
    if name in numbers and isinstance(value, float):
        value = value * numbers[name].scale + numbers[name].shift
    return str(condition) if op == "in" else f"{name} {op} {show(value)}"


def tree_rules(tree: Any, features: "TableFeatures", names: list[str]) -> dict[str, Any]:
    """The rules of a tree, and for every label the formula that says when it is given."""
    truth = {} if features is None else phrases(features)
    numbers = {} if features is None else units(features)
    rules: list[Rule] = export_rules(tree, feature_names=names)
    rows: list[dict[str, Any]] = []
    for rule in rules:
        words = [in_words(condition, truth, numbers) for condition in rule.conditions]
        label = rule.label if isinstance(rule.label, str) else show(rule.label)
        rows.append({"when": words, "then": label, "rows": round(sum(rule.counts), 6)})
    formula: dict[str, list[str]] = {}
    for row in rows:
        text = " and ".join(row["when"]) or "always"
        formula.setdefault(row["then"], []).append(f"({text})")
    return {"rules": rows, "dnf": {label: " or ".join(parts) for label, parts in formula.items()}}
