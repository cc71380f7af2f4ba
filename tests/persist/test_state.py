"""Every storable class declares what a file may put into it, and ``load`` holds files to that."""

import ast
import hashlib
import importlib
import inspect
import pkgutil
import textwrap
import warnings
from functools import cache

import numpy as np
import pytest
from estimators import DEEP, every_class
from fuzz_models import opened, resealed
from model_files import Mean, X, forge, npy, refused, y
from sklearn.base import BaseEstimator
from sklearn.preprocessing import MultiLabelBinarizer

import pellucid
from pellucid.persist import ModelFileError, load, save
from pellucid.persist.allowed import (
    RECORDS,
    SCIKIT_LEARN_NAMES,
    check_attribute,
    class_name,
    find_class,
    is_cached,
)
from pellucid.persist.format import TRANSIENT
from pellucid.persist.kinds import fits
from pellucid.persist.schema import Scope, accepted, check_state, declarations, specs_of


@cache
def storable():
    """Every estimator class that a file may name, by that name."""
    found = {}
    for module in pkgutil.walk_packages(pellucid.__path__, "pellucid."):
        if module.name.split(".")[1] in ("textbook", "cli", "lab", "plots", "report"):
            continue
        if module.name.startswith("pellucid.deep.") and not DEEP:
            continue
        home = importlib.import_module(module.name)
        for value in vars(home).values():
            if isinstance(value, type) and issubclass(value, BaseEstimator):
                name = class_name(value) if value.__module__ == home.__name__ else None
                if name is not None:
                    found[name] = value
    return found | {name: find_class(name) for name in SCIKIT_LEARN_NAMES}


def test_every_storable_class_has_a_declaration():
    missing = sorted(storable().keys() - declarations().keys())
    assert not missing, f"write a section in src/pellucid/persist/state for {missing}"


def test_every_declaration_is_of_a_class_and_can_be_read():
    for name, lines in declarations().items():
        if name != "*" and not name.startswith("{"):
            cls = find_class(name)
            assert issubclass(cls, BaseEstimator) or set(cls._fields) == lines.keys()
        for line in lines.values():
            assert specs_of(line)


def test_a_record_is_held_to_its_declaration_under_any_name(path):
    """Compiled code walks the arrays of a tree; its module has moved."""
    save(pellucid.MultiwayTreeClassifier().fit(X, y > 0), path)
    manifest, arrays = opened(path)
    tree = manifest["object"]["state"]["tree_"]
    file = tree["state"]["threshold"]["file"]
    arrays[file] = arrays[file][:, None]
    for home in ("pellucid.tree.multiway_record", "pellucid.tree.multiway.record"):
        tree["class"] = f"{home}.MultiwayTree"
        path.write_bytes(resealed(manifest, arrays))
        with pytest.raises(ModelFileError, match="threshold must be"):
            load(path)


@pytest.mark.parametrize("classes", [[1, 2, 2], [3, 3, 3], [1.0, 1.0, 2.0, 2.0, 3.0, 3.0]])
def test_labels_that_repeat_are_refused(classes, path):
    """scikit-learn counts the different ones and writes at the places of all."""
    save(MultiLabelBinarizer().fit([[1, 2], [3]]), path)
    manifest, arrays = opened(path)
    for name in arrays:
        path.write_bytes(resealed(manifest, {**arrays, name: np.array(classes)}))
    with pytest.raises(ModelFileError, match="classes_ must be different labels"):
        load(path)


