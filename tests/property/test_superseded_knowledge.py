"""Over every order of ingestion, change and question: nothing outdated is SUPPORTED or LOW, nothing current is doubted.

The envelope service's own applications and the analysis, joined by their messages as in a deployment; models are
tables (ADR 0109). What stands in which document is kept beside them in a dictionary.
"""

from dataclasses import dataclass, field
from typing import Any

import pytest
from crp.dpe.v1 import provenance_service_pb2 as dpe_pb
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evaluation.standing import Standing
from services.common.envelope_request import EnvelopeRequest
from services.common.taxonomy import RiskLevel
from services.dpe.convert.report import report_message
from services.dpe.convert.requests import analysis_input
from services.dpe.domain.findings import Verdict
from services.envelope.convert.envelope import build_response
from services.envelope.domain.importance import SourceType
from services.envelope.requests import SourceDocument
from tests.fakes.dpe_world import TableEntailment, TableGrounding, app, models
from tests.fakes.envelope_apps import open_knowledge
from tests.tenth import examples
from tests.unit.dpe.test_dpe_vectors import EverythingNear

TENANT = "t"
TOPICS = ("registration", "parking")
VALUES = (10, 25, 40)
URIS = ("fees.md", "prices.md")
NOW_QUERY = "What is the {} fee of the club?"
PAST_QUERY = "What was the {} fee of the club before the change?"
ENTAILED, CONTRADICTED = (0.96, 0.02, 0.02), (0.02, 0.02, 0.96)


def sentence(topic, value):
    return f"The {topic} fee of the club is {value} euros."


def said(text):
    return " ".join(text.split()).casefold()


def nli(premise, hypothesis):
    return ENTAILED if said(hypothesis) in said(premise) else CONTRADICTED


def support(request):
    return 0.95 if any(said(request.claim) in said(passage) for passage in request.passages) else 0.05


def provenance():
    parts = models()
    parts.embedding._calibration = EverythingNear()
    return app(embedding=parts.embedding, entailment=TableEntailment(nli), grounding=TableGrounding(support))


@dataclass
class World:
    """A deployment, and what its documents say by topic."""

    knowledge: Any
    dpe: Any = field(default_factory=provenance)
    standing: Standing = field(default_factory=Standing)

    async def put(self, uri, values, *, supersedes=()):
        """Ingest the whole document as it stands now."""
        self.knowledge.apps.knowledge._stores.clock.advance(hours=1)
        lines = [f"# {uri}", *(f"\n{sentence(topic, value)}" for topic, value in sorted(values.items()))]
        lines.append("\nThe club house is open to its members and to their guests.")
        document = SourceDocument(
            uri, "", "text/markdown", SourceType.INTERNAL, "\n".join(lines).encode(), supersedes_uris=tuple(supersedes)
        )
        ticket = self.knowledge._ticket("IngestSource")
        outcome = await self.knowledge.apps.ingestion.ingest_source(TENANT, document, ticket)
        self.knowledge.sources[TENANT, uri] = outcome.source.source_id

    async def set(self, slot, topic, value):
        """Change a value, or remove it where there is none; the others stay as they are."""
        uri = self.standing.set(slot, topic, value)
        await self.put(uri, self.standing.documents[uri])

    async def rename(self, slot):
        if names := self.standing.rename(slot):
            old, new = names
            await self.put(new, self.standing.documents[new], supersedes=[old])

    async def erase(self, slot):
        if uri := self.standing.erase(slot):
            await self.knowledge.erase(TENANT, uri)

    async def withhold_and_restore(self, slot, topic, value):
        """Withhold what a topic's fact says, change the document meanwhile, and restore it."""
        uri = self.standing.names.get(slot)
        documents = self.standing.documents
        if topic not in documents.get(uri, {}):
            return
        text = sentence(topic, documents[uri][topic])
        source = self.knowledge.sources[TENANT, uri]
        facts = [one for one in await self.facts() if one.source_id == source and text in one.content]
        for one in facts:
            await self.knowledge.quarantine(TENANT, one.fact_id)
        await self.set(slot, topic, value)
        for one in facts:
            await self.knowledge.restore(TENANT, one.fact_id)

    async def facts(self):
        ids = list(self.knowledge.store._facts.get(TENANT, {}))
        return await self.knowledge.store.get(TENANT, ids)

    async def asked(self, query, topic, value, **wishes):
        """Return the envelope's message and the analysis of an answer that states the value."""
        request = EnvelopeRequest(query.format(topic), "gpt-4o", **wishes)
        built = await self.knowledge.apps.envelopes.build(TENANT, request)
        message = build_response(request, built, include_embeddings=False).envelope
        asked = dpe_pb.AnalyzeRequest(
            session_id="s1", window_id="w1", window_number=1, query=request.query,
            response_text=sentence(topic, value), envelope=message,
        )  # fmt: skip
        return message, await self.dpe.analyze(analysis_input(asked))

    async def check(self, topic, value):
        """Hold one answer against what stands in the documents, asked of now, of the past, and with everything."""
        documents = self.standing.documents
        current = self.standing.holds(topic, value)
        outdated = not current and self.standing.held(topic, value)
        for query, wishes in ((NOW_QUERY, {}), (PAST_QUERY, {}), (NOW_QUERY, {"include_superseded": True})):
            everything = query == PAST_QUERY or bool(wishes)
            message, finished = await self.asked(query, topic, value, **wishes)
            outputs = finished.analysis.outputs
            (verdict,) = outputs.fidelity.verdicts.values()
            where = (query, topic, value, documents, self.standing.former)
            if current:
                assert verdict is Verdict.SUPPORTED, where
                assert str(outputs.risk.level) == "LOW", (where, outputs.risk.floors)
            else:
                assert verdict is not Verdict.SUPPORTED, where
                assert outputs.risk.level is not RiskLevel.LOW, where
                if everything and outdated:
                    assert verdict is Verdict.SUPERSEDED, where
                    why = next(iter(outputs.fidelity.judgements.values())).why
                    assert "until 2026-" in why
                    assert "does not hold now" in why
            if not everything:
                assert not [fact for fact in message.facts if fact.stale_reason], where
            different = {values[topic] for values in documents.values() if topic in values}
            told = {text for conflict in message.conflicts for text in (one.text for one in conflict.values)}
            if len(different) > 1:
                assert {f"{one} euros" for one in different} <= told, where
                report = report_message(finished)
                assert report.source_disagreements
            elif all(len({v.get(t) for v in documents.values() if t in v}) < 2 for t in TOPICS):
                assert not told, where


