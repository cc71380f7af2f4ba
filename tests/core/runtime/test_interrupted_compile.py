"""Ctrl-C while a kernel compiles is obeyed, and the kernel works afterwards."""

import os
import subprocess
import sys

PROGRAM = """
import signal, numpy as np
from numba.core import event
from pellucid.core.runtime.jit import jit

signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job ignores it

class Press(event.Listener):
    pressed = 0
    def on_start(self, event):
        Press.pressed += 1
        signal.raise_signal(signal.SIGINT)
    def on_end(self, event):
        pass

@jit
def inner(x):
    return x.sum() + 2.0

@jit
def outer(x):
    return inner(x) * 3.0

press = Press()
event.register("numba:compile", press)
try:
    outer(np.ones(3))
    print("not interrupted")
except KeyboardInterrupt:
    print("interrupted", Press.pressed > 0)
event.unregister("numba:compile", press)
print(outer(np.ones(3)), inner(np.ones(3)))
assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
"""


def test_interrupted_while_compiling(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    kept = {**os.environ, "PELLUCID_KERNELS": str(tmp_path)}  # else the next run need not compile
    done = subprocess.run(
        [sys.executable, str(program)], capture_output=True, text=True, timeout=300, env=kept
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split("\n")[:2] == ["interrupted True", "15.0 5.0"]
