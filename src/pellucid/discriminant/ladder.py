r"""The ladder of Gaussian rules on one table: which assumption do the data pay for?

Rungs, from few assumptions shared to none: nearest mean (Euclidean), weighted Euclidean, LDA,
Gaussian naive Bayes, QDA, and LDA on squares and cross products, the linear rival of QDA. All are
judged on the same folds, from the class moments of each fold.

Box's M asks whether the covariances are equal:

    M = (N - K) log|S| - sum_k (n_k - 1) log|S_k|,
    c = (sum_k 1/(n_k - 1) - 1/(N - K)) (2p^2 + 3p - 1)/(6 (p + 1)(K - 1)),
    (1 - c) M ~ chi^2 with p(p + 1)(K - 1)/2 degrees of freedom.

It is as sensitive to heavy tails as to covariances. Mardia's kurtosis asks for these: for normal
rows the mean of (d^2)^2, d the distance to the own mean, is p(p + 2) (n - 1)/(n + 1) with variance
8 p(p + 2)/n.

References: Box (1949); Mardia (1970); Hastie, Tibshirani, Friedman, ESL, sections 4.3 and 4.4.5.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.special import chdtrc, ndtr
from sklearn.model_selection import StratifiedKFold, check_cv

from pellucid.base import check_labels, encode_labels, find_nonfinite
from pellucid.core.arrays import check
from pellucid.core.arrays.frames import frame_matrix, is_frame
from pellucid.core.arrays.reading import check_array
from pellucid.core.arrays.typing import Array, ArrayLike, Folds, Seed
from pellucid.core.loops.selection import one_standard_error
from pellucid.core.loops.statistics import Rows, unit_weights
from pellucid.core.readable import readable
from pellucid.core.records import html_table, plain, text_table, wrapped
from pellucid.core.runtime.random import generator
from pellucid.core.runtime.threads import map_threads
from pellucid.discriminant.covariance import sphere
from pellucid.discriminant.moments import ClassScatter, pooled, sum_classes
from pellucid.discriminant.rda import rule_parameters
from pellucid.discriminant.rda_cv import Fold, Grid, grid_accuracy, make_folds

MOST_COLUMNS = 400  # of squares and cross products that are tried
LEVEL = 0.01  # below this p-value the notes speak up
COLUMNS = ("rung", "assumption", "n_parameters", "estimable", "error", "standard_error")


class BoxM(NamedTuple):
    """Box's test of equal covariances; NaN with a reason where a covariance is singular."""

    statistic: float
    chi2: float
    df: int
    p_value: float
    reason: str = ""


class Rung(NamedTuple):
    """One rule of the ladder."""

    name: str
    assumption: str
    n_parameters: int
    estimable: bool
    reason: str  # why not, where it is not
    error: float  # cross-validated, NaN where not estimable
    standard_error: float


class Kind(NamedTuple):
    name: str
    assumption: str
    covariance_type: str
    alpha: float


KINDS = (
    Kind("nearest mean", "one sphere for all classes", "spherical", 0.0),
    Kind("weighted Euclidean", "independent columns, variances shared", "diag", 0.0),
    Kind("LDA", "one covariance for all classes", "full", 0.0),
    Kind("naive Bayes", "independent columns within each class", "diag", 1.0),
    Kind("QDA", "a covariance for each class", "full", 1.0),
)


