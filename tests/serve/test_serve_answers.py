"""What a server answers is what the model says, to the bit."""

import io
import math

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal
from serve_client import Client
from sklearn.compose import make_column_transformer
from sklearn.pipeline import make_pipeline

import pellucid
from pellucid.serve.rows import ARROW
from pellucid.serve.running import served
from pellucid.study.saved.prediction import Application, Asked


@pytest.fixture(scope="module")
def mass(studied):
    with served(studied.mass) as address:
        yield Client(address)


@pytest.fixture(scope="module")
def sex(studied):
    with served(studied.sex) as address:
        yield Client(address)


@pytest.fixture(scope="module")
def forest():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    model = pellucid.RandomForestClassifier(n_estimators=20, random_state=0)
    model.fit(X, np.where(X[:, 0] * X[:, 1] > 0, "ja", "nein"))
    with served(model) as address:
        yield Client(address), model, X


def objects(frame, model):
    return frame.select(Application(model, Asked()).columns).to_dicts()


def in_arrow(client, frame, query=""):
    out = io.BytesIO()
    frame.write_ipc_stream(out)
    answer = client.ask("POST", f"/predict{query}", out.getvalue(), Content_Type=ARROW)
    assert answer.status == 200, answer.error
    assert answer.headers["content-type"] == ARROW
    return pl.read_ipc_stream(io.BytesIO(answer.body))


@pytest.mark.parametrize(
    ("which", "asked"),
    [
        ("mass", {}),
        ("mass", {"interval": 0.9}),
        ("sex", {"proba": True, "sets": 0.8}),
        ("sex", {"threshold": 0.7}),
    ],
)
def test_studies_answer_as_predict_does(request, studied, which, asked):
    client, model, table = request.getfixturevalue(which), getattr(studied, which), studied.table
    application = Application(model, Asked(**asked))
    wanted = application.answer(table.select(application.columns))
    answer = client.predict(objects(table, model), **asked)
    assert answer.status == 200, answer.error
    found = pl.DataFrame(answer.json["predictions"], schema=wanted.schema)
    assert_frame_equal(found, wanted, check_exact=True)
    query = "?" + "&".join(f"{k}={str(v).lower()}" for k, v in asked.items())
    assert_frame_equal(in_arrow(client, table, query), wanted, check_exact=True)
    one = client.predict(objects(table[:1], model), **asked).json["predictions"]
    assert one == application.answer(table[:1].select(application.columns)).to_dicts()


def test_a_model_without_names_takes_lists(forest):
    client, model, X = forest
    found = client.predict(X.tolist(), proba=True).json["predictions"]
    assert [one["prediction"] for one in found] == model.predict(X).tolist()
    P = np.array([[one["probability_ja"], one["probability_nein"]] for one in found])
    assert P.tobytes() == model.predict_proba(X).tobytes()
    frame = in_arrow(client, pl.DataFrame(X, schema=["a", "b", "c"]), "?proba=true")
    assert frame["probability_ja"].to_numpy().tobytes() == P[:, 0].tobytes()
    whole = client.predict([[1, 0, -1]]).json["predictions"]  # whole numbers are numbers
    assert whole == [{"prediction": model.predict([[1.0, 0.0, -1.0]])[0]}]
    assert client.predict([[1, 2]]).error == "a row holds 2 cells, 3 are needed"
    assert client.predict([{"a": 1}]).error == "the rows must be lists of numbers"
    assert "without names" in client.predict([[1, 2, 3]], columns=["a", "b", "c"]).error


def test_names_beside_lists(sex, studied):
    frame = studied.table[:5].select(Application(studied.sex, Asked()).columns)
    by_name = sex.predict(frame.to_dicts()).json
    assert sex.predict([list(row) for row in frame.rows()], columns=frame.columns).json == by_name
    turned = frame.select(frame.columns[::-1])
    assert sex.predict([list(r) for r in turned.rows()], columns=turned.columns).json == by_name
    assert "list of their names" in sex.predict([list(frame.row(0))]).error
    assert "twice" in sex.predict([[1, 2]], columns=["island", "island"]).error
    more = [row | {"unknown to the model": 1} for row in frame.to_dicts()]
    assert sex.predict(more).json == by_name


def test_pipelines_of_scikit_learn():
    import pandas

    rng = np.random.default_rng(1)
    frame = pandas.DataFrame(rng.normal(size=(50, 2)), columns=["u", "v"])
    scaled = make_column_transformer((pellucid.StandardScaler(), ["u", "v"]))
    model = make_pipeline(scaled, pellucid.Ridge()).fit(frame, frame["u"] * 3 + 1)
    with served(model) as address:
        client = Client(address)
        found = client.predict(frame.to_dict("records")).json["predictions"]
        said = np.array([one["prediction"] for one in found])
        assert said.tobytes() == model.predict(frame).tobytes()
        assert client.get("/schema").json["named"] is True


