"""The learning system: one honest study of a table, from the question to the verdict.

>>> from pellucid.study import Plan
>>> Plan(groups="patient").groups
'patient'
"""

from pellucid._lazy import lazy_names

_HOME = {
    "Advice": "verdict.advice",
    "Audit": "records",
    "Candidate": "records",
    "ColumnPlan": "records",
    "ColumnProfile": "records",
    "FINDINGS": "checks.findings",
    "FeatureRecord": "records",
    "Final": "records",
    "Finding": "records",
    "Insight": "records",
    "LeaderboardRow": "records",
    "Plan": "records",
    "Rule": "checks.findings",
    "SplitRecord": "records",
    "Study": "learning",
    "StudyRecord": "records",
    "TableFeatures": "columns.table_features",
    "Task": "records",
    "TaskError": "errors",
    "Verdict": "records",
    "advise": "verdict.advice",
    "audit": "checks.audit",
    "audit_table": "checks.audit",
    "detect_task": "reading.tasks",
    "finding": "checks.findings",
    "learn": "learning",
    "make_split": "splits.split",
    "selection_finding": "checks.leaks",
}

__getattr__, __dir__, __all__ = lazy_names(__name__, _HOME)
