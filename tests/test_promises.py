"""What DESIGN.md promises of every estimator, tested for all that are public.

A new estimator is found by its line in the lazy table; none of these tests names one.
"""

import inspect
import re
import warnings
from html import escape

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from estimators import (
    assert_same_outputs,
    assert_same_state,
    block_names,
    data,
    dense,
    fit,
    iterative_names,
    make,
    names,
    outputs,
    pipeline,
    public_classes,
    reads_labels,
    reads_numbers,
    reads_tables,
    takes,
    twin,
)
from scipy.sparse import issparse
from sklearn.base import (
    clone,
    is_classifier,
    is_clusterer,
    is_outlier_detector,
    is_regressor,
)
from sklearn.callback import ProgressBar
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.utils import get_tags
from sklearn.utils._param_validation import Interval, make_constraint

import pellucid
from pellucid.backends import Joblib, Serial, use
from pellucid.base import Estimator
from pellucid.core.loops.iterate import History
from pellucid.core.loops.statistics import LEAF_ROWS
from pellucid.core.records import Card, Summary
from pellucid.core.runtime.threads import limit_threads

CLASSES = public_classes()
all_estimators = pytest.mark.parametrize("name", names())
table_estimators = pytest.mark.parametrize("name", names(reads_tables))
number_estimators = pytest.mark.parametrize("name", names(reads_numbers))
block_estimators = pytest.mark.parametrize("name", block_names())
iterative_estimators = pytest.mark.parametrize("name", iterative_names())
weighted_estimators = pytest.mark.parametrize("name", names(lambda c: takes(c, "sample_weight")))


def fitted(name, n=200, **params):
    X, y = data(CLASSES[name], n)
    return fit(make(CLASSES[name], **params), X, y), X, y


def has_one_target(cls):
    model = make(cls)
    predicts = is_regressor(model) or is_classifier(model)
    return predicts and not get_tags(model).target_tags.multi_output


def blocks(X, y, block_rows):
    frame = pl.DataFrame(X, schema=[f"x{j}" for j in range(X.shape[1])])
    if y is None:
        return pellucid.data.blocks(frame, block_rows=block_rows)
    targets = {f"y{i}": column for i, column in enumerate(np.atleast_2d(y.T))}
    return pellucid.data.blocks(
        frame.with_columns(**{name: pl.Series(column) for name, column in targets.items()}),
        target=list(targets) if y.ndim == 2 else "y0",
        block_rows=block_rows,
    )


# --- persistence ---------------------------------------------------------------------------


@all_estimators
def test_saves_and_loads_bit_equal(name, tmp_path):
    model, X, _ = fitted(name)
    path = tmp_path / "model.pellucid"
    pellucid.save(model, path)
    first = path.read_bytes()
    pellucid.save(model, path)
    assert path.read_bytes() == first
    again = pellucid.load(path)
    assert type(again) is type(model)
    assert_same_outputs(model, again, X)
    assert_same_state(model, again)
    assert str(again.card()) == str(model.card())
    pellucid.save(model, path, slim=True)
    assert_same_outputs(model, pellucid.load(path), X)


@pytest.mark.parametrize("name", names(lambda c: not reads_labels(c)))
def test_saves_inside_a_pipeline(name, tmp_path):
    X, y = data(CLASSES[name])
    model = pipeline(CLASSES[name]).fit(X, y)
    pellucid.save(model, tmp_path / "pipe.pellucid")
    assert_same_outputs(model, pellucid.load(tmp_path / "pipe.pellucid"), X)


@all_estimators
def test_saves_unfitted(name, tmp_path):
    model = make(CLASSES[name])
    pellucid.save(model, tmp_path / "model.pellucid")
    again = pellucid.load(tmp_path / "model.pellucid")
    assert repr(again) == repr(model)


