"""Workbooks, and text in any encoding: read as the same table in UTF-8 CSV would be."""

import base64
import datetime as dt
import io
import sys
import zipfile
import zlib

import pytest
from damaged_inputs import MAIN, write_xlsx

from pellucid.data import DataWarning, load

XLS = (  # the table below in the binary format of Excel 97, packed
    "c-rk)O=uHA6#izjX?|?;Q&XW8N+?)sZ4ctbOS@XCJ*8AH{({{m5lS^J!GrN)wdN=Yo)j;Idhk;9;twkLckm!o^dJ"
    "aAq9^erD0pbIzV~)l(^{bcEmZdl^XAQ)`F39R&Ai#&mviyb^sSaMmY^3tRICu{s%(l%$Zf<x{g%b5TL-CF9@Z2>K"
    "?-D@ANLzx1UQBq?=m#p)E|=s-cvb(2@H<svdL9MpZH)Z_MwNQ!d0?F&@5gxicE`KFY<<rd?0eCST2a{p|K@(2y@0"
    "@=MHBTAJE#QF9N>q9pStc%QiIOIj`a~7nMEMk6rmu^Y|L;Xw~a60}ALsHkZwFJBn)v0|yD+sZ@7=e+dZ+_6)vSN#"
    "KjSs~;sj`|8>i$o_4yJ@6ZQkb=0>eo51TNm#?ONs3s9h|WDeq|CxRI%r8i3R!dJi7crT`O$RN2V~3w8Pn#mkF<JD"
    "g*m%RHi#|C1`V=H>Pco06+JF{B}VSdU;q3nH8Nxz70aZY0QNbtiQR&Qv&<lJ1h!MI>=edUk>}*98%1vsnIMm;ZXa"
    "rLls!{2=DhT_(>&V+uZ_)BdI#ynPkZmS7C#tUNS_@jpH9raF{aT*=T?UJ{F_3T>QYxOGwvB~t(=_lPGs{h`6Z~u9"
    "N#VHFpOe>cN8Hm(r)qHQ9oLmbFY}KmSHPl^Zj^8^DAK=);PaCd8!eUdD=2OO?bM)vttsLyx8}QdA(XAZu20@g+CF"
    "72M-=Rc<|uCgNOeeN}f{fXL8+nQ{bomfb(5vfl9^uO!CiSAI9l-l3przBS&=}g__pS2KbeGEww_9`@N8{pJvZv3?"
    "t&lSk3E~-hNc||5-6H_UE=xt@BrE@$)aw{~aC;)qw"
)
ROWS = [["name", "price", "day"], ["café", 1.5, dt.date(2024, 1, 5)], ["x", 2, dt.date(2024, 2, 6)]]
READ = {
    "name": ["café", "x"],
    "price": [1.5, 2.0],
    "day": [dt.date(2024, 1, 5), dt.date(2024, 2, 6)],
}


def ods_cell(cell):
    if isinstance(cell, dt.date):
        return f'<table:table-cell office:value-type="date" office:date-value="{cell}"/>'
    if isinstance(cell, str):
        text = f"<text:p>{cell}</text:p>"
        return f'<table:table-cell office:value-type="string">{text}</table:table-cell>'
    return f'<table:table-cell office:value-type="float" office:value="{cell}"/>'


def write_ods(path, rows):
    base = "urn:oasis:names:tc:opendocument:xmlns"
    names = " ".join(f'xmlns:{name}="{base}:{name}:1.0"' for name in ("office", "table", "text"))
    lines = [f"<table:table-row>{''.join(map(ods_cell, row))}</table:table-row>" for row in rows]
    table = f'<table:table table:name="May">{"".join(lines)}</table:table>'
    inner = f"<office:body><office:spreadsheet>{table}</office:spreadsheet></office:body>"
    with zipfile.ZipFile(path, "w") as book:
        book.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        manifest = f'<m:manifest xmlns:m="{base}:manifest:1.0"/>'
        book.writestr("META-INF/manifest.xml", manifest)
        text = f"<office:document-content {names}>{inner}</office:document-content>"
        book.writestr("content.xml", text)
    return path


@pytest.fixture(params=["xlsx", "ods", "xls"])
def book(request, tmp_path):
    path = tmp_path / f"sales.{request.param}"
    if request.param == "xlsx":
        return write_xlsx(path, May=ROWS)
    if request.param == "ods":
        return write_ods(path, ROWS)
    path.write_bytes(zlib.decompress(base64.b85decode("".join(XLS))))
    return path


def test_a_workbook_is_read_as_its_table(book):
    assert load(book).to_dict(as_series=False) == READ
    assert load(f"{book}#May").to_dict(as_series=False) == READ
    with open(book, "rb") as stream:  # without its ending
        assert load(io.BytesIO(stream.read())).to_dict(as_series=False) == READ
    with pytest.raises(ValueError, match="has no sheet 'Mai'; did you mean 'May'"):
        load(f"{book}#Mai")


def test_sheets_by_name_and_titles_above_the_names(tmp_path):
    other = [
        ["Sales of 2024"],
        [None],
        ["id", "ok", None],
        ["007", True, None],
        ["012", False, None],
    ]
    path = write_xlsx(tmp_path / "two.xlsx", first=[["a"], [1], [2]], second=other)
    assert load(path).to_dict(as_series=False) == {"a": [1, 2]}
    with pytest.warns(DataWarning, match="1 title row above the names skipped"):
        table = load(f"{path}#second")
    assert table.to_dict(as_series=False) == {"id": ["007", "012"], "ok": [True, False]}
    assert load(path, n_rows=1).height == 1


