"""``python -m tools.evaluate_verdicts``: how answers are counted, on samples whose figures can be worked out."""

import dataclasses
import gzip
import hashlib
import json
from typing import ClassVar

import numpy as np
import pytest
from groundtrail import Fact

from evaluation import misquotes, two_windows, whole_documents
from evaluation.asked_questions import Answered, AskedQuestion, hit, read_questions, shares_of_answers
from evaluation.corpus import read_corpus
from evaluation.data import EvaluationDataError
from evaluation.encoder_memory import EncoderMemory, RememberedEmbedding, RememberedGrounding
from evaluation.held_back import is_there
from evaluation.pairs import Part, measure_pairs, read_part, tables_of_pairs
from evaluation.shares import Share
from evaluation.verdict_engine import Outcome
from services.common.taxonomy import RiskLevel
from tools import evaluate_verdicts
from training.own_corpus import ANSWERS, is_held_back

RIGHT = Outcome(RiskLevel.LOW, 0.1, ("SUPPORTED",), ("GROUNDING",), 0.9)
WRONG = Outcome(RiskLevel.HIGH, 0.3, ("CONTRADICTED",), ("VALUE_CONFLICT",), 0.1)


class ScriptedEngine:
    """Says of an answer what its first word says."""

    said: ClassVar = {
        "right": RIGHT,
        "wrong": WRONG,
        "low": Outcome(RiskLevel.LOW, 0.2, ("UNSUPPORTED",), ("GROUNDING",), 0.2),
        "flagged": Outcome(RiskLevel.HIGH, 0.5, ("SUPPORTED",), ("GROUNDING",), 0.9, 1),
    }

    def __init__(self):
        self.orders = []

    async def check(self, orders):
        self.orders += orders
        return [self.said[order.answer.split()[0]] for order in orders]


def pair(number, kind, true, false):
    row = {"id": f"p{number}", "kind": kind, "facts": ["one two three"], "question": "", "true_answer": true}
    return row | {"false_answer": false}


PAIRS = [
    pair(1, "value", "right one", "wrong one"),
    pair(2, "value", "wrong two", "low two"),
    pair(3, "value", "right", "right three"),
    pair(4, "role", "right", "wrong"),
    pair(5, "paraphrase", "low", ""),
]


@pytest.fixture
def folder(tmp_path):
    def lines(rows):
        return "".join(json.dumps(row) + "\n" for row in rows).encode()

    development, test = lines(PAIRS), lines(PAIRS[:2])
    (tmp_path / "development.jsonl").write_bytes(development)
    (tmp_path / "test.jsonl.gz").write_bytes(gzip.compress(test))
    hashes = [hashlib.sha256(data).hexdigest() for data in (development, test)]
    (tmp_path / "README.md").write_text(" ".join(hashes), encoding="utf-8")
    return tmp_path


async def test_false_answers_that_pass_and_true_ones_that_fail_are_counted_by_kind(folder):
    found = await measure_pairs(read_part(Part.DEVELOPMENT, folder), ScriptedEngine())
    value, role, paraphrase = found.kinds
    assert (value.name, value.false_passed, value.true_failed) == ("value", Share(2, 3), Share(1, 3))
    assert value.balanced_accuracy == pytest.approx(0.5)
    assert value.true_warned == Share(1, 3)
    assert (role.false_passed, role.balanced_accuracy) == (Share(0, 1), 1.0)
    assert (paraphrase.false_passed.of, paraphrase.true_failed, paraphrase.balanced_accuracy) == (0, Share(1, 1), None)
    assert [one.name for one in found.groups] == ["exact kinds", "other kinds", "true alone"]
    assert found.aurocs["other kinds"]["level, composite"] == 1.0
    assert {(one["id"], one["true"]) for one in found.mistakes} == {
        ("p2", True),
        ("p2", False),
        ("p3", False),
        ("p5", True),
    }
    assert all(len(row) == len(table.columns) for table in tables_of_pairs(found) for row in table.rows)


def test_the_test_half_is_opened_only_when_it_is_said(folder):
    with pytest.raises(EvaluationDataError, match="--open-test"):
        read_part(Part.TEST, folder)
    assert [one.id for one in read_part(Part.TEST, folder, open_test=True)] == ["p1", "p2"]


