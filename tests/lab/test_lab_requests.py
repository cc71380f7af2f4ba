"""What a request may hold: every refusal has its sentence, and what is just allowed passes."""

import pytest

from pellucid.lab.answering import LARGEST, LONGEST, parsed, settings_of, table_of, whole_number


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        ([], "data must be an object"),
        ({"Z": []}, "data must be an object"),
        ({"X": 3}, "X must be a list of rows"),
        ({"X": "ab"}, "X must be a list of rows"),
        ({"X": [1, 2]}, "X must be a list of rows"),
        ({"X": [[1], 2]}, "X must be a list of rows"),
        ({"X": [[1], [1, 2]]}, "must have the same length"),
        ({"X": [["a"]]}, "X must hold numbers between"),
        ({"X": [[True]]}, "X must hold numbers between"),
        ({"X": [[2 * LARGEST]]}, "X must hold numbers between"),
        ({"X": [[1]], "y": 1}, "y must be a list of numbers"),
        ({"X": [[1]], "y": [None]}, "y must hold numbers between"),
        ({"names": "ab"}, "names must be a list of words"),
        ({"names": ["a", 1]}, "names must be a list of words"),
        ({"X": [[1]], "held_out": True}, "held_out must have one true or false"),
        ({"X": [[1]], "held_out": [1]}, "held_out must have one true or false"),
        ({"X": [[1]], "held_out": [True, False]}, r"held_out must have one .* \(1\)"),
    ],
)
def test_tables_that_are_none_are_refused(value, sentence):
    with pytest.raises(ValueError, match=sentence):
        table_of(value)


def test_the_largest_table_passes():
    value = {"X": [[LARGEST, -LARGEST]], "y": [0], "names": ["a", "b"], "held_out": [True]}
    assert table_of(value) == value
    assert table_of({}) == {"X": []}


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        ([], "params must be an object"),
        ({"a": None}, "must be a number, a word or a switch"),
        ({"a": [1]}, "must be a number, a word or a switch"),
        ({"a" * (LONGEST + 1): 1}, "must be a number, a word or a switch"),
        ({"a": 2 * LARGEST}, "must be at most"),
        ({"a": -2 * LARGEST}, "must be at most"),
    ],
)
def test_settings_that_are_none_are_refused(value, sentence):
    with pytest.raises(ValueError, match=sentence):
        settings_of(value)


def test_settings_at_their_limits_pass():
    value = {"a" * LONGEST: LARGEST, "b": True, "c": "word"}
    assert settings_of(value) == value


@pytest.mark.parametrize("value", [True, 1.0, "1", -1, 8, None])
def test_numbers_outside_are_refused(value):
    with pytest.raises(ValueError, match="seed must be a whole number from 0 to 7"):
        whole_number(value, "seed", 7)
    assert (whole_number(0, "seed", 7), whole_number(7, "seed", 7)) == (0, 7)


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        (b"[", "is not JSON"),
        (b"[1]", "must be a JSON object"),
        (b'{"a": 1}', "has no field 'a'"),
        (b"\xff", "must be UTF-8"),
        (b"[" * 100_000, "nested too deeply"),
    ],
)
def test_requests_that_are_none_are_refused(body, sentence):
    with pytest.raises(ValueError, match=sentence):
        parsed(body)
