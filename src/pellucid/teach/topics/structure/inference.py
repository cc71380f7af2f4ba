"""Exercises on inference and sampling: likelihood, conjugate beliefs, Laplace, Metropolis."""

import numpy as np

from pellucid.teach.numbers import distinct, one, whole
from pellucid.teach.records import Data, Exercise, Given, Slip, Step
from pellucid.textbook.sampling.beta_bernoulli import beta_bernoulli
from pellucid.textbook.sampling.dirichlet_categorical import dirichlet_categorical
from pellucid.textbook.sampling.fisher_information import cramer_rao, fisher_information
from pellucid.textbook.sampling.gamma_poisson import gamma_poisson
from pellucid.textbook.sampling.laplace_approximation import Approximation, laplace_approximation
from pellucid.textbook.sampling.model_comparison import model_comparison
from pellucid.textbook.sampling.normal_mean import normal_mean
from pellucid.textbook.sampling.rhat import rhat


def coin(rng: np.random.Generator) -> Data:
    return {
        "x": rng.permutation(np.r_[np.ones(int(rng.integers(4, 8))), np.zeros(3)]),
        "a": 2.0,
        "b": 2.0,
    }


def calls(rng: np.random.Generator) -> Data:
    return {"x": whole(rng, 1, 6, 4), "k": 2.0, "h": 1.0}


def weighing(rng: np.random.Generator) -> Data:
    return {
        "x": 100 + whole(rng, -3, 3, 4),
        "s": 4.0,
        "m": 100 + one(rng, -5, 5),
        "v": one(rng, 1, 4),
    }


def dice(rng: np.random.Generator) -> Data:
    return {"x": rng.integers(0, 3, 7), "a": np.ones(3)}


def beta_data(rng: np.random.Generator) -> Data:
    return {"a": float(rng.integers(4, 9)), "b": float(rng.integers(2, 5))}


def walk(rng: np.random.Generator) -> Data:
    return {"t": 1.0, "proposals": np.array([0.5, one(rng, 1.5, 2.0)]), "u": 0.3}


def chains(rng: np.random.Generator) -> Data:
    return {"draws": np.array([rng.permutation([0.0, 1, 2, 4]), rng.permutation([3.0, 4, 5, 7])])}


def samples(rng: np.random.Generator) -> Data:
    return {"x": distinct(rng, 2, 20, 5)}


def laplace(d: Given) -> Approximation:
    def log_f(t: np.ndarray) -> float:
        return float((d.a - 1) * np.log(t[0]) + (d.b - 1) * np.log(1 - t[0]))

    def gradient(t: np.ndarray) -> np.ndarray:
        return np.array([(d.a - 1) / t[0] - (d.b - 1) / (1 - t[0])])

    def hessian(t: np.ndarray) -> np.ndarray:
        return np.array([[-(d.a - 1) / t[0] ** 2 - (d.b - 1) / (1 - t[0]) ** 2]])

    return laplace_approximation(log_f, gradient, hessian, np.array([(d.a - 1) / (d.a + d.b - 2)]))


def bernoulli(x: np.ndarray, t: float) -> np.ndarray:
    return x * np.log(t) + (1 - x) * np.log(1 - t)


