r"""Rule lists: the rules of a tree or forest, simplified and in order.

Same logic       two rules with one answer whose conditions differ in one feature only, where they
                 touch, are one rule; repeated until nothing changes. The rules of a tree stay
                 exclusive and the list answers as the tree does.
Pruned           (C4.5rules, CBA) each rule drops the condition whose loss costs least while the
                 errors to fear on the examples, N U_CF(E, N), do not grow per example; equal rules
                 fall together. In the order of their errors to fear, then of their support, a rule
                 stays if it answers an example rightly that no rule before it took; the list ends
                 where list and default together make the fewest errors.

References: Quinlan (1993), chapter 5; Liu, Hsu & Ma (1998), CBA.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, is_classifier
from sklearn.utils.validation import check_is_fitted

from pellucid.base import check_labels
from pellucid.core.arrays import check
from pellucid.core.arrays.frames import indexable_frame, is_frame
from pellucid.core.arrays.typing import ArrayLike, BoolArray, IntArray
from pellucid.core.readable import readable
from pellucid.core.records import plain
from pellucid.ensemble.forest.forest_model import ForestEstimator
from pellucid.tree.cart import CartTree
from pellucid.tree.multiway.multiway_model import MultiwayBase
from pellucid.tree.multiway.pessimistic import pessimistic_errors
from pellucid.tree.rules import Condition, Rule, conjunction, export_rules, leaf_label

MOST = 1000  # candidates with the greatest support that a pruned list chooses from
EVERYWHERE = (-np.inf, np.inf)


@readable
class RuleList(NamedTuple):
    """Rules in order: the first that holds answers, else the default.

    >>> from pellucid import DecisionTreeClassifier
    >>> model = DecisionTreeClassifier().fit([[1], [2], [3], [4]], ["a", "b", "b", "a"])
    >>> print(rule_list(model))
    IF x0 > 1.5 AND x0 <= 3.5 THEN b  (2)
    IF x0 <= 1.5 THEN a  (1)
    IF x0 > 3.5 THEN a  (1)
    ELSE a
    """

    rules: tuple[Rule, ...]  # in order
    default: Any  # answer where no rule holds
    names: tuple[str, ...]  # of the columns

    def predict(self, X: ArrayLike) -> Any:
        """The answer of the first rule that holds for each row, else the default."""
        columns = read_columns(X, self.names)
        n = len(next(iter(columns.values())))
        which = np.full(n, len(self.rules))
        for k in reversed(range(len(self.rules))):
            which[holds(self.rules[k].conditions, columns, n)] = k
        return np.array([*(rule.label for rule in self.rules), self.default])[which]

    def to_dict(self) -> dict[str, Any]:
        """The record as plain numbers, text and lists, ready for JSON."""
        rules = [
            {**r._asdict(), "conditions": [tuple(c) for c in r.conditions]} for r in self.rules
        ]
        return plain({"rules": rules, "default": self.default})

    def __str__(self) -> str:
        lines = [
            f"IF {conjunction(rule.conditions)} THEN {rule.label}  ({sum(rule.counts):g})"
            for rule in self.rules
        ]
        return "\n".join([*lines, f"ELSE {self.default}"])


# --- reading rows ------------------------------------------------------------------------------


def read_columns(X: ArrayLike, names: Sequence[str]) -> dict[str, Any]:
    """The columns by name."""
    if is_frame(X):
        table = indexable_frame(X)
        missing = [name for name in names if name not in table.columns]
        if missing:
            raise ValueError(f"X has no column {missing[0]!r}, which the rules were read with")
        return {name: np.asarray(table[name]) for name in names}
    rows = np.asarray(X)
    if rows.ndim != 2 or rows.shape[1] != len(names):
        raise ValueError(f"X must have {len(names)} columns, got an array of shape {rows.shape}")
    return {name: rows[:, j] for j, name in enumerate(names)}


def holds(conditions: Sequence[Condition], columns: dict[str, Any], n: int) -> BoolArray:
    """Which rows satisfy all conditions; a missing cell satisfies none."""
    return np.logical_and.reduce([np.ones(n, bool), *(satisfied(c, columns) for c in conditions)])


def satisfied(condition: Condition, columns: dict[str, Any]) -> BoolArray:
    column = columns[condition.feature]
    if condition.op in ("<=", ">"):
        x = column.astype(np.float64)
        return x <= condition.value if condition.op == "<=" else x > condition.value
    values = condition.value if condition.op == "in" else (condition.value,)
    return np.array([cell in values for cell in column.tolist()], bool)


# --- the same logic in fewer rules ---------------------------------------------------------------


def box_of(rule: Rule) -> dict[str, Any]:
    """Feature -> (low, high], or the tuple of its values."""
    box: dict[str, Any] = {}
    for feature, op, value in rule.conditions:
        if op in ("=", "in"):
            box[feature] = value if op == "in" else (value,)
            continue
        low, high = box.get(feature, EVERYWHERE)
        box[feature] = (low, min(high, value)) if op == "<=" else (max(low, value), high)
    return box


def set_features(rule: Rule) -> set[str]:
    """The features of which a rule names values."""
    return {c.feature for c in rule.conditions if c.op in ("=", "in")}


def simplify_rules(rules: Sequence[Rule]) -> list[Rule]:
    """Fewer rules that say the same, for rules that exclude each other (those of one tree).

    Parameters
    ----------
    rules : sequence of Rule
        Those of one tree.

    Examples
    --------
    >>> from pellucid.ensemble import simplify_rules
    >>> from pellucid.tree import Condition, Rule
    >>> low, high = Condition("x", "<=", 2.0), Condition("x", ">", 2.0)
    >>> [str(r) for r in simplify_rules([Rule((low,), "a", (3.0,)), Rule((high,), "a", (1.0,))])]
    ['TRUE -> a']
    """
    kept = [(box_of(r), r.label, np.array(r.counts), set_features(r)) for r in rules]
    before = len(kept) + 1
    while len(kept) < before:
        before = len(kept)
        for feature in sorted({f for entry in kept for f in entry[0]}):
            kept = merged_along(kept, feature)
    return [
        Rule(conditions_of(box, sets), label, tuple(counts.tolist()))
        for box, label, counts, sets in kept
    ]


def merged_along(entries: list[Any], feature: str) -> list[Any]:
    """Join boxes that are equal but for one feature and touch there."""
    groups: dict[Any, list[int]] = {}
    for k, (box, label, _, _) in enumerate(entries):
        rest = tuple(sorted((f, v) for f, v in box.items() if f != feature))
        groups.setdefault((label, feature in box, repr(rest)), []).append(k)
    gone: set[int] = set()
    for (_, there, _), members in groups.items():
        if not there or len(members) < 2:
            continue
        if feature in entries[members[0]][3]:
            join_sets(entries, members, feature, gone)
        else:
            join_intervals(entries, members, feature, gone)
    return [entry for k, entry in enumerate(entries) if k not in gone]


def join_sets(entries: list[Any], members: list[int], feature: str, gone: set[int]) -> None:
    first = members[0]
    box, label, counts, sets = entries[first]
    values = tuple(dict.fromkeys(v for k in members for v in entries[k][0][feature]))
    counts = sum((entries[k][2] for k in members[1:]), counts)
    entries[first] = ({**box, feature: values}, label, counts, sets)
    gone.update(members[1:])


def join_intervals(entries: list[Any], members: list[int], feature: str, gone: set[int]) -> None:
    ordered = sorted(members, key=lambda k: entries[k][0][feature])
    at = ordered[0]
    for k in ordered[1:]:
        box, label, counts, sets = entries[at]
        low, high = entries[k][0][feature]
        if box[feature][1] != low:
            at = k
            continue
        whole = {**box, feature: (box[feature][0], high)}
        if whole[feature] == EVERYWHERE:
            del whole[feature]
        entries[at] = (whole, label, counts + entries[k][2], sets)
        gone.add(k)
        if feature not in whole:
            break


def conditions_of(box: dict[str, Any], sets: set[str]) -> tuple[Condition, ...]:
    found = []
    for feature, part in box.items():
        if feature in sets:
            one = len(part) == 1
            found.append(Condition(feature, "=" if one else "in", part[0] if one else part))
            continue
        low, high = part
        found += [Condition(feature, ">", low)] if low > -np.inf else []
        found += [Condition(feature, "<=", high)] if high < np.inf else []
    return tuple(found)


# --- pruned lists --------------------------------------------------------------------------------


class Evidence(NamedTuple):
    """Examples against which rules are judged."""

    columns: dict[str, Any]
    codes: IntArray
    labels: Any
    factor: float
    cache: dict[Condition, BoolArray]

    def mask(self, conditions: Sequence[Condition]) -> BoolArray:
        found = np.ones(len(self.codes), bool)
        for condition in conditions:
            if condition not in self.cache:
                self.cache[condition] = satisfied(condition, self.columns)
            found &= self.cache[condition]
        return found

    def judge(self, mask: BoolArray) -> tuple[float, int, Any]:
        """Errors to fear per example, the best answer, and the counts."""
        counts = np.bincount(self.codes[mask], minlength=len(self.labels))
        total = int(counts.sum())
        if total == 0:
            return 1.0, 0, counts
        best = int(counts.argmax())
        fear = pessimistic_errors(total - counts[best], total, self.factor)
        return float(fear) / total, best, counts


def shortened(conditions: tuple[Condition, ...], seen: Evidence) -> tuple[Condition, ...]:
    """Drop condition after condition while the errors to fear per example do not grow."""
    now = seen.judge(seen.mask(conditions))[0]
    while conditions:
        options = [conditions[:i] + conditions[i + 1 :] for i in range(len(conditions))]
        fears = [seen.judge(seen.mask(option))[0] for option in options]
        best = int(np.argmin(fears))
        if fears[best] > now + 1e-12:
            break
        conditions, now = options[best], fears[best]
    return conditions


def chosen(candidates: list[tuple[Condition, ...]], seen: Evidence) -> tuple[list[Rule], Any]:
    """The rules that add something, in order, and the default."""
    short = dict.fromkeys(
        tuple(sorted(shortened(c, seen), key=str)) for c in dict.fromkeys(candidates)
    )
    judged = []
    for place, conditions in enumerate(short):
        mask = seen.mask(conditions)
        fear, best, counts = seen.judge(mask)
        judged.append((fear, -int(counts.sum()), place, conditions, best, mask, counts))
    left, wrong = np.ones(len(seen.codes), bool), 0
    rules: list[Rule] = []
    totals, defaults = [], []
    for step in [None, *sorted(judged, key=lambda entry: entry[:3])]:  # None: the default alone
        if step is not None:
            _, _, _, conditions, best, mask, counts = step
            new = mask & left
            right = int((seen.codes[new] == best).sum())
            if right == 0:
                continue
            wrong += int(new.sum()) - right
            left &= ~mask
            rules.append(Rule(conditions, seen.labels[best], tuple(counts.astype(float).tolist())))
        rest = np.bincount(seen.codes[left], minlength=len(seen.labels))
        whole = np.bincount(seen.codes, minlength=len(seen.labels))
        defaults.append(int((rest if rest.any() else whole).argmax()))
        totals.append(wrong + int(rest.sum() - rest.max(initial=0)))
    end = int(np.argmin(totals))
    kept = rules[:end]
    default = seen.labels[defaults[end]]
    while kept and kept[-1].label == default:  # the default says it anyway
        kept.pop()
    return kept, default


def rule_list(
    model: BaseEstimator,
    X: ArrayLike | None = None,
    y: ArrayLike | None = None,
    *,
    prune: bool = False,
    confidence_factor: float = 0.25,
    feature_names: Sequence[str] | None = None,
) -> RuleList:
    """The rules of a tree or forest, simplified, in order.

    Parameters
    ----------
    model : estimator
        Fitted tree of ``pellucid.tree``, or random forest of classes.
    X, y : array-like
        Examples by which rules are pruned and ordered. Needed with ``prune`` and for forests,
        whose rules overlap.
    prune : bool, default=False
        False: a tree's list has the tree's logic (rows without missing cells), rules that touch
        are merged, the best supported come first. True, and always for forests: conditions and
        rules that add nothing on the examples are dropped.
    confidence_factor : float, default=0.25
        Of the errors to fear; smaller trusts small rules less.
    feature_names : sequence of str, default=None
        Names of the columns; None: those of the fit.

    Examples
    --------
    >>> from pellucid import RandomForestClassifier
    >>> from pellucid.ensemble import rule_list
    >>> X, y = [[i, i % 3] for i in range(40)], ["low"] * 20 + ["high"] * 20
    >>> model = RandomForestClassifier(20, random_state=0).fit(X, y)
    >>> found = rule_list(model, X, y)
    >>> len(found.rules), (found.predict(X) == y).all().item()
    (1, True)
    """
    check.fraction(confidence_factor=confidence_factor)
    check.boolean(prune=prune)
    forest = isinstance(model, ForestEstimator)
    if not forest and not isinstance(model, CartTree | MultiwayBase):
        raise TypeError(f"a tree or random forest is needed, got {type(model).__name__}")
    check_is_fitted(model)
    if not forest and model.tree_.value.shape[1] > 1:
        raise ValueError(f"a rule list has one target, got {model.tree_.value.shape[1]}")
    names = tuple(map(str, model._feature_names() if feature_names is None else feature_names))
    if not forest and not prune:
        rules = simplify_rules(export_rules(model, feature_names=names))
        ordered = sorted(rules, key=lambda rule: -sum(rule.counts))
        return RuleList(tuple(ordered), leaf_label(model, 0), names)  # as if nothing were asked
    if not is_classifier(model) or model.n_outputs_ > 1 if forest else not is_classifier(model):
        raise ValueError("rules are pruned by their errors: one target of classes is needed")
    if X is None or y is None:
        raise ValueError("the rules of a forest, and pruned rules, need examples: give X and y")
    trees = model.estimators_ if forest else [model]
    rules = [r for tree in trees for r in export_rules(tree, feature_names=names)]
    rules = sorted(rules, key=lambda rule: -sum(rule.counts))
    candidates = list(dict.fromkeys(tuple(sorted(r.conditions, key=str)) for r in rules))[:MOST]
    columns = read_columns(X, names)
    y = check_labels(y, len(next(iter(columns.values()))), model)
    labels, codes = np.unique(y, return_inverse=True)
    seen = Evidence(columns, codes, labels.tolist(), confidence_factor, {})
    kept, default = chosen(candidates, seen)
    return RuleList(tuple(kept), default, names)
