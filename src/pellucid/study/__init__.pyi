"""Generated from the table in __init__.py by `make stubs`; do not edit."""

from pellucid.study.checks.audit import audit as audit
from pellucid.study.checks.audit import audit_table as audit_table
from pellucid.study.checks.findings import FINDINGS as FINDINGS
from pellucid.study.checks.findings import Rule as Rule
from pellucid.study.checks.findings import finding as finding
from pellucid.study.checks.leaks import selection_finding as selection_finding
from pellucid.study.columns.table_features import TableFeatures as TableFeatures
from pellucid.study.errors import OptionError as OptionError
from pellucid.study.errors import TaskError as TaskError
from pellucid.study.learning import Study as Study
from pellucid.study.learning import learn as learn
from pellucid.study.reading.tasks import detect_task as detect_task
from pellucid.study.records import Audit as Audit
from pellucid.study.records import Candidate as Candidate
from pellucid.study.records import ColumnPlan as ColumnPlan
from pellucid.study.records import ColumnProfile as ColumnProfile
from pellucid.study.records import FeatureRecord as FeatureRecord
from pellucid.study.records import Final as Final
from pellucid.study.records import Finding as Finding
from pellucid.study.records import Insight as Insight
from pellucid.study.records import LeaderboardRow as LeaderboardRow
from pellucid.study.records import Plan as Plan
from pellucid.study.records import SplitRecord as SplitRecord
from pellucid.study.records import StudyRecord as StudyRecord
from pellucid.study.records import Suspicion as Suspicion
from pellucid.study.records import Task as Task
from pellucid.study.records import Verdict as Verdict
from pellucid.study.splits.split import make_split as make_split
from pellucid.study.tables.anomalies import Anomalies as Anomalies
from pellucid.study.tables.anomalies import find_anomalies as find_anomalies
from pellucid.study.tables.comparison import ComparedCandidates as ComparedCandidates
from pellucid.study.tables.comparison import compare_candidates as compare_candidates
from pellucid.study.tables.groups import GroupedTable as GroupedTable
from pellucid.study.tables.groups import group_table as group_table
from pellucid.study.tables.parameter_sweep import SweptParameter as SweptParameter
from pellucid.study.tables.parameter_sweep import sweep_parameter as sweep_parameter
from pellucid.study.tables.reduction import ReducedTable as ReducedTable
from pellucid.study.tables.reduction import reduce_table as reduce_table
from pellucid.study.verdict.advice import Advice as Advice
from pellucid.study.verdict.advice import advise as advise

__all__: list[str]
_HOME: dict[str, str]
