"""What held when, over gRPC: superseded facts, validity, questions about the past, sources that disagree (ADR 0109)."""

from datetime import UTC, datetime

import grpc
import pytest
from crp.ckf.v1 import ckf_pb2

from tests.fakes.envelope_world import World, refused
from tests.rpc.test_envelope_build import FACTS, INVALID, QUERY

MODES = ("SEARCH_MODE_DENSE", "SEARCH_MODE_TEXT", "SEARCH_MODE_HYBRID")


@pytest.fixture
def world():
    return World()


@pytest.fixture
async def alice(world):
    async with world.serving() as clients:
        client = clients()
        await client.ingest("\n\n".join(FACTS), uri="rules.txt")
        yield client


async def test_a_superseded_fact_is_there_only_where_it_is_asked_for_and_marked(world, alice):
    outdated = next(fact.fact_id for fact in await alice.facts() if fact.content == FACTS[1])
    etag = (await alice.build(QUERY)).envelope.etag
    world.clock.advance(days=1)
    await alice.ingest(FACTS[0], uri="rules.txt")
    now = await alice.build(QUERY, if_match_etag=etag)
    assert {fact.content for fact in now.envelope.facts} == {FACTS[0]}
    past = f"{QUERY} What was it before the change?"
    for query, wishes in (
        (QUERY, {"include_superseded": True}),
        (QUERY, {"active_fact_ids": [outdated]}),
        (past, {}),
    ):
        found = {fact.content: fact for fact in (await alice.build(query, **wishes)).envelope.facts}
        assert found[FACTS[0]].status == ckf_pb2.FACT_STATUS_ACTIVE
        assert not found[FACTS[0]].stale_reason
        assert found[FACTS[1]].status == ckf_pb2.FACT_STATUS_STALE
        assert found[FACTS[1]].stale_reason == ckf_pb2.STALE_REASON_SUPERSEDED
        assert found[FACTS[1]].ended_at.ToDatetime(UTC) == world.clock.now()
    for handed_on in ({"deferred_fact_ids": [outdated]}, {"transferred_fact_ids": [outdated]}):
        assert {fact.content for fact in (await alice.build(QUERY, **handed_on)).envelope.facts} == {FACTS[0]}
    everything = (await alice.build(QUERY, include_superseded=True)).envelope.etag
    assert not (await alice.build(QUERY, if_match_etag=everything)).not_modified


async def test_an_etag_stands_until_a_fact_begins_or_ceases_to_hold(world, alice):
    await alice.ingest(
        "The deadline for a motor accident abroad is thirty days.", uri="abroad.txt",
        metadata={"valid_from": "2026-06-01", "valid_to": "2026-06-30"},
    )  # fmt: skip
    world.clock.moment = datetime(2026, 5, 31, 12, tzinfo=UTC)
    seen = []
    for moment in (datetime(2026, 5, 31, 23, tzinfo=UTC), datetime(2026, 6, 1, tzinfo=UTC),
                   datetime(2026, 6, 30, 23, tzinfo=UTC), datetime(2026, 7, 1, tzinfo=UTC)):  # fmt: skip
        etag = (await alice.build(QUERY)).envelope.etag
        world.clock.moment = moment
        built = await alice.build(QUERY, if_match_etag=etag)
        again = (await alice.build(QUERY)).envelope
        seen.append((built.not_modified, any("abroad" in fact.content for fact in again.facts)))
    assert seen == [(True, False), (False, True), (True, True), (False, False)]


async def test_a_preview_counts_what_does_not_hold_now_only_where_it_is_asked_for(alice):
    await alice.ingest(FACTS[0], uri="rules.txt")
    counts = [
        (await alice.call("PreviewEnvelope", query=QUERY, model="gpt-4o", include_superseded=wanted)).preview
        for wanted in (False, True)
    ]
    assert counts[0].facts_available < counts[1].facts_available


async def test_sources_that_disagree_are_told(alice):
    for number, uri in ((10, "a.txt"), (25, "b.txt")):
        await alice.ingest(f"The late fee of the club library is {number} euros.", uri=uri)
    (conflict,) = (await alice.build("What is the late fee of the club library?")).envelope.conflicts
    assert sorted(value.text for value in conflict.values) == ["10 euros", "25 euros"]
    await alice.ingest("The late fee of the club library is 10 euros.", uri="b.txt")
    assert not (await alice.build("What is the late fee of the club library?")).envelope.conflicts


