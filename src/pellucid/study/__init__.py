"""The learning system: one honest study of a table, from the question to the verdict.

Read ``learning`` first: a study, stage by stage, through ``reading/``, ``splits/``, ``checks/``
(the audit), ``columns/`` (features), ``candidates/``, ``judging/`` and ``verdict/``; ``records``
is what each leaves. ``saved/`` is what a saved model does later, ``tables/`` the questions that
take one call (groups, components, anomalies, comparison, sweep), ``examples/`` the course's own
numbers.

>>> from pellucid.study import Plan
>>> Plan(groups="patient").groups
'patient'
"""

from pellucid._lazy import lazy_names

_HOME = {
    "Advice": "verdict.advice",
    "Anomalies": "tables.anomalies",
    "Audit": "records",
    "Candidate": "records",
    "ColumnPlan": "records",
    "ColumnProfile": "records",
    "ComparedCandidates": "tables.comparison",
    "FINDINGS": "checks.findings",
    "FeatureRecord": "records",
    "Final": "records",
    "Finding": "records",
    "GroupedTable": "tables.groups",
    "Insight": "records",
    "LeaderboardRow": "records",
    "OptionError": "errors",
    "Plan": "records",
    "ReducedTable": "tables.reduction",
    "Rule": "checks.findings",
    "SplitRecord": "records",
    "Study": "learning",
    "StudyRecord": "records",
    "Suspicion": "records",
    "SweptParameter": "tables.parameter_sweep",
    "TableFeatures": "columns.table_features",
    "Task": "records",
    "TaskError": "errors",
    "Verdict": "records",
    "advise": "verdict.advice",
    "audit": "checks.audit",
    "audit_table": "checks.audit",
    "compare_candidates": "tables.comparison",
    "detect_task": "reading.tasks",
    "find_anomalies": "tables.anomalies",
    "finding": "checks.findings",
    "group_table": "tables.groups",
    "learn": "learning",
    "make_split": "splits.split",
    "reduce_table": "tables.reduction",
    "selection_finding": "checks.leaks",
    "sweep_parameter": "tables.parameter_sweep",
}

__getattr__, __dir__, __all__ = lazy_names(__name__, _HOME)
