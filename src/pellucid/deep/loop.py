"""One epoch of mini-batches as a step of ``core.loops.iterate``.

    for every batch B:   g = gradient of  sum_B s_i l_i / sum_B s_i m_i
                         w = solver(w, g)

l_i is the loss of row i added over its m_i targets (one, or one per time step), s_i its share. The
objective of an epoch is the mean of the losses met; row 0 is that of the start. So is its accuracy,
where the targets are classes: of the outputs met, before each step.
"""

import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from pellucid.core.arrays.typing import Array
from pellucid.core.loops.early_stopping import EarlyStopping
from pellucid.core.loops.iterate import History
from pellucid.deep.engine import all_finite, check_precision, make_solver
from pellucid.deep.training import Training
from pellucid.solvers.minimum import runs_away

# (outputs, target) -> (loss of each row, number of targets in it)
LossFunction = Callable[[Tensor, Tensor], tuple[Tensor, Tensor]]
HitsFunction = Callable[[Tensor, Tensor], Tensor]  # number of right targets of each row
ScoreFunction = Callable[[Tensor, Tensor, Tensor], float]
EVALUATION_ROWS = 1024


class Batch(NamedTuple):
    """Inputs of the module, targets and shares, on the device."""

    inputs: tuple[Tensor, ...]
    target: Tensor
    share: Tensor

    def take(self, rows: Tensor) -> "Batch":
        return Batch(tuple(x[rows] for x in self.inputs), self.target[rows], self.share[rows])

    @property
    def n(self) -> int:
        return len(self.target)


class Epoch(NamedTuple):
    """The state after an epoch: a copy of the weights, and what was measured."""

    number: int
    objective: float
    weights: dict[str, Tensor]
    accuracy: float | None = None
    validation_loss: float | None = None
    validation_score: float | None = None
    best: "Epoch | None" = None  # least validation loss so far

    def row(self) -> dict[str, Any]:
        found: dict[str, Any] = {"objective": self.objective}
        if self.accuracy is not None:
            found["accuracy"] = self.accuracy
        if self.validation_loss is not None:
            found["validation_loss"] = self.validation_loss
            found["validation_score"] = self.validation_score
        return found


def place(arrays: tuple[Array, ...], target: Array, share: Array, device: torch.device) -> Batch:
    """Arrays as tensors on the device; floats become float32."""

    def tensor(array: Any) -> Tensor:
        t = torch.as_tensor(array)
        return t.to(device, torch.float32 if t.is_floating_point() else t.dtype)

    return Batch(tuple(tensor(a) for a in arrays), tensor(target), tensor(share))


