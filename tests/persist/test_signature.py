"""Signed files, and what SECURITY.md says."""

import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from model_files import Mean, X, y

from pellucid.persist import ModelFileError, inspect, load, save
from pellucid.persist.format import SIGNATURE_LENGTH

KEY = b"0123456789abcdef"
ROOT = Path(__file__).parents[2]


def test_only_the_right_key_opens(path):
    model = Mean().fit(X, y)
    save(model, path, key=KEY)
    assert np.array_equal(load(path, key=KEY).predict(X), model.predict(X))
    for other in (KEY + b"0", KEY[::-1]):
        with pytest.raises(ModelFileError, match="not signed with this key"):
            load(path, key=other)


def test_a_file_without_a_signature_is_refused_where_a_key_is_given(path):
    save(Mean().fit(X, y), path)
    with pytest.raises(ModelFileError, match="has no signature"):
        load(path, key=KEY)


def test_a_signed_file_is_read_without_a_key_and_gives_the_same_bytes(path):
    model = Mean().fit(X, y)
    save(model, path)
    plain = path.read_bytes()
    save(model, path, key=KEY)
    signed = path.read_bytes()
    assert len(signed) == len(plain) + SIGNATURE_LENGTH
    assert np.array_equal(load(path).predict(X), model.predict(X))
    assert inspect(path)["bytes"] == len(signed)
    save(load(path, key=KEY), path, key=KEY)
    assert path.read_bytes() == signed


def test_every_byte_of_a_signed_file_is_covered(path):
    save(Mean(), path, key=KEY)
    raw = path.read_bytes()
    for i in range(0, len(raw), 3):
        path.write_bytes(raw[:i] + bytes([raw[i] ^ 1]) + raw[i + 1 :])
        with pytest.raises(ModelFileError):
            load(path, key=KEY)


def test_a_new_seal_does_not_keep_the_signature(path):
    save(Mean(shift=1.0), path, key=KEY)
    signature = path.read_bytes()[-SIGNATURE_LENGTH:]
    save(Mean(shift=2.0), path, key=KEY[::-1])
    path.write_bytes(path.read_bytes()[:-SIGNATURE_LENGTH] + signature)
    assert load(path).shift == 2.0
    with pytest.raises(ModelFileError, match="not signed with this key"):
        load(path, key=KEY)


@pytest.mark.parametrize(
    ("key", "error"), [("text of 16 bytes", TypeError), (b"short", ValueError)]
)
def test_keys(key, error, path):
    with pytest.raises(error, match="key must"):
        save(Mean(), path, key=key)
    save(Mean(), path)
    with pytest.raises(error, match="key must"):
        load(path, key=key)


def test_every_sentence_of_the_threat_model_names_a_test_that_exists():
    text = (ROOT / "SECURITY.md").read_text("utf-8")
    named = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", text)
    assert len(named) >= 12
    for file, test in named:
        assert f"def {test}(" in (ROOT / file).read_text("utf-8"), f"{file}::{test}"
    promised = [part.split("\n## ")[0] for part in text.split("## What is promised")[1:]]
    assert len(promised) >= 4
    for line in [line for part in promised for line in re.split(r"\n- ", part)[1:]]:
        assert "::test_" in line, line


def test_the_bill_of_materials_names_what_is_installed(tmp_path):
    path = tmp_path / "sbom.json"
    done = subprocess.run(
        [sys.executable, str(ROOT / "tools" / "audit.py"), str(path)],
        capture_output=True,
        check=False,
    )
    assert b"requirement" in done.stdout or done.returncode in (0, 1)
    made = json.loads(path.read_text())
    assert (made["bomFormat"], made["specVersion"]) == ("CycloneDX", "1.5")
    versions = {one["name"]: one["version"] for one in made["components"]}
    assert versions["numpy"] == np.__version__
    assert all(one["purl"].startswith("pkg:pypi/") for one in made["components"])
