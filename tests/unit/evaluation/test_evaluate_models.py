"""``python -m tools.evaluate_models`` on hand-made data: figures that can be worked out, pages, and what it refuses."""

import gzip
import hashlib
import json
import math
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from evaluation import grounding_scores
from evaluation.grounding_columns import columns_of
from evaluation.labelled import LabelledClaim
from evaluation.peers import read_peers
from services.common.grounding.combiner import parse_combiner
from services.common.ports.grounding import GroundingVerdict
from tests.fakes.evaluated_models import ScriptedModels
from tests.fakes.tiny_encoders import TinyEncoder, write_repository
from tools.evaluate_models import run
from training.synthetic_spans import synthetic_claims

PAIRS = [
    {"premise": "p", "hypothesis": "0.8/0.1/0.1 right", "label": "entailment", "origin": "one"},
    {"premise": "p", "hypothesis": "0.6/0.3/0.1 wrong", "label": "neutral", "origin": "one"},
    {"premise": "p", "hypothesis": "0.2/0.7/0.1 right", "label": "neutral", "origin": "one"},
    {"premise": "p", "hypothesis": "0.05/0.0/0.95 very wrong", "label": "entailment", "origin": "one"},
    {"premise": "p", "hypothesis": "0.1/0.1/0.8 right", "label": "contradiction", "origin": "clcd_x"},
    {"premise": "p", "hypothesis": "0.3/0.6/0.1 right", "label": "not_contradiction", "origin": "clcd_x"},
    {"premise": "p", "hypothesis": "0.3/0.6/0.1 wrong", "label": "contradiction", "origin": "clcd_x"},
]


def claim(number, text, supported, fold="report", **more):
    row = {"id": f"set-{number}", "dataset": "set", "kind": "claim", "context": ["a b c d."], "claim": text}
    return row | {"supported": supported, "fold": fold} | more


CLAIMS = [
    claim(1, "a b d.", True, spans=[]),  # overlap 1, encoder 1, both 1
    claim(2, "a b c", True),  # overlap 1, encoder 0, both 1/2
    claim(3, "a x d.", False, spans=[{"start": 2, "end": 3, "type": "x"}]),  # overlap 2/3, encoder 1, both 5/6
    claim(4, "x y", False, spans=[{"start": 0, "end": 3, "type": "x"}], context=[]),  # overlap 0, none, both 0
    claim(5, "a b", True, fold="calibrate"),
    claim(6, "a x", False, fold="calibrate"),
    claim(7, "a b", True, fold="fit"),
]
WIKIGOLD = [{"tokens": ["We", "met", "Ann", "Lee", "."], "tags": ["O", "O", "I-PER", "I-PER", "O"]}]
PERSONAL = [
    {"text": "Call Ann on 5", "spans": [{"start": 5, "end": 8, "type": "PERSON"}]},
]


LINEAR = {
    "means": [0.5],
    "scales": [0.5],
    "weights": [2.0],
    "bias": 0.0,
    "calibration": {"raw": [0.0, 1.0], "calibrated": [0.0, 1.0]},
}
COMBINER = {
    "schema_version": 1,
    "windows": {"premise_tokens": 64, "max_windows": 2},
    "spans": {"threshold": 0.5},
    "signals": LINEAR | {"names": ["token_recall"], "threshold": 0.6},
    "both": LINEAR | {"names": ["encoder_support"], "threshold": 0.4},
    "fitted_on": {},
}


def write(path, rows):
    path.parent.mkdir(exist_ok=True)
    with gzip.open(path, "wt", encoding="utf-8") as sink:
        sink.writelines(json.dumps(row) + "\n" for row in rows)


@pytest.fixture(autouse=True)
def few_draws(monkeypatch):
    monkeypatch.setattr(grounding_scores, "RESAMPLES", 40)


@pytest.fixture
def data(tmp_path, monkeypatch):
    folder = tmp_path / "data"
    folder.mkdir()
    write(folder / "nli/dev.jsonl.gz", PAIRS)
    write(folder / "grounding/dev.jsonl.gz", CLAIMS)
    write(folder / "ner/wikigold_dev.jsonl.gz", WIKIGOLD)
    write(folder / "pii/dev.jsonl.gz", PERSONAL)
    monkeypatch.setenv("GROUNDTRAIL_EVAL_DATA", str(folder))
    return folder


