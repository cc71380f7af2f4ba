"""What an estimator answers when X, one column, the new rows or y are in another unit."""

import warnings

import numpy as np
from estimators import data, fit, make, outputs, public_classes
from scipy.sparse import issparse
from sklearn.utils import get_tags

CLASSES = public_classes()
SCALES = (1e-300, 1e-30, 1e-9, 1.0, 1e9, 1e300)
CASES = [(w, s) for w in ("X", "column", "y", "new rows") for s in SCALES if s != 1.0]
CASES += [("X", 1e-310), ("columns", 150.0), ("new rows", 1e-310)]


def scaled_data(cls, what, scale, n=40):
    """(X, y, new rows) with one of them in another unit; None where that makes no sense."""
    X, y = data(cls, n)
    if what == "y":
        return None if y is None or np.asarray(y).dtype.kind != "f" else (X, y * scale, X)
    if get_tags(make(cls)).input_tags.categorical:
        return None
    if what == "new rows":
        return X, y, X * scale
    if what == "columns":  # from 10^-scale to 10^scale
        Z = X * 10.0 ** np.linspace(-scale, scale, X.shape[1])
    else:
        Z = X.copy()
        Z[:, slice(None) if what == "X" or X.shape[1] < 2 else 1] *= scale
    return Z, y, Z


def faults_of(name, what, scale):
    """What is wrong with the answers of one estimator at one scale, or None."""
    pair = scaled_data(CLASSES[name], what, scale)
    if pair is None:
        return None
    X, y, new = pair
    model = make(CLASSES[name])
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            found = outputs(fit(model, X, y), new)
        except (ValueError, TypeError) as error:
            return None if sentence(str(error)) else f"an error without a sentence: {error!r}"
        if hasattr(model, "transform"):
            result = model.transform(new)
            if issparse(result) and hasattr(result, "check_format"):
                result.check_format(full_check=True)
    bad = [key for key, values in found.items() if not sound(key, values)]
    return f"{', '.join(bad)} not finite, and no warning" if bad and not told else None


def sound(method, values):
    """Finite; the logarithm of a density may be that of 0."""
    if values.dtype.kind != "f":
        return True
    log = method == "score_samples"
    return bool((np.isfinite(values) | (log & (values == -np.inf))).all())


def sentence(text):
    """Words a user can act on, not the inside of a library."""
    inside = ("NoneType", "object has no attribute", "cannot convert float", "object is not")
    inside += ("leading minor", "must not contain infs", "ingular matrix", "did not converge")
    return len(text.split()) >= 4 and not any(word in text for word in inside)
