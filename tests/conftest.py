"""What every test file shares: headless pictures and no inherited settings."""

import os

import pytest

os.environ.setdefault("MPLBACKEND", "Agg")


@pytest.fixture(autouse=True)
def _no_inherited_settings(monkeypatch):
    monkeypatch.delenv("SOURCE_DATE_EPOCH", raising=False)
