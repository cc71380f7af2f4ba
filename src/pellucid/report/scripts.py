"""``repeat.py``: the study as plain Python that gives the same numbers.

The script asks the same question, trains the same candidates on the same folds, then writes the
chosen model out in full, fits it without any study around it, and compares every figure with
those of the report.
"""

from importlib import import_module
from inspect import signature
from typing import Any

import numpy as np

import pellucid
from pellucid.core.records import plain
from pellucid.core.visible import visible
from pellucid.study.records import StudyRecord

OPEN = '''"""{question} The study of it, step by step.

    python repeat.py [DATA]

Written by Pellucid {version}. Every figure is compared with the report; exit code 1 if one differs.
"""

import sys

{imports}

DATA = {data}
'''
QUESTION = """
# 1. The question, and the rows. Test rows are set aside before anything looks at the target.
study = Study(
    {source},
    target={target!r},
    task={task!r},
    metric={metric!r},
    plan={plan},
    effort={effort!r},
    ignore={ignore!r},
    random_state={seed!r},
)
task, split = study.formalise(), study.split()
print(f"{{task.kind}}, judged by {{task.metric}}: {{len(split.train)}} rows learn, "
      f"{{len(split.test)}} are kept aside")

# 2. What stands out in the table.
for finding in study.audit().findings:
    print(f"{{finding.code}} {{finding.title}}: {{', '.join(finding.where)}}")

# 3. Every candidate on the same folds.
expected = {expected}
wrong = []
for row in study.train():
    print(f"{{row.name:32}} {{row.interval.estimate:.6g}}")
    if abs(row.interval.estimate - expected[row.name]) > 1e-9 * max(1, abs(expected[row.name])):
        wrong.append(row.name)
"""
MODEL = """
# 4. The chosen model by itself: this is what tested.pellucid holds.
model = {model}
X, y = study.take(split.train)
model.fit(X, y{options})

# 5. The rows kept aside, used once. The score is that of tested.pellucid.
final = study.evaluate()
X, _ = study.take(split.test)
if plain(model.predict(X)) != plain(study.record().tested.predict(X)):
    wrong.append("predictions")
score, expected_score = final.table[task.metric].estimate, {score!r}
print(f"{{task.metric}} on unseen rows: {{score:.6g}}")
if abs(score - expected_score) > 1e-9 * max(1, abs(expected_score)):
    wrong.append("final score")
"""
REFIT = """
# 6. The same model on all rows: this is what model.pellucid holds. No row is left to test it on.
rows = concatenate([split.train, split.test])
X, y = study.take(rows)
model.fit(X, y{options})
if plain(model.predict(X)) != plain(study.record().model.predict(X)):
    wrong.append("predictions of model.pellucid")
"""
ASK = """sys.argv[1] if len(sys.argv) > 1 else sys.exit(
    "{}"
)"""
CLOSE = """
print("all figures agree" if not wrong else f"differs from the report: {', '.join(wrong)}")
sys.exit(bool(wrong))
"""


def script(record: StudyRecord) -> str:
    """The text of ``repeat.py``; ``record`` is a ``StudyRecord``.

    >>> import pellucid
    >>> x = [7 * i % 23 for i in range(60)]
    >>> table = {"x": x, "y": [3 * v + i % 5 for i, v in enumerate(x)]}
    >>> record = pellucid.learn(table, "y", effort="quick")
    >>> "from pellucid.study import Plan, Study" in script(record)
    True
    """
    r = plain(record.reproduction)
    imports = {"pellucid.study": {"Plan", "Study"}, "pellucid.core.records": set()}
    data = f"sys.argv[1] if len(sys.argv) > 1 else {r['source']!r}"
    source = "DATA"
    if r["source"] in ("-", "a table in memory"):
        data = ASK.format("name the file of the table: python repeat.py DATA")
    if "://" in r["source"] and "***" in r["source"]:  # secrets are not written down
        data = ASK.format("give the address of the database, password and all: repeat.py ADDRESS")
    if r.get("sql"):
        imports["pellucid.data"] = {"load"}
        source = f"load(DATA, sql={r['sql']!r})"
    expected = {row.name: row.interval.estimate for row in record.leaderboard}
    text = QUESTION.format(
        source=source,
        target=r["target"],
        task=r["task"],
        metric=r["metric"],
        plan=plan_text(record),
        effort=r["effort"],
        ignore=r["ignore"],
        seed=r["seed"],
        expected=dict_text(expected),
    )
    if record.tested is not None and record.final is not None:
        imports["pellucid.core.records"].add("plain")
        text += MODEL.format(
            model=code_of(record.tested, imports),
            options=lists_text(record, "split.train"),
            score=record.final.table[record.task.metric].estimate,
        )
        if record.learned is not None and record.learned.refitted:
            imports["numpy"] = {"concatenate"}
            text += REFIT.format(options=lists_text(record, "rows"))
    names = ", ".join(record.task.target)
    question = f"Can {names} be predicted from {r.get('name') or r['source']}?"
    return (
        OPEN.format(
            question=safe(question),
            version=pellucid.__version__,
            imports=import_text(imports),
            data=data,
        )
        + text
        + CLOSE
    )


