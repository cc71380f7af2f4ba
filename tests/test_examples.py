"""Every example runs in an empty folder."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parent.parent / "examples"


def run(path, folder):
    return subprocess.run(
        [sys.executable, "-W", "error", path],
        cwd=folder,
        env={**os.environ, "MPLBACKEND": "Agg"},
        capture_output=True,
        text=True,
        timeout=300,
    )


@pytest.mark.parametrize("name", sorted(path.name for path in EXAMPLES.glob("*.py")))
def test_runs(name, tmp_path):
    done = run(EXAMPLES / name, tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout
