"""A study as a page, as JSON, as a script: renderings of one record."""

from pellucid._lazy import lazy_names

_HOME = {
    "render": "rendering",
    "script": "scripts",
    "to_json": "rendering",
    "to_source": "source.source",
    "write": "writing",
}

__getattr__, __dir__, __all__ = lazy_names(__name__, _HOME)
