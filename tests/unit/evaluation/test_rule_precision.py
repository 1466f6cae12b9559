"""How often rules are right, counted by answer, part and role (ADR 0166)."""

import pytest
from crp.common.v1 import text_pb2
from crp.dpe.v1 import finding_pb2, report_pb2
from crp.dpe.v1 import provenance_service_pb2 as pb

from evaluation import pairs
from evaluation.data import EvaluationDataError
from evaluation.pairs import PairRecord
from evaluation.rule_precision import (
    Asked,
    Part,
    find,
    precision_tables,
    read_asked,
    replies_in_twos,
    wrong_findings,
)
from evaluation.whole_documents import REPLIES, read_answers
from services.allinone.check import Checker

FACT = "The fee is 5 euros. It is due in May."
RECORD = PairRecord("p1", "value", (FACT,), "", "The fee is five euros.", "The fee is 7 euros.")


async def check(request):
    """Find a value in every answer, twice in the false one; it decides there alone."""
    is_false = request.answer == RECORD.false_answer
    item = finding_pb2.Distortion(
        fact_id="f1",
        answer_span=text_pb2.TextSpan(start=11, end=12),
        fact_span=text_pb2.TextSpan(start=11, end=18),
        rule=finding_pb2.DISTORTION_RULE_VALUE,
        decides=is_false,
    )
    report = report_pb2.DpeReport(distortions=[item, item] if is_false else [item])
    return pb.CheckResponse(report=report, facts=[pb.CheckedFact(fact_id="f1", content=FACT)])


@pytest.fixture
async def findings():
    return await find([Asked(Part.FIRST, RECORD)], Checker(check))


async def test_a_rule_is_right_in_the_false_answer_and_each_answer_counts_once(findings):
    rules, roles = precision_tables(findings)
    assert rules.rows == (("VALUE", "1 of 2: 0.50 (1 of 1)", "-", "-", "-", "1 of 2: 0.50 (1 of 1)"),)
    assert [row[1] for row in roles.rows] == ["1 of 1: 1.00", "0 of 1: 0.00", "1 of 2: 0.50"]


async def test_a_wrong_finding_is_shown_with_the_sentence_that_it_departs_from(findings):
    (wrong,) = wrong_findings(findings, Part.FIRST)
    assert (wrong["answer"], wrong["known"], wrong["source"]) == (RECORD.true_answer, "5 euros", "The fee is 5 euros.")
    assert wrong_findings(findings, Part.PAIRS) == []


def test_the_halves_of_the_corpus_share_no_passage():
    parts = {part: {one.record.facts for one in read_asked() if one.part is part} for part in Part}
    assert not parts[Part.FIRST] & parts[Part.SECOND]
    assert min(len(parts[part]) for part in (Part.FIRST, Part.SECOND, Part.PAIRS)) > 100


def test_a_right_reply_stands_beside_the_wrong_one_to_the_same_question():
    replies = read_answers(pairs.Part.DEVELOPMENT, REPLIES)
    twos = replies_in_twos(replies)
    by_text = {one.answer: one for one in replies}
    both = [(by_text[one.record.true_answer], by_text[one.record.false_answer]) for one in twos]
    assert len(both) == len(replies) / 2
    assert all(right.right and not wrong.right and right.question == wrong.question for right, wrong in both)
    assert all(one.sources == (one.document,) for one in twos)


def test_a_question_without_a_twin_is_refused():
    replies = read_answers(pairs.Part.DEVELOPMENT, REPLIES)
    with pytest.raises(EvaluationDataError, match="without a right and a wrong one"):
        replies_in_twos(replies[1:])
