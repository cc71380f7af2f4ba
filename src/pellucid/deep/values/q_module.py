"""The network of action values, plain or dueling."""

from itertools import pairwise

from torch import Tensor, nn


class QModule(nn.Module):
    """(B, states) -> (B, actions).

    Dueling: Q = V + A - mean A, so that the value of a state is learned once for all actions.
    """

    def __init__(
        self, n_inputs: int, n_actions: int, hidden: tuple[int, ...], dueling: bool
    ) -> None:
        super().__init__()
        units, layers = [n_inputs, *hidden], list[nn.Module]()
        for a, b in pairwise(units):
            layers += [nn.Linear(a, b), nn.ReLU()]
        self.body = nn.Sequential(*layers)
        self.actions = nn.Linear(units[-1], n_actions)
        self.state = nn.Linear(units[-1], 1) if dueling else None

    def forward(self, x: Tensor) -> Tensor:
        h = self.body(x)
        q = self.actions(h)
        return q if self.state is None else self.state(h) + q - q.mean(-1, keepdim=True)