@pytest.mark.parametrize("part", Part)
def test_a_half_that_is_not_the_one_of_the_readme_is_refused(folder, part):
    (folder / "README.md").write_text("other digests", encoding="utf-8")
    with pytest.raises(EvaluationDataError, match="SHA-256"):
        read_part(part, folder, open_test=True)


def test_the_command_does_not_open_the_test_half_either(capsys):
    assert evaluate_verdicts.run(["pairs", "--part", "test"]) == 1
    assert "--open-test" in capsys.readouterr().err


def misquote(number, truth, false, **more):
    row = {"id": f"m{number}", "document": "a.md", "quote": truth, "truth": truth, "misquote": false, "kind": "value"}
    return row | {"changed": "7", "was": "5", "question": f"q{number}"} | more


def write(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


async def test_twins_of_a_passage_are_checked_against_it_as_a_document(tmp_path):
    claims = [
        {"id": "p-1", "claim": "wrong but said otherwise", "supported": False, "kind": "silent", "twin": "p-2"},
        {"id": "p-2", "claim": "right as it stands", "supported": True, "kind": "paraphrase", "twin": "p-1"},
    ]
    row = {"id": "p", "domain": "manual", "title": "Pump", "passage": "One. Two.", "claims": claims}
    path = tmp_path / "train.jsonl"
    path.write_text(json.dumps(row) + "\n")
    with pytest.raises(EvaluationDataError, match="README"):
        read_corpus(path)
    (tmp_path / "README.md").write_text(hashlib.sha256(path.read_bytes()).hexdigest())
    assert read_corpus(path, {"p": False}.__getitem__) == []
    (record,) = read_corpus(path, {"p": True}.__getitem__)
    assert record.question == ""
    engine = ScriptedEngine()
    found = await measure_pairs([record], engine)
    assert [one.name for one in found.kinds] == ["silent"]
    assert (found.kinds[0].false_passed.value, found.kinds[0].true_failed.value) == (0.0, 0.0)
    (document,) = engine.orders[0].facts
    assert document.content.decode() == "# Pump\n\nOne. Two."


def test_the_train_part_of_the_corpus_is_whole():
    records = read_corpus()
    assert len(records) == 1_353
    assert all(record.true_answer != record.false_answer for record in records)


def test_rewordings_are_asked_with_their_questions_and_learnt_ones_are_not_measured():
    every, measured = read_corpus(ANSWERS), read_corpus(ANSWERS, is_held_back)
    assert len(every) == 4_950
    assert 0.1 < len(measured) / len(every) < 0.2
    assert 0.4 < sum(bool(record.question) for record in measured) / len(measured) < 0.6


async def test_misquotes_and_true_sentences_are_told_apart(tmp_path):
    rows = [misquote(1, "right", "wrong"), misquote(2, "right", "low", kind="name"), misquote(3, "low", "wrong")]
    write(tmp_path / "misquotes.jsonl", rows)
    write(tmp_path / "converted.jsonl", [misquote(4, "right", "") | {"answer": "wrong converted"}])
    sentences = misquotes.read_sentences(tmp_path)
    engine = ScriptedEngine()
    facts = [(Fact(one.question),) for one in sentences]
    checked = await misquotes.measure_sentences(sentences, facts, engine)
    assert [order.facts for order in engine.orders] == facts
    figures = {(one.group, one.kind): one for one in misquotes.figures_of_sentences(checked)}
    assert figures["misquoted", "all"].high == Share(2, 3)
    assert figures["misquoted", "all"].low == Share(1, 3)
    assert figures["misquoted", "name"].low == Share(1, 1)
    assert figures["quoted", "all"].supported == Share(2, 3)
    assert figures["converted", "all"].high == Share(1, 1)
    # Worst first: wrong, wrong (0.3) | low misquoted, low quoted (0.2) | right, right (0.1).
    assert misquotes.order_auroc(checked) == pytest.approx((3 + 3 + 2.5) / 9)
    assert [one["id"] for one in misquotes.mistakes_of_sentences(checked)] == ["m2", "m3", "m4"]
    assert misquotes.query_of(sentences[0]) == "q1"


def test_a_misquote_without_its_field_is_named(tmp_path):
    write(tmp_path / "misquotes.jsonl", [{"id": "m1", "misquote": "x"}])
    with pytest.raises(EvaluationDataError, match="m1: the field 'document'"):
        misquotes.read_sentences(tmp_path)


async def test_answers_beside_whole_documents_are_counted_by_level(tmp_path):
    (tmp_path / "documents").mkdir()
    (tmp_path / "documents/rules.md").write_text("one two three")
    rows = [
        {"id": f"a-{number}", "document": "rules.md", "question": "?", "answer": answer, "right": right, "kind": kind}
        for number, (answer, right, kind) in enumerate(
            [("right", True, "quote"), ("wrong", True, "quote"), ("low", False, "swap"), ("wrong", False, "swap")]
        )
    ]
    (tmp_path / "development.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    engine = ScriptedEngine()
    answers = whole_documents.read_answers(Part.DEVELOPMENT, tmp_path)
    found = await whole_documents.measure_answers(answers, engine)
    assert engine.orders[0].facts == (tmp_path / "documents/rules.md",)
    levels = whole_documents.levels_of(found)
    assert [(level, share.hits) for level, share in levels["right"].items()] == [
        ("LOW", 1), ("MEDIUM", 0), ("HIGH", 1), ("CRITICAL", 0),
    ]  # fmt: skip
    assert levels["wrong"]["LOW"] == levels["wrong"]["HIGH"] == Share(1, 2)
    assert [one["id"] for one in whole_documents.mistakes_of_answers(found)] == ["a-1", "a-2"]
    levels_table, kinds = whole_documents.tables_of_answers(found)
    assert [row[0] for row in levels_table.rows] == ["right", "wrong"]
    assert [row[:2] for row in kinds.rows] == [("right, HIGH or worse", "quote"), ("wrong, LOW", "swap")]


@pytest.mark.parametrize(
    ("row", "told"),
    [
        ({"id": 1, "document": "rules.md"}, "row 1: the field 'question'"),
        ({"id": 1, "document": "no.md", "question": "", "answer": "", "right": True, "kind": ""}, "no.md is not there"),
    ],
    ids=["field", "document"],
)
def test_answers_that_cannot_be_read_are_refused(tmp_path, row, told):
    (tmp_path / "development.jsonl").write_text(json.dumps(row) + "\n")
    with pytest.raises(EvaluationDataError, match=told):
        whole_documents.read_answers(Part.DEVELOPMENT, tmp_path)


async def test_sentences_of_two_windows_are_checked_one_after_the_other(tmp_path):
    rows = [
        {"id": 1, "domain": "d", "first": "a", "second": "flagged b", "differs": "year", "facts": ["f"]},
        {"id": 2, "domain": "d", "first": "c", "second": "right d", "differs": "year", "facts": ["f", "g"]},
    ]
    write(tmp_path / "neighbours.jsonl", rows)
    write(tmp_path / "planted.jsonl", [{"first": "a", "second": "flagged", "kind": "value"}])
    engine = ScriptedEngine()
    found = await two_windows.measure_windows(two_windows.read_windows("neighbours", tmp_path), engine)
    assert engine.orders[0].earlier_answers == ("a",)
    assert two_windows.shares_of(found) == {"year": Share(1, 2), "all": Share(1, 2)}
    assert [one["id"] for one in two_windows.mistakes_of_windows("neighbours", found)] == ["1"]
    planted = await two_windows.measure_windows(two_windows.read_windows("planted", tmp_path), engine)
    assert two_windows.shares_of(planted)["all"] == Share(1, 1)
    assert two_windows.mistakes_of_windows("planted", planted) == []


@pytest.mark.parametrize(
    ("text", "alternative", "there"),
    [
        ("It is kept for 7 years.", "7", True),
        ("It is kept for 17 years.", "7", False),
        ("It is 0.7 or 7,000.", "7", False),
        ("Up to €5,000 alone.", "5,000", True),
        ("Up to €15,000 alone.", "5,000", False),
        ("Up to €5,000 alone.", "€5,000", True),
        ("The Board decides.", "board", True),
        ("The Boards decide.", "board", False),
        ("between 2\u20134 weeks", "2-4 weeks", True),
        ("a\u00a0month", "a month", True),
        ("In 7.", "7", True),
    ],
)
def test_what_an_answer_must_hold_is_matched_whole(text, alternative, there):
    assert hit(text, (alternative,)) is there


def question(**more):
    given = AskedQuestion("q", "?", (), (("7", "seven"), ("years",)), ("10",), answerable=True)
    return dataclasses.replace(given, **more)


@pytest.mark.parametrize(
    ("text", "faults"),
    [
        ("It is kept for seven years.", ()),
        ("It is kept for 7 years. So it is.", ()),
        ("It is kept for 7 years. So it is. Indeed.", ("3 sentences",)),
        ("It is kept for 10 years.", ("lacks 7 / seven", "holds 10")),
    ],
)
def test_an_answer_is_right_when_it_holds_all_that_it_must_and_no_more(text, faults):
    assert Answered(question(), text, refused=False).faults == faults


def test_a_refusal_is_right_only_where_there_is_no_answer():
    none = question(must=(), must_not=(), answerable=False)
    assert Answered(none, "The documents do not say.", refused=True).faults == ()
    assert Answered(none, "7 years.", refused=False).faults == ("answered",)
    assert Answered(question(), "7 years.", refused=True).faults == ("refused",)


def test_questions_after_others_are_follow_ups(tmp_path):
    rows = [
        {"id": "a", "conversation": [], "question": "?", "must": [["7"]], "must_not": []},
        {"id": "b", "conversation": ["before?", "then?"], "question": "?", "must": [["7", "seven"]], "must_not": []},
    ]
    write(tmp_path / "development-questions.jsonl", rows)
    lacking = [{"id": "d", "conversation": [], "question": "?", "why": "nowhere"}]
    write(tmp_path / "development-unanswerable.jsonl", lacking)
    asked = read_questions(Part.DEVELOPMENT, tmp_path)
    assert [(one.before, one.must, one.answerable) for one in asked] == [
        ((), (("7",),), True),
        (("before?", "then?"), (("7", "seven"),), True),
        ((), (), False),
    ]
    shares = shares_of_answers([Answered(one, "7", refused=not one.answerable) for one in asked])
    assert shares == {
        "first questions": Share(1, 1),
        "follow-ups": Share(1, 1),
        "answered right": Share(2, 2),
        "without an answer: refused": Share(1, 1),
    }


def test_what_is_held_back_is_opened_only_when_it_is_said_and_as_the_readme_has_it(tmp_path):
    lines = (json.dumps(misquote(1, "right", "wrong")) + "\n").encode()
    (tmp_path / "misquotes.jsonl.gz").write_bytes(gzip.compress(lines))
    assert not is_there(tmp_path, "misquotes", open_test=False)
    with pytest.raises(EvaluationDataError, match="--open-test"):
        misquotes.read_sentences(tmp_path)
    with pytest.raises(EvaluationDataError, match="SHA-256"):
        misquotes.read_sentences(tmp_path, open_test=True)
    (tmp_path / "README.md").write_text(hashlib.sha256(lines).hexdigest(), encoding="utf-8")
    assert [one.answer for one in misquotes.read_sentences(tmp_path, open_test=True)] == ["wrong", "right"]


async def test_what_an_encoder_said_is_not_asked_again_in_the_next_run(tmp_path):
    class Embedder:
        name, fingerprint, dimension, calibration = "e", "e@1", 2, None
        asked = 0

        async def embed(self, texts):
            self.asked += len(texts)
            return np.array([[len(text), 0.5] for text in texts], dtype=np.float32)

    model, path = Embedder(), tmp_path / "memory.sqlite3"
    for _ in range(2):
        memory = EncoderMemory(path)
        rows = await RememberedEmbedding(model, memory).embed(["a", "bbb", "a"])
        assert rows.tolist() == [[1.0, 0.5], [3.0, 0.5], [1.0, 0.5]]
        memory.close()
    first = model.asked
    assert first <= 3
    model.fingerprint = "e@2"
    memory = EncoderMemory(path)
    await RememberedEmbedding(model, memory).embed(["a"])
    assert model.asked == first + 1
    memory.close()


async def test_a_remembered_verdict_is_the_same_to_the_last_digit():
    from services.common.ports.grounding import GroundingRequest, GroundingVerdict, UnsupportedSpan

    said = GroundingVerdict(
        0.1 + 0.2, False, None, (("overlap", 1 / 3),), (UnsupportedSpan(0, 2, 0.7),), (1, 0), undecided=True
    )

    class Grounding:
        fingerprint, threshold, asked = "g@1", 0.5, 0

        async def judge(self, requests):
            self.asked += 1
            return [said for _ in requests]

    model = Grounding()
    remembered = RememberedGrounding(model, EncoderMemory(":memory:"))
    request = GroundingRequest("ab", ("p", "q"), "?")
    assert await remembered.judge([request]) == await remembered.judge([request]) == [said]
    assert model.asked == 1
