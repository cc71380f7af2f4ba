"""The commands that apply a model file, given forged ones: an answer or one sentence."""

import json
import random
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import pellucid
from pellucid.cli.shared.options import Code

sys.path.append(str(Path(__file__).parents[2] / "persist"))
from fuzz_models import at, change_value, changed_array, opened, places, resealed

SENT = ("internal error", "interrupted", "Traceback")
pytestmark = pytest.mark.filterwarnings("ignore")


def forged(manifest, arrays, seed):
    """The file with one or two changes, every other time in what the study said of it."""
    chance, arrays = random.Random(seed), dict(arrays)
    tree = json.loads(json.dumps(manifest["object"]))
    node = tree["state"]["study_"] if seed % 2 else tree
    nodes = [at(node, place) for place in places(node)]
    files = [one["file"] for one in nodes if isinstance(one, dict) and one.get("is") == "array"]
    for _ in range(chance.choice([1, 1, 2])):
        if chance.random() < 0.3:
            name = chance.choice(files)
            arrays[name] = changed_array(arrays[name], arrays, chance)
        else:
            change_value(node, chance)
    return resealed({**manifest, "object": tree}, arrays)


def questions(model, table):
    share = ["--sets", "0.9", "--proba"] if model.stem == "sex" else ["--interval", "0.9"]
    yield ["card", "forged.pellucid"]
    yield ["predict", "forged.pellucid", table]
    yield ["predict", "forged.pellucid", table, *share, "--json"]
    yield ["evaluate", "forged.pellucid", table]
    yield ["explain", "forged.pellucid", table]


def faults(inside, saved, folder, seeds):
    """What was not answered as it should be: (model, seed, command, what was said)."""
    found, table = [], folder / "rows.csv"
    pl.read_csv(saved.table, null_values=["NA", ""])[::6].write_csv(table)
    for model in (saved.mass, saved.sex):
        manifest, arrays = opened(model)
        for seed in seeds:
            (folder / "forged.pellucid").write_bytes(forged(manifest, arrays, seed))
            for question in questions(model, table):
                try:
                    done = inside(*question)
                except Exception as error:  # noqa: BLE001  main would have called it internal
                    found.append((model.stem, seed, question[0], repr(error)[:200]))
                    continue
                unsaid = done.code != Code.DONE and not done.err.startswith("pellucid: ")
                acts = {c for c in done.out + done.err if not c.isprintable()} - {"\n", "\r"}
                if unsaid or acts or any(word in done.err for word in SENT):
                    found.append((model.stem, seed, question[0], done.code, done.err[:200]))
    return found


def test_a_few_forged_models(inside, saved, tmp_path):
    assert not faults(inside, saved, tmp_path, range(10_000, 10_008))


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, 500, 50))
def test_five_hundred_forged_models(first, inside, saved, tmp_path):
    assert not faults(inside, saved, tmp_path, range(first, first + 50))


def no_marks(study):
    study["marks"]["marks"] = study["marks"]["marks"][:0]


def no_limits(study):
    study["calibration"]["scores"] = np.zeros((30, 0))


def another_kind(study):
    study["kind"] = "binary"


def no_such_column(study):
    study["query"] = "nowhere"


@pytest.mark.parametrize(
    ("change", "command", "code"),
    [
        (no_marks, ["evaluate"], Code.MODEL_FILE),
        (no_limits, ["predict", "--interval", "0.9"], Code.MODEL_FILE),
        (another_kind, ["explain"], Code.MODEL_FILE),
        (no_such_column, ["evaluate"], Code.DATA),
    ],
)
def test_a_model_that_fails_over_its_own_contents(change, command, code, inside, saved, tmp_path):
    model = pellucid.load(saved.mass)
    change(model.study_)
    pellucid.save(model, tmp_path / "odd.pellucid")
    done = inside(command[0], "odd.pellucid", saved.table, *command[1:])
    assert (done.code, done.err.count("\n")) == (code, 1)


@pytest.mark.parametrize("key", ["target", "score", "training", "rows", "marks", "calibration"])
@pytest.mark.parametrize("value", [None, 3, "x", [], {}, [["x"]], {"n": None}])
def test_what_a_study_said_is_held_to_its_declaration(key, value, saved, tmp_path):
    model = pellucid.load(saved.mass)
    model.study_[key] = value
    if (key, value) in [("training", {}), ("target", []), ("calibration", None), ("rows", 3)]:
        pellucid.save(model, tmp_path / "said.pellucid")
    else:
        with pytest.raises(pellucid.persist.ModelFileError, match="study_ must be"):
            pellucid.save(model, tmp_path / "said.pellucid")
