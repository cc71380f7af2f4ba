"""Generated from the table in __init__.py by `make stubs`; do not edit."""

from pellucid.report.rendering import render as render
from pellucid.report.rendering import to_json as to_json
from pellucid.report.scripts import script as script
from pellucid.report.source.source import to_source as to_source
from pellucid.report.writing import write as write

__all__: list[str]
_HOME: dict[str, str]