SLOT, TOPIC, VALUE = st.sampled_from(URIS), st.sampled_from(TOPICS), st.sampled_from(VALUES)
STEP = st.one_of(
    st.tuples(st.just("set"), SLOT, TOPIC, VALUE),
    st.tuples(st.just("set"), SLOT, TOPIC, VALUE),
    st.tuples(st.just("remove"), SLOT, TOPIC, st.none()),
    st.tuples(st.just("rename"), SLOT, TOPIC, st.none()),
    st.tuples(st.just("erase"), SLOT, TOPIC, st.none()),
    st.tuples(st.just("withhold"), SLOT, TOPIC, st.one_of(st.none(), VALUE)),
)


async def run(steps):
    world = World(await open_knowledge())
    for kind, slot, topic, value in steps:
        if kind in {"set", "remove"}:
            await world.set(slot, topic, value)
        elif kind == "rename":
            await world.rename(slot)
        elif kind == "erase":
            await world.erase(slot)
        else:
            await world.withhold_and_restore(slot, topic, value)
    for topic in TOPICS:
        for value in VALUES:
            await world.check(topic, value)


@settings(max_examples=examples(25), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(STEP, min_size=1, max_size=7))
async def test_no_order_makes_what_is_outdated_current_or_what_is_current_doubtful(steps):
    await run(steps)


A, B = URIS
ORDERS = {
    "change": [("set", A, "parking", 10), ("set", A, "parking", 25)],
    "change back": [("set", A, "parking", 10), ("set", A, "parking", 25), ("set", A, "parking", 10)],
    "remove": [("set", A, "parking", 10), ("set", A, "registration", 40), ("remove", A, "parking", None)],
    "remove and return": [("set", A, "parking", 10), ("remove", A, "parking", None), ("set", A, "parking", 10)],
    "rename": [("set", A, "parking", 10), ("rename", A, "parking", None), ("set", A, "parking", 25)],
    "rename back": [("set", A, "parking", 10), ("rename", A, "", None), ("rename", A, "", None)],
    "two sources, one fact": [("set", A, "parking", 10), ("set", B, "parking", 10), ("set", A, "parking", 25)],
    "two sources agree again": [
        ("set", A, "parking", 10), ("set", B, "parking", 25), ("set", A, "parking", 25),
    ],
    "two sources, one erased": [("set", A, "parking", 10), ("set", B, "parking", 25), ("erase", B, "parking", None)],
    "changed while withheld": [("set", A, "parking", 10), ("withhold", A, "parking", 25)],
    "removed while withheld": [("set", A, "parking", 10), ("withhold", A, "parking", None)],
}  # fmt: skip


@pytest.mark.parametrize("steps", ORDERS.values(), ids=ORDERS)
async def test_orders_that_people_know(steps):
    await run(steps)


async def test_a_name_that_nobody_ingested_cannot_be_superseded():
    world = World(await open_knowledge())
    with pytest.raises(Exception, match=r"the superseded source nowhere\.md does not exist"):
        await world.put("fees.md", {"parking": 10}, supersedes=["nowhere.md"])
    assert not await world.facts()
