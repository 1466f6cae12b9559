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


async def put(suite, name, sentence):
    request = knowledge.IngestSourceRequest(
        request_id=fresh_id(), uri=f"{name}.md", source_type=ckf.SOURCE_TYPE_INTERNAL,
        content=f"# Rules\n\n{sentence}{REST}".encode(),
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
