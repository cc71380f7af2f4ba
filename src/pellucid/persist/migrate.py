"""Older files: one function per version takes a manifest to the next version.

To change the format: raise ``format.VERSION``, add ``MIGRATIONS[old] = function`` here, and keep
a file of the old version under ``tests/persist/data``.
"""

from collections.abc import Callable
from typing import Any

from pellucid.persist import format as model_format
from pellucid.persist.format import FORMAT, ModelFileError, brief

Manifest = dict[str, Any]
MIGRATIONS: dict[int, Callable[[Manifest], Manifest]] = {}


def migrate(manifest: object) -> Manifest:
    """Bring a manifest to the current version, or say why not.

    >>> migrate({"format": "pellucid-model", "version": 99})
    Traceback (most recent call last):
    pellucid.persist.format.ModelFileError: the file has format version 99, this library reads \
up to 1: upgrade pellucid
    """
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise ModelFileError(f"the manifest does not say that its format is {FORMAT!r}")
    version = manifest.get("version")
    if type(version) is not int or version < 1:
        raise ModelFileError(
            f"the format version must be a whole number >= 1, got {brief(version)}"
        )
    known = model_format.VERSION
    if version > known:
        raise ModelFileError(
            f"the file has format version {brief(version)}, this library reads up to {known}: "
            "upgrade pellucid"
        )
    for old in range(version, known):
        if old not in MIGRATIONS:
            raise ModelFileError(f"files of format version {old} can no longer be read")
        manifest = {**MIGRATIONS[old](manifest), "version": old + 1}
    return manifest
