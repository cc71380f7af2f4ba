"""Write a model file."""

import hashlib
import os
import zlib
from datetime import UTC, datetime
from typing import Any, NamedTuple

import numpy as np
import sklearn
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

import pellucid
from pellucid.core.arrays import check
from pellucid.core.runtime.atomic import replacing
from pellucid.persist.container import Archive, Member, seal_comment, signature, skeleton
from pellucid.persist.encode import Encoder
from pellucid.persist.format import (
    FORMAT,
    MANIFEST,
    MAX_MANIFEST,
    SEAL_LENGTH,
    SIGNATURE_LENGTH,
    VERSION,
    ModelFileError,
    array_name,
    check_depth,
    dump_json,
)
from pellucid.persist.leaves import full_name, text
from pellucid.persist.manifest import build_model, read_manifest
from pellucid.persist.npy import (
    Layout,
    array_digest,
    check_values,
    flat_bytes,
    header,
    layout_of,
)

KEY_BYTES = 16  # fewer can be guessed


def save(
    model: BaseEstimator,
    path: str | os.PathLike[str],
    *,
    slim: bool = False,
    key: bytes | None = None,
) -> None:
    """Write a model to a file that ``load`` reads back with bit-equal predictions.

    The same model gives the same bytes. An old file under this name stays whole until the new one
    is complete. A place that cannot be written raises an ``OSError`` of the usual kind.

    Parameters
    ----------
    model : estimator
        Any estimator of Pellucid, fitted or not, also inside a ``Pipeline``, ``FeatureUnion`` or
        ``ColumnTransformer`` with the usual transformers of scikit-learn.
    path : str or path
        The usual ending is ``.pellucid``.
    slim : bool, default=False
        Leave out ``history_`` and what the class names in ``_training_state``: per-row results
        of the fit that prediction does not need.
    key : bytes, default=None
        Sign the file with this secret (HMAC-SHA256); ``load`` with the same key then knows that
        the file was written by someone who has it. At least 16 bytes.

    Raises
    ------
    ModelFileError
        The model holds something that is not data (functions are named), foreign classes, or
        what ``load`` would refuse.

    Examples
    --------
    >>> import os, tempfile
    >>> import pellucid
    >>> from sklearn.preprocessing import StandardScaler
    >>> scaler = StandardScaler().fit([[1.0], [3.0]])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "scaler.pellucid")
    ...     pellucid.save(scaler, path)
    ...     pellucid.load(path).transform([[5.0]])
    array([[3.]])
    """
    check.boolean(slim=slim)
    target, key = check_path(path), check_key(key)
    pack = pack_model(model, slim=bool(slim))
    bones = skeleton(pack.members, SEAL_LENGTH + (0 if key is None else SIGNATURE_LENGTH))
    seal = hashlib.sha256()
    with replacing(target) as file:
        for bone, data, outside in zip(bones.headers, pack.data, pack.sealed, strict=True):
            seal.update(bone)
            file.write(bone)
            for part in data:
                file.write(part)
                if outside:
                    seal.update(part)
        seal.update(bones.tail)
        comment = seal_comment(seal.hexdigest())
        file.write(bones.tail + comment + (b"" if key is None else signature(comment, key)))


def check_path(path: Any) -> str:
    """A file name as text."""
    try:
        name = os.fspath(path)
    except TypeError as error:
        raise TypeError(f"path must be text or a path, got {type(path).__name__}") from error
    if not isinstance(name, str):
        raise TypeError(f"path must be text or a path, got {type(name).__name__}")
    if not name or "\0" in name:
        raise ValueError(f"path must name a file, got {name!r}")
    return name


def check_key(key: Any) -> bytes | None:
    """A key to sign with, or None."""
    if key is not None and not isinstance(key, bytes):
        raise TypeError(f"key must be bytes or None, got {type(key).__name__}")
    if key is not None and len(key) < KEY_BYTES:
        raise ValueError(f"key must have at least {KEY_BYTES} bytes, got {len(key)}")
    return key


class Pack(NamedTuple):
    """Everything a file will hold, in memory; array data is not copied."""

    members: list[Member]
    data: list[list[Any]]  # the bytes of each member, in parts
    sealed: list[bool]  # whether the seal covers them; arrays have their own SHA-256


