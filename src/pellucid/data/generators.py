r"""Data from known laws, to learn on and to test against.

Every function returns ``(X, y)`` as arrays. A whole number as ``random_state`` means
``numpy.random.RandomState`` with that seed, and numbers are drawn in the order stated, so that
numbers printed elsewhere for the same law come out again.
"""

from collections.abc import Callable, Sequence
from numbers import Integral
from typing import Any

import numpy as np
import polars as pl

from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, IntArray, Seed


def legacy(random_state: Seed) -> np.random.RandomState:
    """The RandomState of None, a whole number, a RandomState or a Generator."""
    if isinstance(random_state, np.random.RandomState):
        return random_state
    if isinstance(random_state, np.random.Generator):
        return np.random.RandomState(random_state.bit_generator)
    if random_state is None:
        return np.random.RandomState()
    if isinstance(random_state, Integral) and 0 <= int(random_state) < 2**32:
        return np.random.RandomState(int(random_state))
    raise ValueError(
        "random_state must be None, a whole number from 0 to 2**32 - 1, a RandomState or a "
        f"Generator, got {random_state!r}"
    )


def make_noisy_line(
    n_samples: int = 200,
    *,
    slope: float = 3.0,
    intercept: float = 1.0,
    noise: float = 2.0,
    low: float = 0.0,
    high: float = 10.0,
    random_state: Seed = None,
) -> tuple[Array, Array]:
    """y = intercept + slope x + noise e, e standard normal, x evenly spaced in [low, high].

    ``slope``, ``intercept``, ``noise``, ``low`` and ``high`` are the numbers of this law;
    ``n_samples`` is the number of rows, ``random_state`` the seed.

    >>> from pellucid.data import make_noisy_line
    >>> X, y = make_noisy_line(random_state=0)
    >>> y[:3].round(8)
    array([4.52810469, 1.95106819, 3.25898351])
    """
    check.whole(n_samples=n_samples)
    check.non_negative(noise=noise)
    x = np.linspace(low, high, n_samples)
    y = intercept + slope * x + noise * legacy(random_state).randn(n_samples)
    return x[:, None], y


def make_noisy_quadratic(
    n_samples: int = 200,
    *,
    curvature: float = 1.0,
    slope: float = 0.0,
    intercept: float = 0.0,
    noise: float = 1.0,
    low: float = -3.0,
    high: float = 3.0,
    random_state: Seed = None,
) -> tuple[Array, Array]:
    """y = intercept + slope x + curvature x^2 + noise e, x evenly spaced in [low, high].

    ``curvature``, ``slope``, ``intercept``, ``noise``, ``low`` and ``high`` are the numbers of this
    law; ``n_samples`` is the number of rows, ``random_state`` the seed.

    >>> from pellucid.data import make_noisy_quadratic
    >>> make_noisy_quadratic(3, noise=0.0)[1]
    array([9., 0., 9.])
    """
    check.whole(n_samples=n_samples)
    check.non_negative(noise=noise)
    x = np.linspace(low, high, n_samples)
    e = legacy(random_state).randn(n_samples)
    return x[:, None], intercept + slope * x + curvature * x**2 + noise * e


def make_exponential(n_samples: int = 15) -> tuple[Array, Array]:
    """y = exp(x), x evenly spaced in [1, 5]; no noise.

    ``n_samples`` is the number of rows.

    >>> from pellucid.data import make_exponential
    >>> X, y = make_exponential(2)
    >>> y.round(4)
    array([  2.7183, 148.4132])
    """
    check.whole(n_samples=n_samples)
    x = np.linspace(1.0, 5.0, n_samples)
    return x[:, None], np.exp(x)


def make_two_blobs(
    n_per_class: int = 50,
    *,
    centers: ArrayLike = ((1, 1), (3, 5)),
    spread: ArrayLike = (0.2, 0.2),
    random_state: Seed = None,
) -> tuple[Array, IntArray]:
    """Two round clouds, classes 0 and 1; per cloud all first coordinates, then all second.

    ``n_per_class`` rows around each of the two ``centers``, with a standard deviation each in
    ``spread``; ``random_state`` is the seed.

    >>> from pellucid.data import make_two_blobs
    >>> make_two_blobs(random_state=0)[0][0].round(8)
    array([1.35281047, 0.82090669])
    """
    centers, spread = check_clouds(n_per_class, centers, spread, 2)
    rng = legacy(random_state)
    clouds = [
        np.column_stack([rng.normal(center, s, n_per_class) for center in point])
        for point, s in zip(centers, spread, strict=True)
    ]
    return np.vstack(clouds), np.repeat(np.arange(2), n_per_class)


