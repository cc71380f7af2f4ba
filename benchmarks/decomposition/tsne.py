"""TSNE against scikit-learn and openTSNE: the same start, as small a divergence on one scale.

Each returns its map; the check computes the divergence of both from the same probabilities.
"""

import numpy as np

from benchmarks.harness import Case

PERPLEXITY = 30.0


def digits():
    from sklearn.datasets import load_digits

    return load_digits().data


def groups():
    rng = np.random.default_rng(0)
    centre = 3 * rng.normal(size=(20, 50))
    return centre[rng.integers(20, size=10_000)] + rng.normal(size=(10_000, 50))


def ours(X):
    from pellucid import TSNE

    return TSNE(random_state=0).fit_transform(X)


def scikit_learn(X):
    from sklearn.manifold import TSNE

    return TSNE(random_state=0).fit_transform(X)


def open_tsne(method):
    def run(X):
        from openTSNE import TSNE

        options = {"neighbors": "exact", "n_jobs": -1, "random_state": 0}
        map_ = TSNE(n_iter=750, negative_gradient_method=method, **options).fit(X)
        return np.asarray(map_)

    return run


def divergence(X, map_):
    """The divergence of a map, whoever drew it, by all pairs."""
    from pellucid.decomposition.maps import tsne
    from pellucid.decomposition.maps.affinities import conditional, joint, metric_of

    k = int(3 * PERPLEXITY + 1)
    squares, index = metric_of("euclidean", None).neighbours(X, None, k)
    A = tsne.affinities(joint(conditional(squares, PERPLEXITY)[0], index))
    Y = np.ascontiguousarray(map_.T, dtype=np.float64)
    return tsne.divergence(A, Y, tsne.all_pairs_of, None)[2]


def as_small(data):
    def same(mine, other):
        X = data()
        return bool(divergence(X, mine) <= 1.02 * divergence(X, other))

    return same


def case(name, data, method, limit):
    peers = {"scikit-learn": scikit_learn, "openTSNE": open_tsne(method)}
    return Case(name, data, {"pellucid": ours, **peers}, as_small(data), limit, rounds=1, repeats=1)


CASES = [
    case("TSNE 1,797 x 64", digits, "bh", "1,000 steps of 1.6 million pairs: a division each"),
    case("TSNE 10,000 x 50", groups, "fft", "1,000 steps of 1.3 million neighbours, 2 transforms"),
]
