"""``pellucid lab [ALGORITHM]``: an algorithm step by step, in the browser."""

from pathlib import Path

import click

from pellucid.cli.shared.options import (
    Code,
    Stop,
    check_output,
    common,
    console,
    grid,
    print_json,
    say,
)
from pellucid.study.errors import nearest


@click.command()
@click.argument("algorithm", required=False)
@click.option("--data", help="Table that the pages can load at once.")
@click.option("--sql", help="Query, when --data is a database URL.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=0,
    show_default=True,
    help="Port of 127.0.0.1; 0 takes a free one.",
)
@click.option("--no-browser", is_flag=True, help="Print the address and open nothing.")
@click.option(
    "--export",
    "page_file",
    type=click.Path(path_type=Path),
    help="Write the page as one HTML file, or without ALGORITHM the gallery into a folder.",
)
@click.option("--list", "only_list", is_flag=True, help="List the pages.")
@common("json", "quiet", "seed", "threads", "overwrite")
def lab(
    algorithm: str | None,
    data: str | None,
    sql: str | None,
    port: int,
    no_browser: bool,
    page_file: Path | None,
    only_list: bool,
    as_json: bool,
    quiet: bool,
    seed: int,
    overwrite: bool,
) -> None:
    """Open the page of ALGORITHM in the browser: a page, an estimator such as KMeans, or a link
    that was copied from a page ("kmeans.html#step=3"). Without it the gallery of all methods.

    The server listens on this machine only and ends with Ctrl-C. With --export nothing is served:
    the page and the runs of its presets become one file that opens anywhere; without ALGORITHM all
    of them and the gallery are written into a folder.
    """
    if page_file is not None:
        check_output(page_file, overwrite)
    if only_list:
        show_pages(as_json, quiet)
        return
    if sql is not None and data is None:
        raise Stop(Code.USAGE, "--sql needs --data, the URL of a database")
    if seed >= 2**32:
        raise Stop(Code.USAGE, f"--seed must be from 0 to {2**32 - 1} in the lab, got {seed}")
    name, _, place = (algorithm or "").partition("#")
    page = find_page(name.removesuffix(".html")) if name else None
    if page_file is not None:
        if data is not None:
            raise Stop(Code.USAGE, "--data is for the server; a file holds the page's own presets")
        write_page(page, page_file, seed, as_json, quiet)
        return
    open_lab(page, place, data, sql, port, seed, no_browser, as_json, quiet)


def find_page(algorithm: str) -> str:
    """The page of that name, or of that estimator; else the nearest names (exit code 2)."""
    from pellucid.lab.pages import PAGES, SHOWN, named

    page = named(algorithm)
    if page is not None:
        return page
    import pellucid

    if algorithm in pellucid._HOME:
        text = f"no page shows {algorithm}; pellucid.lab.record keeps the steps of any fit"
        raise Stop(Code.USAGE, text)
    known = [*PAGES, *(name for shown in SHOWN.values() for name in shown)]
    text = nearest("lab page or estimator", algorithm, known)
    if "there are: " in text:
        text = nearest("lab page", algorithm, PAGES)
    raise Stop(Code.USAGE, text)


def show_pages(as_json: bool, quiet: bool) -> None:
    from pellucid.lab.pages import PAGES, SHOWN

    if as_json:
        print_json(
            {
                "pages": [
                    {"name": name, "title": title, "estimators": list(SHOWN.get(name, ()))}
                    for name, title in PAGES.items()
                ]
            }
        )
    elif not quiet:
        console().print(grid(("page", "what it shows"), list(PAGES.items())))


def write_page(page: str | None, path: Path, seed: int, as_json: bool, quiet: bool) -> None:
    """The page and the traces of its presets as one file, or the gallery as a folder."""
    from pellucid.lab import export
    from pellucid.lab.exporting import export_gallery
    from pellucid.lab.pages import PAGES

    if page is None:
        if path.suffix:
            raise Stop(
                Code.USAGE, f"the gallery is written into a folder, {path} looks like a file"
            )
        index = export_gallery(path, seed=seed)
        if as_json:
            print_json({"pages": list(PAGES), "file": str(index)})
        elif not quiet:
            say(f"{index}: the gallery and {len(PAGES)} pages")
        return
    if path.is_dir():
        raise Stop(Code.USAGE, f"{path} is a folder; a page is written as one file")
    export(page, path, seed=seed)
    if as_json:
        print_json({"page": page, "file": str(path), "bytes": path.stat().st_size})
    elif not quiet:
        say(f"{path}: {PAGES[page]}, {path.stat().st_size / 1e6:.1f} MB")


def open_lab(
    page: str | None,
    place: str,
    data: str | None,
    sql: str | None,
    port: int,
    seed: int,
    no_browser: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """Serve until Ctrl-C, which is how a server ends: exit code 0."""
    frame = None
    if data is not None:
        from pellucid.cli.shared.tables import read_table

        frame = read_table(data, sql)
    from pellucid.lab import serve

    def ready(address: str) -> None:
        if as_json:
            print_json({"address": address})
        else:
            say(address if quiet else f"The lab is at {address}\nCtrl-C ends it.")
        if not no_browser:
            import webbrowser

            webbrowser.open(address)

    serve(port=port, data=frame, page=page, place=place, seed=seed, ready=ready)
