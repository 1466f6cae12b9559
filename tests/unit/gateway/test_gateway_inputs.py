"""What is kept of an analysis that was held against a summary: the summary itself, for it is in no store (ADR 0043)."""

import pytest
from crp.ckf.v1 import ckf_pb2
from crp.dpe.v1 import provenance_service_pb2 as pb
from crp.envelope.v1 import envelope_pb2

from services.common.taxonomy import GroundingMode
from services.gateway.clients.inputs import kept_inputs, request_digest, restored_request
from services.gateway.clients.provenance import analyze_request
from services.gateway.domain.window import WindowPlace
from services.gateway.ports import Analyze

SUMMARY = "The fee is 5 euros."
FACT = "A late report costs a fee of 5 euros."
PRIOR = "A long answer, of which the summary is made."


def request(*, is_summary):
    text = SUMMARY if is_summary else PRIOR
    return pb.AnalyzeRequest(
        session_id="s",
        window_id="w2",
        window_number=2,
        query="And the fee?",
        prompt="And the fee?",
        response_text="It is 5 euros.",
        envelope=envelope_pb2.ContextEnvelope(
            facts=[
                envelope_pb2.EnvelopeFact(
                    fact_id="c1",
                    content=text,
                    carried_from_window_id="w1",
                    transfer_type="SUMMARY" if is_summary else "RESULT_ONLY",
                ),
                envelope_pb2.EnvelopeFact(fact_id="f1", content=FACT, embedding=b"1234"),
            ]
        ),
        prior_windows=[pb.PriorWindow(window_id="w1", window_number=1, text=text, is_summary=is_summary)],
    )


def test_a_summary_is_kept_and_comes_back_as_it_was():
    original = request(is_summary=True)
    kept = kept_inputs(original)
    assert SUMMARY in str(kept)
    assert FACT not in str(kept)
    again = restored_request(kept, {"w2": "It is 5 euros."}, {"f1": ckf_pb2.Fact(content=FACT)})
    assert again.prior_windows[0] == original.prior_windows[0]
    assert again.envelope.facts[0].content == SUMMARY
    assert request_digest(again) == request_digest(original) == kept.request_sha256


def test_an_earlier_answer_is_not_kept_once_more():
    original = request(is_summary=False)
    kept = kept_inputs(original)
    assert PRIOR not in str(kept)
    again = restored_request(kept, {"w2": "It is 5 euros.", "w1": PRIOR}, {"f1": ckf_pb2.Fact(content=FACT)})
    assert request_digest(again) == request_digest(original)


def test_no_word_of_what_sources_disagree_on_is_kept_and_the_values_come_back():
    original = request(is_summary=True)
    at = FACT.index("5 euros")
    value = {"fact_id": "f1", "text": "5 euros", "span": {"start": at, "end": at + 7}}
    original.envelope.conflicts.add(values=[value, value])
    kept = kept_inputs(original)
    assert "5 euros" not in str(kept.request.envelope.conflicts)
    again = restored_request(kept, {"w2": "It is 5 euros."}, {"f1": ckf_pb2.Fact(content=FACT)})
    assert again.envelope.conflicts == original.envelope.conflicts
    assert request_digest(again) == kept.request_sha256


def analysis_of(envelope):
    place = WindowPlace("s", "w", 1, 5, 0, "")
    return Analyze(
        place=place, query="q", prompt="", response_text="a", envelope=envelope, prior_windows=(),
        grounding_mode=GroundingMode.CONTEXT_PREFERRED, ai_system_id="", ai_system=None, cache_directives=(),
        sub_queries=(),
    )  # fmt: skip


def test_the_analysis_is_told_no_sentence_of_a_disagreement():
    envelope = envelope_pb2.ContextEnvelope(conflicts=[{"subject": "The fee is …", "values": [{"fact_id": "f1"}]}])
    command = analysis_of(envelope)
    (conflict,) = analyze_request(command).envelope.conflicts
    assert (conflict.subject, conflict.values[0].fact_id) == ("", "f1")
    assert envelope.conflicts[0].subject == "The fee is …", "the envelope is read again for the next answer"


def test_an_envelope_that_is_none_is_refused():
    with pytest.raises(TypeError, match="the envelope is a bytes"):
        analyze_request(analysis_of(b""))
