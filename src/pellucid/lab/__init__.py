"""The browser lab: an algorithm step by step, with the formula and the numbers of this step.

Algorithms stay in Python. A page runs one and writes a ``Trace``; the browser only replays it.
Read ``trace.py`` first, then ``page.py`` and a folder of ``pages/``; ``recording.py`` makes a trace
of any estimator, ``serving.py`` shows them.
"""

from pellucid._lazy import lazy_names

_HOME = {"Trace": "trace", "export": "exporting", "record": "recording", "serve": "serving"}

__getattr__, __dir__, __all__ = lazy_names("pellucid.lab", _HOME)
