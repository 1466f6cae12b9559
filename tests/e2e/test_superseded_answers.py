"""Answers of yesterday and of today, with the delivered models: which is which is said of every one (ADR 0109).

Each case is a sentence that its document replaces by another; the answers quote them. Asked of now, of
the past and with everything, over the real stores: no outdated answer is SUPPORTED or LOW, no current one is doubted.
"""

import pytest
from crp.ckf.v1 import ckf_pb2 as ckf
from crp.ckf.v1 import knowledge_service_pb2 as knowledge
from crp.common.v1 import taxonomy_pb2 as taxonomy
from crp.dpe.v1 import claim_pb2
from crp.dpe.v1 import provenance_service_pb2 as provenance
from crp.envelope.v1 import envelope_service_pb2 as envelopes

from services.cli.connection import connect
from services.common.settings import load_settings
from services.common.settings.stores import StoreSettings
from tests.fakes.envelope_world import fresh_id
from tests.tenth import tenth

pytestmark = [pytest.mark.slow, pytest.mark.timeout(240)]

CASES = (
    ("late fee", "The fee for a late report is 10 euros.", "The fee for a late report is 25 euros."),
    ("notice", "Tenants must give notice three months in advance.", "Tenants must give notice two months in advance."),
    ("speed", "The speed limit on the site is 30 km/h.", "The speed limit on the site is 20 km/h."),
    ("retention", "Invoices are kept for ten years.", "Invoices are kept for eight years."),
    ("director", "The director of the museum is Anna Berg.", "The director of the museum is Tom Lund."),
    ("opening", "The library opens at 9:00 on weekdays.", "The library opens at 10:30 on weekdays."),
    ("remote", "Employees may work from home two days a week.", "Employees may work from home four days a week."),
    ("dose", "The maximum daily dose is 40 mg.", "The maximum daily dose is 20 mg."),
    ("cover", "Damage by hail is covered up to 5,000 euros.", "Damage by hail is covered up to 7,500 euros."),
    ("audit", "The audit takes place in March.", "The audit takes place in September."),
)
REST = "\n\nVisitors register at the gate.\n\nThe canteen serves lunch to all employees and their guests.\n"
SUPPORTED, SUPERSEDED = claim_pb2.CLAIM_VERDICT_SUPPORTED, claim_pb2.CLAIM_VERDICT_SUPERSEDED


async def put(suite, name, sentence, supersedes=()):
    request = knowledge.IngestSourceRequest(
        request_id=fresh_id(), uri=f"{name}.md", source_type=ckf.SOURCE_TYPE_INTERNAL,
        content=f"# Rules\n\n{sentence}{REST}".encode(), supersedes_uris=[f"{one}.md" for one in supersedes],
    )  # fmt: skip
    await suite.call(suite.knowledge.IngestSource, request)


async def judged(suite, query, answer, **wishes):
    request = envelopes.BuildEnvelopeRequest(query=query, model="gpt-4o-mini", **wishes)
    envelope = (await suite.call(suite.envelopes.BuildEnvelope, request)).envelope
    asked = provenance.AnalyzeRequest(
        session_id="s1", window_id="w1", window_number=1, query=query, response_text=answer, envelope=envelope
    )
    report = (await suite.call(suite.provenance.Analyze, asked)).report
    return {claim.verdict for claim in report.claims if claim.verdict}, report.risk_level


