"""Free text becomes features only where it helps in the folds."""

import numpy as np
import polars as pl

from pellucid import Study
from pellucid.study import Plan

LETTERS = list("abcdefghijklmnopqrstuvwxyz")


def table(seed=0, n=200):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    y = np.where(x + rng.normal(size=n) > 0, "yes", "no")
    word = lambda k: "".join(rng.choice(LETTERS, k))  # noqa: E731
    names = [f"{word(3)} {word(6)} {word(5)} {word(4)}" for _ in range(n)]
    told = [f"{'good' if v == 'yes' or rng.random() < 0.2 else 'bad'} {word(4)} and more words"
            for v in y]  # fmt: skip
    return pl.DataFrame({"name": names, "review": told, "x": x, "y": y})


def test_names_of_rows_are_left_out_and_telling_words_are_not():
    study = Study(table(), "y", effort="quick")
    features = study.features()
    assert "review" in [column.name for column in features.columns]
    assert dict(features.left_out)["name"] == "its words do not help in the folds"


def test_who_keeps_them_keeps_them():
    study = Study(table(), "y", effort="quick", plan=Plan(keep=("name",)))
    assert "name" in [column.name for column in study.features().columns]


def test_a_table_of_text_alone_is_studied():
    study = Study(table().select("name", "y"), "y", effort="quick")
    assert [column.name for column in study.features().columns] == ["name"]
