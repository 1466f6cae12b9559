"""Equal key, equal build: what is answered with 304 would come out the same (SPEC-003 §11.2, §11.3, ADR 0111)."""

import asyncio
import tempfile
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.common.adapters.memory.facts import MemoryFactStore
from services.common.adapters.sqlite import SqliteFactStore
from services.common.settings.envelope import EnvelopeSettings
from services.common.settings.stores import StoreSettings
from tests.fakes.envelope_world import World
from tests.tenth import examples

TOPICS = {
    f"{name}.md": tuple(f"{rule} {case}." for case in cases)
    for name, rule, cases in (
        (
            "motor",
            "A driver reports a motor accident to the motor insurer with the report of the motor police",
            ("within 14 days", "abroad within 30 days", "by letter"),
        ),
        (
            "travel",
            "Travel cover of a traveller on a journey abroad pays the cost of lost travel luggage of the journey",
            ("for 60 days", "up to 2,000 EUR", "with a passport"),
        ),
        (
            "home",
            "A burglary at home and water at home are paid by the home contents cover of the household at home",
            ("less 250 EUR", "within two days", "with a receipt"),
        ),
    )
}
ASKED: tuple[dict[str, Any], ...] = (
    {"query": "When must a motor accident be reported?"},
    {"query": "When must a motor accident be reported now?"},
    {"query": "What is paid for a burglary at home?", "max_envelope_tokens": 40},
    {"query": "How long does travel cover last abroad?", "facts_seen": ["unknown"]},
)
KNOWLEDGE = EnvelopeSettings(retrieval_k=2, retrieval_k_pull=3, shared_namespaces={"shared:regulations": ("tenant-a",)})

uris = st.sampled_from(sorted(TOPICS))
places = st.integers(0, 2)
changes = st.one_of(
    st.tuples(st.just("ingest"), uris, st.sets(places, min_size=1)),
    st.tuples(st.just("add"), uris, places),
    st.tuples(st.just("quarantine"), uris, places),
    st.tuples(st.just("restore"), uris, places),
    st.tuples(st.just("erase"), uris, places),
    st.tuples(st.just("recluster"), uris, places),
    st.tuples(st.just("share"), uris, places),
    st.tuples(st.just("wait"), uris, st.sampled_from([1, 40, 24 * 60, 100 * 24 * 60, 400 * 24 * 60])),
)


async def perform(world, alice, operator, kind, uri, value):
    """Make one change; one that is not possible now changes nothing."""
    texts = TOPICS[uri]
    sources = {source.uri: source.source_id for source in (await alice.call("ListSources")).sources}
    match kind:
        case "ingest":
            await alice.ingest("\n\n".join(texts[place] for place in sorted(value)), uri=uri)
        case "add":
            fact = {"content": f"Of {uri}: {texts[value]}", "ttl": {"seconds": 3600}}
            await alice.call("IngestFacts", uri=f"added-{uri}", title=uri, source_type=1, facts=[fact])
        case "quarantine" | "restore":
            named = [fact.fact_id for fact in await alice.facts() if fact.content == texts[value]]
            for fact_id in named:
                await alice.call("QuarantineFact" if kind == "quarantine" else "RestoreFact", fact_id=fact_id)
        case "erase":
            if uri in sources:
                await alice.call("EraseSource", source_id=sources[uri])
        case "recluster":
            await alice.call("RebuildCommunities")
        case "share":
            await operator.ingest(texts[value], uri=uri)
        case _:
            world.clock.advance(minutes=value)


def seen(built):
    """Return what an ETag stands for: the facts, whatever order their age puts them in, and how good they are."""
    envelope = built.envelope
    return envelope.etag, sorted(fact.fact_id for fact in envelope.facts), envelope.token_count, envelope.quality_tier


async def judge(alice, former):
    """Ask again with the ETag of every former build; whatever stands must come out as it did then."""
    stood = 0
    for number, fields in enumerate(ASKED):
        if number in former:
            answer = await alice.build(**fields, if_match_etag=former[number][0])
            if answer.not_modified:
                stood += 1
                again = seen(await alice.build(**fields))
                assert again == former[number], fields
        former[number] = seen(await alice.build(**fields))
    return stood


async def play(store, steps):

    world = World(facts=store, settings=KNOWLEDGE)
    async with world.serving() as clients:
        alice, operator, former = clients(), clients("operator"), {}
        for uri, texts in TOPICS.items():
            await alice.ingest("\n\n".join(texts), uri=uri)
        await alice.call("RebuildCommunities")
        await judge(alice, former)
        assert await judge(alice, former) == len(ASKED)
        for step in steps:
            await perform(world, alice, operator, *step)
            await judge(alice, former)


async def play_on(kind, steps):
    async with AsyncExitStack() as stack:
        if kind == "memory":
            await play(MemoryFactStore(384), steps)
            return
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        store = await SqliteFactStore.open(Path(folder) / "knowledge.db", StoreSettings(), dimension=384)
        stack.push_async_callback(store.close)
        await play(store, steps)


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
@settings(max_examples=examples(12, least=4), deadline=None)
@given(steps=st.lists(changes, min_size=2, max_size=6))
def test_what_stands_would_be_built_just_so(kind, steps):
    asyncio.run(play_on(kind, steps))


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
def test_a_restored_topic_is_seen(kind):
    """The whole community was quarantined when the envelope was built: its hash alone cannot tell that it is back."""
    away = [("quarantine", "motor.md", place) for place in range(3)]
    back = [("restore", "motor.md", place) for place in range(3)]
    asyncio.run(play_on(kind, [*away, ("wait", "motor.md", 1), *back]))
