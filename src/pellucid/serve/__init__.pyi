"""Generated from the table in __init__.py by `make stubs`; do not edit."""

from pellucid.serve.app import make_app as make_app
from pellucid.serve.records import Limits as Limits
from pellucid.serve.running import serve as serve

__all__: list[str]
_HOME: dict[str, str]
