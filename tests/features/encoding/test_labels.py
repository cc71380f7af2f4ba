"""LabelEncoder and LabelBinarizer against scikit-learn's."""

import numpy as np
import pytest
from mixed_tables import same
from scipy.sparse import csr_array, issparse
from sklearn import preprocessing

import pellucid
from pellucid import LabelBinarizer, LabelEncoder

rng = np.random.default_rng(0)
TARGETS = {
    "text": np.array(["b", "a", "c", "a"]),
    "objects": np.array(["b", "a", "c", "a"], dtype=object),
    "list": ["b", "a", "c", "a"],
    "numbers": np.array([7, 3, 3, 9]),
    "two": np.array([1, 0, 1, 1]),
    "two words": ["yes", "no", "no", "yes"],
    "one": ["a", "a"],
    "floats": np.array([1.0, 2.0, 1.0, 3.0]),
    "bool": np.array([True, False, True]),
}


def dense(Z):
    return Z.toarray() if issparse(Z) else Z


@pytest.mark.parametrize("name", list(TARGETS))
def test_encoder(name):
    y = TARGETS[name]
    ours, theirs = LabelEncoder(), preprocessing.LabelEncoder()
    a, b = ours.fit_transform(y), theirs.fit_transform(y)
    same(a, b)
    assert a.dtype.kind == b.dtype.kind
    same(ours.classes_, theirs.classes_)
    same(ours.fit(y).transform(y), b)
    same(ours.inverse_transform(b), np.asarray(y))


def test_encoder_refuses_the_unseen():
    model = LabelEncoder().fit(["a", "b"])
    with pytest.raises(ValueError, match=r"unseen labels.*'c'"):
        model.transform(["c"])
    with pytest.raises(ValueError, match=r"unseen labels.*7"):
        model.inverse_transform([7])
    assert len(model.transform([])) == 0
    assert len(model.inverse_transform([])) == 0


@pytest.mark.parametrize("name", list(TARGETS))
@pytest.mark.parametrize(
    "params",
    [
        {},
        {"neg_label": -1},
        {"pos_label": 5},
        {"sparse_output": True},
        {"neg_label": -3, "pos_label": 0},
    ],
)
def test_binarizer(name, params):
    y = TARGETS[name]
    ours, theirs = LabelBinarizer(**params), preprocessing.LabelBinarizer(**params)
    a, b = ours.fit_transform(y), theirs.fit_transform(y)
    assert issparse(a) == issparse(b)
    same(dense(a), dense(b))
    same(ours.classes_, theirs.classes_)
    assert (ours.y_type_, ours.sparse_input_) == (theirs.y_type_, theirs.sparse_input_)
    if not params.get("sparse_output"):
        same(ours.inverse_transform(a), theirs.inverse_transform(b))
    same(ours.inverse_transform(dense(a)), np.asarray(y))


def test_binarizer_of_new_labels():
    ours, theirs = LabelBinarizer().fit(["a", "b", "c"]), preprocessing.LabelBinarizer()
    theirs.fit(["a", "b", "c"])
    for new in (["b", "z", "a"], ["b", "b"], ["c", "a"]):
        same(ours.transform(new), theirs.transform(new))


@pytest.mark.parametrize("sparse_output", [True, False])
@pytest.mark.parametrize("sparse_input", [True, False])
def test_several_labels_per_row(sparse_output, sparse_input):
    Y = np.array([[0, 1, 1], [1, 0, 0], [0, 0, 1]])
    given = csr_array(Y) if sparse_input else Y
    ours = LabelBinarizer(sparse_output=sparse_output)
    theirs = preprocessing.LabelBinarizer(sparse_output=sparse_output)
    a, b = ours.fit_transform(given), theirs.fit_transform(given)
    same(dense(a), dense(b))
    same(dense(ours.inverse_transform(a)), Y)


def test_scores_become_labels():
    model = LabelBinarizer().fit(["a", "b", "c"])
    assert model.inverse_transform([[0.2, 0.7, 0.1]]).tolist() == ["b"]
    two = LabelBinarizer().fit(["n", "y"])
    assert two.inverse_transform(np.array([[0.4], [0.6]])).tolist() == ["n", "y"]
    assert two.inverse_transform(np.array([-0.1, 0.1]), threshold=0.0).tolist() == ["n", "y"]


@pytest.mark.parametrize(
    ("params", "y", "words"),
    [
        ({"neg_label": 2}, ["a"], "strictly less than pos_label"),
        ({"neg_label": 0.5}, ["a"], "neg_label"),
        ({"sparse_output": True, "neg_label": -1}, ["a"], "Sparse binarization is only supported"),
        ({}, [[1, 2], [3, 4]], "Multioutput"),
        ({}, [0.5, 1.5], "continuous"),
        ({}, [], "0 samples"),
    ],
)
def test_binarizer_refuses(params, y, words):
    with pytest.raises(ValueError, match=words):
        LabelBinarizer(**params).fit(y)


def test_binarizer_refuses_a_matrix_after_labels():
    with pytest.raises(ValueError, match="multilabel"):
        LabelBinarizer().fit(["a", "b"]).transform(np.array([[1, 0], [1, 1]]))


@pytest.mark.parametrize("cls", [LabelEncoder, LabelBinarizer])
def test_no_frames_come_out(cls):
    assert not hasattr(cls(), "set_output")
    assert getattr(pellucid, cls.__name__) is cls


def test_lists_of_labels_of_several_lengths_are_refused_in_scikit_learns_words():
    ragged = [[], [1, 2], [3], [0, 1, 3], [2]]
    fitted = LabelBinarizer().fit([0, 1])
    for call in (LabelBinarizer().fit, LabelBinarizer().fit_transform, fitted.transform):
        with pytest.raises(ValueError, match="legacy multi-label data representation"):
            call(ragged)


def test_marks_that_cannot_be_told_apart_are_refused_in_scikit_learns_words():
    with pytest.raises(ValueError, match="neg_label=2 must be strictly less than pos_label=1"):
        LabelBinarizer(neg_label=2, pos_label=1).fit([0, 1])
    words = "zero neg_label, got pos_label=2 and neg_label=1"
    with pytest.raises(ValueError, match=words):
        LabelBinarizer(neg_label=1, pos_label=2, sparse_output=True).fit([0, 1])
