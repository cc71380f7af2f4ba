"""Read a model file that may come from a stranger."""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO

import numpy as np
import sklearn
from sklearn.exceptions import InconsistentVersionWarning

from pellucid.core.runtime.warn import warn
from pellucid.persist.container import Archive, read_archive
from pellucid.persist.decode import KINDS, Decoder
from pellucid.persist.format import ModelFileError, brief, expect
from pellucid.persist.manifest import build_model, read_manifest
from pellucid.persist.npy import Layout, check_layout, read_array
from pellucid.persist.writer import check_key, check_path


def load(path: str | os.PathLike[str], *, key: bytes | None = None) -> Any:
    """Load the model that ``save`` wrote to ``path``; see there for an example.

    The seal, every array's SHA-256, every class name and every value are checked before there is
    an object to hold them. Nothing in the file is executed, and there is no fall-back to another
    format.

    Parameters
    ----------
    path : str or path
        The file.
    key : bytes, default=None
        Refuse a file that was not saved with this key.

    Raises
    ------
    ModelFileError
        The file is damaged, altered, newer than this library, not signed with ``key``, or holds
        what is not allowed.
    OSError
        There is no such file, or it cannot be read.

    Warns
    -----
    sklearn.exceptions.InconsistentVersionWarning
        The file holds transformers of another version of scikit-learn.

    Examples
    --------
    >>> load("no_such_model.pellucid")
    Traceback (most recent call last):
    FileNotFoundError: [Errno 2] No such file or directory: 'no_such_model.pellucid'
    """
    with opened(path, check_key(key)) as (file, archive):
        manifest = read_manifest(archive)

        def read(name: str, layout: Layout) -> np.ndarray:
            return read_array(file, name, archive.places[name], layout, manifest["files"][name])

        model = build_model(manifest, archive.size, read)
    _warn_version(manifest)
    return model


def inspect(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Say what the model file at ``path`` holds, from its manifest alone.

    The seal is checked, so the manifest is as it was written. The result has ``format``,
    ``version``, ``library`` (versions), ``created`` if known, ``schema`` of the inputs, ``card``,
    ``object`` (the tree of class, params and state; an array is shown by its dtype and shape),
    ``classes``, ``files`` (SHA-256 and bytes of each array) and ``bytes``.

    Examples
    --------
    >>> import os, tempfile
    >>> import pellucid
    >>> from sklearn.preprocessing import MinMaxScaler
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "scaler.pellucid")
    ...     pellucid.save(MinMaxScaler().fit([[1.0, 2.0], [3.0, 5.0]]), path)
    ...     found = pellucid.persist.inspect(path)
    >>> found["classes"], found["schema"]["n_features_in_"], found["object"]["state"]["scale_"]
    (['sklearn.preprocessing.MinMaxScaler'], 2, {'dtype': '<f8', 'shape': (2,)})
    """
    with opened(path) as (_, archive):
        manifest = read_manifest(archive)
    sizes = {name: size for name, (_, size) in archive.places.items()}
    return {
        **manifest,
        "object": outline(manifest["object"]),
        "classes": sorted(set(class_names(manifest["object"]))),
        "files": {
            name: {"sha256": digest, "bytes": sizes[name]}
            for name, digest in manifest["files"].items()
        },
        "bytes": archive.size,
    }


@contextmanager
def opened(
    path: str | os.PathLike[str], key: bytes | None = None
) -> Iterator[tuple[BinaryIO, Archive]]:
    """The file and its verified archive, signed with ``key`` if that is given."""
    name = check_path(path)
    mode = os.stat(name).st_mode
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):  # a pipe would block, a device not end
        raise ModelFileError(f"{os.path.basename(name)} is not an ordinary file")
    with open(name, "rb") as file:
        yield file, read_archive(file, os.path.basename(name), key)


def outline(node: object) -> Any:
    """A node for reading: arrays as dtype and shape, plain containers as themselves."""
    if isinstance(node, list):
        return [outline(item) for item in node]
    if not isinstance(node, dict):
        return node
    if "class" in node:
        parts = {key: expect(node.get(key), dict) for key in ("params", "state")}
        inner = {
            key: {name: outline(item) for name, item in part.items()} for key, part in parts.items()
        }
        return {"class": node["class"], **inner}
    kind = node.get("is")
    if not isinstance(kind, str) or kind not in KINDS or node.keys() != {"is", *KINDS[kind][0]}:
        raise ModelFileError(f"the manifest holds a value of unknown kind {brief(kind)}")
    if kind == "array":
        layout = check_layout(node["dtype"], node["shape"], node["order"])
        return {"dtype": layout.dtype, "shape": layout.shape}
    if kind == "tuple":
        return tuple(outline(expect(node["items"], list)))
    if kind == "scalar":
        return outline(node["value"])
    if kind in ("float", "bytes", "dtype", "type", "slice", "range"):
        return Decoder(read=None).decode(node)
    return {key: value if key == "is" else outline(value) for key, value in node.items()}


def class_names(node: object) -> Iterator[str]:
    """Every class named in a tree."""
    if isinstance(node, list):
        for item in node:
            yield from class_names(item)
    elif isinstance(node, dict):
        if "class" in node:
            yield expect(node["class"], str)
        for item in node.values():
            yield from class_names(item)


def _warn_version(manifest: dict[str, Any]) -> None:
    """scikit-learn does not promise that its attributes stay the same between versions."""
    was = manifest["library"].get("scikit-learn", "unknown")
    foreign = [name for name in class_names(manifest["object"]) if name.startswith("sklearn.")]
    if foreign and was != sklearn.__version__:
        warn(
            InconsistentVersionWarning(
                estimator_name=foreign[0].rpartition(".")[2],
                current_sklearn_version=sklearn.__version__,
                original_sklearn_version=was,
            )
        )
