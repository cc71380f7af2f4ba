"""Naive Bayes on counts, marks, categories and text, against scikit-learn: fit and predict."""

from functools import partial

import numpy as np

from benchmarks.harness import Case

N, P, K = 200_000, 50, 5
ROWS, WORDS, TOPICS = 20_000, 50_000, 20
NAMES = ("BernoulliNB", "MultinomialNB", "ComplementNB")


def dense():
    rng = np.random.default_rng(0)
    y = rng.integers(K, size=N)
    return rng.poisson(rng.gamma(1.0, 0.7, size=(K, P))[y]).astype(np.float64), y


def categories():
    rng = np.random.default_rng(0)
    y = rng.integers(K, size=N)
    return (rng.integers(6, size=(N, P // 2)) * (1 + y[:, None])) % 7, y


def sparse():
    from scipy.sparse import random_array

    rng = np.random.default_rng(0)
    X = random_array((ROWS, WORDS), density=0.002, format="csr", rng=rng)
    X.data[:] = np.ceil(3 * X.data)
    return X, rng.integers(TOPICS, size=ROWS)


def texts():
    rng = np.random.default_rng(0)
    words = np.array([f"w{i:05d}" for i in range(20_000)])
    y = rng.integers(K, size=20_000)
    numbers = (rng.zipf(1.3, size=(20_000, 60)) * (1 + y[:, None])) % 20_000
    return [" ".join(row) for row in words[numbers]], y


def make(library, name):
    if library == "pellucid":
        import pellucid as package
    else:
        import sklearn.naive_bayes as package
    return getattr(package, name)()


def text_model(library):
    if library == "pellucid":
        from pellucid import TextNB

        return TextNB()
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.naive_bayes import MultinomialNB
    from sklearn.pipeline import make_pipeline

    return make_pipeline(CountVectorizer(), MultinomialNB())


_models = {}


def fit(library, name, data):
    model = make(library, name).fit(*data)
    logs = model.feature_log_prob_
    return np.concatenate([np.ravel(table)[:10_000] for table in logs])


def proba(library, name, data):
    X, y = data
    if (library, name) not in _models:
        _models[library, name] = make(library, name).fit(X, y)  # in the warm-up call only
    return _models[library, name].predict_proba(X)[::100]


def text_fit(library, data):
    return text_model(library).fit(*data).predict_proba(data[0][:200])


def text_predict(library, data):
    if library not in _models:
        _models[library] = text_model(library).fit(*data)
    return _models[library].predict_proba(data[0])[::100]


def close(ours, theirs):
    return bool(np.allclose(ours, theirs, rtol=1e-7, atol=1e-9))


def contenders(function, *arguments):
    libraries = {"pellucid": "pellucid", "scikit-learn": "sklearn"}
    return {label: partial(function, name, *arguments) for label, name in libraries.items()}


def cases():
    for name in NAMES:
        for data, size in ((dense, f"{N:,} x {P}"), (sparse, f"{ROWS:,} x {WORDS:,} sparse")):
            read = "80 MB read once" if data is dense else "2 M entries read once"
            yield Case(f"{name} fit {size}", data, contenders(fit, name), close, read)
            yield Case(f"{name} predict_proba {size}", data, contenders(proba, name), close, read)
    size = f"{N:,} x {P // 2}"
    read = "40 MB read once"
    name = "CategoricalNB"
    yield Case(f"{name} fit {size}", categories, contenders(fit, name), close, read)
    yield Case(f"{name} predict_proba {size}", categories, contenders(proba, name), close, read)
    read = "8 MB of text read once"
    yield Case("TextNB fit 20,000 texts", texts, contenders(text_fit), close, read)
    yield Case("TextNB predict_proba 20,000 texts", texts, contenders(text_predict), close, read)


CASES = list(cases())
