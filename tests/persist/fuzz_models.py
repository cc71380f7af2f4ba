"""Forge model files at random and use what loads: ``python tests/persist/fuzz_models.py 5 Ridge``.

A specimen of every storable class is saved; its values, arrays, dtypes and shapes are changed, the
hashes and the seal are made right again, and the file is loaded. ``load`` may raise
``ModelFileError`` and nothing else. What it accepts answers every question a model can be asked,
where any ordinary exception is fine, and these are not: death by a signal, 10 seconds of processor
time, 2 GB, and an error of the compiler (a dtype that no kernel was written for).

Each run is a process of its own that says what it is about to try, so that one that dies or hangs
names the file that did it. With ``NUMBA_BOUNDSCHECK=1`` compiled code that reads or writes
outside an array is a fault too.
"""

import copy
import faulthandler
import hashlib
import inspect
import io
import json
import random
import re
import resource
import signal
import sys
import tempfile
import warnings
import zipfile
from collections import deque
from contextlib import suppress
from functools import cache
from pathlib import Path

import numpy as np
from numba.core import event
from numba.core.errors import NumbaError

from pellucid.persist import ModelFileError, load, save
from pellucid.persist.allowed import RECORDS
from pellucid.persist.npy import layout_of
from pellucid.persist.schema import declarations

sys.path.append(str(Path(__file__).parents[1] / "helpers"))  # where pytest looks too
from estimators import OUTPUTS
from fuzz_specimens import every_name, specimen
from model_files import npy, seal

SECONDS, BYTES = 10, 2**31
MEMORY = Path("/dev/shm")  # files without a disk
STUCK = 100  # seconds by the clock, for compiled code that Python cannot interrupt
OUTSIDE = "index is out of bounds"  # what compiled code says; NumPy names the index
# What a method is asked with, by the names of what it has to be given: rows and answers come with
# the specimen. One that wants anything else is not asked.
ROWS = ("X", "T", "Y", "Q", "Z", "raw_documents", "states", "X_new")
GIVEN = {
    **dict.fromkeys(("k", "m", "n", "n_clusters", "length", "steps"), 2),
    **dict.fromkeys(("state", "next_state", "action", "j"), 0),
    **dict.fromkeys(("alpha", "radius", "cut_distance", "reward"), 0.5),
    "columns": [0],
}
NO_QUESTION = re.compile(r"_|fit|set_|get_params|get_metadata_routing|learn$")
CHANGES = ("partial_fit", "update", "reset", "end_episode", "calibrate_intervals")  # asked last
WHOLE = (0, 1, -1, 2, 3, 7, 5000, 10**6, 10**9, 10**12, 2**31, 2**63 - 1, -(2**63), 2**100)
REAL = (0.0, -1.0, 1e-320, 1e308, -1e308, 0.5, 1e9)
ODD = (
    None,
    True,
    "",
    "x",
    [],
    3,
    0.5,
    {"is": "tuple", "items": []},
    {"is": "float", "name": "nan"},
)
ODD += (
    {"is": "float", "name": "inf"},
    {"is": "dict", "items": []},
    {"is": "range", "items": [0, 10**12, 1]},
)
DTYPES = ("<f8", "<f4", "<i8", "<i4", "|b1", "|u1", ">f8", "<f2", "<U3", "<u8", "<i2")


def classes_in(tree):
    """The names of the classes in a file."""
    return {node["class"] for node in objects(tree)}


def objects(tree):
    """The nodes of a file that are objects of a class, the outermost first."""
    nodes = [tree, *(at(tree, place) for place in places(tree))]
    return [node for node in nodes if isinstance(node, dict) and "class" in node]


def undeclared(tree):
    """The records in a file that hold arrays and do not say which; ``RECORDS`` say it there."""
    held = objects(tree)[1:]
    arrays = [
        {node["class"]}
        for node in held
        if any(isinstance(v, dict) and v.get("is") == "array" for v in node["state"].values())
    ]
    return sorted(set().union(*arrays) - declarations().keys() - RECORDS.keys())


# --- mutations ----------------------------------------------------------------------------------


def opened(path):
    """The manifest and the arrays of a file, by name."""
    with zipfile.ZipFile(path) as archive:
        manifest = json.loads(archive.read("manifest.json"))
        arrays = {
            name: np.load(io.BytesIO(archive.read(name)))
            for name in archive.namelist()
            if name != "manifest.json"
        }
    return manifest, arrays


def places(node, here=()):
    """The way to every value below a node."""
    items = (
        node.items()
        if isinstance(node, dict)
        else enumerate(node)
        if isinstance(node, list)
        else ()
    )
    for key, item in items:
        yield (*here, key)
        yield from places(item, (*here, key))


def at(tree, place):
    for key in place:
        tree = tree[key]
    return tree


