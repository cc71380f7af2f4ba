"""The pages about migrating name everything that the installed scikit-learn has in public."""

import importlib.util
import re
from pathlib import Path

import numpy as np
import pytest
from sklearn.cluster import Birch
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline

import pellucid

ROOT = Path(__file__).parents[2]
spec = importlib.util.spec_from_file_location("migrating", ROOT / "tools/migrating.py")
migrating = importlib.util.module_from_spec(spec)
spec.loader.exec_module(migrating)


def test_the_page_is_what_the_tool_writes():
    assert migrating.PAGE.read_text(encoding="utf-8") == migrating.page()


def test_every_estimator_answers():
    text = migrating.PAGE.read_text(encoding="utf-8")
    names = migrating.estimators()
    assert len(names) > 180
    for name, module in names.items():
        row = next(line for line in text.splitlines() if f"`{module}.{name}`" in line)
        assert (f"`pellucid.{name}`" in row) == (name in pellucid.__all__)


def test_every_difference_is_on_the_page():
    text = migrating.PAGE.read_text(encoding="utf-8")
    for name, told in migrating.differences().items():
        assert name not in pellucid.__all__ or all(line in text for line in told)


def test_what_is_named_instead_exists():
    for words in migrating.NEAR.values():
        for name in migrating.re.findall(r"`(?:pellucid\.)?([A-Z]\w+)", words):
            assert name in pellucid.__all__


def test_the_table_and_the_page_of_names_are_what_the_tool_writes():
    assert migrating.TABLE.read_text(encoding="utf-8") == migrating.table()
    assert migrating.EVERY_NAME.read_text(encoding="utf-8") == migrating.names_page()


def test_every_public_name_of_scikit_learn_answers():
    """Ours, or a sentence with an import that works."""
    for module, names in migrating.every_name().items():
        for name in names:
            if name in pellucid.__all__ or migrating.is_own_module(name):
                continue
            with pytest.raises(AttributeError) as caught:
                getattr(pellucid, name)
            found = re.search(
                r"with our estimators, from ([\w.]+) import (\w+)$", str(caught.value)
            )
            assert found.groups() == (module, name)
            if module != "sklearn":
                assert hasattr(importlib.import_module(module), name), (module, name)


def test_modules_below_the_packages_are_read(monkeypatch):
    """A name that the next scikit-learn adds there is found, and makes the page stale."""
    names = migrating.every_name()
    assert "row_norms" in names["sklearn.utils.extmath"]
    assert "check_array" in names["sklearn.utils"]
    assert "strip_tags" in names["sklearn.feature_extraction.text"]
    assert "set_config" in names["sklearn"]
    from sklearn.utils import extmath

    def brand_new():
        pass

    brand_new.__module__ = extmath.__name__
    monkeypatch.setattr(extmath, "brand_new", brand_new, raising=False)
    assert "brand_new" in migrating.every_name()["sklearn.utils.extmath"]
    assert "brand_new" in migrating.table()


def test_an_import_of_such_a_name_says_where_it_is():
    with pytest.raises(ImportError, match=r"from sklearn\.pipeline import Pipeline"):
        from pellucid import Pipeline  # noqa: F401
    with pytest.raises(ImportError, match=r"cannot import name 'Nothing' from 'pellucid' \("):
        from pellucid import Nothing  # noqa: F401
    assert not hasattr(pellucid, "Birch")


def test_what_the_sentence_promises():
    """scikit-learn's pipelines, searches and clusterers work with our estimators."""
    X, y = np.random.default_rng(0).normal(size=(60, 3)), np.tile([0, 1], 30)
    pipe = Pipeline([("scale", pellucid.StandardScaler()), ("model", pellucid.RidgeClassifier())])
    assert GridSearchCV(pipe, {"model__alpha": [0.1, 1.0]}, cv=3).fit(X, y).best_score_ > 0
    assert Birch(n_clusters=pellucid.AgglomerativeClustering(2)).fit(X).labels_.shape == (60,)
