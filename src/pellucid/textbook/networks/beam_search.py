r"""Beam search: a good sentence from a model that says one token at a time.

Given       log p(next token | tokens so far), for any beginning
Maximise    the log-probability per token of a finished sequence
Step        the best next token need not begin the best sequence, and trying all costs V^T. Keep the
            w best beginnings, extend each by every token, keep the w best again; a finished one
            leaves the beam and competes by its mean. w = 1 is greedy. Stop when nothing left could
            beat the best finished one: further tokens can only lower the total.
Cost        w V per step.
The fast version asks the network for all beginnings at once.
"""

from collections.abc import Callable

import numpy as np


def beam_search(
    log_p: Callable[[list[int]], np.ndarray], end: int, w: int, limit: int
) -> list[int]:
    """Tokens before ``end`` of the best sequence of at most ``limit`` tokens, ``end`` included."""
    beam: list[tuple[float, list[int]]] = [(0.0, [])]
    best: tuple[float, list[int]] = (-np.inf, [])
    for _ in range(limit):
        options = [
            (total + step, [*tokens, token])
            for total, tokens in beam
            for token, step in enumerate(log_p(tokens))
        ]
        options = sorted(options, key=lambda option: -option[0])[:w]
        for total, tokens in options:
            if tokens[-1] == end:
                best = max(best, (total / len(tokens), tokens[:-1]))
        beam = [option for option in options if option[1][-1] != end]
        if not beam or best[0] >= beam[0][0] / limit:
            break
    return best[1] if best[0] > -np.inf else beam[0][1]
