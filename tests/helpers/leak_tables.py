"""Tables with a planted leak, and clean ones, for the checks of leaks and groups."""

import numpy as np
import polars as pl
from sklearn import datasets

from pellucid.data import load_table

LEAKS = ("PEL301", "PEL302", "PEL303", "PEL307", "PEL308", "PEL311")


def inputs(rng, n=240):
    a, b, c = rng.normal(size=(3, n))
    return {"a": a, "b": b, "c": c, "d": rng.choice(list("xyz"), n)}


def people(rng, m=60, k=8):
    """m people with k rows each, in random order, and what is fixed for each."""
    who = rng.permutation(np.repeat(np.arange(m), k))
    return who, lambda values: np.asarray(values)[who]


# --- planted leaks: name -> (table, target)


def planted(seed=0, n=240):
    rng = np.random.default_rng(seed)
    t = inputs(rng, n)
    y = t["a"] + 0.7 * t["b"] + rng.normal(size=n)
    label = np.where(y > 0.3, "yes", "no")
    day = np.datetime64("2024-01-01") + rng.integers(0, 500, n).astype("timedelta64[D]")
    filled = [str(d) if k == "yes" else None for d, k in zip(day, label, strict=True)]
    partly = [d if s else None for d, s in zip(filled, rng.random(n) < 0.6, strict=True)]
    words = rng.choice(["was calm today", "asked about the price", "did not answer the phone"], n)
    end = {"yes": "left us for good", "no": "stayed with us"}
    told = [
        f"client {i} {w} and {end[k]}" for i, (w, k) in enumerate(zip(words, label, strict=True))
    ]
    named = [
        f"client {i} {w}, outcome {k}" for i, (w, k) in enumerate(zip(words, label, strict=True))
    ]
    price = np.round(50 + 10 * y, 2)
    sold = [
        f"client {i} {w}, sold for {p:,.2f}"
        for i, (w, p) in enumerate(zip(words, price, strict=True))
    ]
    bins = np.digitize(y, np.quantile(y, np.arange(1, 12) / 12))
    flipped = np.where(rng.random(n) < 0.02, np.where(label == "yes", "no", "yes"), label)
    low = np.round(20 + 8 * np.abs(y) - rng.gamma(2, 1, n), 1)
    high = np.round(low + rng.gamma(2, 2, n), 1)
    parts = 30 * np.exp(rng.normal(size=(3, n)))
    twice = lambda x: np.concatenate([x, x])  # noqa: E731
    near = {k: twice(t[k]) + 1e-4 * rng.normal(size=2 * n) for k in "abc"}
    return {
        "date filled for one class": (t | {"closed": filled, "y": label}, "y"),
        "date partly filled": (t | {"closed": partly, "y": label}, "y"),
        "twelve bins": (t | {"band": bins, "y": y}, "y"),
        "twelve named bins": (t | {"band": [f"band {chr(97 + k)}" for k in bins], "y": y}, "y"),
        "equal width bins": (t | {"band": np.floor(y / np.ptp(y) * 12), "y": y}, "y"),
        "noisy copy, 2 %": (t | {"copy": y + 0.02 * y.std() * rng.normal(size=n), "y": y}, "y"),
        "noisy copy, 5 %": (t | {"copy": y + 0.05 * y.std() * rng.normal(size=n), "y": y}, "y"),
        "noisy copy, 10 %": (t | {"copy": y + 0.1 * y.std() * rng.normal(size=n), "y": y}, "y"),
        "noisy labels": (t | {"copy": flipped, "y": label}, "y"),
        "text that tells": (t | {"note": told, "y": label}, "y"),
        "text that names the label": (t | {"note": named, "y": label}, "y"),
        "text with the number": (t | {"note": sold, "y": price}, "y"),
        "minimum and maximum": (
            t | {"low": low, "high": high, "y": np.round((low + high) / 2, 1)},
            "y",
        ),
        "rounded sum": (
            t | dict(zip("uvw", parts, strict=True)) | {"y": np.round(parts.sum(axis=0))},
            "y",
        ),
        "near copies of rows": (near | {"y": twice(rng.choice(["p", "q"], n))}, "y"),
    }