@all_estimators
def test_a_model_file_whose_arrays_do_not_fit_together_is_refused(name, tmp_path, monkeypatch):
    """Compiled prediction must never index with arrays that came from a file unchecked."""
    model, X, _ = fitted(name)
    before, card = outputs(model, X), model.card()
    monkeypatch.setattr(CLASSES[name], "card", lambda self: card)
    for attribute, value in list(vars(model).items()):
        if not isinstance(value, np.ndarray) or value.ndim == 0 or value.dtype.kind != "f":
            continue
        setattr(model, attribute, value[..., :-1].copy())
        try:
            pellucid.save(model, tmp_path / "cut.pellucid")
            after = outputs(pellucid.load(tmp_path / "cut.pellucid"), X)
        except ValueError:  # ModelFileError is one
            continue
        finally:
            setattr(model, attribute, value)
        for method, values in before.items():  # the attribute has no part in any prediction
            np.testing.assert_array_equal(after[method], values, err_msg=attribute)


# --- callbacks and history -----------------------------------------------------------------


class Recorder:
    """Keeps what it is told; stops after ``stop_after`` steps."""

    def __init__(self, stop_after=None):
        self.stop_after = stop_after
        self.begun = self.ended = self.set_up = self.torn_down = 0
        self.models = []

    def setup(self, estimator, context):
        self.set_up += 1

    def teardown(self, estimator, context):
        self.torn_down += 1

    def on_fit_task_begin(self, estimator, context):
        self.begun += 1

    def on_fit_task_end(self, estimator, context, *, fitted_estimator):
        self.ended += 1
        if context.parent is not None and context.max_subtasks == 0:
            self.models.append(fitted_estimator)
            return self.stop_after is not None and len(self.models) >= self.stop_after
        return False


@all_estimators
def test_reports_to_callbacks_without_changing_the_fit(name):
    plain, X, y = fitted(name)
    recorder = Recorder()
    watched = fit(make(CLASSES[name]).set_callbacks(recorder), X, y)
    assert recorder.set_up == recorder.torn_down == 1
    assert recorder.begun == recorder.ended >= 1
    assert_same_state(plain, watched)


def steps(model):
    """Steps of the fit; of the last one where ``n_iter_`` counts those of every fold.

    Support vector machines report rounds: their ``n_iter_`` counts the tiny steps of every pair.
    """
    counted = getattr(model, "n_rounds_", model.n_iter_)
    return getattr(model, "n_refit_iter_", counted)


@iterative_estimators
def test_callbacks_see_every_step_and_can_stop(name):
    plain, X, y = fitted(name)
    recorder = Recorder()
    make(CLASSES[name]).set_callbacks(recorder).fit(X, y)
    assert len(recorder.models) >= steps(plain)
    assert_same_outputs(recorder.models[-1], plain, X, rtol=1e-6)
    stopped = make(CLASSES[name]).set_callbacks(Recorder(stop_after=1)).fit(X, y)
    assert steps(stopped) == 1
    outputs(stopped, X)


@iterative_estimators
def test_progress_bar(name, capsys):
    X, y = data(CLASSES[name])
    make(CLASSES[name]).set_callbacks(ProgressBar()).fit(X, y)
    assert name in "".join(capsys.readouterr())


@iterative_estimators
def test_history(name):
    model, _, _ = fitted(name)
    history = model.history_
    assert isinstance(history, History)
    assert {"step", "objective", "gap", "seconds"} <= set(history.columns)
    assert len(history) in (steps(model), steps(model) + 1)  # with or without the start
    assert np.isfinite(history["objective"]).all()
    assert (np.diff(history["seconds"]) >= 0).all()
    assert history.to_frame().shape[0] == len(history)


@all_estimators
def test_every_history_has_the_same_columns(name):
    """Also of a fit without max_iter: a step, the objective, how far it moved, and the time."""
    history = getattr(fitted(name, 60)[0], "history_", None)
    if history is None:
        return
    assert {"step", "objective", "gap", "seconds"} <= set(history.columns)
    assert (np.diff(history["step"]) > 0).all()
    assert (np.diff(history["seconds"]) >= 0).all()


