r"""Generative adversarial network: a forger and a detective learn from each other.

Model        x = G(z), z ~ N(0, I);  D(x) is the log-odds that x is real
Evaluation   min over G, max over D of  E log sigma(D(x)) + E log(1 - sigma(D(G(z))))
             at the optimum of D for fixed G:  D(x) = log p_data(x) - log p_G(x)
Algorithm    alternating mini-batch gradients; the data are standardised inside

The loss is not a distance that falls: look at ``sample`` and at ``score``, minus the energy
distance between data and samples. Reference: Goodfellow et al. (2014).
"""

from typing import Any, Self

import numpy as np
from scipy.spatial.distance import cdist
from scipy.special import expit
from sklearn.utils.validation import check_is_fitted

from pellucid.base import with_callbacks
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, Seed
from pellucid.core.loops.iterate import FitContext
from pellucid.core.runtime.random import generator
from pellucid.core.runtime.warn import warn
from pellucid.deep.batches import plan_visits
from pellucid.deep.convolution.convolutional import check_sizes
from pellucid.deep.engine import count_weights, find_device, one_session, require_torch
from pellucid.deep.model import DeepModel, Inputs, finite_answer
from pellucid.deep.training import Training, explain_divergence, get_training, record_of

LOSSES = ("non_saturating", "minimax", "least_squares")
COLLAPSED = 0.05  # of the spread of the data
SCORED_ROWS = 1000


class ModeCollapseWarning(UserWarning):
    """The generator answers nearly the same whatever the noise."""


