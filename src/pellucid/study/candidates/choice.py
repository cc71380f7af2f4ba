r"""Which candidate is taken: the strongest in the folds, or a simpler one that is shown level.

    eligible   better than guessing on average and in most folds
    lead       the best mean. Where shares of right answers judge, several candidates are usually
               within one standard error of it: of these the one with the lowest log loss, since
               its probabilities are used too and the log loss tells candidates apart with
               fewer rows
    level      the upper end of the one-sided 95 % interval of "lead - c", fold by fold, is no more
               than a useful loss: 1 % of the lead's error, or where more is better 1 % of what
               guessing leaves to gain; for classes also 1 % of guessing's log loss

    prefer = strong        the least complex of the lead and what is shown to be level with it
             simple        the least complex that is not shown to be worse than the best, and at
                           most one standard error of the difference behind it
             explainable   as strong, among models that a person can read (complexity 1 and 2)

Five folds share their learning rows; the variance of a mean of differences is that of Nadeau and
Bengio. "Not shown to be worse" alone says little with five folds, so it is not taken for level.

References: Nadeau & Bengio (2003); Holm (1979); Breiman et al. (1984) for the standard error.
"""

from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from scipy.special import stdtrit

from pellucid.core.arrays.typing import Array, BoolArray
from pellucid.evaluation.hypotheses.multiple import adjust_p_values
from pellucid.evaluation.hypotheses.t_tests import corrected_t_test
from pellucid.study.candidates.training import Outcome, Workshop
from pellucid.study.judging.calibration import find_beta, tempered

PREFER = ("strong", "simple", "explainable")
LOSS = 0.01  # a useful loss: share of an error
ONE_ERROR = 1.0  # standard errors that a simpler model may be behind the best
READABLE = 2  # complexity
PROPER = ("log_loss", "brier")


class Choice(NamedTuple):
    """The best and the chosen outcome, by place, and p-values against the best."""

    best: int
    chosen: int
    p_worse: Array  # against the best, Holm over all pairs of models; nan for it, and for guessing
    signal: bool  # is any model better than guessing in the folds?
    challenger: int  # the model whose gain over the yardstick is tested; the chosen one if any
    why: str = "best"  # best, level, probabilities, simple, explainable or steady


class Race(NamedTuple):
    """Scores of all candidates, more is better, fold by fold."""

    table: Array  # (candidates, folds)
    ratio: float  # test rows per learning row
    complexity: list[int]

    @property
    def mean(self) -> Array:
        return self.table.mean(axis=1)

    def best_of(self, places: list[int]) -> int:
        return min(places, key=lambda i: (-self.mean[i], self.complexity[i]))

    def behind(self, best: int, other: int) -> Any:
        """The one-sided test of "best is better than other"."""
        pair = self.table[best], self.table[other]
        return corrected_t_test(*pair, test_ratio=self.ratio, alternative="greater")


def choose_outcome(
    shop: Workshop, outcomes: list[Outcome], alpha: float, prefer: str = "strong"
) -> Choice:
    """The candidate to take; ``prefer`` as above."""
    race = Race(
        shop.scorer.sign * np.array([one.scores for one in outcomes]),
        shop.ratio(),
        [one.complexity for one in outcomes],
    )
    every = list(range(len(outcomes)))
    best, guess = race.best_of(every), race.complexity.index(0)
    p_worse = _against(race, best)
    models = [i for i in every if i != guess]
    table, mean = race.table, race.mean
    better = [i for i in models if mean[i] > mean[guess] and _mostly(table[i] > table[guess])]
    if not better:
        challenger = race.best_of(models) if models else guess
        return Choice(best, guess, p_worse, False, challenger)
    if prefer == "simple":
        chosen, why = _not_shown_worse(race, better, best, p_worse, alpha)
    else:
        chosen, why = _strong(shop, outcomes, race, better, prefer == "explainable")
    if why == "best" and chosen != best:
        why = "steady"  # the best mean is of one that guessing beats in half of the folds
    return Choice(best, chosen, p_worse, True, chosen, why)


def _against(race: Race, best: int) -> Array:
    """p-values of the best against each, of the table of all pairs: one family, one correction.

    Guessing is no model: the gain over it is the one claim of a study, tested on the test rows.
    """
    models = [i for i, complexity in enumerate(race.complexity) if complexity > 0]
    pairs = list(combinations(models, 2))
    raw = [
        corrected_t_test(race.table[i], race.table[j], test_ratio=race.ratio).p_value
        for i, j in pairs
    ]
    found = np.full(len(race.table), np.nan)
    for pair, p in zip(pairs, adjust_p_values(raw, "holm") if raw else (), strict=True):
        if best in pair:
            found[pair[0] if pair[1] == best else pair[1]] = p
    return found