def make_three_clusters(
    n_per_class: int = 100,
    *,
    centers: ArrayLike = ((1, 1), (3, 2), (2, 4)),
    spread: ArrayLike = (0.4, 0.5, 0.3),
    random_state: Seed = None,
) -> tuple[Array, IntArray]:
    """Three round clouds, classes 0, 1, 2; per cloud one ``randn(n, 2)``.

    ``n_per_class`` rows around each of the three ``centers``, with a standard deviation each in
    ``spread``; ``random_state`` is the seed.

    >>> from pellucid.data import make_three_clusters
    >>> make_three_clusters(random_state=42)[0][:100].mean(axis=0).round(8)
    array([0.9537743 , 1.01360893])
    """
    centers, spread = check_clouds(n_per_class, centers, spread, 3)
    rng = legacy(random_state)
    clouds = [
        point + s * rng.randn(n_per_class, centers.shape[1])
        for point, s in zip(centers, spread, strict=True)
    ]
    return np.vstack(clouds), np.repeat(np.arange(3), n_per_class)


def check_clouds(n: int, centers: ArrayLike, spread: ArrayLike, k: int) -> tuple[Array, Array]:
    """Centres (k, d) and one spread per cloud."""
    check.whole(n_per_class=n)
    points, s = np.asarray(centers, dtype=float), np.asarray(spread, dtype=float)
    if points.ndim != 2 or len(points) != k:
        raise ValueError(f"centers must be {k} points, got shape {points.shape}")
    if s.shape != (k,) or not (s >= 0).all():
        raise ValueError(f"spread must be {k} numbers >= 0, got {spread!r}")
    return points, s


def make_step(n_samples: int = 200, *, random_state: Seed = None) -> tuple[Array, IntArray]:
    """x standard normal, y = 1 where x > 0, else 0.

    ``n_samples`` is the number of rows, ``random_state`` the seed.

    >>> from pellucid.data import make_step
    >>> X, y = make_step(3, random_state=0)
    >>> X.shape, y
    ((3, 1), array([1, 1, 1]))
    """
    check.whole(n_samples=n_samples)
    X = legacy(random_state).randn(n_samples, 1)
    return X, (X[:, 0] > 0).astype(np.intp)


def make_line_labels(n_samples: int = 100, *, random_state: Seed = None) -> tuple[Array, IntArray]:
    """x1 = 1 + 2 u, x2 = 3 u', u and u' uniform; y = 1 above the line x2 = 1.5 x1 - 1.

    ``n_samples`` is the number of rows, ``random_state`` the seed.

    >>> from pellucid.data import make_line_labels
    >>> int(make_line_labels(random_state=5)[1].sum())
    35
    """
    check.whole(n_samples=n_samples)
    rng = legacy(random_state)
    x1 = 1 + 2 * rng.rand(n_samples)
    x2 = 3 * rng.rand(n_samples)
    return np.column_stack([x1, x2]), (x2 > 1.5 * x1 - 1).astype(np.intp)


def make_threshold_strip(
    n_samples: int = 100, *, cut: float = 0.5, random_state: Seed = None
) -> tuple[Array, IntArray]:
    """x uniform in [0, 1), y = +1 where x > cut, else -1.

    The label changes at ``cut``. ``n_samples`` is the number of rows, ``random_state`` the seed.

    >>> from pellucid.data import make_threshold_strip
    >>> X, y = make_threshold_strip(4, random_state=0)
    >>> X[:, 0].round(2), y
    (array([0.55, 0.72, 0.6 , 0.54]), array([1, 1, 1, 1]))
    """
    check.whole(n_samples=n_samples)
    x = legacy(random_state).rand(n_samples)
    return x[:, None], np.where(x > cut, 1, -1)


def make_mixture(
    n_samples: int,
    weights: ArrayLike,
    means: ArrayLike,
    variances: ArrayLike,
    *,
    random_state: Seed = None,
) -> tuple[Array, IntArray]:
    """Draws of a Gaussian mixture; y is the component. First all components, then ``randn``.

    ``weights`` are the shares of the components and sum to 1; ``means`` is (k,) or (k, d);
    ``variances`` is (k,), or (k, d) for one per coordinate. ``n_samples`` is the number
    of rows, ``random_state`` the seed.

    >>> from pellucid.data import make_mixture
    >>> X, y = make_mixture(1000, [0.3, 0.7], [-5, 5], [1, 4], random_state=0)
    >>> X.shape, round(float(y.mean()), 1)
    ((1000, 1), 0.7)
    """
    check.whole(n_samples=n_samples)
    p, mu = np.asarray(weights, dtype=float), np.asarray(means, dtype=float)
    mu = mu[:, None] if mu.ndim == 1 else mu
    if p.ndim != 1 or not (p >= 0).all() or not np.isclose(p.sum(), 1):
        raise ValueError(f"weights must be numbers >= 0 that sum to 1, got {weights!r}")
    if mu.ndim != 2 or len(mu) != len(p):
        raise ValueError(f"means must be one point per weight ({len(p)}), got shape {mu.shape}")
    var = np.asarray(variances, dtype=float)
    var = var[:, None] if var.ndim == 1 else var
    if var.shape not in ((len(p), 1), mu.shape) or not (var >= 0).all():
        raise ValueError(f"variances must be numbers >= 0, one per component, got {variances!r}")
    rng = legacy(random_state)
    z = rng.choice(len(p), size=n_samples, p=p / p.sum())
    X = mu[z] + np.sqrt(var)[z] * rng.randn(n_samples, mu.shape[1])
    return X, z.astype(np.intp)


