"""Where lectures and words lead: ``docs/topics.yml`` lists the titles of courses with a page for
each, ``docs/words.yml`` the words of books and slides with the page that explains them.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import yaml

from tools.website.names import ROOT, title_of

FILE = ROOT / "docs/topics.yml"
WORDS = ROOT / "docs/words.yml"


FILTER = """
```{{raw}} html
<p class="lectures"><label for="lecture">Words of the title</label>
<input id="lecture" type="search" placeholder="support vector machines" autocomplete="off">
<span role="status"></span></p>
<script defer src="{up}_static/lectures.js"></script>
```
"""  # the script hides the rows without these words


class Lecture(NamedTuple):
    """One lecture of a course and the pages that it leads to, the first one first."""

    course: str
    title: str
    pages: tuple[str, ...]  # below docs/, without .md


@cache
def lectures() -> tuple[Lecture, ...]:
    """All lectures of all courses."""
    if not FILE.exists():
        return ()
    courses = yaml.safe_load(FILE.read_text(encoding="utf-8"))
    return tuple(
        Lecture(course["course"], title, tuple(pages.split()))
        for course in courses
        for title, pages in course["lectures"].items()
    )


@cache
def words() -> tuple[dict[str, str], dict[str, str]]:
    """Word -> the page that explains it; and what is not here -> what is nearest, or nothing."""
    found = yaml.safe_load(WORDS.read_text(encoding="utf-8"))
    return found["here"], found["absent"]


def listing(up: str) -> str:
    """Every course as a table of its lectures, then the words."""
    text = [FILTER.format(up=up)]
    course = None
    for lecture in lectures():
        if lecture.course != course:
            course = lecture.course
            text += ["", f"## {course}", "", "| lecture | here |", "|---|---|"]
        links = ", ".join(f"[{page_title(page)}]({up}{page}.md)" for page in lecture.pages)
        text.append(f"| {lecture.title} | {links} |")
    here, absent = words()
    text += ["", "## Words", "", "| word | here |", "|---|---|"]
    text += [f"| {word} | [{page_title(page)}]({up}{page}.md) |" for word, page in here.items()]
    text += ["", "## Not here", "", "| taught in courses | nearest |", "|---|---|"]
    for word, page in absent.items():
        nearest = f"[{page_title(page)}]({up}{page}.md)" if page else "nothing"
        text.append(f"| {word} | {nearest} |")
    return "\n".join(text) + "\n"


@cache
def page_title(page: str) -> str:
    """The title of a page of ``docs/``."""
    path = ROOT / "docs" / f"{page}.md"
    if not path.exists():  # a page that is made: the textbook's, the gallery's
        return page.rpartition("/")[2].replace("_", " ")
    return title_of(path.read_text(encoding="utf-8")).split(":")[0]


def taught_part(name: str, chapter: str, up: str) -> str:
    """Where an algorithm is taught: its chapter, and the lectures that lead here, by course."""
    found: dict[str, list[str]] = {}
    for lecture in lectures():
        if f"algorithms/{name}" in lecture.pages:
            found.setdefault(lecture.course, []).append(lecture.title)
    rows = [f"- {course}: {'; '.join(titles)}" for course, titles in found.items()]
    words = "All of them" if rows else "No lecture of the five courses is about it"
    return "\n".join(
        [f"- The course: {chapter}", *rows, "", f"{words}: [lectures]({up}topics.md)."]
    )


# chapters of the textbook -> topics of exercises, where the words differ
EXERCISES = {
    "labels": "decisions",
    "neighbors": "neighbours",
    "sampling": "inference",
    "structures": "graphical",
    "decisions": "planning",
    "mathematics": "optimisation",
}

FAMILIES = {"discriminant": "discriminants", "naive_bayes": "naive_bayes"}


def exercises_part(name: str) -> str:
    """Exercises: those of the page's topic that are nearest to its methods, at most three."""
    from pellucid.teach import exercises
    from pellucid.teach.catalogue import TOPICS
    from tools.website.names import methods_of

    paths = methods_of(name)
    if not paths:
        return "None: exercises are about the methods of the textbook."
    family, chapter = name.split("/")[0], paths[0].split("/")[0]
    topic = FAMILIES.get(family) or EXERCISES.get(chapter, chapter)
    if topic not in TOPICS:
        return f"None yet: there is no topic of exercises for the textbook's chapter {chapter}."
    known = {word for path in paths for word in path.split("/")[1].split("_") if len(word) > 2}
    tasks = list(exercises(topic))
    nearest = sorted(tasks, key=lambda t: -sum(w in f"{t.name} {t.title}".lower() for w in known))
    rows = [f"- {task.title} (`{task.address}`)" for task in nearest[:3]]
    command = f"`pellucid teach sheet {topic} --seed 1`"
    words = f"{command} writes all {len(tasks)} of its topic with numbers of your own, their "
    return "\n".join([words + "solution and a grader. Nearest to this page:", "", *rows])
