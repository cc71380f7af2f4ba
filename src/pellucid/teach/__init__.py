"""Exercises for a course: fresh numbers per student, hints, checked steps, sheets and graders.

Read ``records.py`` first (what an exercise is), then ``checking.py`` (how an answer is judged);
the exercises themselves are in ``topics``, a file per topic.
"""

from pellucid._lazy import lazy_names

_HOME = {
    "Exercise": "records",
    "Report": "checking",
    "Slip": "records",
    "Step": "records",
    "Verdict": "checking",
    "check": "catalogue",
    "exercise": "catalogue",
    "exercises": "catalogue",
    "grade": "catalogue",
    "grade_notebook": "grading",
    "write_sheet": "writing",
}

__getattr__, __dir__, __all__ = lazy_names(__name__, _HOME)
