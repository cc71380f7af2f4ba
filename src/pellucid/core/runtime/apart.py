"""Try it in a process of its own first: what would end this one then ends only that.

A library may leave by a signal, not by an exception, when a file is damaged. ``Apart`` keeps one
child process that runs a program; it gets a line of JSON for each question and answers with one.
"""

import atexit
import json
import os
import subprocess
import sys
import threading
from typing import Any

LOOP = """
import json, sys
for line in sys.stdin:
    try:
        answer = {"value": answer_to(json.loads(line))}
    except BaseException as error:
        answer = {"error": str(error)}
    print(json.dumps(answer), flush=True)
"""


class Apart:
    """A program in another process; it starts with the first question and again if it dies.

    >>> doubler = Apart("def answer_to(x): return 2 * x")
    >>> doubler.ask(21)
    {'value': 42}
    >>> killer = Apart("import os" + chr(10) + "def answer_to(x): os.abort()")
    >>> killer.ask(1)
    """

    def __init__(self, program: str) -> None:
        self.program = program + LOOP
        self._reset()
        atexit.register(self.end)
        if hasattr(os, "register_at_fork"):  # a forked child starts one of its own
            os.register_at_fork(after_in_child=self._reset)

    def _reset(self) -> None:
        self.lock = threading.Lock()
        self.child: subprocess.Popen[str] | None = None

    def ask(self, question: Any, *, seconds: float | None = None) -> dict[str, Any] | None:
        """``{"value": ...}``, or ``{"error": text}``, or None if the process died of it.

        With ``seconds`` it is ended when it takes longer.
        """
        with self.lock:
            if self.child is None:
                self.child = self._start()
            stdin, stdout = self.child.stdin, self.child.stdout
            assert stdin is not None
            assert stdout is not None
            patience = threading.Timer(seconds or 0.0, self.child.kill)
            if seconds is not None:
                patience.start()
            try:
                stdin.write(json.dumps(question) + "\n")
                stdin.flush()
                line = stdout.readline()
            except OSError:
                line = ""
            finally:
                patience.cancel()
            if not line.endswith("\n"):
                self.end()
                return None
            answer: dict[str, Any] = json.loads(line)
            return answer

    def _start(self) -> "subprocess.Popen[str]":
        return subprocess.Popen(
            [sys.executable, "-c", self.program],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            encoding="utf-8",
        )

    def end(self) -> None:
        """Let the process go; the next question starts another."""
        child, self.child = self.child, None
        if child is not None:
            child.kill()
            child.communicate()
