r"""The average of several candidates, with weights that their own folds choose.

    f(x) = sum_m w_m f_m(x),   w_m >= 0,  sum w = 1           numbers, or probabilities of classes

Weights are counts: from the best model on, the model that lowers the loss of the average most is
added, again and again, the same one as often as it helps. The loss is that of the judging rows of
the folds, each said by a model that had not seen it (squared error or log loss). The score of the
average in a fold uses the weights of the other folds, so it is as honest as that of its members.

Reference: Caruana, Niculescu-Mizil, Crew & Ksikes (2004), Ensemble selection.
"""

import time
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, clone

from pellucid.core.arrays.typing import Array
from pellucid.study.candidates.candidates import Tried, public
from pellucid.study.candidates.leaderboard import usual_parameters
from pellucid.study.candidates.training import Outcome, Workshop
from pellucid.study.records import Candidate

KINDS = ("binary", "multiclass", "regression")
STEPS, LEAST = 40, 0.03  # additions; a smaller weight is not worth a model
MOST = 6  # members
COMPLEXITY = 6


class FoldBlend:
    """The weighted answers of fitted models: the average, in one fold."""

    def __init__(self, models: list[Any], weights: Array) -> None:
        self.models = [m for m, w in zip(models, weights, strict=True) if w > 0]
        self.weights = weights[weights > 0]
        if hasattr(self.models[0], "classes_"):
            self.classes_ = self.models[0].classes_
            self.predict_proba = self._mean_probability

    def _mean_probability(self, Z: Array) -> Array:
        return np.average([m.predict_proba(Z) for m in self.models], axis=0, weights=self.weights)

    def predict(self, Z: Array) -> Any:
        if hasattr(self, "classes_"):
            return self.classes_[self._mean_probability(Z).argmax(axis=1)]
        return np.average([m.predict(Z) for m in self.models], axis=0, weights=self.weights)


class Said(NamedTuple):
    """What the candidates say of the judged rows of one part."""

    answers: Array  # (members, n, K); K = 1 for numbers
    truth: Array  # (n, K)


def blend(shop: Workshop, outcomes: list[Outcome]) -> Outcome | None:
    """The average as a candidate of its own; None where there is nothing to average."""
    began = time.perf_counter()
    members = eligible(shop, outcomes)
    if len(members) < 2:
        return None
    said = said_of(shop, members)
    weights = greedy_weights(said)
    if (weights > 0).sum() < 2:
        return None
    scores, inside, models = _judged(shop, members, said, weights)
    own = time.perf_counter() - began
    used = [one for one, w in zip(members, weights, strict=True) if w > 0]
    return Outcome(
        _tried(shop, members, weights),
        np.array(scores),
        np.array(inside),
        [{}] * len(shop.folds),
        models,
        own + sum(one.seconds for one in used),
        0,
        max(one.sampled for one in used),
    )


def eligible(shop: Workshop, outcomes: list[Outcome]) -> list[Outcome]:
    """Candidates on the common features that say numbers or probabilities; the best few."""
    kind, sign = shop.scorer.task.kind, shop.scorer.sign
    if kind not in KINDS:
        return []
    found = [one for one in outcomes if one.complexity > 0 and one.tried.features == {}]
    if kind != "regression":
        found = [one for one in found if hasattr(one.models[0], "predict_proba")]
        # a vote hands its members codes; one that knows the order of the labels needs the labels
        found = [one for one in found if not hasattr(one.tried.candidate.estimator, "order")]
        every = np.asarray(sorted(set(shop.y[np.concatenate(shop.folds[0])].tolist())))
        if any(not np.array_equal(m.classes_, every) for one in found for m in one.models):
            return []
    guess = next((one for one in outcomes if one.complexity == 0), None)
    if guess is not None:
        found = [one for one in found if sign * (one.scores.mean() - guess.scores.mean()) > 0]
    return sorted(found, key=lambda one: -sign * one.scores.mean())[: 2 * MOST]