def test_the_form_of_the_answer_can_be_asked_for(forest):
    client, model, _ = forest
    body = b'{"rows": [[0, 0, 0]]}'
    answer = client.ask("POST", "/predict", body, Content_Type="application/json", Accept=ARROW)
    frame = pl.read_ipc_stream(io.BytesIO(answer.body))
    assert frame["prediction"].to_list() == model.predict([[0.0, 0.0, 0.0]]).tolist()


def test_schema_and_card(mass, sex, forest, studied):
    schema = mass.get("/schema").json
    assert schema["target"] == ["body_mass_g"]
    assert {"name": "island", "kind": "category"} in schema["columns"]
    assert schema["abilities"] == {
        "proba": False, "interval": True, "threshold": False, "sets": False,
    }  # fmt: skip
    assert sex.get("/schema").json["classes"] == ["female", "male"]
    assert forest[0].get("/schema").json["abilities"]["proba"] is True
    card = mass.get("/card").json
    assert card["study"]["metric"] == studied.mass.study_["metric"]
    assert card["study"]["score"]["estimate"] == studied.mass.study_["score"]["estimate"]
    text = mass.get("/schema").body + mass.get("/card").body
    assert b"Torgersen" not in text  # no cell of a training row


def test_openapi_says_what_the_server_does(sex, forest):
    document = sex.get("/openapi.json").json
    assert document["openapi"].startswith("3.1")
    for path, ways in document["paths"].items():
        for way in ways:
            status = sex.ask(way.upper(), path).status
            assert status == (415 if way == "post" else 200), path
    rows = document["components"]["schemas"]["Rows"]
    assert set(rows["properties"]) == {"rows", "proba", "threshold", "sets"}
    assert "island" in rows["properties"]["rows"]["items"]["required"]
    plain = forest[0].get("/openapi.json").json["components"]["schemas"]["Rows"]
    assert plain["properties"]["rows"]["items"]["type"] == "array"
    for refusal in ("400", "401", "408", "413", "415", "422", "500", "503"):
        assert refusal in document["paths"]["/predict"]["post"]["responses"]


@pytest.mark.filterwarnings("ignore::pellucid.data.DataWarning")  # as the command does
def test_strange_cells_are_counted(studied):
    rows = objects(studied.table[:4], studied.mass)
    rows[0]["bill_length_mm"] = 900.0
    rows[1]["island"] = "Atlantis"
    rows[2]["bill_depth_mm"] = None
    rows[3]["flipper_length_mm"] = "many"
    with served(studied.mass) as address:
        client = Client(address)
        assert client.predict(rows).status == 200
        assert client.predict([{}]).status == 422
        found = client.get("/drift").json
    at = found["columns"]
    gaps = sum(row["bill_depth_mm"] is None for row in rows)
    assert (found["requests"], found["answered"], found["refused"]) == (2, 1, 1)
    assert (found["rows"], found["failed"], found["busy"]) == (4, 0, 0)
    assert at["bill_length_mm"]["outside"] == 1
    assert at["island"]["unseen"] == 1
    assert (found["rows_unseen"], found["rows_outside"] >= 1) == (1, True)
    assert at["bill_depth_mm"]["missing"] == gaps
    assert at["bill_depth_mm"]["missing_share"] == gaps / 4
    assert at["flipper_length_mm"]["unread"] == 1
    column = studied.table["bill_depth_mm"]
    share = column.null_count() / len(column)
    assert math.isclose(at["bill_depth_mm"]["missing_share_in_training"], share, abs_tol=0.02)


def test_models_without_a_record_count_missing_cells():
    model = pellucid.HistGradientBoostingRegressor(max_iter=3)
    model.fit(np.arange(40.0).reshape(20, 2), np.arange(20.0))
    with served(model) as address:
        client = Client(address)
        assert client.predict([[1, None], [2, 3]]).status == 200
        found = client.get("/drift").json
    assert found["columns"]["x1"]["missing"] == 1
    assert found["columns"]["x1"]["missing_share_in_training"] is None


@pytest.mark.slow
def test_dates_and_words_as_in_a_file(tmp_path):
    """A row in JSON is read as the same row of a CSV file is."""
    rng = np.random.default_rng(3)
    day = pl.date_range(pl.date(2020, 1, 1), pl.date(2020, 6, 28), eager=True)
    n = len(day)
    x = rng.normal(size=n)
    y = 3 * x + 0.1 * rng.normal(size=n)
    kind = rng.choice(["a", "b"], n)
    frame = pl.DataFrame({"day": day.shuffle(seed=1), "x": x, "kind": kind, "y": y})
    path = tmp_path / "table.csv"
    frame.write_csv(path)
    model = pellucid.learn(path, "y", effort="quick").model
    application = Application(model, Asked())
    read = pellucid.data.load(path)
    wanted = application.answer(read.select(application.columns))
    rows = frame.with_columns(pl.col("day").cast(pl.String)).select(application.columns)
    with served(model) as address:
        found = Client(address).predict(rows.to_dicts()).json["predictions"]
    assert [one["prediction"] for one in found] == wanted["prediction"].to_list()
