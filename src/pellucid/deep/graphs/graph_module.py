"""The graph network: messages and a dense layer per stage, a readout, a linear head.

Graphs of a batch lie side by side as one graph without edges between them; a message is a weighted
copy of a node's features, added up at its end. Cost O(edges x units + nodes x units^2) per stage.
"""

from itertools import pairwise

import torch
from torch import Tensor, nn


class GraphModule(nn.Module):
    """features (B, N, p), start, end and weight of edges (B, E), sizes (B,) -> logits."""

    def __init__(
        self, p: int, hidden: tuple[int, ...], aggregation: str, readout: str | None, n_outputs: int
    ) -> None:
        super().__init__()
        self.readout = readout
        units = [p, *hidden]
        self.heard = nn.ModuleList(nn.Linear(a, b) for a, b in pairwise(units))
        own = [] if aggregation == "gcn" else pairwise(units)
        self.own = nn.ModuleList(nn.Linear(a, b, bias=False) for a, b in own)
        self.head = nn.Linear(units[-1], n_outputs)

    def embed(
        self, features: Tensor, start: Tensor, end: Tensor, weight: Tensor, sizes: Tensor
    ) -> Tensor:
        """The features of the nodes after the last stage, (B, N, units)."""
        B, N, _ = features.shape
        first = torch.arange(B, device=start.device)[:, None] * N
        start, end = (start + first).flatten(), (end + first).flatten()
        w, h = weight.flatten()[:, None], features.flatten(0, 1)
        for i, dense in enumerate(self.heard):
            heard = torch.zeros_like(h).index_add(0, end, w * h[start])
            own = self.own[i](h) if len(self.own) else 0.0
            h = nn.functional.relu(dense(heard) + own)
        return h.unflatten(0, (B, N))

    def forward(
        self, features: Tensor, start: Tensor, end: Tensor, weight: Tensor, sizes: Tensor
    ) -> Tensor:
        h = self.embed(features, start, end, weight, sizes)
        if self.readout is None:
            return self.head(h)
        inside = (torch.arange(h.shape[1], device=h.device) < sizes[:, None])[..., None]
        if self.readout == "max":
            return self.head(torch.where(inside, h, 0.0).amax(1))  # after relu, 0 is the least
        total = (h * inside).sum(1)
        return self.head(total / sizes[:, None] if self.readout == "mean" else total)