@pytest.fixture
def measured(data, capsys):
    assert run(["--json"], ScriptedModels()) == 0
    return json.loads(capsys.readouterr().out)["models"]


def by(rows, *names):
    return {tuple(row[name] for name in names): row for row in rows}


class TestEntailment:
    def test_accuracy_macro_f1_and_recalls_per_origin(self, measured):
        one = by(measured["nli"]["result"]["origins"], "origin")["one",]
        assert (one["rows"], one["accuracy"], one["recalls"]) == (4, 0.5, [0.5, 0.5, None])
        # entailment: precision 1/2, recall 1/2; neutral: precision 1, recall 1/2; contradiction does not occur
        assert one["macro_f1"] == pytest.approx((1 / 2 + 2 / 3) / 2, abs=1e-4)
        assert one["interval"] == pytest.approx([0.15, 0.85], abs=0.001)

    def test_an_origin_with_two_classes_is_scored_on_contradiction_alone(self, measured):
        two = by(measured["nli"]["result"]["origins"], "origin")["clcd_x",]
        assert two["classes"] == ["not_contradiction", "contradiction"]
        assert (two["accuracy"], two["recalls"]) == (pytest.approx(2 / 3, abs=1e-4), [1.0, 0.5])

    def test_two_class_origins_take_no_part_in_the_calibration(self, measured):
        before, after = measured["nli"]["result"]["calibration"]
        assert (before["name"], after["name"]) == ("before temperature", "after temperature")
        assert before["rows"] == after["rows"] == 4
        # four bins: .6 wrong, .7 right, .8 right, .95 wrong
        assert after["equal_mass"] == pytest.approx((0.6 + 0.3 + 0.2 + 0.95) / 4)

    def test_a_limit_takes_the_first_rows_of_each_origin_and_keeps_its_classes(self, data, capsys):
        assert run(["nli", "--limit", "1", "--json"], ScriptedModels(temperature=None)) == 0
        model = json.loads(capsys.readouterr().out)["models"]["nli"]
        origins = by(model["result"]["origins"], "origin")
        assert (origins["clcd_x",]["rows"], origins["clcd_x",]["classes"][1]) == (1, "contradiction")
        assert (model["limit"], [one["name"] for one in model["result"]["calibration"]]) == (1, ["after temperature"])


class TestGrounding:
    def test_three_columns_on_the_fold_report(self, measured):
        found = by(measured["grounding"]["result"]["results"], "dataset", "system")
        rows = {system: found["set", system] for system in ("surface features", "encoder", "both")}
        assert {name: (row["rows"], row["unsupported"]) for name, row in rows.items()} == dict.fromkeys(rows, (4, 2))
        assert [row["auroc"] for row in rows.values()] == [1.0, 0.5, 0.75]
        assert [row["balanced_accuracy"] for row in rows.values()] == [1.0, 0.5, 0.75]

    def test_a_missing_threshold_is_the_best_one_on_the_fold_calibrate(self, measured):
        assert measured["grounding"]["result"]["thresholds"] == {"surface features": 1.0, "encoder": 0.5, "both": 0.5}

    def test_warnings_are_about_what_is_not_supported(self, measured):
        both = by(measured["grounding"]["result"]["results"], "dataset", "system")["set", "both"]
        assert (both["precision"], both["recall"]) == (1.0, 0.5)

    def test_the_gain_is_both_minus_surface(self, measured):
        gains = by(measured["grounding"]["result"]["gains"], "dataset")
        assert gains["set",]["auroc"] == -0.25
        assert gains["mean over the sets",]["balanced_accuracy"] == -0.25
        assert gains["set",]["auroc_interval"][0] < 0

    def test_spans_by_characters_and_by_example(self, measured):
        found = by(measured["grounding"]["spans"], "dataset", "counted")
        # row 3: "x" is found and true; row 4: "x" and "y" are found, "x y" is true
        characters = found["set", "characters"]
        assert (characters["rows"], characters["precision"], characters["recall"]) == (3, 1.0, 0.75)
        assert found["set", "examples, by any span"]["f1"] == 1.0
        assert found["set", "examples, by verdict"]["recall"] == 0.5

    @pytest.fixture
    def without_folds(self, tmp_path):
        write(tmp_path / "x/test.jsonl.gz", [{name: row[name] for name in row if name != "fold"} for row in CLAIMS])
        return tmp_path / "x/test.jsonl.gz"

    def test_a_file_without_folds_is_reported_whole_and_lacks_a_threshold(self, without_folds, monkeypatch, capsys):
        monkeypatch.delenv("GROUNDTRAIL_EVAL_DATA", raising=False)
        assert run(["--grounding", str(without_folds), "--json"], ScriptedModels()) == 0
        models = json.loads(capsys.readouterr().out)["models"]
        assert list(models) == ["grounding"]
        found = by(models["grounding"]["result"]["results"], "dataset", "system")
        assert found["set", "both"]["rows"] == 7
        assert found["set", "surface features"]["balanced_accuracy"] is None
        assert found["set", "surface features"]["auroc"] is not None

    def test_a_file_without_folds_takes_the_missing_threshold_from_the_folder(self, data, without_folds, capsys):
        assert run(["--grounding", str(without_folds), "--json"], ScriptedModels()) == 0
        result = json.loads(capsys.readouterr().out)["models"]["grounding"]["result"]
        assert result["thresholds"]["surface features"] == 1.0
        assert by(result["results"], "dataset", "system")["set", "both"]["rows"] == 7

    def test_only_report_and_calibrate_are_judged(self, data, capsys):
        models = ScriptedModels()
        assert run(["grounding", "--json"], models) == 0
        assert [request.claim for request in models.grounding_model.requests] == [
            *("a b d.", "a b c", "a x d.", "x y"),
            *("a b", "a x"),
        ]