# --- blocks, threads, seeds ----------------------------------------------------------------


@block_estimators
def test_blocks_give_the_same_bits(name):
    X, y = data(CLASSES[name], 3 * LEAF_ROWS + 157)
    few = {"max_iter": 20} if name.startswith("HistGradientBoosting") else {}  # rounds are alike
    model = make(CLASSES[name], **few)
    reference = clone(model).fit_blocks(blocks(X, y, 65_536), backend=Serial())
    for block_rows in (1_000, 5_000, 1_000_000):
        assert_same_state(reference, clone(model).fit_blocks(blocks(X, y, block_rows)))
    with use(Joblib(n_jobs=2)):
        assert_same_state(reference, clone(model).fit_blocks(blocks(X, y, 5_000)))


@block_estimators
def test_blocks_agree_with_memory(name):
    X, y = data(CLASSES[name], 2 * LEAF_ROWS + 99)
    frame = pl.DataFrame(X, schema=[f"x{j}" for j in range(X.shape[1])])
    whole = make(CLASSES[name]).fit(frame, y)
    parts = make(CLASSES[name]).fit_blocks(blocks(X, y, 5_000))
    assert_same_outputs(whole, parts, frame, rtol=1e-9)
    if not (hasattr(parts, "predict") or hasattr(parts, "transform")):
        return  # a density, which says its numbers of rows that are there
    method = "predict" if hasattr(parts, "predict") else "transform"
    streamed = getattr(parts, f"{method}_blocks")(blocks(X, y, 1_000))
    together = np.concatenate([dense(part) for part in streamed])
    np.testing.assert_array_equal(together, outputs(parts, frame)[method])


@block_estimators
def test_blocks_refuse_a_bad_cell_by_name_and_row(name):
    X, y = data(CLASSES[name], 60)
    X[17, 1] = np.inf
    with pytest.raises(ValueError, match=r"'x1'.*inf.*row 17"):
        make(CLASSES[name]).fit_blocks(blocks(X, y, 20))


@block_estimators
def test_blocks_refuse_arrays(name):
    X, _ = data(CLASSES[name], 60)
    with pytest.raises(TypeError, match=r"fit_blocks needs pellucid\.data\.blocks"):
        make(CLASSES[name]).fit_blocks(X)


@pytest.mark.parametrize("name", [name for name in block_names() if has_one_target(CLASSES[name])])
def test_blocks_take_as_many_targets_as_fit(name):
    """Two columns for one target would be read as one: codes of labels led outside an array."""
    X, y = data(CLASSES[name], 60)
    frame = pl.DataFrame(X, schema=["a", "b", "c", "d"]).with_columns(y=pl.Series(y))
    model = make(CLASSES[name])
    listed, named = (
        clone(model).fit_blocks(pellucid.data.blocks(frame, target=target))
        for target in (["y"], "y")
    )
    assert_same_state(listed, named)
    two = frame.with_columns(z=pl.Series(y[::-1].copy()))
    with pytest.raises(ValueError, match="takes one target, got several: 2 columns") as caught:
        model.fit_blocks(pellucid.data.blocks(two, target=["y", "z"]))
    _one_sentence(str(caught.value))


@all_estimators
def test_same_model_for_any_number_of_threads(name):
    X, y = data(CLASSES[name], 3 * LEAF_ROWS + 11 if name in block_names() else 500)
    models = []
    for n in (1, 2, 3):
        with limit_threads(n):
            models.append(fit(make(CLASSES[name]), X, y))
            assert_same_outputs(models[0], models[-1], X)
    for model in models[1:]:
        assert_same_state(models[0], model)


@all_estimators
def test_same_seed_same_model_and_the_global_state_is_left_alone(name):
    before = np.random.get_state()[1].copy()
    a, _, _ = fitted(name)
    b, _, _ = fitted(name)
    assert_same_state(a, b)
    np.testing.assert_array_equal(np.random.get_state()[1], before)