class Trainer:
    """Module, data and settings; ``step`` is one epoch."""

    def __init__(
        self,
        module: nn.Module,
        data: Batch,
        loss: LossFunction,
        score: ScoreFunction,
        training: Training,
        *,
        hits: HitsFunction | None = None,
        validation: Batch | None = None,
        clip: float | None = None,
    ) -> None:
        self.module, self.data, self.loss, self.score = module, data, loss, score
        self.training, self.validation, self.clip = training, validation, clip
        self.hits = hits
        self.device = data.target.device
        check_precision(training.precision, self.device)
        self.solver = make_solver(module, training, self.device)
        self.parameters = list(module.parameters())  # found once: the search costs at every step
        self.start_value = math.inf
        self.order = torch.Generator().manual_seed(int(torch.randint(1 << 62, ())))

    def start(self) -> Epoch:
        met = sum((self.met(*part) for part in self.outputs(self.data)), self.nothing())
        objective, accuracy = self.means(met)
        self.start_value = objective
        return self.judged(Epoch(0, objective, self.snapshot(), accuracy), None)

    def step(self, state: Epoch) -> tuple[Epoch, float]:
        self.module.train()
        order = torch.randperm(self.data.n, generator=self.order)
        met = self.nothing()
        for rows in order.to(self.device).split(self.training.batch_size):
            met += self.update(self.data.take(rows))
        objective, accuracy = self.means(met)
        gap = abs(state.objective - objective)
        new = Epoch(state.number + 1, objective, self.snapshot(), accuracy)
        if runs_away(objective, self.start_value) or not all_finite(new.weights):
            return state, math.inf
        return self.judged(new, state.best), gap

    def update(self, batch: Batch) -> Tensor:
        """One step of the solver; loss, targets and hits before it."""
        self.solver.zero_grad(set_to_none=True)
        with self.cast():
            outputs = self.module(*batch.inputs)
        outputs = outputs.float()
        lost, counted = self.weighted(outputs, batch)
        (lost / counted).backward()
        if self.clip is not None:
            nn.utils.clip_grad_norm_(self.parameters, self.clip)
        self.solver.step()
        return self.added(lost, counted, outputs, batch)

    def weighted(self, outputs: Tensor, batch: Batch) -> tuple[Tensor, Tensor]:
        lost, counted = self.loss(outputs, batch.target)
        return (batch.share * lost).sum(), (batch.share * counted).sum()

    @torch.no_grad()
    def added(self, lost: Tensor, counted: Tensor, outputs: Tensor, batch: Batch) -> Tensor:
        """Loss, targets and hits of a batch as one vector: batches add up on the device."""
        right = counted
        if self.hits is not None:
            right = (batch.share * self.hits(outputs, batch.target)).sum()
        return torch.stack([lost, counted, right]).double()

    def met(self, outputs: Tensor, batch: Batch) -> Tensor:
        return self.added(*self.weighted(outputs, batch), outputs, batch)

    def nothing(self) -> Tensor:
        return torch.zeros(3, device=self.device, dtype=torch.float64)

    def means(self, met: Tensor) -> tuple[float, float | None]:
        """Loss and accuracy of a target; no accuracy where targets are numbers."""
        lost, counted, right = met.tolist()
        return lost / counted, None if self.hits is None else right / counted

    def cast(self) -> Any:
        low = self.training.precision == "bfloat16"
        return torch.autocast(self.device.type, torch.bfloat16, enabled=low)

    @torch.no_grad()
    def outputs(self, data: Batch) -> Iterator[tuple[Tensor, Batch]]:
        """What the module says of some rows, part by part, without dropout."""
        self.module.eval()
        for start in range(0, data.n, EVALUATION_ROWS):
            stop = start + EVALUATION_ROWS
            inputs = tuple(x[start:stop] for x in data.inputs)
            part = Batch(inputs, data.target[start:stop], data.share[start:stop])
            yield self.module(*inputs), part

    def judged(self, new: Epoch, best: Epoch | None) -> Epoch:
        """The epoch with its validation loss, and the best one up to it."""
        if self.validation is None:
            return new
        rows = self.validation
        parts = list(self.outputs(rows))
        loss, _ = self.means(sum((self.met(*part) for part in parts), self.nothing()))
        score = self.score(torch.cat([outputs for outputs, _ in parts]), rows.target, rows.share)
        new = new._replace(validation_loss=loss, validation_score=score)
        better = best is None or best.validation_loss is None or loss < best.validation_loss
        return new._replace(best=new if better else best)

    def snapshot(self) -> dict[str, Tensor]:
        return {name: tensor.detach().clone() for name, tensor in self.module.state_dict().items()}


def stopping(early: EarlyStopping | None) -> Callable[[History], bool] | None:
    """When the validation loss ends the fit."""
    if early is None:
        return None
    return lambda history: early.ends(history["validation_loss"].tolist())


def class_loss(outputs: Tensor, codes: Tensor) -> tuple[Tensor, Tensor]:
    """Cross-entropy of (B, K) or (B, T, K) logits; code -1 is no target."""
    known = codes >= 0
    flat = nn.functional.cross_entropy(
        outputs.flatten(0, -2), codes.flatten(), reduction="none", ignore_index=-1
    ).reshape(codes.shape)
    return _added(torch.where(known, flat, 0.0)), _added(known.to(flat.dtype))


def square_loss(outputs: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
    """Squared error, the mean over the outputs; NaN is no target."""
    known = ~target.isnan()
    error = torch.where(known, (outputs - torch.where(known, target, 0.0)) ** 2, 0.0)
    return _added(error.mean(-1)), _added(known.all(-1).to(error.dtype))


def _added(values: Tensor) -> Tensor:
    return values.flatten(1).sum(1) if values.ndim > 1 else values


def class_hits(outputs: Tensor, codes: Tensor) -> Tensor:
    """Targets of each row whose largest logit is right; code -1 is no target, so never right."""
    return _added((outputs.argmax(-1) == codes).to(outputs.dtype))


def accuracy(outputs: Tensor, codes: Tensor, share: Tensor) -> float:
    """Share of the targets whose largest logit is right."""
    counted = _added((codes >= 0).to(outputs.dtype))
    return float((share * class_hits(outputs, codes)).sum() / (share * counted).sum())


def r2(outputs: Tensor, target: Tensor, share: Tensor) -> float:
    """R^2 in the units of training."""
    known = ~target.isnan()
    weight = known * share.reshape(-1, *[1] * (target.ndim - 1))
    t = torch.where(known, target, 0.0)
    mean = (weight * t).sum() / weight.sum()
    left = (weight * (t - outputs) ** 2).sum()
    total = (weight * (t - mean) ** 2).sum()
    return float(1 - left / total) if total > 0 else float(left <= 0)