class GenerativeAdversarialNetwork(DeepModel):
    """Learn to draw rows like those of X.

    Parameters
    ----------
    latent_dim : int, default=8
        Normal numbers that a row is made from.
    generator, discriminator : tuple of int, default=(64, 64)
        Hidden units.
    n_discriminator_steps : int, default=1
        Steps of the discriminator for each of the generator.
    loss : {"non_saturating", "minimax", "least_squares"}, default="non_saturating"
        What generator and discriminator minimise.
    training : Training or None, default=None
        ``early_stopping`` must be None: neither loss says how good the samples are.
    random_state : None, int, RandomState or Generator
        Seed of the random numbers.

    Attributes
    ----------
    module_, weights_, n_iter_
    history_ : generator_loss (= objective) and discriminator_loss per epoch
    mean_, scale_ : arrays
    spread_ : float
        Mean standard deviation of samples, in units of the data's; below 0.05 warns.

    Examples
    --------
    >>> from pellucid.deep import GenerativeAdversarialNetwork, Training
    >>> X = np.random.default_rng(0).normal([5.0, -2.0], [1.0, 0.5], size=(500, 2))
    >>> fast = Training(max_epochs=30, learning_rate=2e-3)
    >>> model = GenerativeAdversarialNetwork(4, training=fast, random_state=0).fit(X)
    >>> bool(np.abs(model.sample(1000, random_state=0).mean(axis=0) - [5, -2]).max() < 0.6)
    True
    """

    _shape_names = ("mean_", "scale_", "spread_")
    _loss_words = "adversarial game of generator and discriminator"

    def __init__(
        self,
        latent_dim: int = 8,
        *,
        generator: tuple[int, ...] = (64, 64),
        discriminator: tuple[int, ...] = (64, 64),
        n_discriminator_steps: int = 1,
        loss: str = "non_saturating",
        training: Training | None = None,
        random_state: Seed = None,
    ) -> None:
        self.latent_dim = latent_dim
        self.generator = generator
        self.discriminator = discriminator
        self.n_discriminator_steps = n_discriminator_steps
        self.loss = loss
        self.training = training
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.estimator_type = "density_estimator"
        return tags

    def _check_parameters(self) -> None:
        check.whole(latent_dim=self.latent_dim, n_discriminator_steps=self.n_discriminator_steps)
        check_sizes(generator=self.generator, discriminator=self.discriminator)
        check.one_of(LOSSES, loss=self.loss)
        if get_training(self.training).early_stopping is not None:
            raise ValueError("early_stopping must be None: an adversarial loss does not judge")

    @with_callbacks
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn from ``X`` and, where given, ``y``; returns the fitted model."""
        torch = require_torch()
        from pellucid.deep.adversaries.adversarial_module import Game

        self._check_parameters()
        self._forget()
        rows = self._check_training(X, None, sample_weight)
        training, rng = get_training(self.training), generator(self.random_state)
        device = find_device(training.device)
        visits = plan_visits([rows.X], rows.w)
        self._measure(rows.X[visits.rows], visits.share)
        self.spread_ = np.nan
        with one_session(device, int(rng.integers(1 << 62)), 0):
            module = self._build()
        work = count_weights(module) * min(training.batch_size, len(visits.rows))
        with one_session(device, int(rng.integers(1 << 62)), work):
            data = torch.as_tensor(self._standard(rows.X)[visits.rows], dtype=torch.float32)
            share = torch.as_tensor(visits.share, dtype=torch.float32, device=device)
            game = Game(
                module.to(device),
                data.to(device),
                share,
                training,
                self.latent_dim,
                self.n_discriminator_steps,
                self.loss,
            )
            context = FitContext(
                self,
                X=rows.X,
                sample_weight=sample_weight,
                max_steps=training.max_epochs,
                attributes=self._attributes,
            )
            run = self._iterate(
                game.step,
                game.start(),
                max_iter=training.max_epochs,
                tol=None,
                record=record_of(training),
                context=context,
                start_row=False,
                explain=explain_divergence(training),
            )
            self._keep(run.state, module, device)
        self._look(rows.X[visits.rows])
        return self

    def _measure(self, X: Array, share: Array) -> None:
        self.mean_ = share @ X / share.sum()
        scale = np.sqrt(share @ (X - self.mean_) ** 2 / share.sum())
        self.scale_ = np.where(scale > 0, scale, 1.0)

    def _standard(self, X: Array) -> Array:
        return (X - self.mean_) / self.scale_

    def _look(self, X: Array) -> None:
        """Measure the spread of samples, and warn where it is gone."""
        varies = np.ptp(X, axis=0) > 0
        if not varies.any():
            return
        drawn = self._standard(self.sample(512, random_state=0))
        self.spread_ = float(drawn.std(axis=0)[varies].mean())
        if self.spread_ < COLLAPSED:
            warn(
                f"the generator collapsed: its samples spread {self.spread_:.1%} as wide as the "
                "data; more discriminator steps, a smaller rate or more epochs may help",
                ModeCollapseWarning,
            )

    def _read(self, X: Any, *, reset: bool) -> Inputs:
        return (self._standard(self._check_matrix(X, reset=reset, finite=True)),)

    def _build(self) -> Any:
        from pellucid.deep.adversaries.adversarial_module import AdversarialModule

        return AdversarialModule(
            len(self.mean_), self.latent_dim, tuple(self.generator), tuple(self.discriminator)
        )

    def sample(self, n: int = 1, random_state: Seed = None) -> Array:
        """``n`` new rows."""
        check_is_fitted(self)
        check.whole(n=n)
        torch, module = require_torch(), self.module_
        first = next(module.parameters())
        z = generator(random_state).normal(size=(n, self.latent_dim))
        with one_session(first.device, None, count_weights(module) * n), torch.no_grad():
            made = module.generator(torch.as_tensor(z, dtype=first.dtype, device=first.device))
        return finite_answer(made.double().cpu().numpy()) * self.scale_ + self.mean_

    def decision_function(self, X: Any) -> Array:
        """The discriminator's log-odds that a row is real."""
        check_is_fitted(self)
        return self._forward(self._read(X, reset=False))

    def discriminate(self, X: Any) -> Array:
        """The discriminator's probability that a row is real."""
        return expit(self.decision_function(X))

    def score(self, X: Any, y: Any = None) -> float:
        """Minus the energy distance between X and samples, in standard units; 0 is best.

        2 E|x - g| - E|x - x'| - E|g - g'| over at most 1000 rows.
        """
        check_is_fitted(self)
        x = self._read(X, reset=False)[0]
        x = x[np.linspace(0, len(x) - 1, min(len(x), SCORED_ROWS)).astype(int)]
        g = self._standard(self.sample(SCORED_ROWS, random_state=0))
        return float(cdist(x, x).mean() + cdist(g, g).mean() - 2 * cdist(x, g).mean())

    def _check_state(self) -> None:
        if hasattr(self, "weights_"):
            shapes = {np.shape(self.mean_), np.shape(self.scale_), (self.n_features_in_,)}
            if len(shapes) != 1:
                raise ValueError(f"mean_ and scale_ must have {self.n_features_in_} numbers")
        super()._check_state()

    def _describe(self) -> str:
        return (
            f"generator {self.latent_dim} - {tuple(self.generator)} - {len(self.mean_)}, "
            f"discriminator {len(self.mean_)} - {tuple(self.discriminator)} - 1, {self.loss}"
        )
