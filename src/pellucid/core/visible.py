r"""Text of strangers on a screen, in a page or in a table: characters that act instead of showing.

Terminal escapes (ESC, the C1 controls), line breaks that are none, and marks that turn the
direction of writing are written as ``\u001b``: readable by people, and still valid inside JSON.
"""

import re

ACTS = (  # inside a character class of any regular expression
    "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff"
    "\ufff9-\ufffb"
)
_SOME = re.compile(f"[{ACTS}\ud800-\udfff]")
_ALL = re.compile(f"[{ACTS}\ud800-\udfff\t\n\r]")


def visible(text: str, *, one_line: bool = False) -> str:
    r"""The text with every character that acts written out; ``one_line``: also tabs and breaks.

    >>> visible("red" + chr(27) + "[31m"), visible("naïve 数")
    ('red\\u001b[31m', 'naïve 数')
    """
    if text.isprintable():  # nearly always
        return text
    return (_ALL if one_line else _SOME).sub(lambda found: f"\\u{ord(found.group()):04x}", text)
