"""``pellucid network``."""

import json

import pytest
from click.testing import CliRunner

from pellucid.cli.network import network
from pellucid.data import load_network


def run(*arguments):
    return CliRunner().invoke(network, list(arguments), catch_exceptions=False)


def test_posteriors_as_json():
    found = run(load_network("asia"), "--query", "lung,tub", "--given", "xray=yes,dysp=yes",
                "--json")  # fmt: skip
    record = json.loads(found.output)
    assert record["posteriors"]["lung"]["yes"] == pytest.approx(0.6212528, abs=1e-7)
    assert set(record["posteriors"]) == {"lung", "tub"}
    assert record["given"] == {"xray": "yes", "dysp": "yes"}


def test_setting_instead_of_seeing():
    path = load_network("asia")
    seen = json.loads(run(path, "--query", "smoke", "--given", "lung=yes", "--json").output)
    done = json.loads(run(path, "--query", "smoke", "--do", "lung=yes", "--json").output)
    assert seen["posteriors"]["smoke"]["yes"] == pytest.approx(0.05 / 0.055)
    assert done["posteriors"]["smoke"]["yes"] == pytest.approx(0.5)
    assert done["do"] == {"lung": "yes"}
    assert "P(dysp | do(lung=yes))" in run(path, "--query", "dysp", "--do", "lung=yes").output


def test_independence_and_the_open_path():
    found = run(load_network("asia"), "--d-separated", "asia", "smoke")
    assert "asia and smoke are independent" in found.output
    found = run(load_network("asia"), "--d-separated", "asia", "smoke", "--given", "dysp")
    assert "open path: asia -> tub -> either <- lung <- smoke" in found.output


def test_the_network_itself():
    found = run(load_network("child"))
    assert "20 variables, 25 edges, 230 free parameters" in found.output
    assert "Asy/Patch" in found.output
    assert run(load_network("child"), "--quiet").output == ""


def test_text_and_mistakes():
    found = run(load_network("child"), "--query", "Disease", "--given", "LowerBodyO2=<5")
    assert "P(Disease | LowerBodyO2=<5)" in found.output
    assert "0.04797166" in found.output
    with pytest.raises(ValueError, match="no variable 'lungs'"):
        run(load_network("asia"), "--query", "lungs")
    assert run(load_network("asia"), "--query", "lung", "--given", "xray").exit_code != 0