class TestColumns:
    """The columns of a real combiner file, with features that can be added up by hand."""

    def columns(self):
        return columns_of(parse_combiner(json.dumps(COMBINER)))

    def test_each_reads_its_own_part_of_the_verdict(self):
        verdict = GroundingVerdict(0.3, False, 0.7, (("token_recall", 1.0),), (), (0,))
        # (1 - 0.5) / 0.5 * 2 = 2
        expected = {"surface features": 1 / (1 + math.exp(-2.0)), "encoder": 0.7, "both": 0.3}
        assert {one.name: one.score(verdict) for one in self.columns()} == pytest.approx(expected)

    def test_thresholds_are_the_combiners_and_the_encoder_has_none(self):
        assert [one.threshold for one in self.columns()] == [0.6, None, 0.4]

    def test_with_nothing_read_the_encoder_supports_nothing(self):
        verdict = GroundingVerdict(0.0, False, None, (("token_recall", 0.0),), (), ())
        assert self.columns()[1].score(verdict) == 0.0


class TestRepositoryModels:
    """The real adapters over tiny encoders: ``yes`` entails and supports with a logit of 4, other words are neutral."""

    @pytest.fixture
    def repository(self, tmp_path, monkeypatch):
        root = tmp_path / "repository"
        root.mkdir()
        entailment = TinyEncoder(temperature=2.0)
        write_repository(root, entailment, TinyEncoder(name="grounding", kind="grounding", max_tokens=256))
        combiner = json.dumps(COMBINER).encode()
        (root / "grounding/combiner.json").write_bytes(combiner)
        manifest = json.loads((root / "MANIFEST.json").read_text(encoding="utf-8"))
        pinned = {"bytes": len(combiner), "sha256": hashlib.sha256(combiner).hexdigest()}
        manifest["models"][1]["files"].append({"path": "combiner.json", "role": "combiner"} | pinned)
        (root / "MANIFEST.json").write_text(json.dumps(manifest), encoding="utf-8")
        monkeypatch.setenv("GROUNDTRAIL_INFERENCE__MODEL_REPOSITORY", str(root))
        monkeypatch.setenv("GROUNDTRAIL_INFERENCE__INTRA_OP_THREADS", "1")

    def test_entailment_undoes_the_temperature_of_the_manifest(self, repository, tmp_path, capsys):
        pair = {"premise": "w1 yes", "hypothesis": "w2", "label": "entailment", "origin": "x"}
        write(tmp_path / "x/pairs.jsonl.gz", [pair])
        assert run(["--nli", str(tmp_path / "x/pairs.jsonl.gz"), "--json"]) == 0
        model = json.loads(capsys.readouterr().out)["models"]["nli"]
        assert (model["backend"], model["result"]["temperature"]) == ("onnx", 2.0)

        def largest(temperature):
            return math.exp(4 / temperature) / sum(math.exp(z / temperature) for z in (4, 1, 0))

        confidences = [one["bins"][0]["confidence"] for one in model["result"]["calibration"]]
        assert confidences == pytest.approx([largest(1.0), largest(2.0)], abs=1e-4)

    def test_grounding_reads_the_combiner_of_the_repository(self, repository, tmp_path, monkeypatch, capsys):
        monkeypatch.delenv("GROUNDTRAIL_EVAL_DATA", raising=False)
        rows = [claim(1, "w1 yes .", True, context=["w1 w2 ."]), claim(2, "w3 w4 .", False, context=["w1 w2 ."])]
        write(tmp_path / "x/claims.jsonl.gz", rows)
        assert run(["--grounding", str(tmp_path / "x/claims.jsonl.gz"), "--json"]) == 0
        result = json.loads(capsys.readouterr().out)["models"]["grounding"]["result"]
        assert result["thresholds"] == {"surface features": 0.6, "encoder": None, "both": 0.4}
        found = by(result["results"], "dataset", "system")
        assert (found["set", "encoder"]["auroc"], found["set", "both"]["auroc"]) == (1.0, 1.0)

    def test_a_model_that_is_not_there_names_the_command_that_makes_it(self, tmp_path, monkeypatch, capsys):
        (tmp_path / "MANIFEST.json").write_text('{"schema_version": 1, "models": []}', encoding="utf-8")
        monkeypatch.setenv("GROUNDTRAIL_INFERENCE__MODEL_REPOSITORY", str(tmp_path))
        write(tmp_path / "x/pairs.jsonl.gz", PAIRS)
        assert run(["--nli", str(tmp_path / "x/pairs.jsonl.gz")]) == 1
        assert "python -m training.nli" in capsys.readouterr().err


