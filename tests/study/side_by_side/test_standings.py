"""The page of the study benchmark says what its lines of results say."""

import math

import numpy as np
import pytest

from benchmarks.study.standings import behind, board_of, honesty, page, signed, summary


def line(table, split, tool, score, *, kind="number", own=None, loss=None, error=None):
    head = {
        "table": table,
        "split": split,
        "tool": tool,
        "limit": 5.0,
        "metric": "rmse" if kind == "number" else "accuracy",
        "kind": kind,
    }
    if error:
        return head | {"error": error}
    scores = {head["metric"]: [score, 0.01]} | ({"log_loss": [loss, 0.01]} if loss else {})
    return head | {"scores": scores, "own": own, "seconds": 2.0, "busy": 1.0, "chosen": "x"}


def canned():
    """Standard is best everywhere, LightGBM second, the linear pipeline last."""
    lines = []
    for i in range(6):
        for split in range(3):
            for rank, tool in enumerate(("standard", "lightgbm", "linear")):
                own = [1.0, 0.9, 1.1] if tool == "standard" else None
                lines.append(line(f"n{i}", split, tool, 1.0 + 0.015 * rank, own=own))
                own = [0.9, 0.8, 0.95] if tool == "standard" else None
                more = {"kind": "class", "own": own, "loss": 0.3 + 0.1 * rank}
                lines.append(line(f"c{i}", split, tool, 0.9 - 0.01 * rank, **more))
    return lines


def cells(text, name):
    row = next(x for x in text.splitlines() if x.startswith(f"| {name} |"))
    return [cell.strip() for cell in row.strip("|").split("|")]


def test_ranks_shares_and_honesty_are_those_of_the_lines():
    text = summary(canned())
    assert cells(text, "pellucid, standard")[1:] == [
        "1.00", "100 %", "1.00", "2.0", "1.0", "100 %", "100 %", "0.0 %", "0",
    ]  # fmt: skip
    assert cells(text, "LightGBM, defaults")[1:4] == ["2.00", "100 %", "2.00"]
    # 3 % behind on the numbers, 2.2 % on the classes
    assert cells(text, "linear pipeline")[1:4] == ["3.00", "0 %", "3.00"]
    assert cells(text, "linear pipeline")[6:8] == ["no interval", "no estimate"]
    assert "12 tables, 3 tools: the ranks differ" in text
    assert "shown ahead of LightGBM, defaults, linear pipeline; shown behind none" in text
    assert "in every split: nowhere" in text


def test_a_default_booster_ahead_in_every_split_is_named():
    lines = [line("n0", s, "standard", 1.0) for s in range(3)]
    lines += [line("n0", s, "lightgbm", 0.9) for s in range(3)]
    lines += [line("n1", s, "standard", 1.0) for s in range(3)]
    lines += [line("n1", s, "lightgbm", v) for s, v in enumerate((0.8, 0.8, 1.01))]
    lost = next(x for x in summary(lines).splitlines() if x.startswith("Behind"))
    assert "n0 (pellucid, standard 11.1 % behind LightGBM" in lost
    assert "n1" not in lost


def test_a_tool_that_failed_is_last_and_its_error_is_on_the_page():
    lines = [line(f"n{i}", s, t, 1.0) for i in range(2) for s in range(3) for t in ("hgb",)]
    lines += [line(f"n{i}", s, "quick", 0.5) for i in range(2) for s in range(3)]
    lines[-1] = line("n1", 2, "quick", 0.0, error="ValueError: too bad")
    board = board_of(lines, "rmse")
    assert np.isnan(board.scores[1, board.tools.index("quick")])
    assert signed(board)[1].argmax() == board.tools.index("quick")
    assert cells(page(lines, []), "pellucid, quick")[-1] == "1"
    assert "n1, split 2, pellucid, quick: ValueError: too bad" in page(lines, [])


def test_a_table_that_nobody_could_learn_ranks_nobody():
    lines = canned()
    lines += [line("bad", 0, t, 0.0, error="x") for t in ("standard", "lightgbm", "linear")]
    assert "12 tables, 3 tools" in summary(lines)


def test_only_what_all_tools_have_met_is_compared():
    lines = [line("a", s, "quick", 1.0) for s in range(3)]
    lines += [line("a", 0, "hgb", 2.0), line("b", 0, "quick", 1.0)]
    board = board_of(lines, "rmse")
    assert board.tables == ["a"]
    np.testing.assert_array_equal(board.scores, [[1.0, 2.0]])
    assert np.isnan(board.each[0, :, 1:]).all()


def test_accuracy_is_better_when_it_is_more():
    lines = [line("c", 0, "quick", 0.9, kind="class"), line("c", 0, "hgb", 0.8, kind="class")]
    np.testing.assert_allclose(behind(board_of(lines, "accuracy")), [[0.0, 1 / 9]])


def test_an_interval_may_miss_by_no_more_than_the_chance_of_the_judged_rows():
    inside = line("a", 0, "quick", 1.05, own=[1.0, 0.9, 1.1])
    beside = line("a", 1, "quick", 1.1005, own=[1.0, 0.9, 1.1])
    outside = line("a", 2, "quick", 1.3, own=[1.0, 0.9, 1.1])
    found = honesty([inside, beside, outside], "quick")
    assert found["covers"] == pytest.approx(1 / 3)
    assert found["within"] == pytest.approx(2 / 3)
    assert found["too good"] == pytest.approx(100 * 0.1005 / 1.1005)
    bare = honesty([line("a", 0, "flaml", 1.0, own=[0.5, None, None])], "flaml")
    assert "covers" not in bare
    assert bare["within"] == 0.0
    assert not honesty([line("a", 0, "hgb", math.pi)], "hgb")
