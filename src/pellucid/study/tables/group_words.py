"""The verdict on the groups of a table, from the plain data of its record."""

from typing import Any

from pellucid.study.wording import listed

NAMES = {
    "elbow": "elbow",
    "silhouette": "silhouette",
    "calinski_harabasz": "Calinski-Harabasz",
    "stability": "stability",
    "gap": "gap statistic",
}


def verdict(r: dict[str, Any]) -> tuple[str, ...]:
    """At most four plain sentences."""
    if r["noise"] is not None:
        return dense_verdict(r)
    k, n = r["k"], r["rows"]
    first = f"The {n:,} rows fall into {k} groups."
    if r["answer"] == "none":
        first = "The rows do not form groups."
    elif r["answer"] == "several":
        some = listed([str(c) for c in r["elbow"]["candidates"]])
        first = f"There is more than one good number of groups: {some}; {k} are described here."
    elif not r["choices"].get("silhouette"):
        first = f"The {n:,} rows, cut into {k} groups as asked."
    lines = [first]
    if r["answer"] == "none":
        lines.append(
            "Rows spread evenly over the same range would be grouped as well as these (gap "
            f"statistic); the {k} groups below are a way to cut a cloud, not parts it has."
        )
    picked: dict[int, list[str]] = {}
    for name, favourite in r["choices"].items():
        if favourite is not None:
            picked.setdefault(favourite, []).append(NAMES[name])
    if picked and r["answer"] != "none":
        said = [
            f"{listed(names)} {'favours' if len(names) == 1 else 'favour'} {c}"
            for c, names in sorted(picked.items(), key=lambda item: (-len(item[1]), item[0]))
        ]
        text = "; ".join(said)
        lines.append(f"{text[:1].upper()}{text[1:]}.")
    m = chosen(r)
    lines.append(f"{stable_words(m['stability'])} {sharp_words(m['silhouette'])}".strip())
    return tuple(lines)


def dense_verdict(r: dict[str, Any]) -> tuple[str, ...]:
    """What a method says that looks for dense parts and leaves the rows between them out."""
    k, n, noise = r["k"], r["rows"], r["noise"]
    apart = f"{noise:,} of the {n:,} rows ({noise / n:.0%}) lie between them or far out"
    if k == 0:
        return (
            "The rows do not form groups.",
            "No part of the table is dense enough against the rest to be one.",
        )
    if k == 1:
        return (
            "The rows do not form groups: the dense part of the table is one piece.",
            f"{noise:,} of the {n:,} rows ({noise / n:.0%}) lie outside it.",
        )
    m = chosen(r)
    return (
        f"The rows form {k} dense groups.",
        f"{apart} and belong to none." if noise else "Every row belongs to one.",
        f"{stable_words(m['stability'])} {sharp_words(m['silhouette'])}".strip(),
    )


def chosen(r: dict[str, Any]) -> dict[str, Any]:
    """The measures of the number of groups that was chosen."""
    return next(m for m in r["tried"] if m["k"] == r["k"])


def stable_words(stability: float) -> str:
    if stability >= 0.9:
        return f"Subsamples of the rows give the same groups (agreement {stability:.2f})."
    if stability >= 0.75:
        return f"Subsamples of the rows give much the same groups (agreement {stability:.2f})."
    return (
        f"Subsamples of the rows give other groups (agreement {stability:.2f} of 1): do not rely "
        "on them."
    )


def sharp_words(silhouette: float | None) -> str:
    if silhouette is None:
        return ""
    kind = "well apart" if silhouette > 0.5 else "touching" if silhouette > 0.25 else "blurred"
    return f"They are {kind} (silhouette {silhouette:.2f})."