def test_what_is_no_workbook(tmp_path, monkeypatch):
    (tmp_path / "broken.xlsx").write_bytes(b"PK\x03\x04....")
    with pytest.raises(ValueError, match=r"broken.xlsx is not a whole Excel file: .*"):
        load(tmp_path / "broken.xlsx")
    path = write_xlsx(tmp_path / "empty.xlsx", one=[])
    with pytest.raises(ValueError, match="is empty: a row with column names is needed"):
        load(path)
    monkeypatch.setitem(sys.modules, "python_calamine", None)
    with pytest.raises(
        ImportError, match=r'needed for Excel files: pip install "pellucid\[excel\]"'
    ):
        load(path)


ENCODINGS = {
    "utf-16": "UTF-16",
    "utf-16-le": "UTF-16-LE",
    "utf-16-be": "UTF-16-BE",
    "utf-32": "UTF-32",
    "latin-1": "Windows-1252",
    "cp1252": "Windows-1252",
}


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", *ENCODINGS])
@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_text_in_any_encoding(tmp_path, encoding, ending):
    price = "€" if encoding not in ("latin-1",) else "£"
    table = {"café": ["naïve", "grün"], "price": [f"5 {price}", f"6 {price}"]}
    rows = list(zip(*table.values(), strict=True))
    if ending == "csv":
        text = "\n".join(",".join(row) for row in [tuple(table), *rows])
    else:
        text = "\n".join(f'{{"café": "{a}", "price": "{b}"}}' for a, b in rows)
    path = tmp_path / f"t.{ending}"
    path.write_bytes(text.encode(encoding))
    if encoding.startswith("utf-8"):
        assert load(path).to_dict(as_series=False) == table
        return
    with pytest.warns(
        DataWarning, match=f"t.{ending} is not UTF-8; it was read as {ENCODINGS[encoding]}"
    ):
        found = load(path)
    assert found.to_dict(as_series=False) == table


def test_bytes_without_a_letter_in_windows_are_latin_1(tmp_path):
    (tmp_path / "t.csv").write_bytes(b"a\ncaf\xe9\x81\n")
    with pytest.warns(DataWarning, match="it was read as Latin-1"):
        assert load(tmp_path / "t.csv")["a"].to_list() == ["café\x81"]


def test_commas_that_may_part_thousands_are_left_as_they_are(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a;b\n1,018;5\n900;6\n")
    assert load(path).to_dict(as_series=False) == {"a": ["1,018", "900"], "b": [5, 6]}
    path.write_text("a;b\n1,018;0,5\n900;6\n")  # another column shows what a comma is here
    assert load(path).to_dict(as_series=False) == {"a": [1.018, 900.0], "b": [0.5, 6.0]}
    path.write_text("a;b\n1,018;x\n0,500;y\n")
    assert load(path)["a"].to_list() == [1.018, 0.5]


def test_codes_are_not_numbers(tmp_path):
    """Leading zeros, a plus and more digits than a number holds stay as they are written."""
    path = tmp_path / "codes.csv"
    path.write_text(
        "zip,phone,account,month,n,x\n"
        "02139,+491701234567,12345678901234567890,01,5,0.5\n"
        "90210,+49301234567,22345678901234567890,12,0,-0.25\n"
    )
    table = load(path)
    assert table["zip"].to_list() == ["02139", "90210"]
    assert table["phone"].to_list() == ["+491701234567", "+49301234567"]
    assert table["account"].to_list() == ["12345678901234567890", "22345678901234567890"]
    assert table["month"].to_list() == ["01", "12"]
    assert table.select("n", "x").rows() == [(5, 0.5), (0, -0.25)]


def rewrite(path, part, text):
    """The workbook with another text for one of its parts."""
    with zipfile.ZipFile(path) as book:
        parts = {name: book.read(name) for name in book.namelist()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as book:
        for name, content in {**parts, part: text}.items():
            book.writestr(name, content)
    return path


@pytest.mark.parametrize(
    ("cells", "sentence"),
    [
        ('<row><c r="A1"><v>1</v></c><c r="XFD1048576"><v>2</v></c></row>', "Excel file|empty"),
        ('<row><c r="A0"><v>1</v></c></row>', "not a whole Excel file"),
    ],
    ids=["far", "torn"],
)
def test_hostile_sheets_are_refused(tmp_path, cells, sentence):
    """A cell in the last row and column, a torn one."""
    path = write_xlsx(tmp_path / "book.xlsx", one=[["a"], [1]])
    sheet = f'<worksheet xmlns="{MAIN}"><sheetData>{cells}</sheetData></worksheet>'
    with pytest.raises(ValueError, match=sentence):
        load(rewrite(path, "xl/worksheets/1.xml", sheet))


def test_joined_files_of_two_encodings_are_read_line_by_line(tmp_path):
    towns = ["Köln", "Zürich", "Genève", "Bern"] * 5
    every = ["utf-8", "cp1252", "cp1252"] * 7
    lines = [f"{t},{i}\n".encode(every[i]) for i, t in enumerate(towns)]
    path = tmp_path / "towns.csv"
    path.write_bytes(b"town,n\n" + b"".join(lines))
    with pytest.warns(DataWarning, match=r"Windows-1252 \(Latin-1\), 5 of its lines as UTF-8"):
        table = load(path)
    assert table["town"].to_list() == towns