class TestSyntheticSpans:
    TEXT = "The bridge of Ulm was opened in 1913 by the mayor of the town."
    MORE = "In 1850 the town of Gera opened a bridge."

    def made(self, *rows, limit=None):
        return synthetic_claims([LabelledClaim(*row) for row in rows], limit)

    def row(self, text, supported=True):
        return ("1", "set", (text, self.MORE), text, None, supported, "report", None)

    def test_a_supported_claim_comes_as_it_was_and_changed_in_the_span(self):
        was, changed = self.made(self.row(self.TEXT))
        assert (was.claim, was.supported, was.spans, was.dataset) == (self.TEXT, True, (), "synthetic")
        assert (changed.supported, changed.dataset, changed.passages) == (False, "synthetic", was.passages)
        assert changed.claim != self.TEXT
        assert changed.spans
        outside = "".join(
            character
            for place, character in enumerate(changed.claim)
            if not any(start <= place < end for start, end in changed.spans)
        )
        kept = iter(self.TEXT)
        assert all(character in kept for character in outside), "text outside the spans was changed"

    def test_the_same_claims_give_the_same_contrasts(self):
        assert self.made(self.row(self.TEXT)) == self.made(self.row(self.TEXT))

    def test_short_answers_and_unsupported_claims_are_left_out_and_the_limit_counts_pairs(self):
        assert self.made(self.row("In 1913."), self.row(self.TEXT, supported=False)) == []
        assert len(self.made(self.row(self.TEXT), self.row(self.TEXT), limit=1)) == 2


class TestEntities:
    def test_exact_spans_on_both_sets(self, measured):
        found = by(measured["ner"]["result"], "dataset", "kind")
        # the memory recogniser knows OTHER and numbers alone
        assert found["wikigold", "PER"]["entities"] == 1
        person = found["synthetic personal data", "PERSON"]
        assert [person[name] for name in ("entities", "precision", "recall", "f1")] == [1, 0.0, 0.0, 0.0]


