"""The buckets that a query looks into: its own, then those over the nearest walls."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from pellucid.neighbors.search.hashing import draw_hashes, probe_moves, wanted_keys

rng = np.random.default_rng(8)
N_TABLES, N_BITS = 2, 4


def key_of(codes, factors):
    """What a bucket's codes add up to, modulo 2^64."""
    total = sum(int(c) * int(f) for c, f in zip(codes, factors, strict=True))
    return total % 2**64


def stepped(v, codes, two_sided):
    """Each function's step over its nearest wall, the nearest first: (function, step)."""
    if two_sided:
        gap = v - codes
        steps = np.where(gap > 0.5, 1, -1)
        gap = np.minimum(gap, 1 - gap)
    else:
        steps, gap = np.where(v > 0, -1, 1), np.abs(v)
    order = np.argsort(gap, kind="stable")
    return [(int(u), int(steps[u])) for u in order]


@pytest.mark.parametrize("family", ["euclidean", "cosine"])
def test_probes_step_over_the_nearest_walls(family):
    """Every key of every probe, from the codes: step j over the j-th nearest wall, the others
    the opposite way."""
    hashes = draw_hashes(family, N_TABLES, N_BITS, 3, 0.7, rng)
    two_sided = family == "euclidean"
    moves = probe_moves(N_BITS, 12, two_sided)
    raw = rng.normal(size=(20, N_TABLES * N_BITS))
    keys = wanted_keys(hashes, raw, moves, 0, len(raw))
    for i, table in np.ndindex(len(raw), N_TABLES):
        part = slice(table * N_BITS, (table + 1) * N_BITS)
        factors, v = hashes.factors[part], raw[i, part]
        v = v / hashes.width + hashes.shifts[part] if two_sided else v
        codes = np.floor(v) if two_sided else (v > 0).astype(float)
        walls = stepped(v, codes, two_sided)
        for t, move in enumerate(moves):
            near = codes.copy()
            for j in move[move >= 0]:
                u, step = walls[j] if j < N_BITS else walls[2 * N_BITS - 1 - j]
                near[u] += step if j < N_BITS else -step
            assert int(keys[i, table, t]) == key_of(near, factors)


def test_the_first_probe_is_the_own_bucket():
    hashes = draw_hashes("euclidean", N_TABLES, N_BITS, 3, 0.7, rng)
    raw = rng.normal(size=(6, N_TABLES * N_BITS))
    alone = wanted_keys(hashes, raw, probe_moves(N_BITS, 1), 0, 6)
    assert_array_equal(wanted_keys(hashes, raw, probe_moves(N_BITS, 9), 0, 6)[:, :, :1], alone)
    assert_array_equal(wanted_keys(hashes, raw, probe_moves(N_BITS, 1), 2, 4), alone[2:4])