@number_estimators
@pytest.mark.filterwarnings("ignore")  # one column is fewer than some expect
@pytest.mark.parametrize("p", [1, 4])
def test_the_data_are_left_alone(name, p):
    """Also one column, which is contiguous whichever way one looks at it."""
    X, y = data(CLASSES[name], p=p) if p == 4 else data(CLASSES[name])
    X = X[:, :p].copy()
    before, y_before = X.copy(), None if y is None else y.copy()
    try:
        outputs(make(CLASSES[name]).fit(X, y), X)
    except ValueError:  # some need two columns
        assert p == 1
    np.testing.assert_array_equal(X, before)
    if y is not None:
        np.testing.assert_array_equal(y, y_before)


# --- weights -------------------------------------------------------------------------------


def _splits(fold):
    return [(np.flatnonzero(fold != f), np.flatnonzero(fold == f)) for f in np.unique(fold)]


def _ends(X, n_clusters, random_state):
    return X[[X[:, 0].argmin(), X[:, 0].argmax()]]


@weighted_estimators
@pytest.mark.filterwarnings("ignore:centres lie in one place")  # the rows given may be of one group
@pytest.mark.parametrize("n", [90, LEAF_ROWS + 40])
def test_weights_are_repetitions(name, n):
    X, y = data(CLASSES[name], n)
    w = np.random.default_rng(1).integers(0, 4, size=n)
    params = {}
    if n > LEAF_ROWS and {"init", "n_clusters"} <= make(CLASSES[name]).get_params().keys():
        params = {"init": X[w > 0][:3], "n_clusters": 3}  # random starts depend on the leaves
        if "bisecting_strategy" in make(CLASSES[name]).get_params():  # two centres of every split
            params["init"] = _ends
    again = params
    if "cv" in make(CLASSES[name]).get_params():  # the folds must hold the same rows
        fold = np.arange(n) % 3
        params, again = {"cv": _splits(fold)}, {"cv": _splits(np.repeat(fold, w))}
    weighted = make(CLASSES[name], **params).fit(X, y, sample_weight=w)
    X_again = [row for row, times in zip(X, w, strict=True) for _ in range(times)]
    X_again = X_again if isinstance(X, list) else np.array(X_again)
    y_again = None if y is None else np.repeat(y, w, axis=0)
    repeated = make(CLASSES[name], **again).fit(X_again, y_again)
    assert_same_outputs(weighted, repeated, X, rtol=1e-7)


@weighted_estimators
def test_unit_weights_change_nothing(name):
    model, X, y = fitted(name)
    weighted = make(CLASSES[name]).fit(X, y, sample_weight=np.ones(len(X)))
    assert_same_outputs(model, weighted, X, rtol=1e-9)


@weighted_estimators
@pytest.mark.parametrize("value", [-1.0, np.nan, np.inf])
def test_bad_weights_are_refused(name, value):
    X, y = data(CLASSES[name])
    w = np.ones(len(X))
    w[3] = value
    with pytest.raises(ValueError, match=r"(?i)weight"):
        make(CLASSES[name]).fit(X, y, sample_weight=w)


# --- frames --------------------------------------------------------------------------------


@table_estimators
@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_frames_in(name, library):
    X, y = data(CLASSES[name])
    columns = ["height", "width", "depth", "mass"]
    frame = pl.DataFrame(X, schema=columns)
    if library == "pandas":
        frame = pd.DataFrame(X, columns=columns)
        y = y if y is None else (pd.Series(y) if np.ndim(y) == 1 else pd.DataFrame(y))
    elif library == "pyarrow":
        frame = pa.table({c: X[:, j] for j, c in enumerate(columns)})
    model = make(CLASSES[name]).fit(frame, y)
    assert list(model.feature_names_in_) == columns
    plain = make(CLASSES[name]).fit(X, data(CLASSES[name])[1])
    for method, values in outputs(plain, X).items():
        np.testing.assert_array_equal(dense(getattr(model, method)(frame)), values)
    if "fit_predict" in outputs(plain, X):
        return  # it takes no further rows
    turned = frame.select(columns[::-1]) if library != "pandas" else frame[columns[::-1]]
    with pytest.raises(ValueError, match="feature names"):
        outputs(model, turned)