@readable
@dataclass(frozen=True)
class DiscriminantLadder:
    """What ``discriminant_ladder`` found: ``rungs``, ``box_m``, ``recommended`` and ``notes``.

    >>> box = BoxM(1.0, 0.9, 3, 0.8)
    >>> rung = Rung("LDA", "one covariance for all classes", 3, True, "", 0.1, 0.02)
    >>> DiscriminantLadder((rung,), box, "normal tails", "LDA", ()).rows[0][0]
    'LDA'
    """

    rungs: tuple[Rung, ...]
    box_m: BoxM
    normality: str  # what the tails of the classes look like
    recommended: str
    notes: tuple[str, ...]

    columns = COLUMNS

    @property
    def rows(self) -> list[tuple[Any, ...]]:
        """The table, one tuple per rung."""
        answers = ("yes" if rung.estimable else rung.reason for rung in self.rungs)
        return [(*r[:3], said, *r[5:]) for r, said in zip(self.rungs, answers, strict=True)]

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain lists, numbers and texts."""
        parts = {"rungs": [rung._asdict() for rung in self.rungs], "box_m": self.box_m._asdict()}
        words = {"normality": self.normality, "recommended": self.recommended, "notes": self.notes}
        return plain({**parts, **words})

    def _lines(self) -> list[str]:
        box = self.box_m
        test = box.reason or f"chi2 = {box.chi2:.6g} on {box.df} df, p = {box.p_value:.4g}"
        head = [f"Box's M (equal covariances): {test}", self.normality]
        return [*head, f"Recommended (one standard error): {self.recommended}", *self.notes]

    def __str__(self) -> str:
        return "\n".join([text_table(self.columns, self.rows), *map(wrapped, self._lines())])

    def _repr_html_(self) -> str:
        from html import escape

        lines = "".join(f"<li>{escape(line)}</li>" for line in self._lines())
        return html_table(self.columns, self.rows) + f"<ul>{lines}</ul>"


def box_test(stat: ClassScatter) -> BoxM:
    """Box's M from the class moments."""
    n, (K, p) = stat.weight, stat.mean.shape
    df = p * (p + 1) * (K - 1) // 2
    if (n <= p).any():
        why = f"not defined: the smallest class has {n.min():g} rows for {p} columns"
        return BoxM(np.nan, np.nan, df, np.nan, why)
    parts = [sphere(S, 0.0) for S in stat.scatter / (n - 1)[:, None, None]]
    every = sphere(pooled(stat) / (n.sum() - K), 0.0)
    if any(one.whitening.shape[1] < p for one in [*parts, every]):
        return BoxM(np.nan, np.nan, df, np.nan, "not defined: a class covariance is singular")
    logs = np.array([one.log_determinant for one in parts])
    M = (n.sum() - K) * every.log_determinant - (n - 1) @ logs
    c = ((1 / (n - 1)).sum() - 1 / (n.sum() - K)) * (2 * p**2 + 3 * p - 1)
    c /= 6 * (p + 1) * (K - 1)
    chi2 = float(max((1 - c) * M, 0.0))
    return BoxM(float(M), chi2, df, float(chdtrc(df, chi2)))


def kurtosis_test(rows: Rows, stat: ClassScatter) -> float:
    """Mardia's z over the classes together; NaN where no class has more rows than columns."""
    z, used = 0.0, 0
    for k, n in enumerate(stat.weight):
        p = stat.mean.shape[1]
        if n <= p + 1:
            continue
        T = sphere(stat.scatter[k] / n, 0.0).whitening
        r = T.shape[1]
        d2 = (((rows.X[rows.y == k] - stat.mean[k]) @ T) ** 2).sum(axis=1)
        usual = r * (r + 2) * (n - 1) / (n + 1)
        z += float(((d2**2).mean() - usual) / np.sqrt(8 * r * (r + 2) / n))
        used += 1
    return z / np.sqrt(used) if used else np.nan


def squares_and_products(X: Array) -> Array:
    """The columns, their squares and their cross products, from standardised columns.

    >>> squares_and_products(np.array([[1.0, 2.0], [3.0, 6.0]])).shape
    (2, 5)
    """
    sd = X.std(axis=0)
    Z = (X - X.mean(axis=0)) / np.where(sd > 0, sd, 1.0)
    a, b = np.triu_indices(X.shape[1])
    return np.hstack([Z, Z[:, a] * Z[:, b]])


def judge(folds: list[Fold], kind: Kind, K: int, p: int) -> Rung:
    """Cross-validated error of one rung."""
    grid = Grid(np.array([kind.alpha]), np.zeros(1), kind.covariance_type, "class")
    accuracy = grid_accuracy(folds, grid, None)[0, 0]
    count = rule_parameters(K, p, kind.covariance_type, kind.alpha)
    if np.isnan(accuracy).any():
        smallest = min(float(fold.stat.weight.min()) for fold in folds)
        few = kind.alpha > 0 and smallest <= (p if kind.covariance_type == "full" else 1)
        why = f"n_k = {smallest:g} <= p = {p}" if few else "a covariance is singular"
        return Rung(kind.name, kind.assumption, count, False, f"no: {why}", np.nan, np.nan)
    error = float(accuracy.std(ddof=1) / np.sqrt(len(accuracy))) if len(accuracy) > 1 else 0.0
    return Rung(kind.name, kind.assumption, count, True, "", float(1 - accuracy.mean()), error)