def mutate(manifest, arrays, chance):
    """A file with one to three changes, its hashes and its seal correct."""
    tree, arrays = json.loads(json.dumps(manifest["object"])), dict(arrays)
    for _ in range(chance.choice([1, 1, 1, 2, 3])):
        if arrays and chance.random() < 0.5:
            name = chance.choice(list(arrays))
            arrays[name] = changed_array(arrays[name], arrays, chance)
        else:
            change_value(tree, chance)
    return resealed({**manifest, "object": tree}, arrays)


def resealed(manifest, arrays):
    """A file of these parts; every mention of an array describes it as it is now."""
    nodes = [at(manifest["object"], place) for place in places(manifest["object"])]
    for node in nodes:
        if isinstance(node, dict) and node.get("is") == "array" and str(node.get("file")) in arrays:
            layout = layout_of(arrays[node["file"]])
            node.update(dtype=layout.dtype, shape=list(layout.shape), order=layout.order)
    blobs = [npy(array) for array in arrays.values()]
    digests = [hashlib.sha256(blob).hexdigest() for blob in blobs]
    whole = {**manifest, "files": dict(zip(arrays, digests, strict=True))}
    return seal(["manifest.json", *arrays], [json.dumps(whole).encode(), *blobs])


def change_value(tree, chance):
    """Replace, drop or copy one value of the tree."""
    ways = [p for p in places(tree) if p[-1] not in ("is", "class", "file")]
    if not ways:  # a class without a parameter
        tree["state"] = {"x": copy.deepcopy(chance.choice(ODD))}
        return
    way = chance.choice(ways)
    parent, key = at(tree, way[:-1]), way[-1]
    old, kind = parent[key], chance.random()
    if kind < 0.1:
        del parent[key]
    elif kind < 0.2:
        parent[key] = json.loads(json.dumps(at(tree, chance.choice(list(places(tree))))))
    elif isinstance(old, bool) or old is None or kind < 0.3:
        parent[key] = copy.deepcopy(chance.choice(ODD))
    elif isinstance(old, int):
        parent[key] = chance.choice([*WHOLE, old + 1, old - 1])
    elif isinstance(old, float):
        parent[key] = chance.choice(REAL)
    elif isinstance(old, str):
        parent[key] = chance.choice([old + "x", "", "x" * 1000, "auto"])
    elif isinstance(old, list) and old:
        parent[key] = chance.choice([old[:-1], old * 2, old[::-1], [], old[:1]])
    else:
        parent[key] = copy.deepcopy(chance.choice(ODD))


def changed_array(array, arrays, chance):
    """Other values, another dtype, another shape, or another array of the file."""
    kind = chance.randrange(4)
    if kind == 0 and array.size and array.dtype.kind in "biuf":
        return with_values(array, chance)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        if kind == 1:
            try:
                return array.astype(chance.choice(DTYPES))
            except ValueError:  # text that is no number
                return np.zeros(array.shape)
    if kind == 2:
        shapes = [lambda a: a[:-1], lambda a: a[..., :-1], lambda a: a[None], lambda a: a.T]
        shapes += [
            np.ravel,
            lambda a: np.repeat(a, 2, axis=0),
            lambda a: a[:0],
            lambda a: a[..., None],
        ]
        shapes += [lambda a: np.zeros((0, *a.shape), a.dtype), lambda a: a.reshape(-1)[:1]]
        return np.asarray(chance.choice(shapes)(array if array.ndim else array[None]))
    return arrays[chance.choice(list(arrays))]


def with_values(array, chance):
    array = array.copy()
    spots = chance.choice([1, 1, array.size])
    flat = array.reshape(-1) if array.flags.c_contiguous else array.T.reshape(-1)
    where = [chance.randrange(array.size) for _ in range(min(spots, 1000))]
    if array.dtype.kind == "f":
        flat[where] = chance.choice([*REAL, np.nan, np.inf, -np.inf])
    elif array.dtype.kind == "b":
        flat[where] = ~flat[where]
    else:
        info = np.iinfo(array.dtype)
        new = chance.choice([*WHOLE, int(array.max()) + 1, int(array.max()) + 2, 100, 2**20])
        flat[where] = min(max(new, info.min), info.max)
    return array


# --- use ----------------------------------------------------------------------------------------


class Hang(BaseException):
    """Raised after ``SECONDS``."""


def alarm(*_):
    raise Hang


class PauseWhileCompiling(event.Listener):
    """Compiling is no answer to the file: its time does not count."""

    def __init__(self):
        self.left, self.depth = 0.0, 0

    def on_start(self, event):
        if self.depth == 0:
            self.left = signal.setitimer(signal.ITIMER_PROF, 0)[0]
        self.depth += 1

    def on_end(self, event):
        self.depth -= 1
        if self.depth == 0:
            signal.setitimer(signal.ITIMER_PROF, self.left)