@pytest.mark.parametrize("name", names(lambda c: hasattr(make(c), "set_output")))
@pytest.mark.parametrize(("library", "kind"), [("pandas", pd.DataFrame), ("polars", pl.DataFrame)])
def test_frames_out(name, library, kind):
    X, y = data(CLASSES[name])
    options = inspect.signature(CLASSES[name]).parameters
    params = {"sparse_output": False} if "sparse_output" in options else {}
    plain = make(CLASSES[name], **params).fit(X, y)
    model = make(CLASSES[name], **params).set_output(transform=library).fit(X, y)
    if issparse(plain.transform(X)):  # as in scikit-learn: no frame holds a sparse matrix
        with pytest.raises(ValueError, match="sparse"):
            model.transform(X)
        return
    out = model.transform(X)
    assert isinstance(out, kind)
    assert list(out.columns) == list(model.get_feature_names_out())


@number_estimators
def test_text_is_refused_by_column(name):
    X, y = data(CLASSES[name])
    frame = pl.DataFrame(X, schema=["a", "b", "c", "d"]).with_columns(b=pl.lit("tall"))
    with pytest.raises(ValueError, match=r"'b'.*'tall'"):
        make(CLASSES[name]).fit(frame, y)


# --- in scikit-learn's machinery -----------------------------------------------------------


@all_estimators
def test_works_in_pipeline_and_search(name):
    X, y = data(CLASSES[name])
    pipe = pipeline(CLASSES[name])
    step = pipe.steps[-1][0]
    if not hasattr(pipe.steps[-1][1], "score"):  # a transformer works for a predictor behind it
        if get_tags(pipe.steps[-1][1]).target_tags.one_d_labels:
            return  # encoders of the target have no place in a pipeline, here as elsewhere
        if hasattr(pipe.steps[-1][1], "kneighbors"):
            return  # a search is the end of a pipeline, and has no score
        if is_clusterer(pipe.steps[-1][1]):  # nor has one that takes no further rows
            assert clone(pipe).fit_predict(X).shape == (len(X),)
            return
        if is_outlier_detector(pipe.steps[-1][1]):  # has no score either
            assert set(clone(pipe).fit(X, y).predict(X)) <= {-1, 1}
            return
        if dense(clone(pipe).fit(X, y).transform(X)).shape[1] == 0:
            X[::7, 0] = np.nan  # marks of missing cells need some
        labels = y is not None and y.dtype.kind not in "fiu"
        pipe = make_pipeline(*pipe, pellucid.GaussianNB() if labels else pellucid.Ridge())
        y = np.random.default_rng(0).normal(size=len(X)) if y is None else y
    cross_validate(pipe, X, y, cv=3, error_score="raise")
    first = next(iter(make(CLASSES[name]).get_params(deep=False).items()), None)
    grid = {} if first is None else {f"{step}__{first[0]}": [first[1]]}
    search = GridSearchCV(pipe, grid, cv=3, error_score="raise").fit(X, y)
    assert_same_outputs(search.best_estimator_, clone(pipe).fit(X, y), X)