def pack_model(model: BaseEstimator, *, slim: bool) -> Pack:
    """Encode a model and lay out its file."""
    encoder = Encoder(slim=slim)
    name = type(model).__name__
    tree = encoder.encode(model, name)
    if encoder.functions:
        raise ModelFileError(
            f"cannot save {name}: a model file holds data only, and these are functions: "
            + ", ".join(encoder.functions)
        )
    if not isinstance(tree, dict) or "class" not in tree:
        raise ModelFileError(f"save needs an estimator, got a {full_name(type(model))}")
    layouts = [layout_of(array) for array in encoder.arrays]
    parts = [
        [header(layout), flat_bytes(array, layout.order)]
        for array, layout in zip(encoder.arrays, layouts, strict=True)
    ]
    names = [array_name(i) for i in range(len(parts))]
    files = {name: array_digest(part) for name, part in zip(names, parts, strict=True)}
    manifest = manifest_bytes(model, tree, files)
    data: list[list[Any]] = [[manifest], *parts]
    members = [
        Member(name, _crc(part), sum(len(piece) for piece in part))
        for name, part in zip([MANIFEST, *names], data, strict=True)
    ]
    places = {member.name: (0, member.size) for member in members[1:]}
    size = sum(member.size for member in members)
    arrays = dict(zip(names, encoder.arrays, strict=True))
    check_loads(name, Archive(manifest, places, size), arrays)
    return Pack(members, data, [True] + [False] * len(parts))


def check_loads(name: str, archive: Archive, arrays: dict[str, np.ndarray]) -> None:
    """Refuse what ``load`` would refuse: build the model from what is to be written."""

    def read(name: str, layout: Layout) -> np.ndarray:
        found = np.asarray(arrays[name], order=layout.order)  # type: ignore[call-overload]
        check_values(found, name)
        return found if found.flags.writeable else found.copy(layout.order)  # as from a file

    try:
        build_model(read_manifest(archive), archive.size, read)
    except ModelFileError as error:
        raise ModelFileError(f"cannot save {name}, no file may hold it: {error}") from error


def manifest_bytes(model: BaseEstimator, tree: object, files: dict[str, str]) -> bytes:
    manifest = {
        "format": FORMAT,
        "version": VERSION,
        "library": {
            "pellucid": pellucid.__version__,
            "numpy": np.__version__,
            "scikit-learn": sklearn.__version__,
        },
        **created(),
        "schema": input_schema(model),
        "card": card_of(model),
        "object": tree,
        "files": files,
    }
    check_depth(manifest)
    raw = dump_json(manifest)
    if len(raw) > MAX_MANIFEST:
        raise ModelFileError(
            f"the model needs a manifest of {len(raw)} bytes, more than 64 MB; keep large lists "
            "as arrays, or save with slim=True"
        )
    return raw


def created() -> dict[str, str]:
    """The time, if the environment fixes one: saving twice gives the same bytes."""
    stamp = os.environ.get("SOURCE_DATE_EPOCH")
    if stamp is None:
        return {}
    try:
        moment = datetime.fromtimestamp(int(stamp), UTC)
    except (ValueError, OverflowError, OSError) as error:
        raise ModelFileError(
            f"SOURCE_DATE_EPOCH must be a number of seconds, got {stamp!r}"
        ) from error
    return {"created": moment.strftime("%Y-%m-%dT%H:%M:%SZ")}


def input_schema(model: BaseEstimator) -> dict[str, Any]:
    """What the model expects of its inputs, as far as it knows."""
    n, names = _known(model, "n_features_in_"), _known(model, "feature_names_in_")
    return {
        "n_features_in_": None if n is None else int(n),
        "feature_names_in_": None
        if names is None
        else [text(str(name), "feature_names_in_") for name in names],
    }


def _known(model: BaseEstimator, name: str) -> Any:
    try:
        return getattr(model, name)
    except (AttributeError, IndexError):  # not fitted; IndexError from a pipeline without steps
        return None


def card_of(model: BaseEstimator) -> dict[str, Any] | None:
    """The card of a fitted model; that of its last step for a pipeline."""
    last = model.steps[-1][1] if isinstance(model, Pipeline) and model.steps else model
    if not (hasattr(last, "card") and hasattr(last, "fit")):
        return None
    try:
        check_is_fitted(last)
        return last.card().to_dict()
    except NotFittedError:  # a process answers before its fit, but has no card
        return None
    except AttributeError as error:
        if error.name not in ("history_", *getattr(type(last), "_training_state", ())):
            raise
        return None  # a slim copy cannot tell how it was fitted


def _crc(parts: list[Any]) -> int:
    crc = 0
    for part in parts:
        crc = zlib.crc32(part, crc)
    return crc
