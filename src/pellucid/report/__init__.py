"""A study as a page, as JSON, as a script: renderings of one record.

Read ``rendering`` first: the page. ``sentences`` and ``words`` write its text, ``pictures`` and
``charts`` draw, ``writing`` leaves the folder, ``scripts`` the Python script that repeats a study.
``tables/`` has the pages of the other commands, ``source/`` models as plain source code.
"""

from pellucid._lazy import lazy_names

_HOME = {
    "render": "rendering",
    "script": "scripts",
    "to_json": "rendering",
    "to_source": "source.source",
    "write": "writing",
}

__getattr__, __dir__, __all__ = lazy_names(__name__, _HOME)
