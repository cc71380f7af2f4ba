"""Write the files of a sheet: for students, for the teacher, for nbgrader."""

from pathlib import Path

from pellucid.core.runtime.atomic import replacing
from pellucid.teach.catalogue import exercise, exercises
from pellucid.teach.notebooks import KINDS, notebook
from pellucid.teach.records import Exercise
from pellucid.teach.sheets import sheet_markdown, solution_markdown


def chosen(topic: str) -> tuple[Exercise, ...]:
    """The exercises of a topic, or one by its address."""
    return (exercise(topic),) if "/" in topic else exercises(topic)


def files_of(topic: str, seed: int) -> dict[str, str]:
    """The text of every file by its name."""
    tasks, title = chosen(topic), topic.replace("/", ": ").replace("_", " ").capitalize()
    stem = f"{topic.replace('/', '-')}-{seed}"
    found = {f"{stem}-{kind}.ipynb": notebook(tasks, seed, title, kind) for kind in KINDS}
    found[f"{stem}-sheet.md"] = sheet_markdown(tasks, seed, title)
    found[f"{stem}-solution.md"] = solution_markdown(tasks, seed, title)
    return found


def write_sheet(topic: str, seed: int, out: str | Path) -> tuple[Path, ...]:
    """Write sheet, solution and grader of a topic into a folder.

    Parameters
    ----------
    topic : str
        A topic such as "regression", or one exercise such as "regression/line".
    seed : int
        At least 0; another one gives other numbers.
    out : str or Path
        Folder, made if it is not there; files of the same name are replaced.

    Examples
    --------
    >>> import tempfile
    >>> from pellucid.teach import write_sheet
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     sorted(path.name for path in write_sheet("trees", 3, folder))[:2]
    ['trees-3-grader.ipynb', 'trees-3-sheet.ipynb']
    """
    if seed < 0:
        raise ValueError(f"seed must be at least 0, got {seed}")
    folder = Path(out)
    texts = files_of(topic, seed)
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        with replacing(str(folder / name)) as file:
            file.write(text.encode())
    return tuple(folder / name for name in texts)
