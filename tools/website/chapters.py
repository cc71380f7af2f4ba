"""Which chapter of the course a page of an algorithm belongs to, and the links both ways.

A chapter links the pages it talks about by hand; the others of its subject follow at its end, so
that a new page is reached from the course on the day it is written.
"""

from __future__ import annotations

import re
from functools import cache

from tools.website import names, topics

COURSE = names.ROOT / "docs/course"
LINK = re.compile(r"\]\(\.\./algorithms/([\w/]+)\.md[)#]")
SUBJECTS = {  # page or folder of docs/algorithms -> chapter; the longest one that fits decides
    "cluster": "12-groups",
    "decomposition": "12-groups",
    "deep": "10-networks",
    "discriminant": "05-classes",
    "ensemble": "08-trees",
    "ensemble/classifier_chain": "05-classes",
    "ensemble/cut_point_classifier": "05-classes",
    "ensemble/multi_output_regressor": "02-least-squares",
    "ensemble/pairwise_ranker": "05-classes",
    "ensemble/representation_classifier": "10-networks",
    "ensemble/self_training_classifier": "12-groups",
    "evaluation": "11-judging",
    "features": "01-data",
    "features/bases": "04-shrinkage",
    "features/polynomial_features": "04-shrinkage",
    "features/spline_transformer": "04-shrinkage",
    "graphical": "13-graphs",
    "inference": "06-bayes",
    "kernel": "09-margins",
    "linear": "02-least-squares",
    "linear/bayes": "06-bayes",
    "linear/components": "04-shrinkage",
    "linear/lars": "04-shrinkage",
    "linear/lasso": "04-shrinkage",
    "linear/least_squares/least_squares_classifier": "05-classes",
    "linear/logistic": "05-classes",
    "linear/penalties": "04-shrinkage",
    "linear/perceptron": "05-classes",
    "linear/ridge": "04-shrinkage",
    "linear/ridge/ridge_classifier": "05-classes",
    "linear/splines": "04-shrinkage",
    "linear/stochastic": "03-descent",
    "linear/subsets": "04-shrinkage",
    "linear/subsets/stepwise_logistic_regression": "05-classes",
    "mixture": "12-groups",
    "naive_bayes": "06-bayes",
    "neighbors": "07-neighbours",
    "neural": "10-networks",
    "reinforcement": "14-acting",
    "solvers": "03-descent",
    "study": "01-data",
    "tree": "08-trees",
}


@cache
def by_hand() -> dict[str, str]:
    """Page of an algorithm -> the first chapter whose text links to it."""
    found: dict[str, str] = {}
    for path in sorted(COURSE.glob("[0-9]*.md")):
        for page in LINK.findall(path.read_text(encoding="utf-8")):
            found.setdefault(page, path.stem)
    return found


def chapter_of(page: str) -> str:
    """The chapter of a page: the one that links to it, else that of its subject.

    >>> chapter_of("kernel/svc")
    '09-margins'
    """
    subject = page
    while subject not in SUBJECTS and subject:
        subject = subject.rpartition("/")[0]
    if not subject:
        raise ValueError(f"no chapter of the course is about {page}: see tools/website/chapters.py")
    return by_hand().get(page, SUBJECTS[subject])


def with_further_pages(chapter: str, text: str) -> str:
    """A chapter with links to those pages of its subject that no chapter's own text names."""
    others = [p for p in names.pages() if p not in by_hand() and chapter_of(p) == chapter]
    if not others:
        return text
    titled = {f"../algorithms/{p}.md": topics.page_title(f"algorithms/{p}") for p in others}
    links = " · ".join(f"[{title}]({page})" for page, title in titled.items())
    return text.replace("\n## Exercises\n", f"\nFurther pages: {links}\n\n## Exercises\n", 1)


def link_from(page: str, up: str) -> str:
    """The link from the page of an algorithm to its chapter."""
    chapter = chapter_of(page)
    return f"[{topics.page_title(f'course/{chapter}')}]({up}course/{chapter}.md)"
