r"""Hashed bag of words: the column of a term is computed, not learned.

    j(t) = |h(t)| mod m,    s(t) = sign h(t),    X[d, j] = sum of s(t) over terms t with j(t) = j

h is a hash with values in -2^31 .. 2^31 - 1 (MurmurHash3). No vocabulary is kept, so a stream of
texts needs no second pass and no memory, and the columns have no names. Terms that share a column
add up with random signs: with s the inner product of two texts is that of their counts on average.

Cost: the texts are cut and numbered in one compiled pass (``terms.py``); each *distinct* term is
hashed once.

Reference: Weinberger, Dasgupta, Langford, Smola & Attenberg (2009), feature hashing.
"""

from collections.abc import Callable, Iterable
from typing import Any, Self

import numpy as np
from numpy.typing import DTypeLike
from scipy.sparse import csr_matrix

from pellucid.base import with_callbacks
from pellucid.compiled.counts.words import count_words, weigh_terms
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import Array, ArrayLike, IntArray, Matrix
from pellucid.core.loops.iterate import FitContext
from pellucid.core.records import Card
from pellucid.features.text.hash_kernels import murmur_words
from pellucid.features.text.terms import Terms
from pellucid.features.text.text_model import TextModel

MOST = np.iinfo(np.int32).max  # columns


def hash_terms(terms: list[Any]) -> IntArray:
    """The signed 32-bit hash of every term.

    >>> hash_terms(["red", "green"]).tolist()
    [-347068675, 489905694]
    """
    words = [encoded(term) for term in terms]
    letters = np.frombuffer(b"".join(words), np.uint8).copy()
    ends = np.cumsum(np.fromiter(map(len, words), np.int64, len(words)))
    hashes = np.empty(len(words), np.uint64)
    murmur_words(letters, ends, hashes)
    return hashes.astype(np.uint32).view(np.int32).astype(np.int64)


def encoded(term: Any) -> bytes:
    """The bytes of a term."""
    if isinstance(term, str):
        return term.encode("utf-8", "surrogatepass")
    if isinstance(term, bytes):
        return term
    got = f"{term!r} of type {type(term).__name__}"
    raise TypeError(f"feature names must be strings: the analyzer gave {got}")


def hashed_counts(found: Terms, n_features: int, alternate_sign: bool) -> Any:
    """X (texts, n_features) of signed counts, in compressed rows without duplicates."""
    ends, entries, counts = count_words(found.numbers, found.ends, len(found.terms))
    h = hash_terms(found.terms)
    value = counts.astype(np.float64)
    if alternate_sign:
        value *= np.where(h >= 0, 1.0, -1.0)[entries]
    columns = (np.abs(h) % n_features).astype(np.int32)[entries]
    X = csr_matrix((value, columns, ends), shape=(len(found.ends), n_features))
    X.sum_duplicates()
    return X


def unit_norm(X: Matrix, norm: str) -> Array:
    """The cells of a CSR matrix, its rows divided by their norm."""
    out = np.empty(len(X.data))
    indices, ends = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    weigh_terms(X.data, indices, ends, np.zeros(0), False, {"l1": 1, "l2": 2}[norm], out)
    return out


