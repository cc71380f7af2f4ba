"""The rules of the house that a reader would otherwise have to check by eye."""

import ast
import gc
from functools import cache
from pathlib import Path

import pellucid

SOURCE = Path(pellucid.__file__).parent
MOST_ABOVE = 4  # classes of ours above a class of ours


@cache
def trees():
    """The syntax tree of every module by its dotted name: nothing is imported, PyTorch included."""
    gc.disable()  # or half of the time goes into looking for rubbish among the nodes
    found = {}
    for path in sorted(SOURCE.rglob("*.py")):
        parts = path.relative_to(SOURCE.parent).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        found[name] = ast.parse(path.read_text(encoding="utf-8"))
    gc.freeze()  # they stay
    gc.enable()
    return found


def statements(node):
    """Every statement inside a module, class or function, however deep."""
    for field in ("body", "orelse", "handlers", "finalbody"):
        for child in getattr(node, field, ()):
            yield child
            yield from statements(child)


@cache
def classes(module):
    """Every class written in a module, nested ones too."""
    inside = statements(trees()[module])
    return {node.name: node for node in inside if isinstance(node, ast.ClassDef)}


@cache
def imported(module):
    """(module, name) behind every name a module imports from ours; no name: the module itself."""
    found = {}
    for node in statements(trees()[module]):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("pellucid"):
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                target = (inner, None) if inner in trees() else (node.module, alias.name)
                found[alias.asname or alias.name] = target
        assert not (isinstance(node, ast.ImportFrom) and node.level), f"{module}: relative import"
    return found


def owner(module, base):
    """(module, class) of ours that a base class in ``module`` stands for, or None."""
    base = base.value if isinstance(base, ast.Subscript) else base
    if isinstance(base, ast.Attribute) and isinstance(base.value, ast.Name):
        home, inner = imported(module).get(base.value.id, (None, ""))
        return None if home is None or inner else owner(home, ast.Name(base.attr))
    if not isinstance(base, ast.Name):
        return None
    if base.id in classes(module):
        return module, base.id
    home, name = imported(module).get(base.id, (None, None))
    return None if name is None else owner(home, ast.Name(name))


@cache
def above(module, name):
    """The classes of ours that a class inherits from, however far up."""
    parents = [owner(module, base) for base in classes(module)[name].bases]
    return frozenset().union(*({p} | above(*p) for p in parents if p is not None))


def test_no_class_has_more_than_four_of_ours_above_it():
    """Behaviour is shared by functions and small records, not by overriding an override."""
    found = {f"{m}.{c}": above(m, c) for m in trees() for c in classes(m)}
    assert len(found) > 1000
    deep = {name: sorted(c for _, c in up) for name, up in found.items() if len(up) > MOST_ABOVE}
    assert not deep


def test_the_count_is_that_of_python():
    """The reading of the source agrees with the classes that Python makes of it."""
    for name in (
        "Ridge",
        "PLSRegression",
        "StackingClassifier",
        "KNeighborsClassifier",
        "LinearSVC",
    ):
        cls = getattr(pellucid, name)
        up = {(k.__module__, k.__name__) for k in cls.__mro__[1:]}
        assert above(cls.__module__, name) == {k for k in up if k[0].startswith("pellucid.")}
