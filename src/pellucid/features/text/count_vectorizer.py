"""Bag of words: texts become counts of their terms.

X[d, t] is how often term t occurs in text d; the columns are the sorted vocabulary of the training
texts, and terms outside it are ignored later. One pass numbers all words (``terms.py``), one
compiled pass counts them into compressed rows.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from numbers import Integral
from typing import Any, Self

import numpy as np
from numpy.typing import DTypeLike
from scipy.sparse import csr_matrix, issparse
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction import text as sklearn_text

from pellucid.base import Estimator, with_callbacks
from pellucid.compiled.counts.words import count_words
from pellucid.core.arrays import check
from pellucid.core.arrays.typing import ArrayLike, IntArray
from pellucid.core.loops.iterate import FitContext
from pellucid.core.records import Card
from pellucid.core.runtime.warn import warn
from pellucid.features.text import terms as cutting
from pellucid.features.text.terms import RUNS, Terms, number_tokens

ANALYZERS = ("word", "char", "char_wb")


class CountVectorizer(Estimator):
    r"""Texts to a sparse matrix of term counts.

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
    max_df, min_df : share (float) or number (int) of texts, default=1.0, 1
        Terms in more, or fewer, texts are left out.
    max_features : int or None
        Keep only the terms that occur most often.
    vocabulary : mapping, iterable or None
        The terms, fixed beforehand.
    binary : bool, default=False
        1 for present instead of the count.
    dtype : type, default=np.int64
        Type of the counts.

    Attributes
    ----------
    vocabulary_ : dict, term to column
    fixed_vocabulary_ : whether the vocabulary was given
    n_texts_ : texts seen in the fit

    Examples
    --------
    >>> from pellucid import CountVectorizer
    >>> model = CountVectorizer()
    >>> model.fit_transform(["red red green", "green blue"]).toarray()
    array([[0, 1, 2],
           [1, 1, 0]])
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
        stop_words: str | Iterable[str] | None = None,
        token_pattern: str | None = r"(?u)\b\w\w+\b",
        ngram_range: tuple[int, int] = (1, 1),
        analyzer: str | Callable[[str], Any] = "word",
        max_df: float = 1.0,
        min_df: float = 1,
        max_features: int | None = None,
        vocabulary: Mapping[str, int] | Iterable[str] | None = None,
        binary: bool = False,
        dtype: DTypeLike = np.int64,
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
        self.max_df = max_df
        self.min_df = min_df
        self.max_features = max_features
        self.vocabulary = vocabulary
        self.binary = binary
        self.dtype = dtype

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        return tags

    # --- stages ------------------------------------------------------------------------------

    def decode(self, doc: Any) -> str:
        """A text from what ``input`` says: itself, a file or a path; bytes are decoded."""
        if self.input == "filename":
            with open(doc, "rb") as file:
                doc = file.read()
        elif self.input == "file":
            doc = doc.read()
        if isinstance(doc, bytes):
            doc = doc.decode(self.encoding, self.decode_error)
        if not isinstance(doc, str):
            got = f"{doc!r} of type {type(doc).__name__}"
            hint = "np.nan is no text: fill missing texts first"
            raise ValueError(f"a text is needed, got {got}; {hint}")
        return doc

    def build_preprocessor(self) -> Callable[[str], str]:
        """The function from raw text to the text that is cut into tokens."""
        if self.preprocessor is not None:
            return self.preprocessor
        accents = sklearn_text.strip_accents_ascii, sklearn_text.strip_accents_unicode
        strips = {None: None, "ascii": accents[0], "unicode": accents[1]}
        strip = self.strip_accents if callable(self.strip_accents) else strips[self.strip_accents]
        if strip is None:
            return str.lower if self.lowercase else str
        return (lambda text: strip(text.lower())) if self.lowercase else strip

    def build_tokenizer(self) -> Callable[[str], Any]:
        """The function from text to its tokens."""
        return self.tokenizer or cutting.tokenizer(str(self.token_pattern))

    def get_stop_words(self) -> frozenset[str] | None:
        """The stop words in use."""
        if isinstance(self.stop_words, str):
            return sklearn_text.ENGLISH_STOP_WORDS
        return None if self.stop_words is None else frozenset(self.stop_words)

    def build_analyzer(self) -> Callable[[Any], list[str]]:
        """The function from one raw document to its list of terms."""
        return self._analyze

    def _analyze(self, doc: Any) -> list[str]:
        found = self._terms([doc])
        return [found.terms[i] for i in found.numbers]

    def _terms(self, texts: list[Any]) -> Terms:
        """Every term of every text, numbered."""
        if callable(self.analyzer):
            return number_tokens(self.analyzer(self.decode(text)) for text in texts)
        prepare = self.build_preprocessor()
        prepared = [prepare(self.decode(text)) for text in texts]
        if self.analyzer != "word":
            cut = cutting.character_grams if self.analyzer == "char" else cutting.padded_grams
            return cut(prepared, *self.ngram_range)
        if self.tokenizer is None and self.token_pattern in RUNS:
            found = cutting.scan(prepared, RUNS[str(self.token_pattern)])
        else:
            found = number_tokens(map(self.build_tokenizer(), prepared))
        stop = self.get_stop_words()
        found = cutting.drop(found, stop) if stop else found
        return cutting.grams(found, *self.ngram_range)

    # --- fit and transform -------------------------------------------------------------------

    def fit(self, raw_documents: Iterable[Any], y: ArrayLike | None = None) -> Self:
        """Learn the vocabulary of the texts."""
        self.fit_transform(raw_documents)
        return self

    @with_callbacks
    def fit_transform(self, raw_documents: Iterable[Any], y: ArrayLike | None = None) -> Any:
        """Learn the vocabulary of the texts and count their terms."""
        self._check_parameters()
        texts = self._documents(raw_documents)
        context = FitContext(self, X=texts)
        found = self._terms(texts)
        self.fixed_vocabulary_ = self.vocabulary is not None
        if self.vocabulary is not None:
            self.vocabulary_ = given_vocabulary(self.vocabulary)
            X = self._counts(found, self.vocabulary_)
        elif not found.terms:
            raise ValueError("the vocabulary is empty: the texts hold no term, or only stop words")
        else:
            self.vocabulary_, columns = self._choose(found)
            X = self._compressed(found, columns, len(self.vocabulary_))
        self.n_texts_ = len(texts)
        context.end()
        return X

    def transform(self, raw_documents: Iterable[Any]) -> Any:
        """Counts of the vocabulary's terms in the texts."""
        self._need_vocabulary()
        return self._counts(self._terms(self._documents(raw_documents)), self.vocabulary_)

    def _need_vocabulary(self) -> None:
        """A given vocabulary needs no fit."""
        if hasattr(self, "vocabulary_"):
            return
        if self.vocabulary is None:
            raise NotFittedError("Vocabulary not fitted or provided: call fit first")
        self._check_parameters()
        self.vocabulary_ = given_vocabulary(self.vocabulary)
        self.fixed_vocabulary_ = True

    def _choose(self, found: Terms) -> tuple[dict[str, int], IntArray]:
        """The sorted vocabulary after pruning, and the column of every distinct term (or -1)."""
        n, v = len(found.ends), len(found.terms)
        _, entries, counts = count_words(found.numbers, found.ends, v)
        texts = np.bincount(entries, minlength=v)
        limits = self.max_df, self.min_df
        most, least = (int(v) if isinstance(v, Integral) else v * n for v in limits)
        if most < least:
            few = f"{most:g} < {least:g} of {n}"
            raise ValueError(f"max_df corresponds to fewer texts than min_df: {few}")
        keep = (texts >= least) & (texts <= most)
        order = sorted(np.flatnonzero(keep).tolist(), key=found.terms.__getitem__)
        if self.max_features is not None and len(order) > self.max_features:
            total = np.bincount(entries, counts, minlength=v)
            often = np.argsort(-total[order], kind="stable")[: self.max_features]
            order = [order[i] for i in np.sort(often)]
        if not order:
            raise ValueError("no term is left after pruning: lower min_df or raise max_df")
        columns = np.full(v, -1, np.int64)
        columns[order] = np.arange(len(order))
        return {found.terms[i]: j for j, i in enumerate(order)}, columns

    def _counts(self, found: Terms, vocabulary: dict[str, int]) -> Any:
        places = (vocabulary.get(term, -1) for term in found.terms)
        columns = np.fromiter(places, np.int64, len(found.terms))
        return self._compressed(found, columns, len(vocabulary))

    def _compressed(self, found: Terms, columns: IntArray, width: int) -> Any:
        placed = columns[found.numbers] if len(columns) else found.numbers
        ends, entries, counts = count_words(placed, found.ends, width)
        if self.binary:
            counts = np.ones_like(counts)
        kind = np.int32 if max(width, len(entries)) < 2**31 else np.int64
        data = (counts.astype(self.dtype), entries.astype(kind), ends.astype(kind))
        X = csr_matrix(data, shape=(len(found.ends), width))
        X.sort_indices()
        return X

    def _documents(self, raw_documents: Iterable[Any]) -> list[Any]:
        if isinstance(raw_documents, str | bytes):
            got = "Iterable over raw text documents expected, string object received"
            raise ValueError(f"{got}: put the text into a list")
        return list(raw_documents)

    def _check_parameters(self) -> None:
        check.one_of(("content", "file", "filename"), input=self.input)
        check.one_of(("strict", "ignore", "replace"), decode_error=self.decode_error)
        if self.vocabulary is not None and isinstance(self.vocabulary, str):
            raise ValueError(f"vocabulary must be a mapping or terms, got {self.vocabulary!r}")
        check.boolean(lowercase=self.lowercase, binary=self.binary)
        if not callable(self.analyzer):
            check.one_of(ANALYZERS, analyzer=self.analyzer)
        if self.token_pattern is None and self.tokenizer is None and self.analyzer == "word":
            raise ValueError("token_pattern must be a pattern unless a tokenizer is given")
        if not callable(self.strip_accents) and self.strip_accents is not None:
            check.one_of(("ascii", "unicode"), strip_accents=self.strip_accents)
        if isinstance(self.stop_words, str):
            check.one_of(("english",), stop_words=self.stop_words)
        if self.stop_words is not None and self.analyzer != "word":
            warn(f"stop_words has no effect with analyzer={self.analyzer!r}: it leaves out words")
        if self.max_features is not None:
            check.whole(max_features=self.max_features)
        for name, limit in (("min_df", self.min_df), ("max_df", self.max_df)):
            if isinstance(limit, Integral):
                check.whole(at_least=0 if name == "min_df" else 1, **{name: limit})
            else:
                check.non_negative(**{name: limit})
                if limit > 1:
                    raise ValueError(f"{name} as a share must be at most 1, got {limit!r}")
        low, high = self.ngram_range
        if not 1 <= low <= high:
            need = "(low, high) with 1 <= low <= high"
            raise ValueError(f"ngram_range must be {need}, got {low, high}")

    # --- back ----------------------------------------------------------------------------------

    def inverse_transform(self, X: Any) -> list[Any]:
        """The terms with non-zero counts of each row."""
        names = self.get_feature_names_out()
        X = csr_matrix(X) if not issparse(X) else X.tocsr()
        rows = zip(X.indptr[:-1], X.indptr[1:], strict=True)
        return [names[np.sort(X.indices[a:b])] for a, b in rows]

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> Any:
        """The terms in the order of their columns."""
        self._need_vocabulary()
        names = np.empty(len(self.vocabulary_), dtype=object)
        for term, j in self.vocabulary_.items():
            names[j] = term
        return names

    def card(self) -> Card:
        """Representation, evaluation and optimisation of this fit, with its numbers."""
        low, high = self.ngram_range
        what = "words" if self.analyzer == "word" else "characters"
        runs = f"{what}" if high == 1 else f"runs of {low} to {high} {what}"
        fixed = "given" if self.fixed_vocabulary_ else "that of the training texts, sorted"
        return Card(
            f"a text is the counts of its {runs}: order is lost",
            f"nothing is minimised: the vocabulary is {fixed}",
            "one pass over the texts; terms outside the vocabulary are ignored later",
            {"terms": len(self.vocabulary_), "texts": getattr(self, "n_texts_", None)},
        )


def given_vocabulary(vocabulary: Mapping[str, int] | Iterable[str]) -> dict[str, int]:
    """Term to column from a mapping or an iterable of terms."""
    if isinstance(vocabulary, Mapping):
        columns = sorted(vocabulary.values())
        if columns != list(range(len(columns))):
            raise ValueError("the vocabulary must map terms to columns 0, 1, ..., each used once")
        found = {str(term): int(j) for term, j in vocabulary.items()}
    else:
        terms = sorted(vocabulary) if isinstance(vocabulary, set) else list(vocabulary)
        twice = [term for term, times in Counter(terms).items() if times > 1]
        if twice:
            raise ValueError(f"Duplicate term in vocabulary: {twice[0]!r}")
        found = {term: j for j, term in enumerate(terms)}
    if not found:
        raise ValueError("empty vocabulary passed to fit")
    return found