def units(seed=0):
    """Repeated measures: name -> (table, target, column of the units)."""
    rng = np.random.default_rng(seed)
    who, of = people(rng)
    n, m = len(who), 60
    center = rng.normal(size=(m, 4))
    near = {f"f{j}": of(center[:, j]) + 0.2 * rng.normal(size=n) for j in range(4)}
    loose = {f"f{j}": of(center[:, j]) + 0.6 * rng.normal(size=n) for j in range(4)}
    ill = of(rng.choice(["ill", "well"], m))
    coded = np.array([f"P{k:02}" for k in who])
    level = of(10 * rng.normal(size=m)) + rng.normal(size=n)
    person = {"age": of(rng.integers(20, 80, m)), "sex": of(rng.choice(["f", "m"], m))}
    chick = np.repeat(np.arange(1, 51), 12)
    day = np.tile([0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 21], 50)
    diet = np.select([chick <= 20, chick <= 30, chick <= 40], [1, 2, 3], 4)
    rate = (5 + diet) * rng.normal(1, 0.3, 50)[chick - 1]
    weight = np.round(40 + day * rate + 5 * rng.normal(size=600))
    seen = rng.random(600) < 0.96
    growth = {"weight": weight, "day": day, "chick": chick, "diet": diet}
    subject = np.repeat([308 + 3 * i for i in range(18)], 10)
    days = np.tile(np.arange(10), 18)
    slow = 250 + 10 * days + np.repeat(40 * rng.normal(size=18), 10) + 25 * rng.normal(size=180)
    return {
        "codes, near": ({"who": coded, **near, "y": ill}, "y", "who"),
        "numbers, near": ({"who": who, **near, "y": ill}, "y", "who"),
        "numbers, loose": ({"who": who, **loose, "y": ill}, "y", "who"),
        "a number of each": ({"who": who, **loose, "y": level}, "y", "who"),
        "age and sex": ({"who": who, **person, "x": rng.normal(size=n), "y": level}, "y", "who"),
        "growth": ({k: v[seen] for k, v in growth.items()}, "weight", "chick"),
        "days without sleep": ({"y": slow, "days": days, "subject": subject}, "y", "subject"),
    }


# --- clean tables: name -> (frame, target)


def _sklearn(name):
    bunch = getattr(datasets, f"load_{name}")()
    X, y = bunch.data, bunch.target
    if name == "digits":
        X, y = X[:500, ::2], y[:500]
    table = {f"x{j}": X[:, j] for j in range(X.shape[1])}
    return table | {"y": y if name == "diabetes" else [f"c{v}" for v in y]}, "y"


def _made(make, *, labels=False, **options):
    X, y = getattr(datasets, f"make_{make}")(**options, random_state=0)
    return {f"x{j}": X[:, j] for j in range(X.shape[1])} | {
        "y": [f"c{v}" for v in y] if labels else y
    }, "y"


