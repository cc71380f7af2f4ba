"""The manifest of a model file: its frame is checked, then the model is built from its tree.

``load`` does this with a file, and ``save`` with what it is about to write: what the one accepts
the other accepts.
"""

import re
from collections.abc import Callable
from typing import Any

import numpy as np

from pellucid.persist.container import Archive
from pellucid.persist.decode import Decoder
from pellucid.persist.format import ModelFileError, array_name, brief, expect, parse_json
from pellucid.persist.migrate import migrate
from pellucid.persist.npy import Layout

FIELDS = {"format", "version", "library", "schema", "card", "object", "files"}
DIGEST = re.compile(r"[0-9a-f]{64}")


def build_model(
    manifest: dict[str, Any], size: int, read: Callable[[str, Layout], np.ndarray]
) -> Any:
    """The model of a manifest; ``read(name, layout)`` brings an array, ``size`` is the file's."""
    files = manifest["files"]

    def read_listed(name: str, layout: Layout) -> np.ndarray:
        if name not in files:
            raise ModelFileError(f"the manifest uses {brief(name)} but does not list it")
        return read(name, layout)

    decoder = Decoder(read_listed, size)
    model = decoder.decode(manifest["object"])
    unused = files.keys() - decoder.arrays.keys()
    if unused:
        raise ModelFileError(f"{min(unused)} is in the file but nothing uses it")
    return model


def read_manifest(archive: Archive) -> dict[str, Any]:
    """The manifest in the current version, with its frame checked; the tree is checked later."""
    manifest = migrate(parse_json(archive.manifest))
    if manifest.keys() - {"created"} != FIELDS:
        raise ModelFileError(f"the manifest must have the fields {', '.join(sorted(FIELDS))}")
    check_texts(manifest["library"], "library")
    if not isinstance(manifest.get("created", ""), str):
        raise ModelFileError("the manifest's time of creation must be text")
    if manifest["card"] is not None:
        expect(manifest["card"], dict)
    check_schema(manifest["schema"])
    if "class" not in expect(manifest["object"], dict):
        raise ModelFileError("the manifest's object has no class")
    files = check_texts(manifest["files"], "files")
    for i, (name, digest) in enumerate(files.items()):
        if name != array_name(i) or not DIGEST.fullmatch(digest):
            raise ModelFileError(f"the manifest lists {brief(name)} with {brief(digest)}")
    missing, unlisted = files.keys() - archive.places.keys(), archive.places.keys() - files.keys()
    if missing:
        raise ModelFileError(f"member {min(missing)} is listed in the manifest but missing")
    if unlisted:
        raise ModelFileError(f"member {min(unlisted)} is not listed in the manifest")
    return manifest


def check_texts(value: object, what: str) -> dict[str, str]:
    if not isinstance(value, dict) or not all(isinstance(item, str) for item in value.values()):
        raise ModelFileError(f"the manifest's {what} must map names to text")
    return value


def check_schema(schema: object) -> None:
    if not isinstance(schema, dict) or set(schema) != {"n_features_in_", "feature_names_in_"}:
        raise ModelFileError("the manifest's schema must give n_features_in_, feature_names_in_")
    n, names = schema["n_features_in_"], schema["feature_names_in_"]
    if n is not None and (type(n) is not int or n < 0):
        raise ModelFileError(f"the manifest's schema has {brief(n)} features")
    if names is not None and not all(isinstance(name, str) for name in expect(names, list)):
        raise ModelFileError("the manifest's schema must give feature names as text")