@all_estimators
def test_scikit_learn_keywords_and_attributes(name):
    """Same names, defaults and order as scikit-learn's class, and all its attributes."""
    cls, other = CLASSES[name], twin(CLASSES[name])
    if other is None:
        pytest.skip("scikit-learn has no class of this name")
    ours = inspect.signature(cls).parameters
    for parameter in inspect.signature(other).parameters.values():
        if parameter.default == "deprecated":
            continue
        assert parameter.name in ours, f"{name} lacks {parameter.name}"
        if (
            parameter.default == "warn"
        ):  # scikit-learn is changing it; ours is a value, not a warning
            assert ours[parameter.name].default != "warn", parameter
            continue
        ours_default = ours[parameter.name].default
        same = ours_default is parameter.default or ours_default == parameter.default
        name_of = getattr(ours_default, "__name__", ours_default)  # a function of the same name
        assert same or name_of == getattr(parameter.default, "__name__", None), parameter
        assert ours[parameter.name].kind == parameter.kind, parameter.name
    X, y = data(cls, 60)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # of defaults that will change
        warnings.simplefilter("ignore", ConvergenceWarning)  # theirs need not converge
        theirs = fit(make(other), X, y)
    model = fit(make(cls), X, y)
    public = {a for a in vars(theirs) if a.endswith("_") and not a.startswith("_")}
    assert public <= set(vars(model)) | set(dir(cls)), public - set(vars(model))


def _accepted_values(constraints):
    """Sample values of scikit-learn's own parameter constraints."""
    from sklearn.utils._param_validation import Interval, StrOptions

    for constraint in constraints:
        if isinstance(constraint, StrOptions):
            yield from sorted(constraint.options - constraint.deprecated)
        elif isinstance(constraint, Interval):
            low = constraint.left if constraint.left is not None else 0
            yield int(low) + 1 if constraint.type.__name__ == "Integral" else float(low) + 0.25
        elif constraint == "boolean":
            yield from (True, False)
        elif constraint == "verbose":
            yield from (0, 1, True)
        elif constraint == "random_state":
            yield from (0, np.random.RandomState(0))
        elif constraint is None:
            yield None


def _keyword_cases():
    for name, cls in CLASSES.items():
        other = twin(cls)
        for parameter, constraints in getattr(other, "_parameter_constraints", {}).items():
            default = inspect.signature(other).parameters[parameter].default
            if constraints == "no_validation" or default == "deprecated":
                continue
            for value in _accepted_values(constraints):
                yield pytest.param(name, parameter, value, id=f"{name}-{parameter}-{value}")


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(("name", "parameter", "value"), list(_keyword_cases()))
def test_every_value_scikit_learn_documents_works(name, parameter, value):
    params = {parameter: value}
    X, y = data(CLASSES[name], 60, **({} if parameter == "p" else params))
    if _refuses(make(CLASSES[name], **params), X, y):  # no text is a path, no score of labels, ...
        assert _refuses(make(twin(CLASSES[name]), **params), X, y), "scikit-learn can do it"


def _refuses(model, X, y):
    """Whether a fit, or what it is for, ends with an error."""
    try:
        outputs(fit(model, X, y), X)
    except Exception:  # noqa: BLE001  whatever it is, the value does not work on these data
        return True
    return False


# --- what a model says of itself -----------------------------------------------------------


@all_estimators
def test_card(name):
    card = fitted(name)[0].card()
    assert isinstance(card, Card)
    for part in (card.representation, card.evaluation, card.optimisation):
        assert len(part) > 10
    assert "<script" not in card._repr_html_()
    assert card.to_dict()["numbers"]
    assert str(card).startswith("Representation")


def has_errors(cls):
    """Whether the class has a summary of its own."""
    return getattr(cls, "summary", Estimator.summary) is not Estimator.summary


@pytest.mark.filterwarnings("ignore:no valid inference")  # it may say so, with the reason
@pytest.mark.parametrize("name", names(has_errors))
def test_summary(name):
    X, y = data(CLASSES[name])
    frame = pd.DataFrame(X, columns=["<b>a</b>", "b", "c", "d"])
    summary = make(CLASSES[name]).fit(frame, y).summary()
    assert isinstance(summary, Summary)
    assert {"estimate", "standard_error", "low", "high"} <= set(summary.columns)
    assert summary.valid or summary.reason
    assert "<b>a</b>" not in summary._repr_html_()
    assert "&lt;b&gt;a" in summary._repr_html_()
    assert summary.to_dict()["names"]
    assert len(summary.rows) == len(summary.names)