def _simulated(kind, seed, n=300):
    """Tables of many kinds without any leak; some are hard on the checks."""
    rng = np.random.default_rng(seed)
    t = inputs(rng, n)
    z = t["a"] + 0.7 * t["b"]
    y = z + rng.normal(size=n)
    label = np.where(y > 0.3, "yes", "no")
    if kind == "linear":
        return t | {"y": y}, "y"
    if kind == "classes":
        return t | {"y": label}, "y"
    if kind == "nothing":
        return t | {"y": rng.normal(size=n)}, "y"
    if kind == "rare":
        return t | {"y": np.where(z + rng.normal(size=n) > 2, "yes", "no")}, "y"
    if kind == "counts":
        return t | {"y": rng.poisson(np.exp(1 + 0.5 * z))}, "y"
    if kind == "gaps":
        hole = lambda x: np.where(rng.random(n) < 0.3, np.nan, x)  # noqa: E731
        return {k: hole(v) if k != "d" else v for k, v in t.items()} | {"y": label}, "y"
    if kind == "telling gaps":  # missing more often in one class, not only there
        gone = rng.random(n) < np.where(label == "yes", 0.1, 0.5)
        return t | {"e": np.where(gone, np.nan, rng.normal(size=n)), "y": label}, "y"
    if kind == "makers":  # a category with a coarse column of its own, as car makers have
        maker = rng.integers(0, 30, n)
        names = np.array([f"maker {chr(65 + k)}" for k in range(30)])
        home = rng.choice(["home", "abroad"], 30)[maker]
        return t | {"maker": names[maker], "home": home, "y": y + rng.normal(size=30)[maker]}, "y"
    if kind == "strong category":
        level = rng.integers(0, 20, n)
        effect = 3 * rng.normal(size=20)
        names = np.array([f"{chr(97 + k)}{chr(110 + k % 7)}" for k in range(20)])
        return t | {"kind": names[level], "y": effect[level] + y}, "y"
    if kind == "ages":
        age = rng.integers(18, 80, n)
        band = np.array(["young", "middle", "old"])[np.digitize(age, [35, 60])]
        return t | {"age": age, "band": band, "y": y + 0.1 * age}, "y"
    if kind == "months":
        month, year = np.tile(np.arange(1, 13), 25), np.repeat(np.arange(1, 26), 12)
        season = 3 * np.sin(month / 2)
        quarter = (month - 1) // 3 + 1
        return {"month": month, "run": year, "quarter": quarter, "y": season + 0.1 * year + y}, "y"
    if kind == "days":  # like the readings of one station, day by day
        day, month = np.tile(np.arange(1, 31), 5), np.repeat(np.arange(5, 10), 30)
        return {k: v[:150] for k, v in t.items()} | {"day": day, "month": month, "y": y[:150]}, "y"
    if kind == "dates":
        day = np.datetime64("2023-01-01") + rng.integers(0, 700, n).astype("timedelta64[D]")
        return t | {"when": [str(d) for d in day], "y": label}, "y"
    if kind == "trend":
        day = [str(np.datetime64("2023-01-01") + np.timedelta64(i, "D")) for i in range(n)]
        return t | {"when": day, "y": np.arange(n) * 0.05 + y}, "y"
    if kind == "texts":
        words = ["the", "house", "river", "bank", "tree", "small", "old", "yes", "no", "and", "of"]
        notes = [" ".join(rng.choice(words, 9)) for _ in range(n)]
        return t | {"note": notes, "y": label}, "y"
    if kind == "helpful texts":
        words = np.where(label == "yes", "bright", "dull")
        heard = np.where(rng.random(n) < 0.7, words, "plain")
        notes = [f"it was a {w} day number {i} in all" for i, w in enumerate(heard)]
        return t | {"note": notes, "y": label}, "y"
    if kind == "many parts":  # near perfect, from ten columns
        X = rng.normal(size=(n, 10))
        table = {f"x{j}": X[:, j] for j in range(10)}
        return table | {"y": X.sum(axis=1) * 2 + 0.3 * rng.normal(size=n)}, "y"
    if kind == "sorted":
        order = np.argsort(y)
        return {k: v[order] for k, v in t.items()} | {"y": y[order]}, "y"
    if kind == "coarse":
        table = {f"q{j}": rng.integers(1, 6, n) for j in range(6)}
        return table | {"y": sum(table.values()) + rng.normal(0, 2, n)}, "y"
    if kind == "design":  # every temperature with every pressure, three times
        heat, force = (v.ravel() for v in np.meshgrid(np.arange(100, 200, 10), np.arange(1, 11)))
        heat, force = np.tile(heat, 3), np.tile(force, 3)
        return {"heat": heat, "force": force, "y": 0.05 * heat + force + rng.normal(size=300)}, "y"
    if kind == "codes":  # a postal code that says nothing of its own
        return t | {"zone": rng.integers(10, 60, n) * 100, "y": y}, "y"
    raise AssertionError(kind)


def clean():
    """Forty clean tables, as functions."""
    iris, penguins = load_table("iris"), load_table("penguins")
    tables = {
        "iris": lambda: (iris, "species"),
        "iris lengths": lambda: (iris, iris.columns[2]),
        "penguins": lambda: (penguins, "species"),
        "penguin masses": lambda: (penguins, "body_mass_g"),
        "penguin sexes": lambda: (penguins.drop_nulls("sex"), "sex"),
    }
    for name in ("wine", "breast_cancer", "digits", "diabetes"):
        tables[name] = lambda name=name: _sklearn(name)
    for name, options in {
        "friedman1": {"n_samples": 300, "noise": 1.0},
        "friedman2": {"n_samples": 300, "noise": 30.0},
        "friedman3": {"n_samples": 300, "noise": 0.1},
        "regression": {"n_samples": 300, "n_features": 12, "n_informative": 8, "noise": 10.0},
        "sparse_uncorrelated": {"n_samples": 300},
    }.items():
        tables[name] = lambda name=name, options=options: _made(name, **options)
    for name, options in {
        "classification": {"n_samples": 300, "n_features": 8, "class_sep": 1.5},
        "blobs": {"n_samples": 300, "centers": 4, "n_features": 6},
        "moons": {"n_samples": 300, "noise": 0.1},
        "circles": {"n_samples": 300, "noise": 0.05, "factor": 0.5},
        "gaussian_quantiles": {"n_samples": 300, "n_features": 4},
    }.items():
        tables[name] = lambda name=name, options=options: _made(name, labels=True, **options)
    kinds = [
        *("linear", "classes", "nothing", "rare", "counts", "gaps", "telling gaps", "makers"),
        *("strong category", "ages", "months", "days", "dates", "trend", "texts"),
        *("helpful texts", "many parts", "sorted", "coarse", "design", "codes"),
    ]
    for i, kind in enumerate(kinds):
        tables[f"simulated: {kind}"] = lambda kind=kind, i=i: _simulated(kind, i)
    return tables


def frame_of(table):
    return table if isinstance(table, pl.DataFrame) else pl.DataFrame(table)