def discriminant_ladder(
    X: ArrayLike, y: ArrayLike, *, cv: Folds = 5, random_state: Seed = None
) -> DiscriminantLadder:
    """Judge every rung of the ladder on the same folds and recommend one.

    Parameters
    ----------
    X, y : array-like of shape (n, p) and (n,)
        Numbers and labels.
    cv : int, splitter or iterable, default=5
        The folds; a whole number is stratified and shuffled.
    random_state : int, RandomState, Generator or None
        Of the shuffle.

    Returns
    -------
    DiscriminantLadder
        ``rungs`` (name, assumption, n_parameters, estimable, reason, error, standard_error),
        ``box_m``, ``normality``, ``recommended`` and ``notes``; printing it shows the table.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(2, size=200)
    >>> X = rng.normal(size=(200, 2)) + 2 * y[:, None]
    >>> ladder = discriminant_ladder(X, y, random_state=0)
    >>> [rung.name for rung in ladder.rungs][:3], ladder.recommended
    (['nearest mean', 'weighted Euclidean', 'LDA'], 'nearest mean')
    """
    rows, classes = _rows(X, y)
    K, p = len(classes), rows.X.shape[1]
    if isinstance(cv, int | np.integer):
        check.whole(at_least=2, cv=cv)
        seed = int(generator(random_state).integers(2**31))
        cv = StratifiedKFold(int(cv), shuffle=True, random_state=seed)
    splits = list(check_cv(cv, rows.y, classifier=True).split(rows.X, rows.y))
    folds = make_folds(rows, splits, K)
    rungs = [judge(folds, kind, K, p) for kind in KINDS]
    rungs.append(_squares_rung(rows, splits, K, p))
    stat = sum_classes(rows, map_threads, K, True)
    box, z = box_test(stat), kurtosis_test(rows, stat)
    normality, normal = _normality(z)
    recommended = _recommend(rungs)
    notes = _notes(rows, recommended, box, normal)
    return DiscriminantLadder(tuple(rungs), box, normality, recommended, notes)


def _rows(X: ArrayLike, y: ArrayLike) -> tuple[Rows, Any]:
    matrix = frame_matrix(X) if is_frame(X) else X
    matrix = check_array(matrix, dtype=np.float64, ensure_all_finite=False, order="C")
    found = find_nonfinite(matrix, allow_nan=False)
    if found is not None:
        raise ValueError(f"X contains NaN or inf in column {found[1]}, row {found[0]}")
    classes, codes = encode_labels(check_labels(y, len(matrix), None))
    if len(classes) < 2:
        raise ValueError("a ladder needs at least 2 classes, got 1 class")
    return Rows(matrix, codes, unit_weights(len(matrix))), classes


def _squares_rung(rows: Rows, splits: list[Any], K: int, p: int) -> Rung:
    q = p * (p + 3) // 2
    kind = Kind("LDA on squares", "linear in squares and cross products", "full", 0.0)
    if q > MOST_COLUMNS:
        why = f"no: {q} columns of squares and products, at most {MOST_COLUMNS} are tried"
        return Rung(kind.name, kind.assumption, (K - 1) * (q + 1), False, why, np.nan, np.nan)
    wide = Rows(squares_and_products(rows.X), rows.y, rows.w)
    return judge(make_folds(wide, splits, K), kind, K, q)


def _normality(z: float) -> tuple[str, bool]:
    if np.isnan(z):
        return "Normality: too few rows in every class to judge the tails", True
    p_value = float(2 * ndtr(-abs(z)))
    tails = "heavier" if z > 0 else "lighter"
    if p_value >= LEVEL:
        return f"Normality: tails as a Gaussian's (Mardia's kurtosis z = {z:.3g})", True
    return f"Normality: tails {tails} than a Gaussian's (Mardia's kurtosis z = {z:.3g})", False


def _recommend(rungs: list[Rung]) -> str:
    placed = [(i, rung) for i, rung in enumerate(rungs) if rung.estimable]
    if not placed:
        raise ValueError("no rung can be estimated: constant columns, or a class of too few rows")
    complexity = [rung.n_parameters + i / 100 for i, rung in placed]
    errors, spreads = [r.error for _, r in placed], [r.standard_error for _, r in placed]
    return placed[one_standard_error(errors, spreads, complexity, greater_is_better=False)][1].name


def _notes(rows: Rows, recommended: str, box: BoxM, normal: bool) -> tuple[str, ...]:
    notes = []
    if box.p_value < LEVEL:
        doubt = "" if normal else " (or the tails, to which the test is as sensitive)"
        notes.append(f"Box's M finds unequal covariances{doubt}: linear rungs lean on the folds")
    few = [j for j in range(rows.X.shape[1]) if len(np.unique(rows.X[:1000, j])) <= 2]
    if few:
        last = (
            f"column {few[0]} has two values at most, which no Gaussian describes: logistic "
            "regression assumes less and is the safer choice"
        )
    elif not normal:
        last = (
            "the rows are not Gaussian within the classes: logistic regression assumes less, is "
            "less moved by outliers, and is the safer choice"
        )
    else:
        last = (
            f"nothing speaks against Gaussian classes: {recommended} uses the data more fully "
            "than logistic regression would"
        )
    return (*notes, last)
