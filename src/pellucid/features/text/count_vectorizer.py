"""Bag of words: texts become counts of their terms.

X[d, t] is how often term t occurs in text d; the columns are the sorted vocabulary of the training
texts (``vocabulary.py``), and terms outside it are ignored later.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import DTypeLike

from pellucid.base import with_callbacks
from pellucid.core.arrays.typing import ArrayLike
from pellucid.core.loops.iterate import FitContext
from pellucid.core.records import Card
from pellucid.features.text.vocabulary import VocabularyModel


class CountVectorizer(VocabularyModel):
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

    def fit(self, raw_documents: Iterable[Any], y: ArrayLike | None = None) -> Self:
        """Learn the vocabulary of the texts."""
        self.fit_transform(raw_documents)
        return self

    @with_callbacks
    def fit_transform(self, raw_documents: Iterable[Any], y: ArrayLike | None = None) -> Any:
        """Learn the vocabulary of the texts and count their terms."""
        texts = self._documents(raw_documents)
        context = FitContext(self, X=texts)
        X = self._learn_counts(texts)
        context.end()
        return X

    def transform(self, raw_documents: Iterable[Any]) -> Any:
        """Counts of the vocabulary's terms in the texts."""
        return self._later_counts(raw_documents)

    def card(self) -> Card:
        """Representation, evaluation and optimisation of this fit, with its numbers."""
        fixed = "given" if self.fixed_vocabulary_ else "that of the training texts, sorted"
        return Card(
            f"a text is the counts of its {self._says()}: order is lost",
            f"nothing is minimised: the vocabulary is {fixed}",
            "one pass over the texts; terms outside the vocabulary are ignored later",
            {"terms": len(self.vocabulary_), "texts": getattr(self, "n_texts_", None)},
        )