@cache
def assigned(cls):
    """The attributes that the methods of a class set on ``self``."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(cls)))
    return {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and isinstance(node.ctx, ast.Store)
        and isinstance(node.value, ast.Name)
        and node.value.id == "self"
    }


def test_every_attribute_that_a_class_sets_is_declared():
    """Otherwise a fitted model of some variant could not be saved."""
    declared = declarations()
    for name, cls in storable().items():
        if not name.startswith("pellucid."):
            continue
        ours = [base for base in cls.__mro__ if base.__module__.startswith("pellucid.")]
        names = set().union(*map(assigned, ours)) - set(cls._get_param_names()) - TRANSIENT
        for key in sorted(names - declared[name].keys() - declared["*"].keys()):
            if not is_cached(cls, key) and _is_data(cls, key):
                raise AssertionError(f"{name} sets {key}: declare it in src/pellucid/persist/state")


def _is_data(cls, key):
    try:
        check_attribute(cls, key)
    except ModelFileError:
        return False
    return True


def test_a_class_without_a_declaration_cannot_be_saved(path, monkeypatch):
    monkeypatch.delitem(declarations(), "pellucid.Mean")
    with pytest.raises(ModelFileError, match="declares no state"):
        save(Mean().fit(X, y), path)


def test_an_undeclared_attribute_cannot_be_saved(path):
    model = Mean().fit(X, y)
    model.extra_ = 1
    with pytest.raises(ModelFileError, match="declares no attribute 'extra_'"):
        save(model, path)


@pytest.mark.parametrize(
    ("line", "good", "bad"),
    [
        ("whole", [3, np.int32(-2)], [3.0, True, "3", 2**64, None]),
        ("count", [0, 5000], [-1, 10**12, 2.0]),
        ("real", [3, 2.5, np.nan], ["x", None, True]),
        ("f8[2, p]", [np.zeros((2, 3))], [np.zeros((2, 4)), np.zeros((2, 3), "f4"), np.zeros(6)]),
        ("f8[n, n]", [np.zeros((4, 4))], [np.zeros((4, 5))]),
        ("f8[p+1] | none", [np.zeros(4), None], [np.zeros(3), 0]),
        ("i8/i4[?] in -1:p", [np.array([-1, 2])], [np.array([3]), np.array([-2]), np.array([2.0])]),
        ("label[?]", [np.array(["a"]), np.array([1, "b"], dtype=object)], [["a"], "a"]),
        ("dict(text, whole) in 0:5", [{"a": 4}, {}], [{"a": 5}, {"a": -1}, {1: 1}, {"a": 1.0}]),
        (
            "list(f8[...] | none)",
            [[None, np.zeros((2, 2))], []],
            [[1], (None,), [np.zeros(2, int)]],
        ),
        ("tuple(tuple(label))", [(("a", 1),)], [(("a", [1]),), "a"]),
        ("@Ridge", [pellucid.Ridge()], [pellucid.Lasso(), None]),
        ("@", [pellucid.Ridge()], [3]),
        ("set(text)", [{"a"}, frozenset()], [{1}, ["a"]]),
        ("any", [3, None, "x"], []),
        ("'date' | 'whole'", ["date", "whole"], ["dat", None, b"date"]),
        (
            "{tested} | none",
            [{"learned": 3, "on": 0}, None],
            [{"learned": 3}, {"learned": 3, "on": -1}, {"learned": 3, "on": 1, "more": 1}, 3],
        ),
    ],
)
def test_declarations_mean_what_they_say(line, good, bad):
    def takes(value):
        return accepted(value, specs_of(line), Scope({"n_features_in_": 3}, 100))

    assert all(map(takes, good))
    assert not any(map(takes, bad))


@pytest.mark.parametrize("line", ["nothing", "f8[2", "whole whole", "f8[p] in", "%"])
def test_a_declaration_that_says_nothing_is_an_error(line):
    with pytest.raises((ValueError, IndexError)):
        specs_of(line)


def test_names_of_sizes_are_shared_within_an_object(monkeypatch):
    lines = {"a_": "f8[n, p]", "b_": "f8[n]", "c_": "i8[?] in 0:n", "d_": "f8[b_]"}
    monkeypatch.setitem(declarations(), "thing", lines)
    good = {"a_": np.zeros((4, 2)), "b_": np.zeros(4), "c_": np.array([3]), "d_": np.zeros(4)}
    check_state("thing", {}, {"n_features_in_": 2, **good}, 0)
    for key, value in {"b_": np.zeros(5), "c_": np.array([4]), "d_": np.zeros(3)}.items():
        with pytest.raises(ModelFileError, match=f"{key} must be"):
            check_state("thing", {}, {"n_features_in_": 2, **good, key: value}, 0)


@pytest.mark.parametrize(
    ("value", "hint", "fine"),
    [
        (1, float, True),
        (True, float, False),
        ("a", int | None, False),
        ([1, 2], tuple[int, int], True),
        ([1, 2, 3], tuple[int, int], False),
        ({"a": 1.0}, dict[str, float], True),
        ({"a": "b"}, dict[str, float], False),
        (np.zeros(2), np.ndarray[tuple, np.dtype[np.float64]], True),
        (np.zeros(2, dtype=int), np.ndarray[tuple, np.dtype[np.float64]], False),
    ],
)
def test_annotations_are_declarations(value, hint, fine):
    assert fits(value, hint) is fine


@pytest.mark.parametrize("name", list(every_class()))
def test_wrong_kinds_of_every_parameter_are_refused(name, path):
    """A list of lists of text is no number, no name, no array of numbers and no estimator."""
    cls = every_class()[name]
    hints = inspect.signature(cls.__init__).parameters
    plain = [key for key in cls._get_param_names() if hints[key].annotation in (int, float, bool)]
    for key in plain:
        with pytest.raises(ModelFileError, match=key):
            pellucid.persist.kinds.check_params(cls, name, {key: [["x"]]})


# --- files of the issue -------------------------------------------------------------------------


def forged(model, path, change):
    """Save a model, let ``change(tree, arrays)`` alter it, and seal it again."""
    save(model, path)
    manifest, arrays = opened(path)
    change(manifest["object"], arrays)
    return resealed(manifest, arrays)


@pytest.mark.parametrize("column", [10**12, 3, 5000, -1, 2**63, 1.0, None])
def test_a_vocabulary_that_points_outside_is_refused(column, path):
    model = pellucid.CountVectorizer().fit(["red green", "blue red"] * 3)

    def change(tree, arrays):
        pairs = tree["state"]["vocabulary_"]["items"]
        pairs[[word for word, _ in pairs].index("red")][1] = column

    refused(path, forged(model, path, change), "vocabulary_")
    model.vocabulary_["red"] = column
    with pytest.raises(ModelFileError, match="vocabulary_"):
        save(model, path)


@pytest.mark.parametrize(("key", "value"), [("n_features_in_", 10**9), ("n_output_features_", 7)])
@pytest.mark.parametrize("home", ["pellucid", "sklearn"])
def test_polynomials_that_would_never_end_are_refused(home, key, value, path):
    made = (
        pellucid.PolynomialFeatures
        if home == "pellucid"
        else find_class("sklearn.preprocessing.PolynomialFeatures")
    )

    def change(tree, arrays):
        tree["state"][key] = value

    refused(path, forged(made(2).fit(X), path, change))

    def degree(tree, arrays):
        tree["params"]["degree"] = 10**6

    refused(path, forged(made(2, interaction_only=True).fit(X), path, degree), "degree")


def test_names_of_many_monomials_take_no_square_of_memory():
    """The exponents of 2,000 columns in degree 2 would be a table of 32 GB."""
    model = pellucid.PolynomialFeatures(2, interaction_only=True).fit(np.zeros((1, 600)))
    names = model.get_feature_names_out()
    assert len(names) == model.n_output_features_ == 1 + 600 + 600 * 599 // 2
    assert names[[0, 1, 601]].tolist() == ["1", "x0", "x0 x1"]


@pytest.mark.parametrize("attribute", ["values", "states", "parents"])
@pytest.mark.parametrize("value", [None, 3, "x", [], 10**12, {"is": "tuple", "items": [7, 8, 9]}])
def test_networks_that_do_not_fit_are_refused(attribute, value, path):
    on = ["on", "off"]
    table = pellucid.graphical.CPT("B", [[0.9, 0.1], [0.2, 0.8]], parents=["A"], states=on)
    model = pellucid.BayesianNetwork(
        cpds=[pellucid.graphical.CPT("A", [0.3, 0.7], states=on), table]
    )
    model.query("B")

    def change(tree, arrays):
        tree["params"]["cpds"][1]["state"][attribute] = value

    refused(path, forged(model, path, change))


def test_one_array_named_often_does_not_multiply(path):
    """A list of numbers for every mention: 200 times 8 MB from a file of 8 MB."""
    blob = npy(np.zeros(10**6))
    array = {
        "is": "array",
        "file": "arrays/0000.npy",
        "dtype": "<f8",
        "shape": [10**6],
        "order": "C",
    }
    save(Mean(), path)
    manifest, _ = opened(path)
    manifest["object"]["params"]["start"] = [{"is": "numbers", "array": array}] * 200
    manifest["files"] = {"arrays/0000.npy": hashlib.sha256(blob).hexdigest()}
    refused(path, forge(manifest, [blob]), "many times the memory")


@pytest.mark.parametrize("dtype", ["<f4", "<i8", "|b1", ">f8", "<U3"])
def test_another_dtype_is_refused_before_a_kernel_meets_it(dtype, path):
    model = pellucid.KMeans(2, random_state=0).fit(X)

    def change(tree, arrays):
        node = tree["state"]["cluster_centers_"]
        arrays[node["file"]] = arrays[node["file"]].astype(dtype)

    refused(path, forged(model, path, change), "cluster_centers_")


def test_loading_a_refused_file_leaves_no_warning(path):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        save(pellucid.Ridge().fit(X, y), path)
        assert load(path).coef_.shape == (3,)


@pytest.mark.parametrize("items", [[0, 10**12, 1], [0, 10**30, 1], [0, -(10**12), -1]])
def test_a_range_that_would_never_end_is_refused(items, path):
    save(pellucid.BayesianLinearRegression().fit(X, y), path)
    manifest, arrays = opened(path)
    manifest["object"]["params"]["prior_mean"] = {"is": "range", "items": items}
    path.write_bytes(resealed(manifest, arrays))
    with pytest.raises(ModelFileError, match="more than a file may"):
        load(path)


FORGED = [
    (lambda: pellucid.CondensedNearestNeighbour(), "_y", 2**31),
    (lambda: pellucid.SVC(), "n_support_", 10**9),
    (lambda: pellucid.NuSVC(), "n_support_", -1),
]


@pytest.mark.parametrize(("make", "name", "value"), FORGED)
def test_numbers_that_would_size_an_array_are_bounded(make, name, value, path):
    model = make().fit(X, y > 0)
    getattr(model, name)[0] = value
    with pytest.raises(ModelFileError, match=f"{name} must be"):
        save(model, path)


def test_bins_without_an_edge_are_refused(path):
    model = pellucid.KBinsDiscretizer(3).fit(X)
    model.bin_edges_[0] = model.bin_edges_[0][:1]
    with pytest.raises(ModelFileError, match="at least two numbers"):
        save(model, path)


@pytest.mark.parametrize(
    ("make", "name", "value"),
    [
        (lambda: pellucid.TruncatedPowerBasis(), "degree", 10**12),
        (lambda: pellucid.CondensedNearestNeighbour(), "n_neighbors", 0),
    ],
)
def test_parameters_that_prediction_trusts_are_bounded(make, name, value, path):
    model = make().fit(X, y > 0)
    setattr(model, name, value)
    with pytest.raises(ModelFileError, match=f"{name} must be"):
        save(model, path)


@pytest.mark.parametrize("bad", [[1.0, [2.0]], [[1.0, 2.0], [3.0]]])
@pytest.mark.parametrize("key", ["length_scale", "length_scale_bounds"])
def test_numbers_of_a_kernel_that_make_no_table_are_refused(key, bad):
    holds = RECORDS["sklearn.gaussian_process.kernels.RBF"][key]
    assert holds(np.array([1.0, 2.0]))
    assert not holds(bad)


LSH = {"n_tables": 10**9, "n_bits": 10**12, "n_probes": 10**9}
DRAWN = [pellucid.RandomForestRegressor, pellucid.BaggingClassifier, pellucid.IsolationForest]


@pytest.mark.parametrize("key", LSH)
def test_tables_that_fill_the_memory_are_refused(key, path):
    """A model makes the tables of its index again when it is asked."""
    index = pellucid.neighbors.LSHIndex(random_state=0)
    model = pellucid.KNeighborsClassifier(algorithm=index).fit(X, y > 0)

    def change(tree, arrays):
        tree["params"]["algorithm"]["params"][key] = LSH[key]

    refused(path, forged(model, path, change))


@pytest.mark.parametrize("made", DRAWN)
def test_a_sampler_draws_no_more_than_its_rows_could_give(made, path):
    model = made(n_estimators=2, random_state=0).fit(X, y > 0)

    def draws(tree, arrays):
        tree["state"]["sampler_"]["state"]["draws"] = 10**9

    def weights(tree, arrays):
        place = tree["state"]["sampler_"]["state"]["weight"]
        arrays[place["file"]] = np.full(len(X), 2.0**31 // len(X) - 1)

    for change in (draws, weights):
        refused(path, forged(model, path, change))


@pytest.mark.parametrize("key", ["n_inputs", "n_actions", "hidden"])
def test_a_network_whose_weights_are_not_there_is_small(key, path):
    network = find_class("pellucid.reinforcement.value_network.ValueNetwork")(3, 2)

    def change(tree, arrays):
        tree["params"][key] = {"is": "tuple", "items": [10**9]} if key == "hidden" else 10**9

    refused(path, forged(network, path, change))


def test_a_forest_that_draws_far_more_than_its_rows_is_not_saved(path):
    model = pellucid.RandomForestClassifier(1, max_samples=2**22 + 1, random_state=0)
    with pytest.raises(ModelFileError, match=r"cannot save RandomForestClassifier.* cannot draw"):
        save(model.fit(X, y > 0), path)
    assert not path.exists()


def test_an_index_of_more_hashes_than_a_file_may_ask_for_is_not_saved(path):
    model = pellucid.KNeighborsClassifier(algorithm=pellucid.neighbors.LSHIndex(n_tables=2))
    model.fit(X, y > 0).set_params(algorithm__n_tables=2**18)
    with pytest.raises(ModelFileError, match=r"cannot save KNeighborsClassifier.* at most 262144"):
        save(model, path)
    assert not path.exists()