class TestOutput:
    def test_tables_name_model_data_and_peers(self, data, capsys):
        assert run([], ScriptedModels()) == 0
        out = capsys.readouterr().out
        for text in ("scripted-nli@1+sha256:0, memory, nli/dev.jsonl.gz", "Accuracy per origin", "LettuceDetect-large"):
            assert text in out

    def test_the_most_confident_mistakes_come_first_and_are_bounded(self, data, tmp_path):
        target = tmp_path / "errors.jsonl"
        assert run(["nli", "grounding", "--errors", str(target), "--worst", "1"], ScriptedModels()) == 0
        found = [json.loads(line) for line in target.read_text(encoding="utf-8").splitlines()]
        assert [(one["task"], one["set"]) for one in found] == [("nli", "one"), ("nli", "clcd_x"), ("grounding", "set")]
        assert found[0]["hypothesis"].endswith("very wrong")
        assert (found[0]["judged"], found[0]["label"]) == ("contradiction", "entailment")
        assert (found[2]["claim"], found[2]["passages_read"]) == ("a x d.", ["a b c d."])

    def test_diagrams_are_svg_and_the_same_bytes_every_time(self, data, tmp_path):
        for name in ("one", "two"):
            assert run(["nli", "grounding", "--out", str(tmp_path / name)], ScriptedModels()) == 0
        drawn = sorted(path.name for path in (tmp_path / "one").iterdir())
        assert drawn == ["grounding-reliability.svg", "nli-reliability.svg"]
        for name in drawn:
            assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()
        picture = ET.parse(tmp_path / "one" / "nli-reliability.svg")
        space = {"svg": "http://www.w3.org/2000/svg"}
        assert len(picture.findall(".//svg:polyline", space)) == 2
        assert len(picture.findall(".//svg:circle", space)) == 8

    def test_saving_keeps_what_other_runs_measured(self, data, tmp_path):
        target = tmp_path / "results.json"
        assert run(["nli", "--save", str(target)], ScriptedModels()) == 0
        assert run(["grounding", "--save", str(target)], ScriptedModels()) == 0
        saved = json.loads(target.read_text(encoding="utf-8"))
        assert (saved["schema_version"], list(saved["models"])) == (1, ["grounding", "nli"])


class TestPages:
    PAGE = "# x\n\n<!-- begin nli accuracy -->\nold\n<!-- end nli accuracy -->\n\nrest\n"

    @pytest.fixture
    def results(self, data, tmp_path):
        target = tmp_path / "results" / "models.json"
        assert run(["nli", "--save", str(target), "--out", str(target.parent)], ScriptedModels()) == 0
        return target

    def rewrite(self, tmp_path, results, page, *more):
        target = tmp_path / "page.md"
        target.write_text(page, encoding="utf-8")
        status = run(["--markdown", str(target), "--results", str(results), *more], ScriptedModels())
        return status, target.read_text(encoding="utf-8")

    def test_a_table_stands_between_its_markers_and_the_rest_stays(self, tmp_path, results):
        status, page = self.rewrite(tmp_path, results, self.PAGE)
        assert status == 0
        assert page.startswith("# x\n\n<!-- begin nli accuracy -->\n\n| origin | pairs | accuracy |")
        assert "| one | 4 | 0.500 | 0.150 to 0.850 | 0.583 | 0.500 | 0.500 | - | - |" in page
        assert page.endswith("<!-- end nli accuracy -->\n\nrest\n")
        assert "old" not in page

    def test_a_second_time_changes_nothing_and_check_says_so(self, tmp_path, results, capsys):
        _, page = self.rewrite(tmp_path, results, self.PAGE)
        assert self.rewrite(tmp_path, results, page, "--check") == (0, page)
        stale = page.replace("0.500", "0.900", 1)
        assert self.rewrite(tmp_path, results, stale, "--check") == (1, stale)
        assert "stale" in capsys.readouterr().out

    def test_what_was_not_measured_names_the_command(self, tmp_path, results):
        page = "<!-- begin grounding sets -->\n<!-- end grounding sets -->"
        _, page = self.rewrite(tmp_path, results, page)
        assert "No results of `grounding` yet: `python -m tools.evaluate_models --save` measures it." in page

    def test_a_diagram_is_linked_relative_to_the_page(self, tmp_path, results):
        _, page = self.rewrite(tmp_path, results, "<!-- begin nli plot -->\n<!-- end nli plot -->")
        assert "(results/nli-reliability.svg)" in page

    def test_our_figure_stands_among_the_peers_and_is_told_apart(self, tmp_path, results):
        saved = json.loads(results.read_text(encoding="utf-8"))
        saved["models"]["nli"]["result"]["origins"][0]["origin"] = "snli"
        results.write_text(json.dumps(saved), encoding="utf-8")
        _, page = self.rewrite(tmp_path, results, "<!-- begin peers snli -->\n<!-- end peers snli -->")
        assert "| Groundtrail nli | - | 0.667 | measured here | 3 rows of nli/dev.jsonl.gz |" in page
        assert "Not the same:" in page

    @pytest.mark.parametrize(
        ("page", "message"),
        [
            ("<!-- begin nli accuracy -->\nx\n", "has no `<!-- end"),
            ("<!-- begin nli accuracies -->\n<!-- end nli accuracies -->", "has no table accuracies; it has: accuracy"),
        ],
        ids=["not closed", "no such table"],
    )
    def test_a_wrong_marker_is_refused(self, tmp_path, results, capsys, page, message):
        assert self.rewrite(tmp_path, results, page) == (1, page)
        assert message in capsys.readouterr().err


