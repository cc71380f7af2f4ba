"""The toys are public names of the package while these tests run."""

import sys
import types

import pytest
from model_files import Mean, Rate, ToyFit

import pellucid
from pellucid.persist.schema import declarations


@pytest.fixture(autouse=True)
def toys(monkeypatch):
    """A line in the public table and a declaration of its state make a toy storable."""
    module = types.ModuleType("pellucid.toys.mean")
    for cls in (ToyFit, Mean, Rate):
        monkeypatch.setattr(cls, "__module__", module.__name__)
        setattr(module, cls.__name__, cls)
    monkeypatch.setitem(sys.modules, module.__name__, module)
    state = {"fit_": "@ToyFit", "residual_": "f8[?]", "a": "f8[?]", "b": "f8[?]"}
    state |= {"many": "list(i8[?])", "words": "@Card", "summary": "@Summary"}
    monkeypatch.setitem(declarations(), "pellucid.Mean", state)
    monkeypatch.setitem(pellucid._HOME, "Mean", "toys.mean")
    monkeypatch.setitem(pellucid._HOME, "Rate", "toys.mean")


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.pellucid"
