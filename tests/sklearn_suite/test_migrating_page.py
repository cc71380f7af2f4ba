"""The page about migrating names every estimator of the installed scikit-learn."""

import importlib.util
from pathlib import Path

import pellucid

ROOT = Path(__file__).parents[2]
spec = importlib.util.spec_from_file_location("migrating", ROOT / "tools/migrating.py")
migrating = importlib.util.module_from_spec(spec)
spec.loader.exec_module(migrating)


def test_the_page_is_what_the_tool_writes():
    assert migrating.PAGE.read_text(encoding="utf-8") == migrating.page()


def test_every_estimator_answers():
    text = migrating.PAGE.read_text(encoding="utf-8")
    names = migrating.estimators()
    assert len(names) > 180
    for name, module in names.items():
        row = next(line for line in text.splitlines() if f"`{module}.{name}`" in line)
        assert (f"`pellucid.{name}`" in row) == (name in pellucid.__all__)


def test_every_difference_is_on_the_page():
    text = migrating.PAGE.read_text(encoding="utf-8")
    for name, told in migrating.differences().items():
        assert name not in pellucid.__all__ or all(line in text for line in told)


def test_what_is_named_instead_exists():
    for words in migrating.NEAR.values():
        for name in migrating.re.findall(r"`(?:pellucid\.)?([A-Z]\w+)", words):
            assert name in pellucid.__all__
