"""Targets from a trained encoder-decoder: greedy for many sources, a beam for one.

The beam keeps the ``width`` partial targets with the largest log-probability; a finished one stays
in the beam and competes by its log-probability per token.
"""

import torch
from torch import Tensor

from pellucid.deep.model import NOT_FINITE
from pellucid.deep.transformers.tokens import BEGIN, END, SPECIAL
from pellucid.deep.transformers.transformer_module import SequenceModule


def _next(module: SequenceModule, memory: Tensor, allowed: Tensor | None, begun: Tensor) -> Tensor:
    """Log-probabilities of the next token; marks other than the end cannot be said."""
    logits = module.decode(memory, allowed, begun)[:, -1]
    if not bool(logits.isfinite().all()):
        raise ValueError(NOT_FINITE)
    logits[:, :END] = -torch.inf
    logits[:, END + 1 : SPECIAL] = -torch.inf
    return logits.log_softmax(-1)


def greedy(module: SequenceModule, source: Tensor, lengths: Tensor, limit: int) -> list[list[int]]:
    """The likeliest token at every step, until the end or the limit."""
    memory, allowed = module.encoder(source, lengths), module.encoder.allowed(source, lengths)
    begun = torch.full((len(source), 1), BEGIN, dtype=torch.long, device=source.device)
    ended = torch.zeros(len(source), dtype=torch.bool, device=source.device)
    for _ in range(limit - 1):
        token = _next(module, memory, allowed, begun).argmax(-1)
        token = torch.where(ended, END, token)
        begun = torch.cat([begun, token[:, None]], dim=1)
        ended |= token == END
        if bool(ended.all()):
            break
    return [_until_end(row) for row in begun[:, 1:].tolist()]


def beam(
    module: SequenceModule, source: Tensor, lengths: Tensor, limit: int, width: int
) -> list[int]:
    """The finished target with the largest log-probability per token."""
    memory, allowed = module.encoder(source, lengths), module.encoder.allowed(source, lengths)
    begun = torch.full((1, 1), BEGIN, dtype=torch.long, device=source.device)
    total = torch.zeros(1, dtype=memory.dtype, device=source.device)
    best: tuple[float, list[int]] = (-torch.inf, [])
    for _ in range(limit - 1):
        n = len(begun)
        mask = None if allowed is None else allowed.expand(n, -1, -1, -1)
        logp = _next(module, memory.expand(n, -1, -1), mask, begun)
        scores = total[:, None] + logp
        total, at = scores.flatten().topk(min(width, scores.numel()))
        parent, token = at // logp.shape[1], at % logp.shape[1]
        begun = torch.cat([begun[parent], token[:, None]], dim=1)
        done = token == END
        for score, row in zip(total[done].tolist(), begun[done].tolist(), strict=True):
            best = max(best, (score / (len(row) - 1), _until_end(row[1:])))
        keep = ~done & total.isfinite()
        begun, total = begun[keep], total[keep]
        if not len(begun) or best[0] >= float(total.max()) / (limit - 1):
            break
    if best[0] == -torch.inf:
        return _until_end(begun[0, 1:].tolist())
    return best[1]


def _until_end(row: list[int]) -> list[int]:
    return row[: row.index(END)] if END in row else row
