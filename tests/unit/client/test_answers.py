"""What the outcomes of a dispatch become for a caller in Python."""

import pytest
from crp.common.v1 import taxonomy_pb2 as taxonomy
from crp.gateway.v1 import dispatch_service_pb2 as pb
from groundtrail import GroundtrailError, Level, WithheldError
from groundtrail.answers import Head, answer_of, ask_request

FEE = {"text": "The fee is 5 euros.", "span": {"start": 0, "end": 19}, "verdict": "CLAIM_VERDICT_SUPPORTED"}


def response(**outcome):
    return pb.DispatchResponse(**outcome)


def test_an_answer_of_several_windows_has_the_worst_level_and_claims_where_they_stand():
    parts = [
        {"report": {"risk_level": "RISK_LEVEL_HIGH", "claims": [FEE]}, "span": {"start": 0, "end": 20}},
        {"report": {"risk_level": "RISK_LEVEL_LOW", "claims": [FEE]}, "span": {"start": 20, "end": 39}},
    ]
    answer = answer_of(response(answer={"text": f"{FEE['text']} {FEE['text']}", "parts": parts}))
    assert answer.level is Level.HIGH
    assert [(claim.start, answer.text[claim.start : claim.end]) for claim in answer.claims] == [
        (0, FEE["text"]),
        (20, FEE["text"]),
    ]
    assert answer.supported


def test_a_level_that_was_not_told_passes_for_none():
    assert answer_of(response(answer={"text": "x"})).level is Level.CRITICAL


def test_words_and_place_of_a_quotation_come_with_the_evidence():
    evidence = {"fact_id": "f-1", "quote": "5 euros", "source": {"title": "Fees", "page": 3}}
    claim = {**FEE, "judgement": {"why": "It says so.", "evidence": [evidence]}}
    answer = answer_of(response(answer={"text": FEE["text"], "report": {"claims": [claim]}}))
    (quote,) = answer.claims[0].quotes
    assert (quote.title, quote.location, quote.words) == ("Fees", "p. 3", "5 euros")


@pytest.mark.parametrize(
    ("outcome", "reason", "words"),
    [
        ({"halted": {"halt_reason": "SAFETY_BUDGET_DEPLETED"}}, "ANSWER_WITHHELD", "SAFETY_BUDGET_DEPLETED"),
        ({"held_for_review": {"review_id": "r-1", "reason": "human-review"}}, "HELD_FOR_REVIEW", "review r-1"),
    ],
)
def test_what_may_not_be_shown_is_an_error_that_says_why(outcome, reason, words):
    with pytest.raises(WithheldError, match=words) as withheld:
        answer_of(response(**outcome))
    assert (withheld.value.reason, withheld.value.level) == (reason, None)
    assert withheld.value.found[0] == response(**outcome)


def test_an_envelope_that_stands_has_a_reason_of_its_own():
    with pytest.raises(GroundtrailError) as unchanged:
        answer_of(response(not_modified={"etag": "sha256:0"}))
    assert unchanged.value.reason == "NOT_MODIFIED"


def test_a_complete_session_is_followed_by_a_new_one():
    head = Head()
    assert head.wishes({"model": "x"}) == {"model": "x"}
    head.moved(answer_of(response(answer={"session_token": "t", "continuation_id": "c"})))
    assert head.wishes({}) == {"session_token": "t", "continuation_ids": ["c"]}
    head.moved(answer_of(response(answer={"session_token": "u"})))
    assert head.wishes({}) == {}


def test_every_question_has_an_id_of_its_own_unless_the_caller_gives_one():
    assert ask_request("q", {}).request_id != ask_request("q", {}).request_id
    given = ask_request("q", {"request_id": "mine", "strategies": [taxonomy.DISPATCH_STRATEGY_PUSH]})
    assert given.request_id == "mine"
    with pytest.raises(GroundtrailError, match="ask: "):
        ask_request("q", {"max_tokens": "many"})