class TestPipeline:
    CLAIMS = (
        claim(1, "q =0.8", True, context=["=0.8"]),
        claim(2, "=0.9 =0.4", True, context=["=0.9 =0.4"]),
        claim(3, "v q", False, context=["v q"]),
        claim(4, "=0.6", False, context=[]),
        claim(5, "", False, context=[]),
        claim(6, "=0.1 .", True, fold="calibrate"),
        claim(7, "=0.1", False, fold="calibrate"),
    )

    @pytest.fixture
    def found(self, data, capsys):
        write(data / "grounding/dev.jsonl.gz", [one for one in self.CLAIMS if one["claim"]])
        assert run(["pipeline", "--json"], ScriptedModels()) == 0
        return json.loads(capsys.readouterr().out)["models"]["pipeline"]

    def test_the_least_supported_claim_speaks_for_the_text(self, found):
        one = by(found["result"]["results"], "dataset", "system")["set", "whole engine"]
        # supports .8, .4, .9 / 2 for the value that differs, and .6, at the threshold .5, labels yes, yes, no, no
        assert (one["rows"], one["balanced_accuracy"], one["auroc"]) == (4, 0.5, 0.5)
        assert (one["precision"], one["recall"], one["f1"]) == (0.5, 0.5, 0.5)

    def test_the_model_alone_stands_beside_it_and_is_what_the_gain_is_over(self, found):
        one = by(found["result"]["results"], "dataset", "system")["set", "grounding alone"]
        # overlap 1/2, 1, 1 and 0, no claim ends in a full stop: support 1/4, 1/2, 1/2, 0
        assert one["balanced_accuracy"] == 0.5
        (gain, _) = found["result"]["gains"]
        assert gain["balanced_accuracy"] == 0.0
        assert found["result"]["thresholds"].keys() == {"encoder alone", "grounding alone", "whole engine"}

    def test_findings_are_held_against_the_labels_of_whole_texts(self, found):
        (kind,) = found["flagged"]
        assert kind == {
            "what": "3b, NUMBER_CHANGED", "texts": 1, "unsupported": 1, "of": 2, "precision": 1.0, "recall": 0.5,
        }  # fmt: skip
        assert by(found["decided"], "basis")["SUPPORTED, QUOTATION",] == {
            "basis": "SUPPORTED, QUOTATION", "supported": 1, "unsupported": 1,
        }  # fmt: skip
        assert found["without_verdict"] == 0

    def test_tables_diagram_and_mistakes(self, data, tmp_path, capsys):
        write(data / "grounding/dev.jsonl.gz", [one for one in self.CLAIMS if one["claim"]])
        errors = tmp_path / "errors.jsonl"
        status = run(["pipeline", "--out", str(tmp_path), "--errors", str(errors)], ScriptedModels())
        assert status == 0
        shown = capsys.readouterr().out
        assert all(part in shown for part in ("whole engine", "3b, NUMBER_CHANGED", "CONTRADICTED, VALUE_CONFLICT"))
        assert (tmp_path / "pipeline-reliability.svg").is_file()
        wrong = [json.loads(line) for line in errors.read_text(encoding="utf-8").splitlines()]
        assert [(one["id"], one["label"]) for one in wrong] == [("set-2", "supported"), ("set-4", "not supported")]

    def test_it_is_measured_only_when_it_is_named(self, measured):
        assert measured.keys() == {"nli", "grounding", "ner"}

    def test_another_fold_is_checked_in_place_of_report(self, data, capsys):
        others = [claim(6, "=0.9", True, fold="calibrate"), claim(7, "=0.1", False, fold="calibrate")]
        write(data / "grounding/dev.jsonl.gz", [self.CLAIMS[0], *others])
        assert run(["pipeline", "--fold", "calibrate", "--json"], ScriptedModels()) == 0
        found = json.loads(capsys.readouterr().out)["models"]["pipeline"]
        one = by(found["result"]["results"], "dataset", "system")["set", "whole engine"]
        assert (one["rows"], one["auroc"]) == (2, 1.0)
        assert run(["pipeline", "--fold", "fit"], ScriptedModels()) == 1
        assert "no claim of fold fit: there is nothing to report on" in capsys.readouterr().err

    def test_only_the_fold_report_is_saved(self, data, tmp_path, capsys):
        with pytest.raises(SystemExit):
            run(["pipeline", "--fold", "calibrate", "--save", str(tmp_path / "r.json")], ScriptedModels())
        assert "--save keeps figures of the fold report alone" in capsys.readouterr().err


