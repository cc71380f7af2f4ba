"""The learning system: one honest study of a table, from the question to the verdict.

>>> from pellucid.study import Plan
>>> Plan(groups="patient").groups
'patient'
"""

from pellucid._lazy import lazy_names

_HOME = {
    "Advice": "advising",
    "Audit": "records",
    "Candidate": "records",
    "ColumnPlan": "records",
    "ColumnProfile": "records",
    "FINDINGS": "findings",
    "FeatureRecord": "records",
    "Final": "records",
    "Finding": "records",
    "Insight": "records",
    "LeaderboardRow": "records",
    "Plan": "records",
    "Rule": "findings",
    "SplitRecord": "records",
    "Study": "learning",
    "StudyRecord": "records",
    "TableFeatures": "table_features",
    "Task": "records",
    "TaskError": "learning",
    "Verdict": "records",
    "advise": "advising",
    "audit": "auditing",
    "audit_table": "auditing",
    "detect_task": "tasks",
    "finding": "findings",
    "learn": "learning",
    "make_split": "splitting",
    "selection_finding": "checks_leaks",
}

__getattr__, __dir__, __all__ = lazy_names(__name__, _HOME)