@pytest.mark.parametrize("name", names(lambda c: not has_errors(c)))
def test_no_summary_without_a_reason(name):
    """One sentence says why there are no errors, and what to use instead."""
    model = fitted(name)[0]
    summary = model.summary()
    assert not summary.valid
    assert summary.reason in " ".join(str(summary).split())
    assert "; " in summary.reason or ": " in summary.reason
    _one_sentence(summary.reason)
    assert escape(summary.reason) in summary._repr_html_()
    assert summary.to_dict()["reason"] == summary.reason


# --- bad input: one sentence ---------------------------------------------------------------


def _one_sentence(message):
    assert "\n" not in message, message
    assert len(message) < 400, message


@number_estimators
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_nonfinite_cells_are_named(name, value):
    X, y = data(CLASSES[name])
    model = make(CLASSES[name]).fit(X, y)
    if np.isnan(value) and get_tags(model).input_tags.allow_nan:
        pytest.skip("missing cells are accepted")
    bad = X.copy()
    bad[7, 2] = value
    frame = pd.DataFrame(bad, columns=["a", "b", "c", "d"])
    with pytest.raises(ValueError, match=r"NaN|inf") as caught:
        make(CLASSES[name]).fit(frame, y)
    _one_sentence(str(caught.value))
    assert "'c'" in str(caught.value)
    assert "row 7" in str(caught.value)
    with pytest.raises(ValueError, match=r"column 2.*row 7"):
        outputs(model, bad)


@all_estimators
def test_lengths_must_agree(name):
    X, y = data(CLASSES[name])
    if y is None:
        pytest.skip("takes no target")
    with pytest.raises(ValueError, match=r"200.*150") as caught:
        make(CLASSES[name]).fit(X, y[:150])
    _one_sentence(str(caught.value))


def _documented(cls, parameter, value):
    """Whether scikit-learn's own class takes this value of the parameter."""
    constraints = getattr(twin(cls), "_parameter_constraints", {}).get(parameter, [])
    if constraints == "no_validation":
        return True
    return any(make_constraint(one).is_satisfied_by(value) for one in constraints)


def _words_beside(cls, parameter):
    """Whether the docstring lists words for a parameter whose default is none of them."""
    line = re.search(rf"^ *{parameter} : (.*)$", cls.__doc__ or "", flags=re.MULTILINE)
    return bool(line) and bool(re.search(r'\{[^}]*"[^}]*\}', line[1]))


@all_estimators
def test_unknown_words_are_refused(name):
    """A parameter that takes a word refuses another, and says which it takes."""
    X, y = data(CLASSES[name], 60)
    for parameter, default in make(CLASSES[name]).get_params(deep=False).items():
        word = isinstance(default, str) or _words_beside(CLASSES[name], parameter)
        if word and not _documented(CLASSES[name], parameter, "nonsense"):
            with pytest.raises(ValueError, match=parameter) as caught:
                fit(make(CLASSES[name], **{parameter: "nonsense"}), X, y)
            _one_sentence(str(caught.value))
            assert "'nonsense'" in str(caught.value)


@all_estimators
def test_bad_numbers_are_refused(name):
    X, y = data(CLASSES[name], 60)
    for parameter, default in make(CLASSES[name]).get_params(deep=False).items():
        if isinstance(default, bool) or not isinstance(default, int | float):
            continue
        if parameter in ("random_state", "verbose"):
            continue
        for value in (float("nan") if parameter == "prior_mean" else -1, float("nan"), "many"):
            if _documented(CLASSES[name], parameter, value):
                continue
            with pytest.raises(ValueError, match=parameter) as caught:
                fit(make(CLASSES[name], **{parameter: value}), X, y)
            _one_sentence(str(caught.value))


