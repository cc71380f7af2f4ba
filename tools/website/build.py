"""Build the site: ``python -m tools.website.build [--jobs 2] [--only-stage]``.

The HTML is written to ``build/site/html``; open ``index.html``. Everything else below
``build/site`` is kept so that the next build does only what changed.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

from tools.website import blocks, gallery, labs, reference, staging, textbook
from tools.website.names import ROOT

SITE = ROOT / "build/site"


def source_state() -> str:
    """A digest of ``src/`` and of what runs blocks: what another state made is made again."""
    digest = hashlib.sha256(Path(blocks.__file__).read_bytes())
    kinds = {".py", ".js", ".css", ".html", ".csv", ".json", ".txt"}
    for path in sorted((ROOT / "src").rglob("*")):
        if path.suffix in kinds and "__pycache__" not in path.parts:
            digest.update(str(path.relative_to(ROOT)).encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()


def stage(jobs: int) -> list[str]:
    """Write ``build/site/docs``; the failures of blocks, in words."""
    state = source_state()
    docs, static = SITE / "docs", SITE / "docs/_static"
    pictures = static / "pictures"
    made = gallery.pages()
    pages = staging.texts()
    texts = pages | {f"gallery/{chapter}.md": text for chapter, text in made.items()}
    codes = [(page, code) for page, text in texts.items() for code in blocks.python_blocks(text)]
    failures = blocks.run_all(codes, state, SITE / "results", jobs)
    if failures:
        return failures
    copy_images(codes, state, pictures)
    labs.write(
        {name for text in texts.values() for name in labs.wanted(text)}, state, static / "lab"
    )
    for path in (ROOT / "docs").rglob("*"):
        if (
            path.suffix in {".png", ".css", ".js", ".py", ".svg", ".txt", ".woff2"}
            and path.is_file()
        ):
            copy(path, docs / path.relative_to(ROOT / "docs"))
    linked = staging.stage(pages, SITE, state, SITE / "results")
    for chapter, text in made.items():
        page = f"gallery/{chapter}.md"
        shown = staging.with_results(page, text, state, SITE / "results")
        staging.write(docs / page, shown)
    thumbnails = {
        chapter: {
            name: (found["image"], found["alt"])
            for name in names
            if (found := picture_of(name, state)) is not None
        }
        for chapter, names in gallery.chapters().items()
    }
    gallery.write_index(docs / "gallery", thumbnails)
    textbook.write(docs / "textbook")
    linked |= reference.write_all(docs / "api")
    import pellucid

    settings = {"version": pellucid.__version__, "source_files": sorted(linked), "state": state}
    staging.write(docs / "made.json", json.dumps(settings, indent=1))
    return []


def picture_of(name: str, state: str) -> dict | None:
    """The kept result of a picture of the gallery; None where it was not drawn."""
    code = gallery.code(name)
    if gallery.TORCH.search(code):
        return None
    return blocks.kept(code, state, SITE / "results")


def copy_images(codes: list[tuple[str, str]], state: str, folder: Path) -> None:
    """Put the pictures of this build, and no others, where the pages look for them."""
    folder.mkdir(parents=True, exist_ok=True)
    images = {blocks.kept(code, state, SITE / "results")["image"] for _, code in codes} - {None}
    for path in folder.iterdir():
        if path.name not in images:
            path.unlink()
    for image in images:
        copy(SITE / "results" / image, folder / image)


def copy(source: Path, target: Path) -> None:
    """Copy a file unless it is there already."""
    if not target.exists() or target.read_bytes() != source.read_bytes():
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)


def html(jobs: int) -> int:
    """Run Sphinx; a warning is an error."""
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-j", str(jobs)]
    command += ["-b", "html", "-d", str(SITE / "doctrees"), str(SITE / "docs"), str(SITE / "html")]
    environment = {**os.environ, "PELLUCID_ROOT": str(ROOT), "MPLBACKEND": "Agg"}
    done = subprocess.run(command, env=environment, check=False)
    (SITE / "html/_static/webpack-macros.html").unlink(missing_ok=True)  # the theme's, no page
    return done.returncode


def main() -> int:
    """Stage, then build."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--only-stage", action="store_true")
    chosen = parser.parse_args()
    failures = stage(chosen.jobs)
    for failure in failures:
        print(failure, file=sys.stderr)
    if failures:
        print(f"{len(failures)} blocks failed", file=sys.stderr)
        return 1
    return 0 if chosen.only_stage else html(chosen.jobs)


if __name__ == "__main__":
    sys.exit(main())