def lists_text(record: StudyRecord, rows: str) -> str:
    """The lists of a ranking in these rows, where the model learns from them."""
    from sklearn.utils.validation import has_fit_parameter

    query = record.reproduction["plan"]["query"]
    if query is None or not has_fit_parameter(record.tested[-1], "groups"):
        return ""
    return f", model__groups=study.frame[{query!r}].to_numpy()[{rows}]"


def safe(text: str) -> str:
    """Words that may stand in a docstring, whatever a column is called.

    >>> safe('a' + '"' * 3 + chr(92))
    "a'''/"
    """
    return " ".join(visible(text).replace('"', "'").replace("\\", "/").split())


def plan_text(record: StudyRecord) -> str:
    """The plan as code, what is not said left out."""
    from pellucid.study import Plan

    usual = Plan().to_dict()
    given = {k: v for k, v in plain(record.reproduction["plan"]).items() if v != usual[k]}
    return f"Plan({', '.join(f'{k}={v!r}' for k, v in given.items())})"


def dict_text(values: dict[str, Any]) -> str:
    """A dict, one item a line."""
    return "{\n" + "".join(f"    {k!r}: {v!r},\n" for k, v in values.items()) + "}"


def code_of(value: object, imports: dict[str, set[str]], indent: int = 0) -> str:
    """A value as the Python that makes it; estimators by their parameters that are not default.

    >>> from pellucid import Ridge
    >>> code_of([Ridge(alpha=2.0)], {})
    '[Ridge(alpha=2.0)]'
    """
    inner = indent + 4
    if hasattr(value, "get_params") and not isinstance(value, type):
        cls = type(value)
        imports.setdefault(public_home(cls), set()).add(cls.__name__)
        usual = {n: p.default for n, p in signature(cls.__init__).parameters.items()}
        given = {
            name: item
            for name, item in value.get_params(deep=False).items()
            if not _same(item, usual.get(name))
        }
        parts = [f"{name}={code_of(item, imports, inner)}" for name, item in given.items()]
        return _wrapped(cls.__name__ + "(", parts, ")", inner)
    if isinstance(value, np.ndarray):
        return code_of(value.tolist(), imports, indent)
    if isinstance(value, np.generic):
        return repr(value.item())
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        cls = type(value)
        imports.setdefault(public_home(cls), set()).add(cls.__name__)
        parts = [code_of(item, imports, inner) for item in value]
        return _wrapped(cls.__name__ + "(", parts, ")", inner)
    if isinstance(value, tuple):
        comma = "," if len(value) == 1 else ""
        return f"({', '.join(code_of(v, imports, inner) for v in value)}{comma})"
    if isinstance(value, list):
        return _wrapped("[", [code_of(v, imports, inner) for v in value], "]", inner)
    if isinstance(value, dict):
        items = [f"{k!r}: {code_of(v, imports, inner)}" for k, v in value.items()]
        return _wrapped("{", items, "}", inner)
    return repr(value)


def _wrapped(left: str, parts: list[str], right: str, indent: int) -> str:
    line = f"{left}{', '.join(parts)}{right}"
    if len(line) + indent <= 96 and "\n" not in line:
        return line
    space = " " * indent
    return f"{left}\n" + "".join(f"{space}{p},\n" for p in parts) + f"{' ' * (indent - 4)}{right}"


def _same(a: object, b: object) -> bool:
    return type(a) is type(b) and bool(np.all(a == b)) if not hasattr(a, "get_params") else False


def public_home(cls: type) -> str:
    """Where a user imports a class from.

    >>> from pellucid import Ridge
    >>> public_home(Ridge)
    'pellucid'
    """
    module = cls.__module__
    if module.startswith("pellucid."):
        package = ".".join(module.split(".")[:2])
        homes = ("pellucid", package) if hasattr(import_module(package), "_HOME") else ("pellucid",)
        return next((h for h in homes if cls.__name__ in import_module(h)._HOME), module)
    return ".".join(part for part in module.split(".") if not part.startswith("_"))


def import_text(imports: dict[str, set[str]]) -> str:
    """Import lines, sorted.

    >>> import_text({"pellucid": {"Ridge", "Lasso"}, "numpy": set()})
    'from pellucid import Lasso, Ridge'
    """
    lines = [f"from {m} import {', '.join(sorted(names))}" for m, names in imports.items() if names]
    return "\n".join(sorted(lines))
