"""Generated from the table in __init__.py by `make stubs`; do not edit."""

from pellucid.lab.exporting import export as export
from pellucid.lab.recording import record as record
from pellucid.lab.serving import serve as serve
from pellucid.lab.trace import Trace as Trace

__all__: list[str]
_HOME: dict[str, str]