class TestWhatIsDelivered:
    ROOT = Path(__file__).resolve().parents[3]

    def test_the_pages_say_what_the_results_file_says(self, monkeypatch):
        monkeypatch.chdir(self.ROOT)
        assert run(["--markdown", "--check"]) == 0

    def test_every_figure_of_a_peer_has_a_source_and_says_who_measured_it(self):
        figures = [figure for one in read_peers() for figure in one.figures]
        assert len(figures) > 20
        assert [one.system for one in figures if not 0 < one.value < 1 or not one.source] == []
        assert {one.note.partition(",")[0] for one in figures} == {"published", "measured here"}

    def test_every_benchmark_says_what_is_not_the_same(self):
        assert [one.name for one in read_peers() if not one.comparable] == []


class TestRefusals:
    def test_help_says_what_to_set(self, capsys):
        with pytest.raises(SystemExit) as stopped:
            run(["--help"])
        assert stopped.value.code == 0
        out = capsys.readouterr().out
        assert "GROUNDTRAIL_EVAL_DATA=DIR" in out
        assert "--grounding FILE" in out

    def test_missing_data_say_what_to_set(self, monkeypatch, capsys):
        monkeypatch.delenv("GROUNDTRAIL_EVAL_DATA", raising=False)
        assert run([], ScriptedModels()) == 1
        assert "GROUNDTRAIL_EVAL_DATA is not set" in capsys.readouterr().err

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [(["poetry"], "the tasks are nli, grounding, entities"), (["--limit", "0"], "must be at least 1")],
        ids=["unknown task", "limit"],
    )
    def test_wrong_arguments(self, arguments, message, capsys):
        with pytest.raises(SystemExit):
            run(arguments, ScriptedModels())
        assert message in capsys.readouterr().err

    @pytest.mark.parametrize(
        ("task", "file", "row", "message"),
        [
            ("nli", "nli/dev", PAIRS[0] | {"label": "maybe"}, "line 1: label must be one of entailment, neutral"),
            ("nli", "nli/dev", {"premise": "p"}, "line 1: label is missing"),
            ("grounding", "grounding/dev", CLAIMS[0] | {"context": "a"}, "line 1: context must be a list of strings"),
            ("grounding", "grounding/dev", CLAIMS[0] | {"supported": 1}, "line 1: supported must be true or false"),
            ("grounding", "grounding/dev", CLAIMS[0] | {"fold": "x"}, "line 1: fold must be one of fit"),
            ("grounding", "grounding/dev", CLAIMS[0] | {"spans": [{"start": 2, "end": 99}]}, "the span 2 to 99"),
            ("grounding", "grounding/dev", CLAIMS[6], "there is nothing to report on"),
        ],
    )
    def test_a_row_that_is_not_of_the_format_is_named(self, data, capsys, task, file, row, message):
        write(data / f"{file}.jsonl.gz", [row])
        assert run([task], ScriptedModels()) == 1
        assert message in capsys.readouterr().err

    def test_all_files_are_read_before_anything_is_measured(self, data, capsys):
        (data / "pii/dev.jsonl.gz").unlink()
        models = ScriptedModels()
        assert run([], models) == 1
        assert "dev.jsonl.gz is not there" in capsys.readouterr().err
        assert models.grounding_model.requests == []

    def test_a_file_that_is_not_compressed_is_named(self, data, capsys):
        (data / "nli/dev.jsonl.gz").write_text("{}", encoding="utf-8")
        assert run(["nli"], ScriptedModels()) == 1
        assert "after line 0: cannot be read" in capsys.readouterr().err