@pytest.mark.parametrize("mode", MODES)
async def test_no_mode_finds_what_does_not_hold_unless_it_is_asked_for(alice, mode):
    await alice.ingest("The deadline for a motor accident is ten days.", uri="coming.txt",
                       metadata={"valid_from": "2090-01-01"})  # fmt: skip
    await alice.ingest("The deadline for a motor accident was nine days.", uri="over.txt",
                       metadata={"valid_to": "2001-12-31"})  # fmt: skip
    await alice.ingest("\n\n".join(FACTS[1:]), uri="rules.txt")

    async def found(query, **wishes):
        hits = (await alice.call("SearchFacts", query=query, mode=mode, limit=20, **wishes)).hits
        return {hit.fact.content: ckf_pb2.StaleReason.Name(hit.fact.stale_reason) for hit in hits}

    hidden = {
        FACTS[0]: "STALE_REASON_SUPERSEDED",
        "The deadline for a motor accident is ten days.": "STALE_REASON_NOT_YET_VALID",
        "The deadline for a motor accident was nine days.": "STALE_REASON_NO_LONGER_VALID",
    }
    now = await found(QUERY)
    assert not now.keys() & hidden.keys()
    assert set(now.values()) == {"STALE_REASON_UNSPECIFIED"}
    assert hidden.items() <= (await found(QUERY, include_superseded=True)).items()
    past = await found("What was the deadline for a motor accident in 2019?")
    assert FACTS[0] in past
    assert "The deadline for a motor accident is ten days." not in past
    coming = await found("What will the deadline for a motor accident be next year?")
    assert "The deadline for a motor accident is ten days." in coming
    assert FACTS[0] not in coming


def edition(day, *sentences):
    """Return a document that says from which day on it holds."""
    return f"# Rules\n\nThese rules are effective from {day}.\n\n" + "\n\n".join(sentences)


OLD, NEW, DRAFT = (f"The parking permit costs {fee} euros." for fee in (70, 100, 120))
KEPT = "A lost parking permit is replaced within two days."


async def standing(client, query="What does the parking permit cost, and is a lost one replaced?"):
    envelope = (await client.build(query)).envelope
    return {text for fact in envelope.facts for text in (OLD, NEW, DRAFT, KEPT) if text in fact.content}


async def test_a_version_to_come_leaves_what_holds_until_it_begins(world, alice):
    world.clock.moment = datetime(2026, 3, 1, tzinfo=UTC)
    await alice.ingest(edition("1 January 2026", OLD, KEPT), uri="accidents.md")
    told = await alice.ingest(edition("1 July 2026", DRAFT, KEPT), uri="accidents.md")
    assert [warning for warning in told.warnings if warning.startswith("before 2026-07-01")]
    assert [warning for warning in told.warnings if "without a break" in warning]
    assert await standing(alice) == {OLD, KEPT}
    (shown,) = (fact for fact in await alice.facts() if OLD in fact.content)
    assert (shown.status, shown.stale_reason) == (ckf_pb2.FACT_STATUS_ACTIVE, ckf_pb2.STALE_REASON_UNSPECIFIED)
    # what has not begun is replaced at once, by what begins later still
    await alice.ingest(edition("1 August 2026", NEW, KEPT), uri="accidents.md")
    seen = []
    for month, day, hour in ((7, 2, 0), (7, 31, 23), (8, 1, 0)):
        etag = (await alice.build(QUERY)).envelope.etag
        world.clock.moment = datetime(2026, month, day, hour, tzinfo=UTC)
        assert (await alice.build(QUERY, if_match_etag=etag)).not_modified == (month < 8)
        seen.append(await standing(alice))
    assert seen == [{OLD, KEPT}, {OLD, KEPT}, {NEW, KEPT}]
    ended = next(fact for fact in await alice.facts() if OLD in fact.content)
    assert ended.stale_reason == ckf_pb2.STALE_REASON_SUPERSEDED
    assert ended.superseded_at.ToDatetime(UTC) == datetime(2026, 8, 1, tzinfo=UTC)


HEADED = {
    "heading.md": "# Parking Terms (valid {when})\n\n## 1 Permits\n\n{rule}",
    "heading.html": "<html><body><h1>Parking Terms (valid {when})</h1><h2>1 Permits</h2><p>{rule}</p></body></html>",
    "title.html": "<html><head><title>Parking Terms (valid {when})</title></head><body><p>{rule}</p></body></html>",
    "title.txt": "Parking Terms (valid {when})\n\n1. Permits\n\n{rule}",
    "bold.md": "# Parking Terms\n\n**Valid:** {when}\n\n## 1 Permits\n\n{rule}",
}
"""Documents that say when they hold in a line that no sentence stands right below."""


