r"""Generator and discriminator, and one epoch of their game.

D ascends  mean log sigma(D(x)) + mean log(1 - sigma(D(G(z))))
G ascends  mean log sigma(D(G(z)))               non_saturating
  or descends  mean log(1 - sigma(D(G(z))))      minimax
least_squares: D descends mean (D(x) - 1)^2 + mean D(G(z))^2, G mean (D(G(z)) - 1)^2
"""

import math
from itertools import pairwise
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import softplus

from pellucid.deep.engine import all_finite, make_solver

BETAS = (0.5, 0.999)  # of Adam: less momentum keeps the game from circling


def dense(sizes: list[int], slope: float) -> nn.Sequential:
    """Dense layers with leaky relu between them."""
    layers: list[nn.Module] = []
    for a, b in pairwise(sizes):
        layers += [nn.Linear(a, b), nn.LeakyReLU(slope)]
    return nn.Sequential(*layers[:-1])


class AdversarialModule(nn.Module):
    """``generator`` (B, latent) -> (B, p); forward is the discriminator's logit (B,)."""

    def __init__(
        self, p: int, latent_dim: int, generator: tuple[int, ...], discriminator: tuple[int, ...]
    ) -> None:
        super().__init__()
        self.generator = dense([latent_dim, *generator, p], 0.1)
        self.discriminator = dense([p, *discriminator, 1], 0.2)

    def forward(self, x: Tensor) -> Tensor:
        return self.discriminator(x)[:, 0]


class Round(NamedTuple):
    """The state after an epoch."""

    number: int
    objective: float  # generator loss
    discriminator_loss: float
    weights: dict[str, Tensor]

    def row(self) -> dict[str, Any]:
        return {
            "objective": self.objective,
            "generator_loss": self.objective,
            "discriminator_loss": self.discriminator_loss,
        }


def discriminator_loss(real: Tensor, share: Tensor, fake: Tensor, loss: str) -> Tensor:
    """What the discriminator descends; ``share`` weighs the real rows."""
    w = share / share.sum()
    if loss == "least_squares":
        return w @ (real - 1) ** 2 + (fake**2).mean()
    return w @ softplus(-real) + softplus(fake).mean()


def generator_loss(fake: Tensor, loss: str) -> Tensor:
    """What the generator descends."""
    if loss == "least_squares":
        return ((fake - 1) ** 2).mean()
    return softplus(-fake).mean() if loss == "non_saturating" else -softplus(fake).mean()


class Game:
    """The two players and the data; ``step`` is one epoch."""

    def __init__(
        self,
        module: AdversarialModule,
        X: Tensor,
        share: Tensor,
        training: Any,
        latent_dim: int,
        n_steps: int,
        loss: str,
    ) -> None:
        self.module, self.X, self.share, self.training = module, X, share, training
        self.latent_dim, self.n_steps, self.loss = latent_dim, n_steps, loss
        options = {"betas": BETAS} if training.solver.startswith("adam") else {}
        self.first = make_solver(module.generator, training, X.device, **options)
        self.second = make_solver(module.discriminator, training, X.device, **options)
        self.order = torch.Generator().manual_seed(int(torch.randint(1 << 62, ())))

    def start(self) -> Round:
        return Round(0, 0.0, 0.0, self.snapshot())

    def noise(self, n: int) -> Tensor:
        return torch.randn(n, self.latent_dim, device=self.X.device)

    def step(self, state: Round) -> tuple[Round, float]:
        self.module.train()
        totals = torch.zeros(2, dtype=torch.float64, device=self.X.device)
        batches = torch.randperm(len(self.X), generator=self.order).to(self.X.device)
        parts = batches.split(self.training.batch_size)
        for rows in parts:
            for _ in range(self.n_steps):
                d = self.teach_discriminator(self.X[rows], self.share[rows])
            totals += torch.stack([self.teach_generator(len(rows)), d])
        g_loss, d_loss = (totals / len(parts)).tolist()
        new = Round(state.number + 1, g_loss, d_loss, self.snapshot())
        if not all_finite(new.weights):
            return state, math.inf
        return new, abs(g_loss - state.objective) + abs(d_loss - state.discriminator_loss)

    def teach_discriminator(self, x: Tensor, share: Tensor) -> Tensor:
        with torch.no_grad():
            made = self.module.generator(self.noise(len(x)))
        self.second.zero_grad(set_to_none=True)
        loss = discriminator_loss(self.module(x), share, self.module(made), self.loss)
        loss.backward()
        self.second.step()
        return loss.detach()

    def teach_generator(self, n: int) -> Tensor:
        self.first.zero_grad(set_to_none=True)
        loss = generator_loss(self.module(self.module.generator(self.noise(n))), self.loss)
        loss.backward()
        self.first.step()
        return loss.detach()

    def snapshot(self) -> dict[str, Tensor]:
        return {name: tensor.detach().clone() for name, tensor in self.module.state_dict().items()}
