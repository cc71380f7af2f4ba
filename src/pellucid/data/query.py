r"""Whether a text is one SQL query that can only read.

    one statement       nothing but blanks, comments and ``;`` after the first ``;``
    a query             its first word is SELECT, WITH or VALUES
    that writes nothing no INSERT, UPDATE, DELETE, MERGE, INTO, ... outside quotes and comments:
                        a WITH may hide one, and SELECT ... INTO makes a table

Dialects read a few texts differently: a backslash before a quote, a comment inside a comment, MySQL
comments that run, ``--`` without a blank (two signs there), ``#`` (its comment), a bare carriage
return (the end of a comment here and not there), brackets (a name or an array), ``1e0INTO``. Such a
text is refused where the readings could part, so what was looked at is what every database runs.
"""

import re

STARTS = ("SELECT", "WITH", "VALUES")
WRITES = ("INSERT", "UPDATE", "DELETE", "MERGE", "INTO", "DROP", "ALTER", "CREATE", "TRUNCATE")
# SQL Server begins a statement without a ';'.
ORDERS: tuple[str, ...] = ("EXEC", "EXECUTE", "CALL", "GRANT", "REVOKE", "DENY", "SHUTDOWN", "KILL")
ORDERS += ("BACKUP", "RESTORE", "DBCC", "RECONFIGURE", "WAITFOR", "WRITETEXT", "UPDATETEXT")
# Functions that run a text, a file of machine code or an address, or change what a SELECT alone
# would not.
RUNS: tuple[str, ...] = ("LOAD_EXTENSION", "FTS3_TOKENIZER", "WRITEFILE", "SYS_EXEC", "SYS_EVAL")
RUNS += ("DBLINK", "DBLINK_EXEC", "DBLINK_SEND_QUERY", "DBLINK_CONNECT", "DBLINK_OPEN")
RUNS += ("OPENQUERY", "OPENROWSET", "OPENDATASOURCE", "XP_CMDSHELL", "EXECUTABLE")
RUNS += ("POSTGRES_EXECUTE", "MYSQL_EXECUTE", "NEXTVAL", "SETVAL", "SET_CONFIG")
RUNS += ("QUERY_TO_XML", "QUERY_TO_XMLSCHEMA", "QUERY_TO_XML_AND_XMLSCHEMA")
RUNS += ("LO_IMPORT", "LO_EXPORT", "LO_CREAT", "LO_CREATE", "LO_FROM_BYTEA", "LO_PUT", "LO_UNLINK")
RUNS += ("LOWRITE", "LO_TRUNCATE", "LO_TRUNCATE64", "PG_FILE_WRITE", "PG_FILE_UNLINK")
RUNS += ("PG_FILE_RENAME", "PG_TERMINATE_BACKEND", "PG_CANCEL_BACKEND", "PG_RELOAD_CONF")
ESCAPES = ("UESCAPE",)  # U&"lo!005fimport" UESCAPE '!' is a name of PostgreSQL that nobody sees
REFUSED = (*WRITES, *ORDERS, *RUNS, *ESCAPES)
TOKEN = re.compile(
    r"""
      (?P<blank>\s+)
    | (?P<line>--[^\r\n]*)
    | (?P<comment>/\*.*?\*/)
    | (?P<quoted>'(?:[^']|'')*' | "(?:[^"]|"")*" | `(?:[^`]|``)*` | \[[^\]]*\])
    | (?P<dollar>\$(?:[^\W\d]\w*)?\$)
    | (?P<number>\d[\w$.]*)
    | (?P<word>[^\W\d][\w$]*)
    | (?P<open>['"`] | /\*)
    | (?P<other>.)
    """,
    re.VERBOSE | re.DOTALL,
)
# What stands between brackets or backticks is a name here and code there: it ends at the same place
# if the quotes in it are whole and no comment begins.
WHOLE = re.compile(
    r"""(?:[^'"`$\\/-] | '[^']*' | "[^"]*" | \$(?!\w*\$) | -(?!-) | /(?!\*))*""", re.X
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
    if any("\ud800" <= sign <= "\udfff" for sign in sql):
        raise ValueError("sql must be text: half of a pair of signs (a surrogate) stands in it")
    words, ended, hashed = [], False, -1
    for token in TOKEN.finditer(sql):
        kind, text = token.lastgroup, token.group()
        _refuse_ambiguous(kind, text)
        if hashed >= 0 and "\n" in sql[hashed : token.end()]:
            if kind != "blank":
                raise ValueError("sql must not go on in another line with what began after a #")
            hashed = -1
        if kind in ("blank", "line", "comment"):
            continue
        if ended and text != ";":
            raise ValueError(f"sql must be one query, got something after the ';': {text[:40]!r}")
        ended = ended or text == ";"
        if text == "#":
            hashed = token.start()
        if kind == "word":
            words.append(text.upper())
        elif kind == "number":  # some databases read 1e0INTO as two words
            words += [word for word in REFUSED if word in text.upper()]
        elif not words and text not in "(;":
            break
    first = words[0] if words else repr(sql.strip()[:40])
    if first not in STARTS:
        raise ValueError(
            f"sql must be one query that begins with SELECT, WITH or VALUES, got {first}"
        )
    for word in words:
        if word in REFUSED:
            raise ValueError(f"sql must only read, got {word}; quote it where it names a column")


def _refuse_ambiguous(kind: str | None, text: str) -> None:
    """Refuse what databases read in different ways."""
    if kind == "open":
        raise ValueError(f"sql has a quote or comment that does not end: {text}")
    if kind == "dollar":
        raise ValueError(f"sql must not quote with {text}; use single quotes")
    if kind == "quoted" and "\\" in text and text[0] in "'\"":
        raise ValueError("sql must not hold a backslash in quotes: databases read it differently")
    if kind == "quoted" and text[0] in "[`" and not WHOLE.fullmatch(text[1:-1]):
        raise ValueError(
            f"sql must not hold half a quote or a comment between {text[0]} and its end"
        )
    if kind == "quoted" and text[0] != "'" and text[1:-1].upper() in RUNS:
        raise ValueError(f"sql must only read, got {text}")
    if kind == "comment" and (text.startswith(("/*!", "/*M!")) or "/*" in text[2:]):
        raise ValueError("sql must not hold a comment that some databases run or nest")
    if kind == "line" and not text[2:3].isspace() and text != "--":
        raise ValueError("sql must have a blank after --: some databases read two signs without it")
    if kind == "blank" and re.search(r"\r(?!\n)", text):
        raise ValueError("sql must not end a line with a bare carriage return")