def said_of(shop: Workshop, members: list[Outcome]) -> list[Said]:
    """Answers of every judged part, by the models of its fold."""
    found = []
    for i, at in shop.judged_places():
        part = shop.outer_part(i, {})
        answers = [_answer(one.models[i], part.Z_judge[at]) for one in members]
        y = part.y_judge[at]
        if shop.scorer.task.kind == "regression":
            truth = y[:, None].astype(np.float64)
        else:
            truth = (y[:, None] == members[0].models[i].classes_).astype(np.float64)
        found.append(Said(np.array(answers), truth))
    return found


def _answer(model: Any, Z: Array) -> Array:
    if hasattr(model, "predict_proba"):
        return np.asarray(model.predict_proba(Z), dtype=np.float64)
    return np.asarray(model.predict(Z), dtype=np.float64)[:, None]


def greedy_weights(said: list[Said]) -> Array:
    """Counts of a greedy selection with repetition, as weights.

    >>> truth = np.array([[0.0], [0.0]])
    >>> answers = np.array([[[1.0], [1.0]], [[-1.0], [-1.0]], [[9.0], [9.0]]])
    >>> greedy_weights([Said(answers, truth)])
    array([0.5, 0.5, 0. ])
    """
    answers = np.concatenate([one.answers for one in said], axis=1)
    truth = np.concatenate([one.truth for one in said])
    m = len(answers)
    counts, total = np.zeros(m), np.zeros_like(truth)
    best, kept = np.inf, counts
    for step in range(STEPS):
        losses = [_loss((total + one) / (step + 1), truth) for one in answers]
        at = int(np.argmin(losses))
        counts[at] += 1
        total = total + answers[at]
        if losses[at] < best * (1 - 1e-6):
            best, kept = losses[at], counts.copy()
    weights = kept / kept.sum()
    strong = np.sort(weights)[::-1][min(MOST, m) - 1]
    weights[(weights < LEAST) | (weights < strong)] = 0.0
    return weights / weights.sum()


def _loss(said: Array, truth: Array) -> float:
    """Mean squared error of numbers, log loss of probabilities."""
    if truth.shape[1] == 1:
        return float(((said - truth) ** 2).mean())
    floor = 0.5 / len(truth)  # no row may decide alone
    return float(-np.log(np.maximum((said * truth).sum(axis=1), floor)).mean())


def _judged(
    shop: Workshop, members: list[Outcome], said: list[Said], weights: Array
) -> tuple[list[float], list[float], list[Any]]:
    """Scores of every part, with the weights that the other parts choose."""
    scores, inside, models = [], [], []
    for j, (i, at) in enumerate(shop.judged_places()):
        part = shop.outer_part(i, {})
        others = greedy_weights([one for k, one in enumerate(said) if k != j])
        one = FoldBlend([member.models[i] for member in members], others)
        scores.append(shop.score(one, part.Z_judge[at], part.judge[at]))
        inside.append(shop.score(one, part.Z_learn, part.learn))
        models.append(one)
    if len(shop.folds) == 1:
        models = [FoldBlend([member.models[0] for member in members], weights)]
    return scores, inside, models


def _tried(shop: Workshop, members: list[Outcome], weights: Array) -> Tried:
    """The average as a model that can be fitted anew: every member with its usual parameters."""
    used = [(one, float(w)) for one, w in zip(members, weights, strict=True) if w > 0]
    used.sort(key=lambda pair: -pair[1])
    fitted = [(one.key, member_of(one)) for one, _ in used]
    shares = [round(w, 4) for _, w in used]
    estimator: Any
    if shop.scorer.task.kind == "regression":
        estimator = public("VotingRegressor")(fitted, weights=shares)
    else:
        estimator = public("VotingClassifier")(fitted, voting="soft", weights=shares)
    names = [one.name for one, _ in used]
    name = f"average of {', '.join(names[:-1])} and {names[-1]}"
    said = ", ".join(
        f"{one.name} {share:.2f}" for (one, _), share in zip(used, shares, strict=True)
    )
    reason = f"what several models say, averaged by weights that the folds chose: {said}"
    return Tried(Candidate(name, "average", estimator, {}, COMPLEXITY, reason, True), {})


def member_of(outcome: Outcome) -> BaseEstimator:
    return clone(outcome.tried.candidate.estimator).set_params(**usual_parameters(outcome.params))
