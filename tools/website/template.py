"""The page of an algorithm: its sections in the order of one template.

By hand, in ``docs/algorithms``: what it is for with its picture, the idea, the mathematics,
choosing, pitfalls, and whatever else the method needs. Made here from what the repository knows:
the lab's page, the textbook's source, a call with its card, what was measured, how sure it is,
exercises, where it is taught, references.
"""

from __future__ import annotations

import re

from tools.website import blocks, chapters, evidence, labs, machine, names, textbook, topics

BOOK_LINE = re.compile(r"^In the textbook: .*$", re.MULTILINE)
BY_HAND = ("The idea", "The mathematics", "Choosing", "Pitfalls")
ORDER = (
    *("Try it", "The idea", "The mathematics", "The method", "The machine", "", "Choosing"),
    *("Pitfalls", "How sure", "Exercises", "Where it is taught", "References"),
)  # "" stands for the sections that are the method's own


def sections(text: str) -> tuple[str, dict[str, str]]:
    """What stands before the first section, and title -> section without its title.

    >>> sections("# A\\n\\nfor b\\n\\n## Cost\\n\\nlittle\\n")
    ('# A\\n\\nfor b\\n\\n', {'Cost': '\\nlittle\\n'})
    """
    marked = blocks.outside_fences(text, lambda part: re.sub(r"^## ", "\0", part, flags=re.M))
    head, *rest = marked.split("\0")
    return head, {title: body for title, _, body in (part.partition("\n") for part in rest)}


def with_template(page: str, text: str) -> str:
    """A page of ``docs/algorithms`` with all sections of the template, in its order."""
    name = page.removeprefix("algorithms/")
    to_root = "../" * page.count("/")
    head, found = sections(BOOK_LINE.sub("", text))
    made = {
        "The method": method_part(name, to_root),
        "The machine": machine.part(name, to_root),
        "How sure": evidence.part(name, to_root),
        "Exercises": topics.exercises_part(name),
        "Where it is taught": topics.taught_part(name, chapters.link_from(name, to_root), to_root),
    }
    if "References" not in found and not re.search(r"^References?: ", text, re.M):
        made["References"] = machine.references(name)
    found["Try it"] = lab_part(name, found.get("Try it", ""), to_root)
    made["Pitfalls"] = labs.broken(labs.own(names.names_of(name)), to_root)
    for title, body in made.items():
        if body:
            found[title] = f"{found.get(title, '').rstrip()}\n\n{body}".lstrip("\n")
    own = [title for title in found if title not in ORDER]
    order = [t for title in ORDER for t in ([title] if title else own) if t in found]
    parts = [head.rstrip(), *(f"## {title}\n\n{found[title].strip()}" for title in order)]
    return "\n\n".join(parts) + "\n"


def lab_part(name: str, by_hand: str, to_root: str) -> str:
    """Try it: the lab's page of this method, else that of a relative; else how to watch a fit."""
    about = names.names_of(name)
    own, near, shown = labs.own(about), labs.akin(about), labs.wanted(by_hand)
    if shown and (shown & set(own) or near is None):
        return by_hand
    if own and not shown:
        return f"```{{lab}} {own[0]}\n```"
    if near:
        frame = by_hand.strip() or f"```{{lab}} {near[0]}\n```"
        return f"{near[1]}\n\n{frame}"
    return (
        "The lab has no page for this method; `pellucid.lab.record` replays a fit of your own: "
        f"[the lab]({to_root}lab.md)."
    )


def method_part(name: str, to_root: str) -> str:
    """The method: the textbook's own source, the first file open, the others folded."""
    paths = names.methods_of(name)
    if not paths:
        reasons = names.methods()[1]
        why = [f"`{n}` {reasons[n]}" for n in names.names_of(name) if n in reasons]
        return "; ".join(why) + "." if why else "What is here has no file in the textbook."
    text = [f"{textbook.title(paths[0])}, as the textbook writes it:", ""]
    text.append(textbook.include(paths[0], f"{to_root}../"))
    for path in paths[1:]:
        text.append(f"````{{dropdown}} {textbook.title(path)}\n")
        text.append(textbook.include(path, f"{to_root}../") + "````\n")
    return "\n".join(text)
