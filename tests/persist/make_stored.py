"""Write the stored files of the current format version: ``python tests/persist/make_stored.py``.

Run once per version, when it is released; files that exist are kept, for they are the test that
old files stay readable.
"""

import json
from pathlib import Path

import numpy as np
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import pellucid
from pellucid.persist.format import VERSION

DATA = Path(__file__).parent / "data"


def models():
    """A fitted pipeline per estimator, by name."""
    rng = np.random.default_rng(20)
    X = rng.normal(size=(60, 3)) * [1.0, 10.0, 0.1]
    y = X @ [1.0, -0.2, 5.0] + rng.normal(size=60)
    labels = np.where(y > 0, "yes", "no")
    targets = {
        "GaussianNB": (pellucid.GaussianNB(), labels),
        "KMeans": (pellucid.KMeans(n_clusters=3, random_state=0), None),
        "LinearRegression": (pellucid.LinearRegression(), y),
        "Ridge": (pellucid.Ridge(alpha=2.0), y),
    }
    for name, (model, target) in targets.items():
        yield name, make_pipeline(StandardScaler(), model).fit(X, target), X[:10]


def main():
    for name, model, X in models():
        path = DATA / f"v{VERSION}_{name}.pellucid"
        if not path.exists():
            pellucid.save(model, path)
            answer = {"X": X.tolist(), "predict": model.predict(X).tolist()}
            path.with_suffix(".json").write_text(json.dumps(answer) + "\n")


if __name__ == "__main__":
    main()
