"""``groundtrail models``: what scripts read, what people are told, and that what was changed does not serve."""

import json

import pytest
from typer.testing import CliRunner

from services.cli.app import app
from services.common.adapters.encoders.grounding import open_grounding
from services.common.adapters.own_encoders.shelf import Shelf
from services.common.model_repository import ModelRepositoryError, open_repository
from services.common.settings.inference import InferenceSettings
from tests.fakes.own_encoders import BY_NAME, FOLDER, added, copied, settings

ROLES = ("GROUNDTRAIL_INFERENCE__GROUNDING_MODEL", "GROUNDTRAIL_INFERENCE__SECOND_READING__GROUNDING_MODEL")
"""By which a judge is active."""


@pytest.fixture
def call(tmp_path, monkeypatch):
    """Return what runs a command on a data directory of its own: exit code and JSON, or the text for people."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GROUNDTRAIL_STORE__DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("GROUNDTRAIL_INFERENCE__INTRA_OP_THREADS", "1")

    def run(*words, plain=False):
        result = CliRunner().invoke(app, ["models", *map(str, words), *([] if plain else ["--json"])])
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
        return result.exit_code, result.output if plain else json.loads(result.stdout)

    return run


def add(call, name, *more):
    fixture = BY_NAME[name]
    said = ["--template", fixture.expected["template"]] if fixture.expected["template"] else []
    said += [word for key, value in fixture.said.items() for word in (f"--{key}", value)]
    return call("add", fixture.source, "--as", fixture.role, *said, *more)


def test_a_model_is_added_listed_checked_and_removed(call, tmp_path):
    code, said = add(call, "bert", "--name", "mine", "--licence", "MIT", "--origin", "somebody")
    assert code == 0
    assert (said["name"], said["role"], said["calibrated"], said["licence"]) == ("mine", "entailment", False, "MIT")
    assert said["activate"] == "GROUNDTRAIL_INFERENCE__ENTAILMENT_MODEL=mine"
    assert (tmp_path / "data/models/mine/config.pbtxt").is_file()
    assert "somebody" in (tmp_path / "data/models/mine/README.md").read_text(encoding="utf-8")
    code, listed = call("list")
    models = {model["name"]: model for model in listed["models"]}
    assert code == 0
    assert {name: (one["own"], one["active"]) for name, one in models.items()} == {
        "embedder": (False, True), "grounding": (False, True), "injection": (False, True), "ner": (False, True),
        "nli": (False, True), "mine": (True, False),
    }  # fmt: skip
    assert models["mine"]["architecture"] == "BertForSequenceClassification"
    assert models["mine"]["fingerprint"].startswith("mine@1-uncalibrated+sha256:")
    code, checked = call("check", "mine")
    (found,) = checked["models"]
    assert code == 0
    assert found["ok"]
    assert found["golden_largest_difference"] < 1e-4
    assert found["milliseconds_alone"] > 0
    assert call("remove", "mine")[0] == 0
    assert [one["name"] for one in call("list")[1]["models"] if one["own"]] == []
    assert not (tmp_path / "data/models/mine").exists()


def test_a_name_is_given_once(call):
    assert add(call, "bert")[0] == 0
    code, said = add(call, "bert")
    assert (code, said["error"]["reason"]) == (2, "NAME_TAKEN")


@pytest.mark.parametrize("role", ROLES)
def test_an_active_model_is_not_removed(call, monkeypatch, role):
    add(call, "mpnet")
    monkeypatch.setenv(role, "mpnet")
    code, said = call("remove", "mpnet")
    assert code == 2
    assert f"set {role} to" in said["error"]["message"]


@pytest.mark.parametrize(
    "words", [("check", "none"), ("remove", "none"), ("remove", "nli"), ("calibrate", "x", "--model", "nli")]
)
def test_a_model_that_is_not_there_is_not_found(call, words):
    code, said = call(*words)
    assert (code, said["error"]["reason"]) == (4, "MODEL_UNKNOWN")


def test_a_refusal_is_a_sentence_for_people(call, tmp_path):
    folder = copied(tmp_path, "bert")
    (folder / "model.onnx").rename(folder / "pytorch_model.bin")
    code, said = call("add", folder, "--as", "entailment", plain=True)
    assert code == 2
    assert "pickle" in said
    assert "Traceback" not in said


def test_what_does_not_say_how_long_it_reads_has_to_be_told(call, tmp_path):
    folder = copied(tmp_path, "t5")
    (folder / "tokenizer_config.json").unlink()
    code, said = call("add", folder, "--as", "grounding")
    assert (code, said["error"]["reason"]) == (2, "MAX_TOKENS_UNKNOWN")
    assert call("add", folder, "--as", "grounding", "--max-tokens", 256, "--name", "t5")[0] == 0


def test_a_template_whose_parts_run_together_is_refused(call):
    template = "<s>the{premise}</s>{hypothesis}</s>"
    code, said = call("add", BY_NAME["mpnet"].source, "--as", "grounding", "--template", template)
    assert (code, said["error"]["reason"]) == (2, "TOKENS_DIFFER")


def pairs(path, count=80):
    lines = (
        {"premise": f"Rule {n}: guests pay {n} EUR.", "hypothesis": f"Guests pay {n + n % 2} EUR.", "label": n % 2 == 0}
        for n in range(count)
    )
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


def test_a_model_is_evaluated_and_calibrated(call, tmp_path):
    add(call, "mpnet")
    file = pairs(tmp_path / "pairs.jsonl")
    code, said = call("evaluate", file, "--model", "mpnet")
    assert (code, said["rows"], said["calibrated"]) == (0, 80, False)
    for judge in (said["judge"], said["encoder"]):
        low, high = judge["auroc_interval"]
        assert low <= judge["auroc"] <= high
        assert 0.0 <= judge["calibration_error"] <= 1.0
    assert any("intervals are wide" in warning for warning in said["warnings"])
    code, fitted = call("calibrate", file, "--model", "mpnet")
    assert code == 0
    assert fitted["measured_on_held_out_folds"]["rows"] == 80
    telling = fitted["measured_on_held_out_folds"]["after"]["auroc"] >= 0.6
    assert any("hardly tells these pairs apart" in warning for warning in fitted["warnings"]) is not telling
    code, after = call("evaluate", file, "--model", "mpnet")
    assert after["calibrated"]
    assert after["model"] == fitted["model"]
    assert call("check", "mpnet")[0] == 0


def test_wording_that_gives_labels_away_is_warned_of(call, tmp_path):
    add(call, "mpnet")
    file = tmp_path / "pairs.jsonl"
    rows = (
        {"premise": f"P {n}", "hypothesis": "surely so" if n % 2 else "never so", "label": bool(n % 2)}
        for n in range(60)
    )
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    _, said = call("evaluate", file, "--model", "mpnet")
    assert said["claim_only_auroc"] > 0.9
    assert any("gives its labels away" in warning for warning in said["warnings"])


def test_the_delivered_model_is_evaluated_by_default(call, tmp_path):
    code, said = call("evaluate", pairs(tmp_path / "pairs.jsonl", 12))
    assert code == 0
    assert said["model"].startswith("grounding@")
    assert said["calibrated"]


def test_people_see_a_table_of_what_was_measured(call, tmp_path):
    add(call, "bert")
    file = tmp_path / "pairs.jsonl"
    rows = [("entailment", "neutral", "contradiction")[n % 3] for n in range(12)]
    lines = ({"premise": f"P {n}", "hypothesis": f"h {n}", "label": label} for n, label in enumerate(rows))
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    code, said = call("evaluate", file, "--model", "bert", plain=True)
    assert code == 0
    assert "accuracy of three classes" in said
    assert "warning: only" in said


@pytest.mark.parametrize("spoilt", ["1/model.onnx", "tokenizer.json", "config.pbtxt", "golden.json", "combiner.json"])
async def test_a_file_that_was_changed_stops_the_start(tmp_path, spoilt):
    shelf, entry = added(tmp_path, "mpnet")
    path = shelf.root / entry.name / spoilt
    path.write_bytes(path.read_bytes() + b" ")
    with pytest.raises(ModelRepositoryError, match="is not the pinned file"):
        await open_grounding(settings(shelf, grounding_model=entry.name))


async def test_other_weights_that_somebody_pinned_are_found_by_the_golden_answers(tmp_path):
    shelf, entry = added(tmp_path, "mpnet")
    golden = shelf.root / entry.name / "golden.json"
    value = json.loads(golden.read_text(encoding="utf-8"))
    value["cases"][0]["outputs"]["logits"][0] += 0.5
    golden.write_text(json.dumps(value), encoding="utf-8")
    repinned(shelf, entry)
    with pytest.raises(ModelRepositoryError, match=r"golden pair 0 gets logits 0\.5 away"):
        await open_grounding(settings(shelf, grounding_model=entry.name, load="start"))


async def test_another_tokenisation_is_found_by_the_golden_pairs(tmp_path):
    shelf, entry = added(tmp_path, "mpnet")
    path = shelf.root / entry.name / "tokenizer.json"
    value = json.loads(path.read_text(encoding="utf-8"))
    value["normalizer"]["lowercase"] = False
    path.write_text(json.dumps(value), encoding="utf-8")
    repinned(shelf, entry)
    with pytest.raises(ModelRepositoryError, match="tokenised in another way"):
        await open_grounding(settings(shelf, grounding_model=entry.name))


def repinned(shelf, entry):
    """Pin the files as they are, as somebody might who means it."""
    from services.common.adapters.own_encoders.shelf import described

    shelf.list_anew(
        {entry.name: entry.model_copy(update={"files": described(shelf.root / entry.name, "combiner.json")})}
    )


def test_two_models_of_one_name_stop_the_start(tmp_path):
    shelf, entry = added(tmp_path, "bert")
    shelf.list_anew({"nli": entry.model_copy(update={"name": "nli"})})
    with pytest.raises(ModelRepositoryError, match="both hold a model nli"):
        open_repository(InferenceSettings(own_models=shelf.root))


def test_what_a_crash_left_is_cleared_away_and_replaced(tmp_path):
    shelf = Shelf(tmp_path / "models")
    (shelf.root / ".adding-old" / "bert").mkdir(parents=True)
    (shelf.root / "bert").mkdir()
    (shelf.root / "bert" / "half").write_text("x", encoding="utf-8")
    shelf, entry = added(tmp_path, "bert")
    assert {path.name for path in shelf.root.iterdir()} == {".lock", "MANIFEST.json", "bert"}
    assert not (shelf.root / "bert" / "half").exists()
    assert open_repository(settings(shelf)).verified(entry.name) == entry


@pytest.mark.parametrize("role", ROLES)
def test_doctor_says_that_an_active_model_is_not_calibrated(call, monkeypatch, role):
    add(call, "mpnet")
    monkeypatch.setenv(role, "mpnet")
    result = CliRunner().invoke(app, ["doctor", "--json"])
    findings = [one for one in json.loads(result.stdout)["findings"] if one["check"] == "weights"]
    assert [one["level"] for one in findings] == ["ok", "warning"]
    assert "mpnet" in findings[1]["detail"]
    assert "calibrate" in findings[1]["advice"]


def test_fixtures_are_small():
    assert all(path.stat().st_size < 110_000 for path in FOLDER.rglob("*") if path.is_file())


def test_no_name_of_the_list_is_broken_at_80_columns(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    lines = CliRunner().invoke(app, ["models", "list"]).output.splitlines()
    assert {"entity_recognition", "all-MiniLM-L6-v2,", "calibrated"} <= set(" ".join(lines).split())
    assert max(map(len, lines)) <= 80
