r"""Update rules: how a gradient g and a rate eta move the parameters w.

    plain      w <- w - eta g
    Momentum   v <- beta v - eta g,  w <- w + v        (Nesterov: g is taken at w + beta v)
    AdaGrad    r <- r + g^2,  w <- w - eta g / sqrt(r + eps)
    RMSProp    r <- rho r + (1 - rho) g^2,  w <- w - eta g / sqrt(r + eps)
    Adam       m <- b1 m + (1 - b1) g,  r <- b2 r + (1 - b2) g^2,
               w <- w - eta (m / (1 - b1^t)) / (sqrt(r / (1 - b2^t)) + eps)
    AdamW      w <- (1 - eta decay) w first, then Adam: the decay does not pass through r
    Clipped    g <- g min(1, c / |g|) first, then any of these

The formulas are in ``compiled.epochs.epochs.update``, which these records, the compiled epochs and
the neural families share.

References: Polyak (1964); Nesterov (1983); Duchi, Hazan & Singer (2011); Tieleman & Hinton (2012);
Kingma & Ba (2015); Loshchilov & Hutter (2019); Pascanu, Mikolov & Bengio (2013) for clipping.
"""

from typing import NamedTuple

import numpy as np
from sklearn.base import BaseEstimator

from pellucid.compiled.epochs import epochs
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array


class Memory(NamedTuple):
    """What a rule remembers: a velocity or mean, mean squares, and the number of updates."""

    m: Array
    r: Array
    t: int


class RuleCode(NamedTuple):
    """A rule as the compiled epochs see it."""

    rule: int
    a: float
    b: float
    eps: float
    decay: float = 0.0  # of the weights, per unit of rate
    clip: float = float("inf")  # largest length of a gradient


UNADORNED = RuleCode(epochs.PLAIN, 0.0, 0.0, 0.0)  # w - eta g: no decay, no clipping


def look(code: RuleCode, w: Array, memory: Memory) -> Array:
    """The point at which the rule takes the gradient."""
    return w + code.a * memory.m if code.rule == epochs.NESTEROV else w


def stepped(code: RuleCode, w: Array, g: Array, eta: float, memory: Memory) -> tuple[Array, Memory]:
    """One update by a rule whose parameters were checked before."""
    if code == UNADORNED:  # what ``update`` does, without the call
        return w - eta * g, Memory(memory.m, memory.r, memory.t + 1)
    new, (m, r, t) = w.copy(), memory
    if code.rule != epochs.PLAIN:  # the plain rule remembers nothing
        m, r = m.copy(), r.copy()
    epochs.update(*code, new, np.ascontiguousarray(g), float(eta), m, r, t + 1)
    return new, Memory(m, r, t + 1)


class Rule(BaseEstimator):
    """The plain rule w <- w - eta g, and the base of the others.

    >>> rule = Rule()
    >>> rule.step(np.ones(1), np.array([2.0]), 0.1, rule.start(1))[0]
    array([0.8])
    """

    def code(self) -> RuleCode:
        return RuleCode(epochs.PLAIN, 0.0, 0.0, 0.0)

    def start(self, size: int) -> Memory:
        """An empty memory."""
        return Memory(np.zeros(size), np.zeros(size), 0)

    def look(self, w: Array, memory: Memory) -> Array:
        """The point at which the gradient is taken."""
        return look(self.code(), w, memory)

    def step(self, w: Array, g: Array, eta: float, memory: Memory) -> tuple[Array, Memory]:
        """The parameters and the memory after one update; the arguments stay as they are."""
        return stepped(self.code(), w, g, eta, memory)


class Momentum(Rule):
    """Heavy ball: the velocity v <- beta v - eta g is added to w.

    Parameters
    ----------
    beta : float, default=0.9
        Share of the velocity that is kept.
    nesterov : bool, default=False
        Take the gradient at w + beta v.

    Examples
    --------
    >>> from pellucid.solvers import Momentum
    >>> rule = Momentum(0.9)
    >>> w, memory = rule.step(np.ones(1), np.array([2.0]), 0.1, rule.start(1))
    >>> rule.step(w, 2 * w, 0.1, memory)[0].round(6)
    array([0.46])
    """

    def __init__(self, beta: float = 0.9, nesterov: bool = False) -> None:
        self.beta = beta
        self.nesterov = nesterov

    def code(self) -> RuleCode:
        """The rule as numbers for the compiled loops."""
        check.non_negative(beta=self.beta)
        check.boolean(nesterov=self.nesterov)
        rule = epochs.NESTEROV if self.nesterov else epochs.MOMENTUM
        return RuleCode(rule, float(self.beta), 0.0, 0.0)