def make_rings(
    n_samples: int = 200,
    *,
    radii: Sequence[float] = (1.0, 3.0),
    noise: float = 0.2,
    random_state: Seed = None,
) -> tuple[Array, IntArray]:
    """Concentric rings, class 0 inside class 1; per ring all angles, then all radii.

    ``radii`` are those of the rings, ``noise`` the standard deviation of a row's own radius;
    ``n_samples`` is the number of rows, ``random_state`` the seed.

    >>> from pellucid.data import make_rings
    >>> X, y = make_rings(4, noise=0.0, random_state=0)
    >>> (X**2).sum(axis=1).round(6), y
    (array([1., 1., 9., 9.]), array([0, 0, 1, 1]))
    """
    check.whole(at_least=2, n_samples=n_samples)
    check.non_negative(noise=noise)
    if len(radii) != 2 or not 0 <= radii[0] < radii[1]:
        raise ValueError(f"radii must be two numbers, 0 <= inner < outer, got {radii!r}")
    rng = legacy(random_state)
    sizes = (n_samples // 2, n_samples - n_samples // 2)
    rings = []
    for n, radius in zip(sizes, radii, strict=True):
        angle = 2 * np.pi * rng.rand(n)
        r = radius + noise * rng.randn(n)
        rings.append(np.column_stack([r * np.cos(angle), r * np.sin(angle)]))
    return np.vstack(rings), np.repeat(np.arange(2), sizes)


def make_moons(
    n_samples: int | tuple[int, int] = 100,
    *,
    shuffle: bool = True,
    noise: float | None = None,
    random_state: Seed = None,
) -> tuple[Array, IntArray]:
    """Two interleaved half circles, as scikit-learn draws them.

    ``n_samples`` (rows, or one number per moon), ``shuffle``, ``noise`` and ``random_state`` are
    those of ``sklearn.datasets.make_moons``.

    >>> from pellucid.data import make_moons
    >>> make_moons(6, random_state=0)[0].shape
    (6, 2)
    """
    from sklearn import datasets

    seed = random_state if random_state is None else legacy(random_state)
    return datasets.make_moons(n_samples, shuffle=shuffle, noise=noise, random_state=seed)


def make_blobs(
    n_samples: int | Sequence[int] = 100,
    n_features: int = 2,
    *,
    centers: int | ArrayLike | None = None,
    cluster_std: float | ArrayLike = 1.0,
    center_box: tuple[float, float] = (-10.0, 10.0),
    shuffle: bool = True,
    random_state: Seed = None,
) -> tuple[Array, IntArray]:
    """Round Gaussian clouds, as scikit-learn draws them.

    ``n_samples``, ``n_features``, ``centers``, ``cluster_std``, ``center_box``, ``shuffle`` and
    ``random_state`` are those of ``sklearn.datasets.make_blobs``.

    >>> from pellucid.data import make_blobs
    >>> make_blobs(6, centers=2, random_state=0)[0].shape
    (6, 2)
    """
    from sklearn import datasets

    seed = random_state if random_state is None else legacy(random_state)
    X, y = datasets.make_blobs(
        n_samples,
        n_features,
        centers=centers,
        cluster_std=cluster_std,
        center_box=center_box,
        shuffle=shuffle,
        random_state=seed,
    )
    return X, y


GENERATORS: dict[str, Callable[..., tuple[Any, Any]]] = {
    "blobs": make_blobs,
    "exponential": make_exponential,
    "line_labels": make_line_labels,
    "mixture": make_mixture,
    "moons": make_moons,
    "noisy_line": make_noisy_line,
    "noisy_quadratic": make_noisy_quadratic,
    "rings": make_rings,
    "step": make_step,
    "three_clusters": make_three_clusters,
    "threshold_strip": make_threshold_strip,
    "two_blobs": make_two_blobs,
}


def make(name: str, **kwargs: object) -> pl.DataFrame:
    """Draw from the generator of that name: a Polars frame with columns x0, x1, ... and y.

    ``name`` is "noisy_line", "rings" ..., as ``list_data`` lists them; ``kwargs`` are the keywords
    of that generator.

    >>> from pellucid.data import make
    >>> make("noisy_line", n_samples=3, random_state=0).columns
    ['x0', 'y']
    """
    name = name.removeprefix("make_") if isinstance(name, str) else name
    check.one_of(GENERATORS, name=name)
    check_keywords(name, kwargs)
    X, y = GENERATORS[name](**kwargs)
    columns = {f"x{j}": X[:, j] for j in range(X.shape[1])}
    return pl.DataFrame({**columns, "y": y})


def check_keywords(name: str, kwargs: dict[str, Any]) -> None:
    """Refuse an unknown keyword, or a required one left out, in one sentence."""
    from inspect import Parameter, signature

    known = signature(GENERATORS[name]).parameters
    for word in kwargs:
        if word not in known:
            accepted = ", ".join(known)
            near = check.hint(word, known)
            raise ValueError(f"make_{name} accepts {accepted}, got {word!r}{near}")
    lacking = [w for w, p in known.items() if p.default is Parameter.empty and w not in kwargs]
    if lacking:
        raise ValueError(f"make_{name} needs {', '.join(lacking)}")
