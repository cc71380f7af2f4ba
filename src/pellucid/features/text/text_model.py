"""From raw texts to terms: what every vectoriser of texts shares.

A leaf says what becomes of the terms: columns of a vocabulary (``vocabulary.py``), or columns by
hashing (``hashing_vectorizer.py``). The cutting itself is in ``terms.py``.
"""

import math
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import narwhals.stable.v1 as nw
from sklearn.feature_extraction import text as sklearn_text

from pellucid.base import Estimator
from pellucid.core.arrays import check
from pellucid.core.arrays.frames import is_frame
from pellucid.core.runtime.warn import warn
from pellucid.features.text import terms as cutting
from pellucid.features.text.terms import RUNS, Terms, number_tokens

WORDS = r"(?u)\b\w\w+\b"  # the default pattern
ANALYZERS = ("word", "char", "char_wb")


def frame_texts(frame: Any) -> list[Any]:
    """The texts of a frame of one column; its names alone would be its texts otherwise.

    >>> import polars
    >>> frame_texts(polars.DataFrame({"review": ["good", "bad"]}))
    ['good', 'bad']
    """
    table = nw.from_native(frame, eager_only=True)
    if table.shape[1] != 1:
        got = f"got a frame of {table.shape[1]} columns"
        raise ValueError(f"texts come from one column, {got}: give that column alone")
    found: list[Any] = next(iter(table.iter_columns())).to_list()
    return found


class TextModel(Estimator):
    """Base of the vectorisers: decoding, cutting into terms, and the checks of both."""

    input: str
    encoding: str
    decode_error: str
    strip_accents: str | Callable[[str], str] | None
    lowercase: bool
    preprocessor: Callable[[str], str] | None
    tokenizer: Callable[[str], Any] | None
    stop_words: str | Iterable[str] | None
    token_pattern: str | None
    ngram_range: tuple[int, int]
    analyzer: str | Callable[[str], Any]
    binary: bool
    transform: Callable[..., Any]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        return tags

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
            if isinstance(doc, float) and math.isnan(doc):
                need = "expected byte or unicode string. Fill missing texts first"
                raise ValueError(f"np.nan is an invalid document, {need}")
            raise ValueError(f"a text is needed, got {doc!r} of type {type(doc).__name__}")
        return doc

    def build_preprocessor(self) -> Callable[[str], str]:
        """The function from raw text to the text that is cut into tokens."""
        if self.preprocessor is not None:
            return self.preprocessor
        self._check_words()
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
        self._check_words()
        if isinstance(self.stop_words, str):
            return sklearn_text.ENGLISH_STOP_WORDS
        return None if self.stop_words is None else frozenset(self.stop_words)

    def build_analyzer(self) -> Callable[[Any], list[str]]:
        """The function from one raw document to its list of terms."""
        self._check_stages()
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
        runs = self.tokenizer is None and self.token_pattern in RUNS
        if runs:
            found = cutting.scan(prepared, RUNS[str(self.token_pattern)])
        else:
            found = number_tokens(map(self.build_tokenizer(), prepared))
        stop = self.get_stop_words()
        found = cutting.drop(found, stop) if stop else found
        found = cutting.grams(found, *self.ngram_range)
        return found if runs else cutting.distinct(found)

    def _documents(self, raw_documents: Any) -> list[Any]:
        if isinstance(raw_documents, str | bytes):
            got = "Iterable over raw text documents expected, string object received"
            raise ValueError(f"{got}: put the text into a list")
        return frame_texts(raw_documents) if is_frame(raw_documents) else list(raw_documents)

    def transform_blocks(self, blocks: Any) -> Iterator[Any]:
        """Yield each block of one column of texts transformed, in turn."""
        for X, _ in blocks:
            yield self.transform(X)

    def _check_stages(self) -> None:
        """Refuse bad parameters of the cutting."""
        check.one_of(("content", "file", "filename"), input=self.input)
        check.one_of(("strict", "ignore", "replace"), decode_error=self.decode_error)
        check.boolean(lowercase=self.lowercase, binary=self.binary)
        if not callable(self.analyzer):
            check.one_of(ANALYZERS, analyzer=self.analyzer)
        if self.token_pattern is None and self.tokenizer is None and self.analyzer == "word":
            raise ValueError("token_pattern must be a pattern unless a tokenizer is given")
        self._check_words()
        low, high = self.ngram_range
        if not 1 <= low <= high:
            given = f"Invalid value for ngram_range={low, high}"
            if 1 <= high < low:
                raise ValueError(f"{given} lower boundary larger than the upper boundary.")
            raise ValueError(f"{given}: it must be (low, high) with 1 <= low <= high")

    def _check_words(self) -> None:
        if not callable(self.strip_accents) and self.strip_accents is not None:
            check.one_of(("ascii", "unicode"), strip_accents=self.strip_accents)
        if isinstance(self.stop_words, str):
            check.one_of(("english",), stop_words=self.stop_words)

    def _warn_unused(self) -> None:
        """Name the parameters that another one leaves without effect."""
        given = "token_pattern" if self.token_pattern not in (None, WORDS) else None
        if callable(self.analyzer):
            reason = "'analyzer' is callable"
            runs = "ngram_range" if tuple(self.ngram_range) != (1, 1) else None
            idle = [runs, "preprocessor" if self.preprocessor is not None else None]
        elif self.analyzer != "word":
            reason, idle = "'analyzer' != 'word'", [given]
        else:
            reason, idle = "'tokenizer' is not None", [given if self.tokenizer else None]
        if self.analyzer != "word":
            idle += [n for n in ("stop_words", "tokenizer") if getattr(self, n) is not None]
        for name in filter(None, idle):
            warn(f"The parameter {name!r} will not be used since {reason}")

    def _says(self) -> str:
        """What a term is, for the card."""
        low, high = self.ngram_range
        what = "words" if self.analyzer == "word" else "characters"
        return what if high == 1 else f"runs of {low} to {high} {what}"
