"""The toys are public names of the package while these tests run."""

import sys
import types

import pytest
from model_files import Mean, Rate, ToyFit

import pellucid


@pytest.fixture(autouse=True)
def toys(monkeypatch):
    """Lines in the public table, and nothing more, make the toys storable."""
    module = types.ModuleType("pellucid.toys.mean")
    for cls in (ToyFit, Mean, Rate):
        monkeypatch.setattr(cls, "__module__", module.__name__)
        setattr(module, cls.__name__, cls)
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setitem(pellucid._HOME, "Mean", "toys.mean")
    monkeypatch.setitem(pellucid._HOME, "Rate", "toys.mean")


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.pellucid"