@pytest.mark.parametrize("uri", HEADED)
async def test_a_heading_without_a_text_of_its_own_dates_all_below_it(world, alice, uri):
    world.clock.moment = datetime(2026, 3, 1, tzinfo=UTC)

    def version(when, rule):
        return HEADED[uri].format(when=when, rule=rule)

    await alice.ingest(version("from 1 January 2026", OLD), uri=uri)
    coming = version("from 1 July 2026", NEW)
    looked = await alice.call("PreviewIngestion", uri=uri, content=coming.encode())
    assert any("from 2026-07-01 only" in warning for warning in looked.report.warnings)
    told = await alice.ingest(coming, uri=uri)
    assert [warning for warning in told.warnings if warning.startswith("before 2026-07-01 the version before holds")]
    assert await standing(alice) == {OLD}
    world.clock.moment = datetime(2026, 7, 1, tzinfo=UTC)
    assert await standing(alice) == {NEW}
    await alice.ingest(version("until 31 August 2026", DRAFT), uri=uri)
    assert await standing(alice) == {DRAFT}
    world.clock.moment = datetime(2026, 9, 1, tzinfo=UTC)
    assert await standing(alice) == set()


@pytest.mark.parametrize(
    "line",
    [
        "**Valid from:** {day}",
        "Valid from: {day}",
        "**Version:** 2\n**Valid from:** {day}",
        "As of {day}",
        "These terms apply to all permits and contracts from {day}.",
    ],
)
async def test_a_line_below_the_title_dates_the_document(world, alice, line):
    world.clock.moment = datetime(2026, 3, 1, tzinfo=UTC)

    def version(day, rule):
        return f"# Parking Terms\n\n{line.format(day=day)}\n\n## 1 Permits\n\n{rule}"

    await alice.ingest(version("1 January 2026", OLD), uri="parking.md")
    await alice.ingest(version("1 July 2026", NEW), uri="parking.md")
    assert await standing(alice) == {OLD}
    world.clock.moment = datetime(2026, 7, 1, tzinfo=UTC)
    assert await standing(alice) == {NEW}


async def test_a_day_that_is_said_of_a_fee_dates_the_fee_alone(world, alice):
    world.clock.moment = datetime(2026, 3, 1, tzinfo=UTC)
    await alice.ingest(f"# Parking Terms\n\n## 1 Permits\n\n{OLD}", uri="parking.md")
    said = "The fee applies from 1 July 2026."
    told = await alice.ingest(f"# Parking Terms\n\n{said}\n\n## 1 Permits\n\n{NEW}", uri="parking.md")
    assert not told.warnings
    assert await standing(alice) == {NEW}


async def test_a_version_that_holds_now_ends_both_those_before_it(world, alice):
    world.clock.moment = datetime(2026, 3, 1, tzinfo=UTC)
    await alice.ingest(edition("1 January 2026", OLD), uri="accidents.md")
    await alice.ingest(edition("1 July 2026", DRAFT), uri="accidents.md")
    await alice.ingest(f"# Rules\n\n{NEW}", uri="accidents.md")
    assert await standing(alice) == {NEW}
    world.clock.moment = datetime(2026, 9, 1, tzinfo=UTC)
    assert await standing(alice) == {NEW}


async def test_a_draft_that_is_taken_back_leaves_what_holds_without_an_end(world, alice):
    world.clock.moment = datetime(2026, 3, 1, tzinfo=UTC)
    present = edition("1 January 2026", OLD)
    await alice.ingest(present, uri="accidents.md")
    await alice.ingest(edition("1 July 2026", DRAFT), uri="accidents.md")
    await alice.ingest(present, uri="accidents.md")
    world.clock.moment = datetime(2026, 9, 1, tzinfo=UTC)
    assert await standing(alice) == {OLD}


async def test_a_version_taken_in_late_ended_the_one_before_when_it_began(world, alice):
    world.clock.moment = datetime(2026, 3, 1, tzinfo=UTC)
    await alice.ingest(edition("1 January 2026", OLD), uri="accidents.md")
    world.clock.moment = datetime(2026, 9, 1, tzinfo=UTC)
    await alice.ingest(edition("1 July 2026", NEW), uri="accidents.md")
    found = (await alice.build("What did the parking permit cost before the change?")).envelope.facts
    (ended,) = (fact for fact in found if OLD in fact.content)
    assert ended.ended_at.ToDatetime(UTC) == datetime(2026, 7, 1, tzinfo=UTC)


async def test_a_renamed_document_to_come_leaves_the_one_before_until_then(world, alice):
    world.clock.moment = datetime(2026, 3, 1, tzinfo=UTC)
    await alice.ingest(edition("1 January 2026", OLD), uri="rules-2026.md")
    await alice.ingest(edition("1 January 2027", NEW), uri="rules-2027.md", supersedes_uris=["rules-2026.md"])
    assert await standing(alice) == {OLD}
    world.clock.moment = datetime(2027, 1, 1, tzinfo=UTC)
    assert await standing(alice) == {NEW}