class AdaGrad(Rule):
    """Rates that fall with the sum of squared gradients of each parameter.

    Parameters
    ----------
    eps : float, default=1e-8
        Added to the root, so that nothing is divided by 0.

    Examples
    --------
    >>> from pellucid.solvers import AdaGrad
    >>> rule = AdaGrad()
    >>> rule.step(np.ones(1), np.array([2.0]), 0.1, rule.start(1))[0].round(6)
    array([0.9])
    """

    def __init__(self, eps: float = 1e-8) -> None:
        self.eps = eps

    def code(self) -> RuleCode:
        """The rule as numbers for the compiled loops."""
        check.non_negative(eps=self.eps)
        return RuleCode(epochs.ADAGRAD, 0.0, 0.0, float(self.eps))


class RMSProp(Rule):
    """Rates divided by a moving root mean square of the gradients.

    Parameters
    ----------
    rho : float, default=0.9
        Share of the old mean square that is kept.
    eps : float, default=1e-8
        Added to the root, so that nothing is divided by 0.

    Examples
    --------
    >>> from pellucid.solvers import RMSProp
    >>> rule = RMSProp()
    >>> rule.step(np.ones(1), np.array([2.0]), 0.1, rule.start(1))[0].round(7)
    array([0.6837722])
    """

    def __init__(self, rho: float = 0.9, eps: float = 1e-8) -> None:
        self.rho = rho
        self.eps = eps

    def code(self) -> RuleCode:
        """The rule as numbers for the compiled loops."""
        check.non_negative(rho=self.rho, eps=self.eps)
        return RuleCode(epochs.RMSPROP, float(self.rho), 0.0, float(self.eps))


class Adam(Rule):
    """Momentum and root mean square together, both corrected for their start at zero.

    Parameters
    ----------
    beta1, beta2 : float, default=0.9, 0.999
        Shares of the old mean and mean square that are kept.
    eps : float, default=1e-8
        Added outside the root.

    Examples
    --------
    >>> from pellucid.solvers import Adam
    >>> rule = Adam()
    >>> rule.step(np.ones(1), np.array([2.0]), 0.1, rule.start(1))[0].round(6)
    array([0.9])
    """

    def __init__(self, beta1: float = 0.9, beta2: float = 0.999, eps: float = 1e-8) -> None:
        self.beta1 = beta1
        self.beta2 = beta2
        self.eps = eps

    def code(self) -> RuleCode:
        """The rule as numbers for the compiled loops."""
        check.non_negative(beta1=self.beta1, beta2=self.beta2, eps=self.eps)
        if not (self.beta1 < 1 and self.beta2 < 1):
            raise ValueError(f"beta1 and beta2 must be < 1, got {self.beta1} and {self.beta2}")
        return RuleCode(epochs.ADAM, float(self.beta1), float(self.beta2), float(self.eps))


class AdamW(Adam):
    """Adam with decoupled weight decay: every weight shrinks by the factor 1 - rate * decay.

    Parameters
    ----------
    beta1, beta2, eps : float, default=0.9, 0.999, 1e-8
        As in ``Adam``.
    weight_decay : float, default=0.01
        The decay.

    Examples
    --------
    >>> from pellucid.solvers import AdamW
    >>> rule = AdamW(weight_decay=0.5)
    >>> rule.step(np.ones(1), np.array([2.0]), 0.1, rule.start(1))[0].round(6)
    array([0.85])
    """

    def __init__(
        self,
        beta1: float = 0.9,
        beta2: float = 0.999,
        eps: float = 1e-8,
        weight_decay: float = 0.01,
    ) -> None:
        super().__init__(beta1, beta2, eps)
        self.weight_decay = weight_decay

    def code(self) -> RuleCode:
        """The rule as numbers for the compiled loops."""
        check.non_negative(weight_decay=self.weight_decay)
        return super().code()._replace(decay=float(self.weight_decay))


class Clipped(Rule):
    """Gradients longer than ``norm`` are cut to it before the rule sees them.

    Parameters
    ----------
    norm : float, default=1.0
        Largest length of the whole gradient.
    rule : Momentum, AdaGrad, RMSProp, Adam, AdamW or None, default=None
        What follows; None: the plain step.

    Examples
    --------
    >>> from pellucid.solvers import Clipped
    >>> rule = Clipped(1.0)
    >>> rule.step(np.zeros(2), np.array([30.0, 40.0]), 1.0, rule.start(2))[0].round(6)
    array([-0.6, -0.8])
    """

    def __init__(self, norm: float = 1.0, rule: Rule | None = None) -> None:
        self.norm = norm
        self.rule = rule

    def code(self) -> RuleCode:
        """The rule as numbers for the compiled loops."""
        check.positive(norm=self.norm)
        return get_rule(self.rule).code()._replace(clip=float(self.norm))


def get_rule(rule: Rule | None) -> Rule:
    """The rule of a ``rule=`` parameter; None is the plain one."""
    if rule is None:
        return Rule()
    if not isinstance(rule, Rule):
        raise ValueError(f"rule must be None or a rule such as Momentum or Adam, got {rule!r}")
    return rule