@all_estimators
def test_words_for_truth_values_are_refused(name):
    """A switch is on or off: a word is true in Python, whatever it says."""
    X, y = data(CLASSES[name], 60)
    for parameter, default in make(CLASSES[name]).get_params(deep=False).items():
        if isinstance(default, bool) and parameter != "verbose":
            with pytest.raises((ValueError, TypeError), match=parameter) as caught:
                fit(make(CLASSES[name], **{parameter: "no"}), X, y)
            _one_sentence(str(caught.value))


WIDER = {  # what ours takes beyond scikit-learn's range, and why
    ("CountVectorizer", "min_df"): "0 is the share 0.0",
    ("TfidfVectorizer", "min_df"): "0 is the share 0.0",
    ("Nystroem", "degree"): "the kernel rbf has none",
    ("SelectFromModel", "norm_order"): "0 counts the coefficients that are not 0",
}


def beyond(cls, parameter):
    """Numbers one below and one above each range that scikit-learn has for a parameter."""
    constraints = getattr(twin(cls), "_parameter_constraints", {}).get(parameter, [])
    ranges = [one for one in constraints if isinstance(one, Interval)]
    ends = [(r.left, -1) for r in ranges] + [(r.right, 1) for r in ranges]
    values = {end + away for end, away in ends if end is not None and np.isfinite(end)}
    return [value for value in sorted(values) if not _documented(cls, parameter, value)]


@all_estimators
def test_numbers_beyond_the_range_of_scikit_learn_are_refused(name):
    X, y = data(CLASSES[name], 60)
    for parameter in make(CLASSES[name]).get_params(deep=False):
        for value in beyond(CLASSES[name], parameter):
            if parameter not in ("random_state", "verbose", "n_jobs") and (
                (name, parameter) not in WIDER
            ):
                with pytest.raises((ValueError, TypeError), match=parameter):
                    fit(make(CLASSES[name], **{parameter: value}), X, y)


def wrong_values(cls):
    """A parameter and a value that it cannot have, by the kind of its default."""
    for parameter, default in make(cls).get_params(deep=False).items():
        kinds = {bool: "no", str: "nonsense", int: float("nan"), float: float("nan")}
        value = kinds.get(type(default))
        if parameter in ("verbose", "random_state") or value is None:
            continue
        if not _documented(cls, parameter, value):
            yield parameter, value


@block_estimators
def test_blocks_refuse_what_fit_refuses(name):
    X, y = data(CLASSES[name], 60)
    source = blocks(X, y, 30)
    for parameter, value in wrong_values(CLASSES[name]):
        with pytest.raises((ValueError, TypeError), match=parameter) as caught:
            make(CLASSES[name], **{parameter: value}).fit_blocks(source)
        _one_sentence(str(caught.value))


def bounds(cls):
    """Whether a confidence is asked for its intervals of new rows."""
    asks = getattr(cls, "predict_interval", None)
    return asks is not None and "confidence" in inspect.signature(asks).parameters


@pytest.mark.parametrize("name", names(lambda c: has_errors(c) or bounds(c)))
@pytest.mark.filterwarnings("ignore:no valid inference", "ignore:15 calibration rows")
def test_confidences_beyond_a_probability_are_refused(name):
    cls = CLASSES[name]
    X, y = data(cls, 60)
    model = make(cls).fit(X, y)
    asked = [model.summary]
    if bounds(cls):
        asked.append(lambda confidence: model.predict_interval(X[:2], confidence=confidence))
    for ask in asked:
        for wrong in (0.0, 1.0, 95, float("nan")):
            with pytest.raises(ValueError, match="confidence must be"):
                ask(confidence=wrong)


@all_estimators
def test_kinds_are_right(name):
    """A classifier, regressor, clusterer, transformer, detector or density, by its tags."""
    model = make(CLASSES[name])
    kinds = is_classifier(model) + is_regressor(model) + is_clusterer(model)
    searches = hasattr(model, "kneighbors") or is_outlier_detector(model)
    density = get_tags(model).estimator_type == "density_estimator"
    assert kinds == 1 or hasattr(model, "transform") or searches or density