async def test_what_is_withheld_while_its_source_drops_it_is_restored_as_superseded(alice):
    first = next(fact for fact in await alice.facts() if fact.content == FACTS[0])
    await alice.call("QuarantineFact", fact_id=first.fact_id)
    await alice.ingest("\n\n".join(FACTS[1:]), uri="rules.txt")
    assert (await alice.call("RestoreFact", fact_id=first.fact_id)).status == ckf_pb2.FACT_STATUS_STALE
    fact = (await alice.call("GetFact", fact_id=first.fact_id)).fact
    assert (fact.stale_reason, fact.HasField("superseded_at")) == (ckf_pb2.STALE_REASON_SUPERSEDED, True)
    await alice.call("QuarantineFact", fact_id=first.fact_id)
    await alice.ingest("\n\n".join(FACTS), uri="rules.txt")
    assert (await alice.call("RestoreFact", fact_id=first.fact_id)).status == ckf_pb2.FACT_STATUS_ACTIVE


async def test_a_renamed_document_leaves_nothing_current_behind_and_may_come_back(alice):
    text = "\n\n".join(FACTS)
    renamed = await alice.ingest(text, uri="rules-2026.txt", supersedes_uris=["rules.txt"])
    assert (renamed.facts_created, renamed.facts_stale) == (5, 5)
    standing = [fact for fact in await alice.facts() if fact.status == ckf_pb2.FACT_STATUS_ACTIVE]
    assert {fact.source_id for fact in standing} == {renamed.source.source_id}
    counts = {one.uri: one.fact_count for one in (await alice.call("ListSources")).sources}
    assert counts == {"rules.txt": 0, "rules-2026.txt": 5}
    again = await alice.ingest(text, uri="rules-2026.txt", supersedes_uris=["rules.txt"])
    assert again.unchanged
    back = await alice.ingest(text, uri="rules.txt", supersedes_uris=["rules-2026.txt"])
    assert (back.facts_created, back.facts_stale, back.unchanged) == (5, 5, False)


async def test_a_document_that_is_not_there_cannot_be_superseded(alice):
    async with refused(grpc.StatusCode.NOT_FOUND, "SOURCE_NOT_FOUND"):
        await alice.ingest("New rules stand here.", uri="new.txt", supersedes_uris=["nowhere.txt"])
    async with refused(INVALID, "INVALID_FIELD", "supersedes_uris[0]"):
        await alice.ingest("New rules stand here.", uri="new.txt", supersedes_uris=["new.txt"])


@pytest.mark.parametrize(
    "metadata",
    [{"valid_from": "soon"}, {"valid_to": "2026-02-30"}, {"valid_from": "2026-02-01", "valid_to": "2026-01-01"}],
)
async def test_a_validity_that_is_none_is_refused(alice, metadata):
    async with refused(INVALID, "INVALID_FIELD", "metadata"):
        await alice.ingest("A rule stands here.", uri="new.txt", metadata=metadata)
    async with refused(INVALID, "INVALID_FIELD", "facts[0].metadata"):
        await alice.call("IngestFacts", uri="facts", source_type=ckf_pb2.SOURCE_TYPE_USER,
                         facts=[{"content": "A rule stands here.", "metadata": metadata}])  # fmt: skip


async def test_metadata_wins_over_front_matter_and_that_over_words(alice):
    text = "---\nvalid_until: 2027-06-30\n---\n# Fees\n\nValid from 1 May 2026 to 31 May 2026.\n\nThe fee is 5 euros."
    first = await alice.ingest(text, uri="fees.md")
    (fee,) = [fact for fact in await alice.facts() if "fee is 5" in fact.content]
    assert (fee.valid_from.ToJsonString(), fee.valid_to.ToJsonString()) == (
        "2026-05-01T00:00:00Z", "2027-07-01T00:00:00Z",
    )  # fmt: skip
    assert any("from 2026-05-01 until 2027-06-30" in warning for warning in first.warnings)
    again = await alice.ingest(text, uri="fees.md", metadata={"valid_from": "2026-04-01"})
    assert not again.unchanged
    (fee,) = [fact for fact in await alice.facts() if "fee is 5" in fact.content]
    assert fee.valid_from.ToJsonString() == "2026-04-01T00:00:00Z"
    assert (await alice.ingest(text, uri="fees.md", metadata={"valid_from": "2026-04-01"})).unchanged
