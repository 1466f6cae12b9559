"""CRP-SPEC-002: names, values and order of the response headers, on each kind of outcome."""

import pytest

from tests.conformance.header_formats import faults
from tests.conformance.levels import row
from tests.conformance.wire import QUESTION, ask, headers
from tests.patience import patient

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]

BASIC = {
    "CRP-Context-Quality-Tier",
    "CRP-Context-Session-Id",
    "CRP-Context-Protocol-Version",
    "CRP-Context-ETag",
    "CRP-Safety-Hallucination-Risk",
    "CRP-Safety-Policy-Applied",
    "CRP-Provenance-HMAC",
    "CRP-Provenance-Chain-Integrity",
    "CRP-Provenance-Window-Lineage",
    "CRP-Set-Session",
}


@row("provenance headers", "compliance headers")
@pytest.mark.parametrize("outcome", ["first", "second", "halted", "not_modified"])
def test_spec_002_values_and_order_are_as_the_table_says(outcome, request):
    assert faults(headers(request.getfixturevalue(outcome))) == []


@pytest.mark.parametrize(
    "wrong",
    [
        {"CRP-Safety-Hallucination-Score": "1.2"},
        {"CRP-Context-Quality-Tier": "a"},
        {"CRP-Provenance-HMAC": "sha256:" + "A" * 64},
        {"CRP-Context-Session-Id": "crp_sess_short"},
        {"CRP-Memory-Knowledge-Age": "P"},
        {"CRP-Context-Window": "1/5", "CRP-Context-Quality-Tier": "A"},
        {"CRP-Made-Up": "1"},
    ],
    ids=["fraction", "enum", "digest", "id", "duration", "order", "name"],
)
def test_the_table_can_tell_wrong_from_right(wrong):
    assert len(faults(wrong)) == 1


@pytest.mark.parametrize("outcome", ["first", "second"])
def test_spec_014_an_answer_has_every_basic_header(outcome, request):
    assert BASIC - set(headers(request.getfixturevalue(outcome))) == set()


def test_spec_002_metadata_says_what_the_headers_say(client):
    response, call = client.gateway.Dispatch.with_call(ask(QUESTION), metadata=client.metadata, timeout=patient(60))
    sent = {key: value for key, value in call.trailing_metadata() if key.startswith("crp-")}
    assert sent == {name.lower(): value for name, value in headers(response).items()}


@row("envelope and ETag")
def test_spec_003_10_window_facts_and_tokens_agree_with_the_envelope(first):
    said, envelope = headers(first), first.answer.envelope
    assert said["CRP-Context-Facts-Used"] == f"{envelope.facts_included}/{envelope.facts_available}"
    assert said["CRP-Context-Tokens-Used"] == str(envelope.token_count)
    assert len(envelope.fact_ids) == envelope.facts_included > 0
    assert float(said["CRP-Context-Saturation"]) == pytest.approx(
        envelope.token_count / envelope.token_budget, abs=0.0005
    )