EXERCISES = (
    Exercise(
        "beta",
        "A coin and a prior",
        coin,
        "Throws x (1 = heads) and the prior Beta({a}, {b}) of the chance of heads.",
        (
            Step(
                "likelihood",
                "The maximum-likelihood estimate.",
                lambda d: d.x.mean(),
                ("The share of heads.",),
            ),
            Step(
                "posterior",
                "The posterior's parameters (a, b).",
                lambda d: np.array(beta_bernoulli(d.x, d.a, d.b)[:2]),
                ("Add heads to a and tails to b.",),
                (
                    Slip(
                        "You exchanged heads and tails.",
                        lambda d: np.array([d.a + (1 - d.x).sum(), d.b + d.x.sum()]),
                    ),
                    Slip("You forgot the prior.", lambda d: np.array([d.x.sum(), (1 - d.x).sum()])),
                ),
            ),
            Step(
                "mean",
                "The posterior mean.",
                lambda d: float(np.asarray(d.posterior)[0] / np.sum(d.posterior)),
                ("a / (a + b).",),
                (
                    Slip(
                        "This is the mode: (a - 1) / (a + b - 2).",
                        lambda d: float(
                            (np.asarray(d.posterior)[0] - 1) / (np.sum(d.posterior) - 2)
                        ),
                    ),
                ),
            ),
            Step(
                "map",
                "The posterior mode (MAP).",
                lambda d: float((np.asarray(d.posterior)[0] - 1) / (np.sum(d.posterior) - 2)),
                ("(a - 1) / (a + b - 2).",),
                (Slip("This is the mean.", lambda d: d.mean),),
            ),
        ),
    ),
    Exercise(
        "gamma",
        "Calls per hour",
        calls,
        "Counts x ~ Poisson(t) of four hours, prior Gamma with shape {k} and scale {h}.",
        (
            Step(
                "shape",
                "The posterior's shape.",
                lambda d: gamma_poisson(d.x, d.k, d.h).k,
                ("Add the counts.",),
                (Slip("You added the number of hours.", lambda d: d.k + len(d.x)),),
            ),
            Step(
                "scale",
                "The posterior's scale.",
                lambda d: gamma_poisson(d.x, d.k, d.h).h,
                ("1 / (1 / h + n).",),
                (
                    Slip(
                        "This is the rate: its inverse is asked for.", lambda d: 1 / d.h + len(d.x)
                    ),
                ),
            ),
            Step(
                "mean",
                "The posterior mean of the rate.",
                lambda d: d.shape * d.scale,
                ("Shape times scale.",),
                (Slip("This is maximum likelihood.", lambda d: d.x.mean()),),
            ),
        ),
    ),
    Exercise(
        "normal",
        "Measure and believe",
        weighing,
        "Four measurements x with the noise variance {s}; prior N({m}, {v}) for the true value "
        "(variances).",
        (
            Step(
                "precision",
                "The posterior precision.",
                lambda d: 1 / d.v + len(d.x) / d.s,
                ("1 / v + n / s.",),
                (
                    Slip("You counted one measurement.", lambda d: 1 / d.v + 1 / d.s),
                    Slip(
                        "You took the variances for standard deviations.",
                        lambda d: 1 / d.v**2 + len(d.x) / d.s**2,
                    ),
                ),
            ),
            Step(
                "mean",
                "The posterior mean.",
                lambda d: normal_mean(d.x, d.s, d.m, d.v).m,
                ("Weighted by precisions.",),
                (
                    Slip(
                        "This is the mean of the measurements: the prior was forgotten.",
                        lambda d: d.x.mean(),
                    ),
                    Slip(
                        "You took the plain mean of prior and measurements.",
                        lambda d: (d.m + d.x.mean()) / 2,
                    ),
                ),
                1e-5,
            ),
            Step(
                "sd",
                "The posterior standard deviation.",
                lambda d: 1 / np.sqrt(d.precision),
                ("Root of 1 / precision.",),
                (Slip("This is the variance.", lambda d: 1 / d.precision),),
            ),
            Step(
                "next",
                "The variance of the next measurement.",
                lambda d: d.s + 1 / d.precision,
                ("Noise plus what is unknown.",),
                (
                    Slip("You forgot the noise.", lambda d: 1 / d.precision),
                    Slip("You forgot what is still unknown.", lambda d: d.s),
                ),
            ),
        ),
    ),
    Exercise(
        "dirichlet",
        "Laplace's rule",
        dice,
        "Categories x in 0, 1, 2 and the prior Dirichlet(1, 1, 1).",
        (
            Step(
                "counts",
                "The counts.",
                lambda d: np.bincount(d.x, minlength=3),
                ("How often each occurs.",),
            ),
            Step(
                "next",
                "The probabilities of the next category.",
                lambda d: (
                    dirichlet_categorical(d.x, d.a).a / dirichlet_categorical(d.x, d.a).a.sum()
                ),
                ("(count + 1) / (n + 3).",),
                (
                    Slip("You did not add the prior.", lambda d: np.asarray(d.counts) / 7),
                    Slip(
                        "You added 1 to the counts but not 3 to the total.",
                        lambda d: (np.asarray(d.counts) + 1) / 7,
                    ),
                ),
            ),
        ),
    ),
    Exercise(
        "laplace",
        "A normal at the peak",
        beta_data,
        "Approximate the density proportional to t^({a} - 1) (1 - t)^({b} - 1) by a normal one at "
        "its peak.",
        (
            Step(
                "mode",
                "The mode.",
                lambda d: float(laplace(d).mode[0]),
                ("Set the derivative of the logarithm to 0.",),
                (Slip("This is the mean.", lambda d: d.a / (d.a + d.b)),),
            ),
            Step(
                "curvature",
                "The second derivative of the logarithm there.",
                lambda d: -1 / float(laplace(d).covariance[0, 0]),
                ("-(a - 1) / t^2 - (b - 1) / (1 - t)^2.",),
                (
                    Slip(
                        "The sign is wrong: at a peak it is negative.",
                        lambda d: 1 / float(laplace(d).covariance[0, 0]),
                    ),
                ),
            ),
            Step(
                "sd",
                "The standard deviation of the approximation.",
                lambda d: float(np.sqrt(-1 / d.curvature)),
                ("Root of -1 / curvature.",),
                (Slip("This is the variance.", lambda d: float(-1 / d.curvature)),),
            ),
        ),
    ),
    Exercise(
        "metropolis",
        "Accept or stay",
        walk,
        "The target is proportional to exp(-t^2 / 2). The chain is at t = {t}; two proposals are "
        "looked at, each from t; the uniform number is u = {u}.",
        (
            Step(
                "ratios",
                "The acceptance probabilities of both proposals.",
                lambda d: np.minimum(1.0, np.exp((d.t**2 - d.proposals**2) / 2)),
                ("min(1, f(new) / f(old)).",),
                (
                    Slip(
                        "A probability is at most 1.",
                        lambda d: np.exp((d.t**2 - d.proposals**2) / 2),
                    ),
                    Slip(
                        "You turned the ratio round.",
                        lambda d: np.minimum(1.0, np.exp((d.proposals**2 - d.t**2) / 2)),
                    ),
                    Slip(
                        "You forgot the 1/2 in the exponent.",
                        lambda d: np.minimum(1.0, np.exp(d.t**2 - d.proposals**2)),
                    ),
                ),
            ),
            Step(
                "second",
                "Where is the chain after the second proposal?",
                lambda d: float(d.proposals[1] if d.u < np.asarray(d.ratios)[1] else d.t),
                ("Accept if u is below the probability; else stay.",),
                (
                    Slip(
                        "You turned the rule round.",
                        lambda d: float(d.proposals[1] if d.u >= np.asarray(d.ratios)[1] else d.t),
                    ),
                ),
            ),
        ),
    ),
    Exercise(
        "rhat",
        "Do two chains agree?",
        chains,
        "Two chains of four draws; every chain is cut into two halves first.",
        (
            Step(
                "means",
                "The means of the four halves (first halves of both chains, then the second "
                "halves).",
                lambda d: np.r_[d.draws[:, :2].mean(axis=1), d.draws[:, 2:].mean(axis=1)],
                ("Two draws each.",),
            ),
            Step(
                "within",
                "The mean variance within the halves (divisor n - 1).",
                lambda d: float(
                    np.concatenate([d.draws[:, :2], d.draws[:, 2:]]).var(axis=1, ddof=1).mean()
                ),
                ("Divisor 1.",),
                (
                    Slip(
                        "You divided by n.",
                        lambda d: float(
                            np.concatenate([d.draws[:, :2], d.draws[:, 2:]]).var(axis=1).mean()
                        ),
                    ),
                ),
            ),
            Step(
                "rhat",
                "R-hat.",
                lambda d: rhat(d.draws),
                ("sqrt((n - 1) / n + variance of the means / W) with n = 2.",),
                (Slip("The root is missing.", lambda d: rhat(d.draws) ** 2),),
            ),
        ),
    ),
    Exercise(
        "information",
        "How much can a throw say?",
        lambda rng: {"t": one(rng, 0.2, 0.3, 0.4), "n": int(rng.integers(20, 60))},
        "A coin with the chance t = {t} is thrown n = {n} times.",
        (
            Step(
                "information",
                "The Fisher information of one throw.",
                lambda d: fisher_information(bernoulli, np.array([0.0, 1.0]), d.t),
                ("1 / (t (1 - t)).",),
                (Slip("This is its inverse, the variance of a throw.", lambda d: d.t * (1 - d.t)),),
                1e-4,
            ),
            Step(
                "bound",
                "The least standard deviation of an unbiased estimate from n throws.",
                lambda d: float(np.sqrt(cramer_rao(d.information, d.n))),
                ("Root of 1 / (n I).",),
                (
                    Slip("This is the variance.", lambda d: float(cramer_rao(d.information, d.n))),
                    Slip("You forgot n.", lambda d: float(np.sqrt(1 / d.information))),
                ),
                1e-4,
            ),
        ),
    ),
    Exercise(
        "estimates",
        "Maximum likelihood of a normal",
        samples,
        "Five draws x from a normal distribution.",
        (
            Step("mean", "The estimate of the mean.", lambda d: d.x.mean()),
            Step(
                "variance",
                "The maximum-likelihood estimate of the variance.",
                lambda d: d.x.var(),
                ("Divisor n.",),
                (
                    Slip(
                        "You divided by n - 1: that is the unbiased estimate.",
                        lambda d: d.x.var(ddof=1),
                    ),
                ),
            ),
            Step(
                "unbiased",
                "The unbiased estimate of the variance.",
                lambda d: d.x.var(ddof=1),
                ("Divisor n - 1.",),
                (Slip("You divided by n, not n - 1.", lambda d: d.x.var()),),
            ),
        ),
    ),
    Exercise(
        "bayes_factor",
        "A fair coin?",
        coin,
        "Throws x. Model A: the coin is fair. Model B: its chance of heads is Beta(1, 1). Both "
        "are equally probable beforehand.",
        (
            Step(
                "fair",
                "log p(x | A), natural logarithm.",
                lambda d: len(d.x) * np.log(0.5),
                ("n ln(1/2).",),
                (Slip("You used log2.", lambda d: -float(len(d.x))),),
            ),
            Step(
                "evidence",
                "log p(x | B).",
                lambda d: beta_bernoulli(d.x, 1.0, 1.0).log_evidence,
                ("B(1 + s, 1 + f).",),
                (
                    Slip(
                        "This is the largest likelihood: the chance must be integrated out.",
                        lambda d: float(
                            d.x.sum() * np.log(d.x.mean())
                            + (1 - d.x).sum() * np.log(1 - d.x.mean())
                        ),
                    ),
                ),
            ),
            Step(
                "posterior",
                "P(A | x).",
                lambda d: float(model_comparison(np.array([d.fair, d.evidence]))[0]),
                ("Exponentiate and normalise.",),
                (
                    Slip(
                        "This is P(B | x).",
                        lambda d: float(model_comparison(np.array([d.fair, d.evidence]))[1]),
                    ),
                ),
            ),
        ),
    ),
)