def _mostly(wins: BoolArray) -> bool:
    return bool(2 * wins.sum() > len(wins))


def _not_shown_worse(
    race: Race, better: list[int], best: int, p_worse: Array, alpha: float
) -> tuple[int, str]:
    level = [
        i
        for i in better
        if i == best or (p_worse[i] >= alpha and race.behind(best, i).statistic <= ONE_ERROR)
    ]
    chosen = min(level or better, key=lambda i: (race.complexity[i], -race.mean[i]))
    return chosen, "best" if chosen == best else "simple"


def _strong(
    shop: Workshop, outcomes: list[Outcome], race: Race, better: list[int], readable: bool
) -> tuple[int, str]:
    """The lead, or the least complex that is shown to be level with it."""
    why = "best"
    if readable:
        plain = [i for i in better if race.complexity[i] <= READABLE]
        why = "explainable" if plain and race.best_of(better) not in plain else "best"
        better = plain or better
    lead = race.best_of(better)
    losses = _log_losses(shop, outcomes, better)
    if losses:
        near = [i for i in losses if i == lead or race.behind(lead, i).statistic <= ONE_ERROR]
        if near:  # a lead without probabilities gives way to a near one that has them
            first = min(near, key=lambda i: (losses[i].mean(), race.complexity[i]))
            why = why if first == lead else "probabilities"
            lead = first
    guess = race.complexity.index(0)
    room = abs(race.mean[lead]) if shop.scorer.sign < 0 else 1.0 - race.mean[guess]
    useful = LOSS * max(room, 0.0)
    level = [i for i in better if _shown_level(race, lead, i, useful)]
    if lead in losses:
        bound = LOSS * _guess_loss(shop, outcomes[guess])
        proper = Race(
            -np.array(
                [losses.get(i, np.full(race.table.shape[1], np.inf)) for i in range(len(outcomes))]
            ),
            race.ratio,
            race.complexity,
        )
        level = [i for i in level if i in losses and _shown_level(proper, lead, i, bound)]
    chosen = min([lead, *level], key=lambda i: (race.complexity[i], -race.mean[i]))
    return chosen, why if chosen == lead else "level"


def _shown_level(race: Race, lead: int, other: int, useful: float) -> bool:
    """Whether the interval of "lead - other" excludes a useful loss."""
    if lead == other or race.complexity[other] >= race.complexity[lead]:
        return False
    difference = race.table[lead] - race.table[other]
    k = len(difference)
    if k < 2:
        return False
    error = np.sqrt((1 / k + race.ratio) * difference.var(ddof=1))
    return bool(difference.mean() + stdtrit(k - 1, 0.95) * error <= useful)


def _log_losses(shop: Workshop, outcomes: list[Outcome], places: list[int]) -> dict[int, Array]:
    """Log loss of every judged part, of candidates that have probabilities."""
    task = shop.scorer.task
    if task.kind not in ("binary", "multiclass") or task.metric in (*PROPER, "mean_cost"):
        return {}
    found = {i: log_losses(shop, outcomes[i]) for i in places}
    return {i: one for i, one in found.items() if one is not None}


def log_losses(shop: Workshop, outcome: Outcome) -> Array | None:
    """Log loss of every judged part, trusted as far as its judged rows say (``calibration``)."""
    models = outcome.models
    if not all(hasattr(model, "predict_proba") for model in models):
        return None
    classes = models[0].classes_
    parts = [shop.outer_part(i, outcome.tried.features) for i in range(len(models))]
    known = all(
        np.array_equal(classes, m.classes_) and np.isin(part.y_judge, classes).all()
        for m, part in zip(models, parts, strict=True)
    )
    if not known:
        return None
    P = [np.asarray(m.predict_proba(p.Z_judge)) for m, p in zip(models, parts, strict=True)]
    codes = [np.searchsorted(classes, part.y_judge) for part in parts]
    every = np.concatenate(codes)
    share = np.bincount(every, minlength=len(classes)) / len(every)
    if (share == 0).any():
        return None
    floor = 0.5 / len(parts[0].y_learn)
    beta = find_beta(np.vstack(P), every, share, floor)
    said = [tempered(one, share, beta, floor) for one in P]
    rows = [-np.log(one[np.arange(len(c)), c]) for one, c in zip(said, codes, strict=True)]
    return np.array([rows[i][at].mean() for i, at in shop.judged_places()])


def _guess_loss(shop: Workshop, guess: Outcome) -> float:
    found = log_losses(shop, guess)
    return 1.0 if found is None else float(found.mean())
