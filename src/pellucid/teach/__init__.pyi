"""Generated from the table in __init__.py by `make stubs`; do not edit."""

from pellucid.teach.catalogue import check as check
from pellucid.teach.catalogue import exercise as exercise
from pellucid.teach.catalogue import exercises as exercises
from pellucid.teach.catalogue import grade as grade
from pellucid.teach.checking import Report as Report
from pellucid.teach.checking import Verdict as Verdict
from pellucid.teach.grading import grade_notebook as grade_notebook
from pellucid.teach.records import Exercise as Exercise
from pellucid.teach.records import Slip as Slip
from pellucid.teach.records import Step as Step
from pellucid.teach.writing import write_sheet as write_sheet

__all__: list[str]
_HOME: dict[str, str]
