"""What the symbols of a formula stand for on the screen: the rule of ``lab.js`` in Python."""

import re
import unicodedata

import numpy as np

SUBS, PLAIN_SUBS = "₀₁₂₃₄₅₆₇₈₉ᵢⱼₖₙ", "0123456789ijkn"
TOKEN = re.compile(
    r"(?P<space>\s+)|(?P<number>\d+(?:\.\d+)?(?:e[−+-]?\d+)?|½)"
    r"|(?P<word>[A-Za-z][A-Za-z’]+(?:-[A-Za-z]+)*)"
    rf"|(?P<letter>[A-Za-zα-ωΑ-Ωℓ∇ϕ][\u0302-\u0304]?)|(?P<sub>[{SUBS}]+)|(?P<prime>['′″]+)|(?P<other>.)"
)
OPERATORS = set("Σ∏Π∇∂")  # stand for no thing, unless a page says so
CLOSE = {"(": ")", "[": "]", "{": "}"}


def symbols_of(formula):
    """Every letter and word of a formula, what stands below it, its primes; numbers are none."""
    text = re.sub("[À-ɏ]", lambda found: unicodedata.normalize("NFD", found.group()), formula)
    tokens = [(found.lastgroup, found.group()) for found in TOKEN.finditer(text)]
    found, at = [], 0
    while at < len(tokens):
        kind, sign = tokens[at]
        at += 1
        if sign == "_":  # what stands below a symbol is none itself, unless it is in brackets
            at += tokens[at : at + 1] != [("other", "(")] and at < len(tokens)
        if kind in ("letter", "word") and not is_prose(tokens, at - 1):
            sub, far = below(tokens[at : at + 2])
            prime = tokens[at + far][1] if tokens[at + far : at + far + 1] else ""
            prime = prime.replace("'", "′") if set(prime) <= set("'′″") else ""
            found.append((unicodedata.normalize("NFC", sign), sub, prime))
    return found


def below(after):
    """The index at a symbol, in plain letters (that of x₁, x1 and x_1 is 1), and its tokens."""
    kinds = [kind for kind, _ in after]
    if kinds[:1] == ["sub"]:
        return "".join(PLAIN_SUBS[SUBS.index(sign)] for sign in after[0][1]), 1
    if kinds[:1] == ["number"]:
        return after[0][1], 1
    return (after[1][1], 2) if after[:1] == [("other", "_")] and len(after) > 1 else ("", 0)


def is_prose(tokens, at):
    """Whether a letter is the article "a", between words."""
    near = [tokens[k][0] for k in (at - 2, at + 2) if 0 <= k < len(tokens)]
    depth = sum((s in CLOSE) - (s in CLOSE.values()) for _, s in tokens[:at])
    spaced = tokens[at + 1 : at + 2] and tokens[at + 1][0] == "space"
    return tokens[at][1] == "a" and depth <= 0 and spaced and "word" in near


def panels_of(trace, frame):
    """The panels of a frame: those of the run, with this step's marks on top."""
    panels = {panel["name"]: panel for panel in trace.data.get("panels", [])}
    for now in frame.state.get("panels", []):
        old = panels.get(now["name"])
        both = old is not None and old["kind"] == now["kind"] == "plane"
        marks = [*old["marks"], *now["marks"]] if both else now.get("marks")
        panels[now["name"]] = {**now, "marks": marks}
    return list(panels.values())


def names_of(panel):
    """(kind, name) of whatever a panel draws under a name, as formulas may use it."""
    if panel["kind"] == "table":
        return [("column", name) for name in panel["columns"]]
    if panel["kind"] == "graph":
        nodes = [("node", str(node.get("label", "")).split("\n")[0]) for node in panel["nodes"]]
        return [*nodes, *(("edge", edge["name"]) for edge in panel["edges"] if "name" in edge)]
    marks = [m for m in panel["marks"] if m["mark"] != "text" and is_there(m)]
    return [(m["mark"], m["label"]) for m in marks if m.get("label")]


def is_there(mark):
    """Whether a mark has a place to be drawn at."""
    at = next((mark[key] for key in ("x", "x0", "y", "box") if mark.get(key) is not None), [])
    return bool(np.isfinite(np.asarray(np.ravel(at), float)).any())


def meant(symbol, sub, prime, things, told):
    """Names of what a symbol stands for; ``told`` is what the page says of its symbols."""
    lower = "".join(SUBS[PLAIN_SUBS.index(c)] for c in sub if c in PLAIN_SUBS)
    names = [symbol + prime, symbol + lower, symbol + sub, symbol]
    is_word = re.match("[A-Za-z]{2}", symbol)
    free = {label for kind, label in things if kind == "node" or not (is_word or kind == "column")}
    for name in names:
        if name in free:
            return {name}
    said = next((told[name] for name in names if name in told), [])
    every = {label for _, label in things}
    wanted = [said] if isinstance(said, str) else said
    return {found for label in wanted for found in every
            if found == label or (label not in every and found.startswith(label))}  # fmt: skip


def links(trace, frame, told):
    """(Symbol, index, primes) -> names of what it stands for in this frame."""
    things = [thing for panel in panels_of(trace, frame) for thing in names_of(panel)]
    return {symbol: meant(*symbol, things, told) for symbol in symbols_of(frame.formula)}