class HashingVectorizer(TextModel):
    r"""Texts to a sparse matrix of term counts whose columns are found by hashing.

    Parameters
    ----------
    input : {"content", "file", "filename"}, default="content"
        Texts themselves, objects with ``read``, or paths.
    encoding, decode_error : str, default="utf-8", "strict"
        How bytes become text.
    strip_accents : {None, "ascii", "unicode"} or callable
        Remove accents first.
    lowercase : bool, default=True
        Turn the texts into lower case first.
    preprocessor, tokenizer : callable or None
        Replace the stages before and at the cutting into tokens.
    stop_words : {None, "english"} or list
        Terms left out before n-grams are formed.
    token_pattern : str, default=r"(?u)\b\w\w+\b"
        What a token is: by default two or more word characters.
    ngram_range : tuple (low, high), default=(1, 1)
        Shortest and longest run of tokens that is a term.
    analyzer : {"word", "char", "char_wb"} or callable, default="word"
        Terms of words, of characters, of characters within words; or a function of a text.
    n_features : int, default=2**20
        Number of columns; fewer columns make more terms share one.
    binary : bool, default=False
        1 for present instead of the signed count.
    norm : {"l1", "l2", None}, default="l2"
        Scale every row to this norm 1.
    alternate_sign : bool, default=True
        Count a term by the sign of its hash, so that terms of one column cancel on average.
    dtype : type, default=np.float64
        Type of the cells.

    Examples
    --------
    >>> from pellucid import HashingVectorizer
    >>> model = HashingVectorizer(n_features=8, norm=None)
    >>> model.fit_transform(["red red green", "green blue"]).toarray()
    array([[ 0.,  0.,  0., -2.,  0.,  0.,  1.,  0.],
           [ 0.,  0.,  0.,  0.,  0., -1.,  1.,  0.]])
    """

    def __init__(
        self,
        *,
        input: str = "content",
        encoding: str = "utf-8",
        decode_error: str = "strict",
        strip_accents: str | Callable[[str], str] | None = None,
        lowercase: bool = True,
        preprocessor: Callable[[str], str] | None = None,
        tokenizer: Callable[[str], Any] | None = None,
        stop_words: str | Iterable[str] | None = None,
        token_pattern: str | None = r"(?u)\b\w\w+\b",
        ngram_range: tuple[int, int] = (1, 1),
        analyzer: str | Callable[[str], Any] = "word",
        n_features: int = 2**20,
        binary: bool = False,
        norm: str | None = "l2",
        alternate_sign: bool = True,
        dtype: DTypeLike = np.float64,
    ) -> None:
        self.input = input
        self.encoding = encoding
        self.decode_error = decode_error
        self.strip_accents = strip_accents
        self.lowercase = lowercase
        self.preprocessor = preprocessor
        self.tokenizer = tokenizer
        self.stop_words = stop_words
        self.token_pattern = token_pattern
        self.ngram_range = ngram_range
        self.analyzer = analyzer
        self.n_features = n_features
        self.binary = binary
        self.norm = norm
        self.alternate_sign = alternate_sign
        self.dtype = dtype

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.requires_fit = False
        return tags

    @with_callbacks
    def fit(self, X: Iterable[Any], y: ArrayLike | None = None) -> Self:
        """Check the parameters; nothing is learned."""
        self._check_parameters()
        self._warn_unused()
        if isinstance(X, str | bytes):
            self._documents(X)
        FitContext(self, X=X).end()
        return self

    def partial_fit(self, X: Iterable[Any], y: ArrayLike | None = None) -> Self:
        """Nothing is learned from a batch either."""
        return self.fit(X)

    def fit_transform(self, X: Iterable[Any], y: ArrayLike | None = None) -> Any:
        """Signed counts of the terms of the texts."""
        return self.fit(X).transform(X)

    def transform(self, X: Iterable[Any]) -> Any:
        """Signed counts of the terms of the texts."""
        self._check_parameters()
        terms = self._terms(self._documents(X))
        found = hashed_counts(terms, self.n_features, self.alternate_sign)
        if self.binary:
            found.data = np.ones(len(found.data))
        kind = np.dtype(self.dtype)
        if self.norm is not None:
            found.data = unit_norm(found, self.norm)
            kind = kind if kind.kind == "f" else np.dtype(np.float64)
        return found.astype(kind, copy=False)

    def _check_parameters(self) -> None:
        self._check_stages()
        check.whole(n_features=self.n_features)
        if self.n_features >= MOST:
            raise ValueError(f"n_features must be below {MOST}, got {self.n_features!r}")
        check.boolean(alternate_sign=self.alternate_sign)
        if self.norm is not None:
            check.one_of(("l1", "l2"), norm=self.norm)

    def card(self) -> Card:
        """Representation, evaluation and optimisation, with the numbers."""
        signs = "with the sign of its hash" if self.alternate_sign else "whatever its sign"
        return Card(
            f"a text is the counts of its {self._says()}, each in the column of its hash, {signs}",
            "nothing is minimised: terms that share a column cannot be told apart",
            "nothing is learnt from the training texts",
            {"columns": self.n_features},
        )
