"""Texts to tf-idf weights: ``CountVectorizer`` and ``TfidfTransformer`` in one.

The vocabulary and the counts are those of ``vocabulary.py``, the weights those of ``tfidf.py``.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import DTypeLike
from sklearn.exceptions import NotFittedError

from pellucid.base import with_callbacks
from pellucid.core.arrays.typing import Array, ArrayLike, Matrix
from pellucid.core.loops.iterate import FitContext
from pellucid.core.records import Card
from pellucid.core.runtime.warn import warn
from pellucid.features.text.tfidf import TermCounts, TfidfTransformer
from pellucid.features.text.vocabulary import Occurrences, VocabularyModel


class TfidfVectorizer(VocabularyModel):
    r"""Texts to a sparse matrix of weights: counts of terms times how rare a term is.

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
    analyzer : {"word", "char", "char_wb"} or callable, default="word"
        Terms of words, of characters, of characters within words; or a function of a text.
    stop_words : {None, "english"} or list
        Terms left out before n-grams are formed.
    token_pattern : str, default=r"(?u)\b\w\w+\b"
        What a token is: by default two or more word characters.
    ngram_range : tuple (low, high), default=(1, 1)
        Shortest and longest run of tokens that is a term.
    max_df, min_df : share (float) or number (int) of texts, default=1.0, 1
        Terms in more, or fewer, texts are left out.
    max_features : int or None
        Keep only the terms that occur most often.
    vocabulary : mapping, iterable or None
        The terms, fixed beforehand.
    binary : bool, default=False
        1 for present instead of the count, before weighing.
    dtype : type, default=np.float64
        Type of the weights.
    norm : {"l1", "l2", None}, default="l2"
        Scale every row to this norm 1.
    use_idf : bool, default=True
        Multiply by the inverse document frequency.
    smooth_idf : bool, default=True
        Count one more text that has every term, so that none is divided by zero.
    sublinear_tf : bool, default=False
        1 + ln(count) instead of the count.

    Attributes
    ----------
    vocabulary_ : dict, term to column
    fixed_vocabulary_ : whether the vocabulary was given
    idf_ : (n_terms,) inverse document frequencies
    n_texts_ : texts seen in the fit

    Examples
    --------
    >>> from pellucid import TfidfVectorizer
    >>> model = TfidfVectorizer()
    >>> model.fit_transform(["red red green", "green blue"]).toarray().round(3)
    array([[0.   , 0.335, 0.942],
           [0.815, 0.58 , 0.   ]])
    >>> model.get_feature_names_out()
    array(['blue', 'green', 'red'], dtype=object)
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
        analyzer: str | Callable[[str], Any] = "word",
        stop_words: str | Iterable[str] | None = None,
        token_pattern: str | None = r"(?u)\b\w\w+\b",
        ngram_range: tuple[int, int] = (1, 1),
        max_df: float = 1.0,
        min_df: float = 1,
        max_features: int | None = None,
        vocabulary: Mapping[str, int] | Iterable[str] | None = None,
        binary: bool = False,
        dtype: DTypeLike = np.float64,
        norm: str | None = "l2",
        use_idf: bool = True,
        smooth_idf: bool = True,
        sublinear_tf: bool = False,
    ) -> None:
        self.input = input
        self.encoding = encoding
        self.decode_error = decode_error
        self.strip_accents = strip_accents
        self.lowercase = lowercase
        self.preprocessor = preprocessor
        self.tokenizer = tokenizer
        self.analyzer = analyzer
        self.stop_words = stop_words
        self.token_pattern = token_pattern
        self.ngram_range = ngram_range
        self.max_df = max_df
        self.min_df = min_df
        self.max_features = max_features
        self.vocabulary = vocabulary
        self.binary = binary
        self.dtype = dtype
        self.norm = norm
        self.use_idf = use_idf
        self.smooth_idf = smooth_idf
        self.sublinear_tf = sublinear_tf

    def fit(self, raw_documents: Iterable[Any], y: ArrayLike | None = None) -> Self:
        """Learn the vocabulary of the texts and how rare each term is."""
        self.fit_transform(raw_documents)
        return self

    @with_callbacks
    def fit_transform(self, raw_documents: Iterable[Any], y: ArrayLike | None = None) -> Any:
        """Learn the vocabulary and the rarity of its terms, and weigh the texts."""
        texts = self._documents(raw_documents)
        context = FitContext(self, X=texts)
        weigher = self._weigher()
        self._warn_of_type()
        X = weigher.fit_transform(self._learn_counts(texts))
        self._tfidf = weigher
        context.end()
        return self._typed(X)

    def transform(self, raw_documents: Iterable[Any]) -> Any:
        """Weights of the vocabulary's terms in the texts."""
        if not hasattr(self, "_tfidf"):
            raise NotFittedError("The TF-IDF vectorizer is not fitted: call fit first")
        return self._typed(self._tfidf.transform(self._later_counts(raw_documents)))

    def _keep_occurrences(self, found: Occurrences) -> None:
        """The weights of the vocabulary's terms, from blocks."""
        self._warn_of_type()
        weigher = self._weigher()
        weigher._check_parameters()
        with_term = [found.terms.get(term, (0, 0))[0] for term in self.vocabulary_]
        places = np.empty(len(with_term), np.int64)
        places[list(self.vocabulary_.values())] = with_term
        weigher.n_features_in_ = len(places)
        weigher._keep(TermCounts(found.texts, places))
        self._tfidf = weigher

    def _warn_of_type(self) -> None:
        kind = np.dtype(self.dtype)
        if kind.kind != "f":
            warn(f"Only float types of 'dtype' should be used: {kind} gives np.float64")

    def _weigher(self) -> TfidfTransformer:
        weights = {"smooth_idf": self.smooth_idf, "sublinear_tf": self.sublinear_tf}
        return TfidfTransformer(norm=self.norm, use_idf=self.use_idf, **weights)

    def _typed(self, X: Matrix) -> Any:
        kind = np.dtype(self.dtype)
        return X.astype(kind if kind.kind == "f" else np.float64, copy=False)

    @property
    def idf_(self) -> Array:
        """Inverse document frequencies, (n_terms,); they can be set, to weigh by others."""
        if not hasattr(self, "_tfidf"):
            name = type(self).__name__
            raise NotFittedError(f"{name} is not fitted yet: call fit before using idf_")
        return self._tfidf.idf_

    @idf_.setter
    def idf_(self, value: ArrayLike) -> None:
        if not self.use_idf:
            raise ValueError("idf_ cannot be set when use_idf=False")
        idf = np.asarray(value, dtype=np.float64)
        if hasattr(self, "vocabulary_") or self.vocabulary is not None:
            self._need_vocabulary()
            size = len(self.vocabulary_)
            if idf.shape != (size,):
                found = len(idf) if idf.ndim else 0
                raise ValueError(f"idf length = {found} must be equal to vocabulary size = {size}")
        weigher = getattr(self, "_tfidf", None) or self._weigher()
        weigher.idf_, weigher.n_features_in_ = idf, len(idf)
        self._tfidf = weigher

    def _check_state(self) -> None:
        if hasattr(self, "_tfidf") and self._tfidf.n_features_in_ != len(self.vocabulary_):
            n, size = self._tfidf.n_features_in_, len(self.vocabulary_)
            raise ValueError(f"{n} weights do not belong to {size} terms")

    def card(self) -> Card:
        """Representation, evaluation and optimisation of this fit, with its numbers."""
        smooth = "ln((1 + n)/(1 + n_t)) + 1" if self.smooth_idf else "ln(n/n_t) + 1"
        weight = f"count times {smooth}" if self.use_idf else "the count"
        fixed = "given" if self.fixed_vocabulary_ else "that of the training texts, sorted"
        return Card(
            f"a text is the weights of its {self._says()}, {weight}; rows have "
            f"{self.norm or 'no'} norm 1",
            f"nothing is minimised: rare terms tell more; the vocabulary is {fixed}",
            "one pass over the texts, one over the counts",
            {"terms": len(self.vocabulary_), "texts": getattr(self, "n_texts_", None)},
        )
