"""A pytest plugin that runs scikit-learn's test modules with our classes in place of theirs.

The source of a test module is changed before it runs: behind every import stands a call that
replaces what was imported, a class by ours of the same name, a module of scikit-learn by a view
that does so for its attributes. So decorators and parameters see our classes, and scikit-learn
itself does not. ``SKLEARN_SWAP=theirs`` changes nothing: the baseline. Some tests ask a private
method of scikit-learn's class for the numbers they judge by: ours borrow it (``LENT``), so that the
test reaches what it is about.

Each test's outcome, whether it made one of our models, and the last line of its failure go to
``SKLEARN_SWAP_OUT`` as lines of JSON.
"""

import ast
import importlib.abc
import importlib.machinery
import inspect
import json
import os
import signal
import sys
import types
from functools import cache
from pathlib import Path

import pytest

import pellucid

SWAP = "_pellucid_swap"
LIMIT = int(os.environ.get("SKLEARN_SWAP_LIMIT", "150"))  # seconds for one test
OURS = os.environ.get("SKLEARN_SWAP", "ours") == "ours"


class View(types.ModuleType):
    """A module of scikit-learn whose classes are ours where we have them."""

    def __init__(self, module: types.ModuleType) -> None:
        super().__init__(module.__name__, module.__doc__)
        object.__setattr__(self, "_module", module)

    def __getattribute__(self, name: str) -> object:
        module = object.__getattribute__(self, "_module")
        return vars(module) if name == "__dict__" else swap(getattr(module, name))

    def __setattr__(self, name: str, value: object) -> None:
        setattr(object.__getattribute__(self, "_module"), name, value)

    def __delattr__(self, name: str) -> None:
        delattr(object.__getattribute__(self, "_module"), name)


def is_public(theirs: type) -> bool:
    """Whether a class of scikit-learn is in the list of names of its package."""
    package = ".".join(theirs.__module__.split(".")[:2])
    homes = (package, "sklearn.feature_extraction.text")
    return package.startswith("sklearn.") and any(
        theirs.__name__ in getattr(sys.modules.get(home), "__all__", ()) for home in homes
    )


LENT = {  # private methods that tests judge a model by, and that no model of ours uses
    "PolynomialFeatures": ("_combinations", "_num_combinations"),
    "PoissonRegressor": ("_get_loss",),
    "GammaRegressor": ("_get_loss",),
    "TweedieRegressor": ("_get_loss",),
}


@cache
def ours_of(theirs: type) -> type:
    """Our class of the same name, whose instances are noted from now on; else theirs."""
    if theirs.__name__ not in pellucid.__all__ or not is_public(theirs):
        return theirs
    ours = getattr(pellucid, theirs.__name__)
    if not ours.__module__.startswith("pellucid."):
        return theirs
    for name in LENT.get(theirs.__name__, ()):
        setattr(ours, name, vars(theirs)[name])
    watch(ours)
    return ours


def swap(thing: object) -> object:
    """Ours for one of their classes, a view for one of their modules, else the thing itself."""
    if inspect.isclass(thing):
        return ours_of(thing)
    if type(thing) is types.ModuleType and thing.__name__.split(".")[0] == "sklearn":
        return View(thing)
    return thing


class Behind(ast.NodeTransformer):
    """A call of ``swap`` behind every import."""

    def _swapped(self, node: ast.Import | ast.ImportFrom) -> list[ast.stmt]:
        statements: list[ast.stmt] = [node]
        for alias in node.names:
            name = alias.asname or alias.name.split(".")[0]
            if name != "*":
                call = ast.parse(f"{name} = {SWAP}({name})").body[0]
                statements.append(ast.fix_missing_locations(ast.copy_location(call, node)))
        return statements

    visit_Import = visit_ImportFrom = _swapped  # noqa: N815


