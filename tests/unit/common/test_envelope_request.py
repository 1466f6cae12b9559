"""One type for what an envelope is asked for: what the gateway writes is what the envelope service reads."""

from dataclasses import fields

import pytest
from crp.envelope.v1 import envelope_service_pb2 as pb
from crp.gateway.v1 import dispatch_service_pb2 as gateway_pb

from services.common.envelope_request import CarriedText, EnvelopeRequest, EnvelopeWishes, ToolText
from services.common.rpc.by_name import read_by_name
from services.common.rpc.envelope_request import build_message, read_build, read_preview
from services.common.taxonomy import DispatchStrategy, GroundingMode, QualityTier, RetrievalMode
from services.gateway.domain.command import ContextWishes

WISHES = EnvelopeWishes(
    cache_directives=("no-cache", "max-age=60"),
    accept_quality=(QualityTier.S, QualityTier.C),
    max_envelope_tokens=900,
    retrieval_mode=RetrievalMode.HYBRID,
    active_fact_ids=("f1", "f2"),
    include_superseded=True,
    approximate_tokens=True,
    context_window_tokens=4096,
)
WHOLE = EnvelopeRequest(
    query="What holds?",
    model="m",
    session_id="s1",
    window_id="w2",
    window_number=2,
    grounding_mode=GroundingMode.CONTEXT_STRICT,
    strategy=DispatchStrategy.PULL,
    system_prompt="Be brief.",
    expected_response_tokens=100,
    facts_seen=("f3", "f4"),
    deferred_fact_ids=("f5",),
    transferred_fact_ids=("f6",),
    max_memory_tier=1,
    carried=(CarriedText("Earlier.", "w1", "SUMMARY", 0.5), CarriedText("More.", "w0", "FULL")),
    if_match_etag="*",
    upgrade_on_risk=True,
    told=(ToolText("Told.", "desk", 0.7), ToolText("Said.", "rates")),
).wishing(WISHES)


def different(value, default, names):
    """Return the names of fields whose value is the default."""
    return [name for name in names if getattr(value, name) == getattr(default, name)]


def test_the_example_says_something_in_every_field():
    names = [one.name for one in fields(EnvelopeRequest)]
    assert different(WHOLE, EnvelopeRequest("", ""), names) == []


def test_what_is_written_is_what_is_read():
    message = build_message(WHOLE)
    assert read_build(pb.BuildEnvelopeRequest.FromString(message.SerializeToString())) == WHOLE
    assert message.include_embeddings


def test_what_is_left_open_has_the_defaults_and_is_not_sent():
    plain = EnvelopeRequest("q", "m")
    message = build_message(plain)
    assert read_build(message) == plain == read_build(pb.BuildEnvelopeRequest(query="q", model="m"))
    optional = ("system_prompt", "expected_response_tokens", "max_envelope_tokens", "max_memory_tier")
    assert [name for name in optional if message.HasField(name)] == []
    assert not message.include_embeddings


@pytest.mark.parametrize("name", [one.name for one in fields(EnvelopeWishes)])
@pytest.mark.parametrize("message", [gateway_pb.DispatchRequest, pb.BuildEnvelopeRequest])
def test_a_wish_has_its_name_in_both_messages(message, name):
    """A wish that only one of the two messages has would be dropped on its way without a word."""
    own, other = (one.DESCRIPTOR.fields_by_name[name] for one in (message, pb.BuildEnvelopeRequest))
    assert (own.type, own.is_repeated, own.has_presence) == (other.type, other.is_repeated, other.has_presence)


def test_a_dispatch_hands_its_wishes_on():
    asked = gateway_pb.DispatchRequest(
        if_match="*",
        accept_quality=[1, 4],
        max_envelope_tokens=900,
        retrieval_mode="SEARCH_MODE_HYBRID",
        cache_directives=["no-store"],
    )
    wishes = read_by_name(asked, ContextWishes)
    assert (wishes.if_match, wishes.max_envelope_tokens) == ("*", 900)
    built = build_message(EnvelopeRequest("q", "m").wishing(wishes))
    assert list(built.accept_quality) == list(asked.accept_quality)
    assert (built.retrieval_mode, list(built.cache_directives)) == (asked.retrieval_mode, ["no-store"])
    assert built.if_match_etag == ""


def test_a_number_without_a_word_leaves_it_to_the_service():
    asked = pb.BuildEnvelopeRequest(query="q", model="m")
    asked.retrieval_mode = 99  # type: ignore[assignment]  # no number of the enum
    assert read_build(asked).retrieval_mode is None


def test_a_preview_reads_what_it_has():
    preview = pb.PreviewEnvelopeRequest(query="q", model="m", include_superseded=True, max_envelope_tokens=7)
    assert read_preview(preview) == EnvelopeRequest("q", "m", include_superseded=True, max_envelope_tokens=7)


def test_carried_text_is_stripped_and_weighs_what_the_specification_says():
    carried = pb.CarriedFact(content="  Earlier. ", source_window_id="w1", transfer_type="FULL")
    request = pb.BuildEnvelopeRequest(query="q", model="m", carried_facts=[carried])
    assert read_build(request).carried == (CarriedText("Earlier.", "w1", "FULL", 0.95),)