@pytest.mark.tenth
async def test_answers_of_yesterday_and_of_today(tmp_path):
    settings = load_settings(store=StoreSettings(data_dir=tmp_path))
    outdated, doubted, unmarked = [], [], []
    async with connect(settings) as suite:
        for name, old, new in CASES:
            await put(suite, name, old)
            await put(suite, name, new)
        for name, old, new in tenth("answers of yesterday", CASES, name=lambda case: case[0]):
            subject = old.split(" ")[1]
            for query, wishes in (
                (f"What do the rules say about the {name} ({subject})?", {}),
                (f"What did the old rules say about the {name} ({subject})?", {}),
                (f"What do the rules say about the {name} ({subject})?", {"include_superseded": True}),
            ):
                verdicts, level = await judged(suite, query, old, **wishes)
                if SUPPORTED in verdicts or level == taxonomy.RISK_LEVEL_LOW:
                    outdated.append((query, old, sorted(verdicts)))
                if (wishes or "did the old" in query) and verdicts != {SUPERSEDED}:
                    unmarked.append((query, old, sorted(verdicts)))
                verdicts, level = await judged(suite, query, new, **wishes)
                if verdicts != {SUPPORTED}:
                    doubted.append((query, new, sorted(verdicts)))
    assert (outdated, doubted, unmarked) == ([], [], [])


OLD, NEW, NOTHING = "old", "new", "nothing"
ORDERS = {
    "change": (("a", OLD), ("a", NEW)),
    "change back": (("a", OLD), ("a", NEW), ("a", OLD)),
    "remove": (("a", OLD), ("a", NOTHING)),
    "remove and return": (("a", OLD), ("a", NOTHING), ("a", OLD)),
    "rename": (("a", OLD), ("b", OLD, "a"), ("b", NEW)),
    "rename back": (("a", OLD), ("b", OLD, "a"), ("a", OLD, "b")),
    "two sources, one fact": (("a", OLD), ("b", OLD), ("a", NOTHING)),
    "two sources, one after the other": (("a", OLD), ("b", OLD), ("a", NEW), ("b", NEW)),
    "two sources agree again": (("a", OLD), ("b", NEW), ("a", NEW)),
}
"""Steps: which document says what from then on, and which one it replaces under another name."""


def holding(steps):
    """Return what some document says after all steps."""
    says = {}
    for name, what, *replaced in steps:
        says[name] = what
        for one in replaced:
            del says[one]
    return set(says.values()) - {NOTHING}


@pytest.mark.whole
@pytest.mark.parametrize("order", ORDERS)
async def test_every_order_of_changes_with_the_delivered_models(tmp_path, order):
    name, old, new = CASES[list(ORDERS).index(order)]
    said = {OLD: old, NEW: new, NOTHING: "Letters are answered by the office."}
    subject = old.split(" ")[1]
    current = holding(ORDERS[order])
    held = {what for _, what, *_ in ORDERS[order]} - {NOTHING} - current
    wrong = []
    async with connect(load_settings(store=StoreSettings(data_dir=tmp_path))) as suite:
        for document, what, *replaced in ORDERS[order]:
            await put(suite, f"{name}-{document}", said[what], [f"{name}-{one}" for one in replaced])
        for query, wishes in (
            (f"What do the rules say about the {name} ({subject})?", {}),
            (f"What did the old rules say about the {name} ({subject})?", {}),
            (f"What do the rules say about the {name} ({subject})?", {"include_superseded": True}),
        ):
            for what in (OLD, NEW):
                verdicts, level = await judged(suite, query, said[what], **wishes)
                if what in current:
                    right = verdicts == {SUPPORTED}
                else:
                    right = SUPPORTED not in verdicts and level != taxonomy.RISK_LEVEL_LOW
                    everything = wishes or "did the old" in query
                    right &= verdicts == {SUPERSEDED} if what in held and everything else True
                if not right:
                    wrong.append((query, what, sorted(verdicts), level))
    assert not wrong


def test_the_orders_end_as_they_are_meant_to():
    assert {order: holding(steps) for order, steps in ORDERS.items()} == {
        "change": {NEW}, "change back": {OLD}, "remove": set(), "remove and return": {OLD}, "rename": {NEW},
        "rename back": {OLD}, "two sources, one fact": {OLD}, "two sources, one after the other": {NEW},
        "two sources agree again": {NEW},
    }  # fmt: skip
