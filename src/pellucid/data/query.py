r"""Whether a text is one SQL query that can only read.

    one statement       nothing but blanks, comments and ``;`` after the first ``;``
    a query             its first word is SELECT, WITH or VALUES
    that writes nothing no INSERT, UPDATE, DELETE, MERGE, INTO, ... outside quotes and comments:
                        a WITH may hide one, and SELECT ... INTO makes a table

Dialects read a few texts differently (a backslash before a quote, a comment inside a comment, MySQL
comments that run). Such a text is refused, so what was looked at is what every database runs.
"""

import re

STARTS = ("SELECT", "WITH", "VALUES")
WRITES = ("INSERT", "UPDATE", "DELETE", "MERGE", "INTO", "DROP", "ALTER", "CREATE", "TRUNCATE")
TOKEN = re.compile(
    r"""
      (?P<blank>\s+ | --[^\r\n]*)
    | (?P<comment>/\*.*?\*/)
    | (?P<quoted>'(?:[^']|'')*' | "(?:[^"]|"")*" | `(?:[^`]|``)*` | \[[^\]]*\])
    | (?P<dollar>\$(?:[^\W\d]\w*)?\$)
    | (?P<word>[^\W\d][\w$]*)
    | (?P<open>['"`] | /\*)
    | (?P<other>.)
    """,
    re.VERBOSE | re.DOTALL,
)


def check_one_query(sql: object) -> None:
    """Raise ValueError unless ``sql`` is one query that changes nothing.

    >>> check_one_query("SELECT a FROM t; -- all of it")
    >>> check_one_query("DROP TABLE t")
    Traceback (most recent call last):
    ValueError: sql must be one query that begins with SELECT, WITH or VALUES, got DROP
    """
    if not isinstance(sql, str) or not sql.strip():
        raise ValueError(f"sql must be the text of a query, got {sql!r}")
    words, ended = [], False
    for token in TOKEN.finditer(sql):
        kind, text = token.lastgroup, token.group()
        _refuse_ambiguous(kind, text)
        if kind in ("blank", "comment"):
            continue
        if ended and text != ";":
            raise ValueError(f"sql must be one query, got something after the ';': {text[:40]!r}")
        ended = ended or text == ";"
        if kind == "word":
            words.append(text.upper())
        elif not words and text not in "(;":
            break
    first = words[0] if words else repr(sql.strip()[:40])
    if first not in STARTS:
        raise ValueError(
            f"sql must be one query that begins with SELECT, WITH or VALUES, got {first}"
        )
    for word in words:
        if word in WRITES:
            raise ValueError(f"sql must only read, got {word}; quote it where it names a column")


def _refuse_ambiguous(kind: str | None, text: str) -> None:
    """Refuse what databases read in different ways."""
    if kind == "open":
        raise ValueError(f"sql has a quote or comment that does not end: {text}")
    if kind == "dollar":
        raise ValueError(f"sql must not quote with {text}; use single quotes")
    if kind == "quoted" and "\\" in text and text[0] in "'\"":
        raise ValueError("sql must not hold a backslash in quotes: databases read it differently")
    if kind == "comment" and (text.startswith(("/*!", "/*M!")) or "/*" in text[2:]):
        raise ValueError("sql must not hold a comment that some databases run or nest")