@cache
def questions(cls):
    """(name, names of what it is given) of every method that a model of a class can answer."""
    found = []
    names = [name for name in dir(cls) if name == "__call__" or not NO_QUESTION.match(name)]
    for name in sorted(names, key=lambda name: (name in CHANGES, name not in OUTPUTS, name)):
        if not callable(method := getattr(cls, name, None)):
            continue
        places = list(inspect.signature(method).parameters.values())[1:]
        needed = [p.name for p in places if p.default is p.empty and p.kind in (0, 1)]
        if name == "inverse_transform":
            needed = ["transformed"]
        elif name == "score" and len(places) > 1:
            needed = ["X", "y"]
        if {*needed} <= {*GIVEN, *ROWS, "y", "transformed"}:
            found.append((name, needed))
    return found


def given_to(model, X):
    """What the methods are asked with, by name; the answers are those of the model itself."""
    rows = np.array([0, 1]) if X is None else X  # states of a decision process
    given = {**GIVEN, **dict.fromkeys(ROWS, rows), "y": np.arange(7) % 2, "transformed": rows}
    for name, method in (("y", "predict"), ("transformed", "transform")):
        with suppress(Exception):  # not every model has both
            given[name] = getattr(model, method)(rows)
    return given


def use(model, given):
    """Ask everything; returns the name of the trouble, or None."""
    n, X = getattr(model, "n_features_in_", None), given["X"]
    inputs = [given]
    if isinstance(X, np.ndarray) and isinstance(n, int) and 0 < n <= 64 and n != X.shape[-1]:
        inputs.append({**given, **dict.fromkeys(ROWS, np.resize(X, (7, n)))})
    for given in inputs:
        for name, needed in questions(type(model)):
            try:
                answer = getattr(model, name)(*(given[place] for place in needed))
                if inspect.isgenerator(answer):
                    deque(answer, maxlen=0)
            except (MemoryError, NumbaError, SystemError) as error:
                return f"{name}: {type(error).__name__}: {str(error)[:150]}"
            except Exception as error:  # noqa: BLE001  any ordinary answer to nonsense is fine
                if str(error) == OUTSIDE:
                    return f"{name}: compiled code left its array"
    return None


def limit_memory(more=BYTES):
    """Let this process have 2 GB more than it has; None: as much as it wants."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    most = -1 if more is None else pages * resource.getpagesize() + more
    resource.setrlimit(resource.RLIMIT_AS, (most, resource.RLIM_INFINITY))


def attempt(blob, path, given):
    """Load and use one file; returns what went wrong, or None."""
    path.write_bytes(blob)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)  # processor time: the machine may be busy
    signal.alarm(STUCK)
    try:
        try:
            model = load(path)
        except ModelFileError as error:
            asked = isinstance(error.__cause__, MemoryError)
            return "load: asked for gigabytes before it refused" if asked else None
        except Exception as error:  # noqa: BLE001  this is what is looked for
            return f"load: {type(error).__name__}: {str(error)[:150]}"
        return use(model, given)
    except Hang:
        return f"took over {SECONDS} s"
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.alarm(0)


def run(count, names, seed=0, first=0):
    """Try ``count`` files of each class; a line before each file, a line for each fault."""
    signal.signal(signal.SIGPROF, alarm)
    faulthandler.register(signal.SIGALRM, chain=True)  # says where it is stuck, then ends it
    event.register("numba:compile", PauseWhileCompiling())
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None) as folder:
        path = Path(folder, "model.pellucid")
        for name in names:
            limit_memory(None)
            try:
                model, X = specimen(name)
                save(model, path)
            except Exception as error:  # noqa: BLE001  said, and counted as a fault
                print(json.dumps(["fault", name, -1, f"specimen: {error!r}"[:200]]), flush=True)
                print(json.dumps(["ended", name]), flush=True)
                continue
            given = given_to(model, X)
            limit_memory()
            manifest, arrays = opened(path)
            for record in undeclared(manifest["object"]):
                print(json.dumps(["fault", name, -1, f"{record} declares no state"]), flush=True)
            for i in range(first, count):
                blob = mutate(manifest, arrays, random.Random(f"{seed} {name} {i}"))
                print(json.dumps(["try", name, i]), flush=True)
                trouble = attempt(blob, path, given)
                if trouble:
                    print(json.dumps(["fault", name, i, trouble]), flush=True)
            print(json.dumps(["ended", name]), flush=True)
            first = 0


if __name__ == "__main__":
    asked = sys.argv[2:]
    first = int(asked.pop()) if asked and asked[-1].isdigit() else 0
    run(int(sys.argv[1]), asked or every_name(), first=first)
