"""Run the installed command in its own process, as a user does."""

import json
import os
import subprocess
import sysconfig
from pathlib import Path
from typing import Any, NamedTuple

import pytest

SCRIPT = Path(sysconfig.get_path("scripts")) / "pellucid"


class Done(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


@pytest.fixture
def pellucid(tmp_path):
    """Call with arguments; a traceback or a second error line fails the test."""

    def run(*args: str, **environment: str) -> Done:
        done = subprocess.run(
            [SCRIPT, *args],
            cwd=tmp_path,
            env={**os.environ, "COLUMNS": "100", **environment},
            capture_output=True,
            text=True,
            timeout=300,
        )
        if "--debug" not in args:
            assert "Traceback" not in done.stderr, done.stderr
        return Done(done.returncode, done.stdout, done.stderr)

    return run