class Loader(importlib.machinery.SourceFileLoader):
    """Runs a test module with the calls in it."""

    def source_to_code(self, data, path, *, _optimize=-1):
        tree = ast.parse(data)
        swapped = ast.fix_missing_locations(Behind().visit(tree))
        return compile(swapped, path, "exec", dont_inherit=True, optimize=_optimize)

    def get_code(self, fullname):  # no cache on disk: it would be read without the plugin
        path = self.get_filename(fullname)
        return self.source_to_code(self.get_data(path), path)

    def exec_module(self, module):
        vars(module)[SWAP] = swap
        super().exec_module(module)


class Finder(importlib.abc.MetaPathFinder):
    """Finds scikit-learn's test modules before pytest's own hook does."""

    def find_spec(self, fullname, path=None, target=None):
        parts = fullname.split(".")
        if parts[0] != "sklearn" or "tests" not in parts or not parts[-1].startswith("test_"):
            return None
        spec = importlib.machinery.PathFinder.find_spec(fullname, path)
        if spec is None or not isinstance(spec.loader, importlib.machinery.SourceFileLoader):
            return None
        spec.loader = Loader(fullname, spec.loader.path)
        return spec


MADE: set[str] = set()
WATCHED: set[type] = set()


def watch(model: type) -> None:
    """Note every instance that is made of a class, also by ``clone`` and pickle."""
    plain = model.__new__

    def noted(cls, *given, **named):
        MADE.add(model.__name__)
        return plain(cls) if plain is object.__new__ else plain(cls, *given, **named)

    noted.__signature__ = inspect.signature(model.__init__)  # what a class is said to take
    model.__new__ = noted
    WATCHED.add(model)


def holds(value: object, depth: int = 4) -> set[str]:
    """The names of our classes of which there are instances in a parameter of a test."""
    if depth == 0:
        return set()
    found = {type(value).__name__} if type(value) in WATCHED else set()
    if isinstance(value, dict):
        parts = list(value.values())
    elif isinstance(value, list | tuple | set):
        parts = list(value)[:50]
    elif hasattr(value, "get_params") and not inspect.isclass(value):
        parts = list(vars(value).values())
    else:
        parts = []
    return found.union(*(holds(part, depth - 1) for part in parts))


class TooLongError(Exception):
    """A test ran past its limit."""


def _alarm(*_):
    raise TooLongError(f"no end after {LIMIT} s")


class Recorder:
    """Writes a line for each test."""

    def __init__(self) -> None:
        self.path = Path(os.environ["SKLEARN_SWAP_OUT"])
        self.reports: dict[str, list] = {}

    def write(self, **line) -> None:
        with self.path.open("a") as out:
            out.write(json.dumps(line) + "\n")

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item, nextitem):
        MADE.clear()
        self.reports[item.nodeid] = []
        self.write(id=item.nodeid, outcome="begun")
        signal.signal(signal.SIGALRM, _alarm)
        signal.alarm(LIMIT)
        yield
        signal.alarm(0)
        made = set(MADE)
        if OURS and getattr(item, "callspec", None) is not None:
            made |= holds(item.callspec.params)
        reports = self.reports.pop(item.nodeid)
        bad = [r for r in reports if r.failed]
        if bad:
            outcome = "failed"
        elif any(r.skipped for r in reports):
            outcome = "xfailed" if any(hasattr(r, "wasxfail") for r in reports) else "skipped"
        else:
            outcome = "passed"
        text = bad[0].longreprtext if bad else ""
        errors = [line[1:].strip() for line in text.splitlines() if line.startswith("E  ")]
        self.write(
            id=item.nodeid,
            outcome=outcome,
            made=sorted(made),
            why=" ".join(errors)[:600] or text[-300:],
            seconds=round(sum(r.duration for r in reports), 3),
        )

    def pytest_runtest_logreport(self, report):
        self.reports[report.nodeid].append(report)

    def pytest_collectreport(self, report):
        if report.failed:
            self.write(
                id=report.nodeid, outcome="uncollected", made=[], why=report.longreprtext[-900:]
            )


def pytest_configure(config):
    if OURS:
        sys.meta_path.insert(0, Finder())
    config.pluginmanager.register(Recorder())
