"""Where facts come from: GetSource, facts by the beginning of their ids, documents in envelopes (ADR 0097)."""

import uuid

import grpc
import pytest
from crp.ckf.v1 import ckf_pb2

from services.common.locations import Place, headings_of, place_of, searched_text
from services.common.settings.envelope import EnvelopeSettings
from tests.each import each
from tests.fakes.envelope_world import World, refused

INVALID, NOT_FOUND = grpc.StatusCode.INVALID_ARGUMENT, grpc.StatusCode.NOT_FOUND
DOCUMENT = """# Claims

## Deadlines

A motor accident must be reported to the insurer within seven days of the event.
"""
LAW = "A personal data breach must be reported to the authority within seventy-two hours."


@pytest.fixture
async def clients():
    settings = EnvelopeSettings(shared_namespaces={"shared:law": ("alice",)})
    async with World(settings=settings).serving() as clients:
        yield clients


@pytest.fixture
def alice(clients):
    return clients()


async def test_a_source_is_read_by_its_id(alice):
    source = (await alice.ingest(DOCUMENT, uri="claims.md")).source
    assert (await alice.call("GetSource", source_id=source.source_id)).source == source
    await alice.call("EraseSource", source_id=source.source_id, request_id=str(uuid.uuid4()))
    erased = (await alice.call("GetSource", source_id=source.source_id)).source
    assert (erased.title, erased.uri, erased.status) == ("", "", ckf_pb2.SOURCE_STATUS_ERASED)


async def test_another_tenants_source_is_not_found(alice, clients):
    source = (await alice.ingest(DOCUMENT, uri="claims.md")).source
    async with refused(NOT_FOUND, "SOURCE_NOT_FOUND"):
        await clients("mallory").call("GetSource", source_id=source.source_id)
    async with refused(NOT_FOUND, "SOURCE_NOT_FOUND"):
        await alice.call("GetSource", source_id=str(uuid.uuid4()))
    for wrong in ("", "x", source.source_id.upper()):
        async with refused(INVALID, "INVALID_FIELD", "source_id"):
            await alice.call("GetSource", source_id=wrong)


async def test_every_fact_of_an_envelope_names_its_document(alice):
    made = await alice.ingest(DOCUMENT, uri="claims.md")
    (fact,) = (await alice.build("When must an accident be reported?")).envelope.facts
    assert (fact.source.source_id, fact.source.uri) == (made.source.source_id, "claims.md")
    assert (fact.source.title, fact.source.section, fact.source.page) == ("Claims", "Deadlines", 0)


async def test_a_carried_text_has_no_document(alice):
    carried = [{"content": "Earlier it was said that nothing is known.", "source_window_id": "w1"}]
    facts = (await alice.build("What was said earlier?", carried_facts=carried)).envelope.facts
    assert [fact.HasField("source") for fact in facts] == [False]


async def test_facts_are_found_by_the_beginning_of_their_ids(alice):
    await alice.ingest("# Rooms\n\n" + "\n\n".join(f"Room number {n} is on floor {n % 7}." for n in range(80)))
    everything = sorted(fact.fact_id for fact in await alice.facts())
    assert len(everything) > 1
    for fact_id in everything:
        for length in (4, 8, 9, 20, 36):
            found = (await alice.call("ListFacts", fact_id_prefix=fact_id[:length])).facts
            assert [fact.fact_id for fact in found] == [one for one in everything if one.startswith(fact_id[:length])]


@pytest.mark.parametrize("prefix", ["abc", "ABCD", "xyzw", "1234-567", "a" * 37, "1aff23c45", "%%%%"])
async def test_a_beginning_that_is_none_is_refused(alice, prefix):
    async with refused(INVALID, "INVALID_FIELD", "fact_id_prefix"):
        await alice.call("ListFacts", fact_id_prefix=prefix)


@each(
    ("location", "title", "expected"),
    [
        ("", "T", Place("", 0)),
        ("# T", "T", Place("", 0)),
        ("# T > ## Deadlines", "T", Place("Deadlines", 0)),
        ("# T > ## A > ### B", "T", Place("A › B", 0)),  # noqa: RUF001
        ("# Other > ## A", "T", Place("Other › A", 0)),  # noqa: RUF001
        ("p. 3", "T", Place("", 3)),
        ("p. 12, # T > ## A, and B", "T", Place("A, and B", 12)),
        ("p. 12, # Chapter", "T", Place("Chapter", 12)),
        ("## a > b > ## c", "T", Place("a > b › c", 0)),  # noqa: RUF001
        ("lines 4-7", "T", Place("lines 4-7", 0)),
        ("sheet Rates, A5:F5, # T > ## Fees", "T", Place("sheet Rates, A5:F5 › Fees", 0)),  # noqa: RUF001
        ("p. 3, slide 3, # T", "T", Place("slide 3", 3)),
        ("lines 3-4, # A", "T", Place("lines 3-4 › A", 0)),  # noqa: RUF001
        ("p. 0", "T", Place("p. 0", 0)),
        ("p. 99999999999999999999", "T", Place("p. 99999999999999999999", 0)),
    ],
)
def test_a_location_is_read_as_section_and_page(location, title, expected):
    assert place_of(location, title) == expected


@pytest.mark.parametrize(
    ("location", "headings"),
    [
        ("", ()),
        ("p. 3", ()),
        ("chapter 2", ()),
        ("# Claims", ("Claims",)),
        ("p. 3, # Claims > ## Deadlines", ("Claims", "Deadlines")),
        ("p. 3, sheet Rates, # Claims", ("Claims",)),
    ],
)
def test_the_headings_of_a_location(location, headings):
    assert headings_of(location) == headings
    assert searched_text("Text.", location) == "\n".join(("Text.", *headings))
