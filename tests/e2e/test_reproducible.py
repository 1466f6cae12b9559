"""The delivered encoders: the same report to the byte whatever else runs, and hostile text that changes nothing."""

import asyncio

import pytest
from crp.dpe.v1 import provenance_service_pb2 as pb
from crp.envelope.v1 import envelope_pb2

from services.common.composition import Adapters
from services.common.settings import Settings
from services.dpe.app import AnalysisConfig, Limits, ProvenanceApp
from services.dpe.compose import open_models
from services.dpe.convert.report import report_message
from services.dpe.convert.requests import analysis_input
from services.dpe.domain.findings import Verdict
from services.dpe.domain.policy import Policy
from services.dpe.gazetteer import load_gazetteer
from tests.fakes.dpe_world import FixedIds, StandingClock
from tests.unit.dpe.test_dpe_hostile import CASES, FACTS, HONEST, seen

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]
SAMPLE = ("instructions-04", "reports-02", "homoglyphs-01", "zero-width-01", "bidirectional-02", "quotes-05")
BESIDE = 8


def request(answer, *, priors=(), facts=FACTS):
    return pb.AnalyzeRequest(
        session_id="s1",
        window_id="w3",
        window_number=3,
        query="What does the policy say?",
        response_text=answer,
        envelope=envelope_pb2.ContextEnvelope(
            facts=[envelope_pb2.EnvelopeFact(fact_id=f"f{i}", content=text) for i, text in enumerate(facts, 1)]
        ),
        prior_windows=[pb.PriorWindow(window_id=f"w{n}", window_number=n, text=text) for n, text in priors],
    )


def fresh(models):
    """Return an app that remembers nothing, with a standing clock and fixed ids: equal hashes are equal bytes."""
    return ProvenanceApp(models, AnalysisConfig(Policy(), load_gazetteer(), Limits(), StandingClock(), FixedIds()))


async def report_hash(app, asked):
    return report_message(await app.analyze(analysis_input(asked))).report_hash


async def test_eight_analyses_beside_it_change_no_byte():
    others = [" ".join(HONEST.split()[i:] + FACTS[i % 4].split()) + f" It costs {i} dollars." for i in range(BESIDE)]
    async with Adapters(Settings()) as adapters:
        models = await open_models(adapters)
        alone = await report_hash(fresh(models), request(HONEST))
        app = fresh(models)
        crowd = [report_hash(app, request(text)) for text in others]
        together = (await asyncio.gather(*crowd[:4], report_hash(app, request(HONEST)), *crowd[4:]))[4]
        assert together == alone
        priors = ((1, "The policy covers storms."), (2, "The deductible is 300 dollars."))
        forward = await report_hash(fresh(models), request(HONEST, priors=priors))
        assert await report_hash(fresh(models), request(HONEST, priors=priors[::-1])) == forward


@pytest.mark.whole
async def test_a_sample_of_hostile_texts_changes_nothing_about_honest_claims():
    async with Adapters(Settings()) as adapters:
        app = fresh(await open_models(adapters))
        found = (await app.analyze(analysis_input(request(HONEST)))).analysis.outputs
        alone = seen(found, 0)
        assert Verdict.SUPPORTED in alone["verdicts"]
        for test_id in SAMPLE:
            before = CASES[test_id] + "\n\n"
            found = (await app.analyze(analysis_input(request(before + HONEST)))).analysis.outputs
            assert seen(found, len(before)) == alone, test_id
            hostile = {claim.claim_id for claim in found.text.claims if claim.start < len(before)}
            assert {found.fidelity.verdicts.get(key) for key in hostile} <= {Verdict.NONE, Verdict.UNSUPPORTED, None}, (
                test_id
            )
