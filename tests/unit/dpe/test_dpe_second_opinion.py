"""How a vote moves a verdict, whom an analysis asks about, and what it may spend (ADR 0119)."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.common.ports.second_opinion import AskedClaim, GivenVote, OpinionKind, OpinionReply, TypedSpan, Vote
from services.common.rpc.canonical import message_json
from services.common.taxonomy import RiskLevel
from services.dpe.convert.opinions import recorded_opinion
from services.dpe.convert.report import report_message
from services.dpe.domain.findings import Basis, ConstraintConflict, DistortionType, Judgement, Verdict
from services.dpe.domain.opinion_record import AskedLimits, Gap, Limits, Scope
from services.dpe.domain.opinions import distortion_type, gaps, next_call
from services.dpe.domain.votes import Standing, verdict_after
from services.dpe.ports import OpinionReplay, OpinionTerms
from tests.each import each
from tests.fakes.dpe_world import TableEntailment, TableGrounding, analyse, app

S, U, C, N = Verdict.SUPPORTED, Verdict.UNSUPPORTED, Verdict.CONTRADICTED, Verdict.NONE
FOR, AGAINST, WORSE = Vote.SUPPORTED, Vote.UNSUPPORTED, Vote.CONTRADICTED
FACT = "Reports of damage have to reach the insurer within 7 days."
OTHER = "The office in Bern opens at 8 in the morning."
PARAPHRASE = "Tell the company about damage in a week at most."


@each(
    ("first", "basis", "standing", "votes"),
    [
        # what the vote is, and what the verdict is after it: for, against, contradicted
        (U, Basis.GROUNDING, {}, (S, U, U)),
        (U, Basis.DISTORTION, {"objections": 1}, (S, U, U)),
        (U, Basis.DISTORTION, {"objections": 2}, (U, U, U)),
        (C, Basis.CONTRADICTION, {"objections": 1}, (S, C, C)),
        (C, Basis.CONTRADICTION, {"objections": 2}, (C, C, C)),
        (N, None, {}, (S, U, U)),
        (S, Basis.GROUNDING, {}, (S, U, U)),
        (S, Basis.VALUES, {}, (S, U, U)),
        (S, Basis.QUOTATION, {}, (S, S, S)),
        (C, Basis.VALUE_CONFLICT, {"by_rule": True}, (C, C, C)),
        (C, Basis.DISTORTION, {"by_rule": True}, (C, C, C)),
        (C, Basis.VALUE_CONFLICT, {}, (C, C, C)),
        (C, Basis.CONSTRAINT, {}, (C, C, C)),
        (Verdict.SUPERSEDED, Basis.GROUNDING, {}, (Verdict.SUPERSEDED,) * 3),
        (U, Basis.GROUNDING, {"readable": False}, (U, U, U)),
        (N, None, {"readable": False}, (N, U, U)),
    ],
)
def test_the_table(first, basis, standing, votes):
    judgement = Judgement(first, basis)
    assert tuple(verdict_after(Standing(judgement, **standing), vote) for vote in (FOR, AGAINST, WORSE)) == votes


def test_no_vote_moves_what_a_constraint_contradicts():
    conflict = ConstraintConflict(("k1",), S)
    judgement = Judgement(C, Basis.CONTRADICTION, conflict=conflict)
    assert {verdict_after(Standing(judgement), vote) for vote in Vote} == {C}


class Votes:
    """Says the same of every claim, or what a table says of its text; keeps what it was asked."""

    kind = OpinionKind.JUDGE
    model = "opinion/table"
    prompt_version = "judge-1+sha256:0000000000000000"

    def __init__(self, vote=FOR, **table):
        self.vote = vote
        self.table = table
        self.requests = []

    def tokens(self, request):
        return 100 * len(request.claims), 10 * len(request.claims)

    async def ask(self, request):
        self.requests.append(request)
        votes = {one.claim_id: GivenVote(self.table.get(one.text, self.vote)) for one in request.claims}
        return OpinionReply(votes, "opinion/table-7b", "ab" * 32, 90, 9)


def using(endpoint, limits=None, support=0.1, contradicts=False, ttl_s=0.0):
    row = (0.05, 0.05, 0.9) if contradicts else (0.1, 0.8, 0.1)
    return app(
        entailment=TableEntailment(lambda *_: row),
        grounding=TableGrounding(lambda _: support),
        second_opinion=OpinionTerms(endpoint, limits or Limits(), ttl_s),
    )


async def judged(answer, *facts, endpoint=None, **how):
    finished = await analyse(answer, *facts, using=using(endpoint or Votes(), **how))
    outputs = finished.analysis.outputs
    return outputs, list(outputs.fidelity.judgements.values()), finished


async def test_an_open_claim_is_supported_by_a_vote_and_says_by_whose():
    outputs, (one,), _ = await judged(PARAPHRASE, FACT)
    assert (one.verdict, one.basis) == (S, Basis.SECOND_OPINION)
    assert "second opinion (opinion/table-7b)" in one.why
    (vote,) = outputs.second_opinion.votes
    assert (vote.first_verdict, vote.first_basis, vote.moved) == (U, Basis.GROUNDING, True)
    assert outputs.fidelity.verdicts["c1"] is S
    assert not any(floor.reason == "UNSUPPORTED" for floor in outputs.risk.floors)


async def test_what_an_encoder_alone_contradicts_is_asked_about_and_what_a_rule_contradicts_is_not():
    endpoint = Votes()
    _, (one,), _ = await judged(PARAPHRASE, FACT, endpoint=endpoint, contradicts=True)
    assert one.verdict is S
    assert len(endpoint.requests) == 1
    wrong = Votes()
    outputs, (one,), _ = await judged(
        "Reports of damage have to reach the insurer within 9 days.", FACT, endpoint=wrong
    )
    assert (one.verdict, one.basis) == (C, Basis.VALUE_CONFLICT)
    assert wrong.requests == []
    assert outputs.second_opinion.votes == outputs.second_opinion.calls == ()
    assert outputs.risk.level in {RiskLevel.HIGH, RiskLevel.CRITICAL}


async def test_asked_about_all_claims_a_vote_on_a_rules_claim_is_recorded_and_moves_nothing():
    endpoint = Votes()
    outputs, (one,), _ = await judged(
        "Reports of damage have to reach the insurer within 9 days.", FACT, endpoint=endpoint, limits=Limits(Scope.ALL)
    )
    assert (one.verdict, one.basis) == (C, Basis.VALUE_CONFLICT)
    (vote,) = outputs.second_opinion.votes
    assert (vote.vote, vote.moved) == (FOR, False)


async def test_what_a_probability_supports_is_asked_about_only_where_all_are():
    endpoint = Votes(AGAINST)
    _, (one,), _ = await judged(PARAPHRASE, FACT, endpoint=endpoint, support=0.9)
    assert one.verdict is S
    assert endpoint.requests == []
    outputs, (one,), _ = await judged(PARAPHRASE, FACT, endpoint=endpoint, support=0.9, limits=Limits(Scope.ALL))
    assert (one.verdict, one.basis) == (U, Basis.SECOND_OPINION)
    assert "Not borne out" in one.why
    assert any(floor.reason == "UNSUPPORTED" for floor in outputs.risk.floors)


async def test_a_quotation_and_a_claim_without_facts_are_never_asked_about():
    endpoint = Votes(AGAINST)
    _, (one,), _ = await judged(FACT, FACT, endpoint=endpoint, limits=Limits(Scope.ALL))
    assert (one.verdict, one.basis) == (S, Basis.QUOTATION)
    await judged(PARAPHRASE, endpoint=endpoint, limits=Limits(Scope.ALL))
    assert endpoint.requests == []


@pytest.mark.parametrize(
    "claim", ["Tell the comp\u0430ny about damage in a week at most.", "Tell the com\u200bpany about it all."]
)
async def test_a_text_in_disguise_is_never_supported_by_a_vote(claim):
    _, (one,), _ = await judged(claim, FACT)
    assert one.verdict is U


async def test_votes_do_not_lift_a_name_without_basis():
    outputs, (one,), _ = await judged("Tell Globex about damage in a week at most.", FACT)
    assert one.verdict is S
    assert [str(floor.reason) for floor in outputs.risk.floors if floor.reason == "FABRICATED"] == ["FABRICATED"]
    assert outputs.risk.level is not RiskLevel.LOW


async def test_the_same_analysis_without_an_endpoint_has_no_record():
    finished = await analyse(PARAPHRASE, FACT, using=app(grounding=TableGrounding(lambda _: 0.1)))
    assert finished.analysis.outputs.second_opinion is None
    assert not report_message(finished).HasField("second_opinion")


async def test_a_claim_names_the_facts_that_were_near_it_and_the_words_before_it():
    endpoint = Votes()
    await judged(f"{OTHER} {PARAPHRASE}", FACT, OTHER, endpoint=endpoint)
    (request,) = endpoint.requests
    (claim,) = request.claims
    assert claim.text == PARAPHRASE
    assert claim.context == OTHER
    assert {request.facts[place] for place in claim.facts} <= {FACT, OTHER}
    assert request.answer[claim.start : claim.end] == PARAPHRASE


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        (None, Limits()),
        (AskedLimits(), Limits()),
        (AskedLimits(Scope.OFF), replace(Limits(), scope=Scope.OFF)),
        (AskedLimits(Scope.ALL, 99, 10**9, 1e6), Limits()),
        (AskedLimits(None, 1, 500, 0.5), replace(Limits(), max_calls=1, max_tokens=500, max_seconds=0.5)),
        (AskedLimits(None, 0, 0, 0.0), replace(Limits(), max_calls=0, max_tokens=0, max_seconds=0.0)),
    ],
)
def test_a_request_lowers_and_never_raises(asked, expected):
    assert Limits().narrowed(asked) == expected


@given(st.lists(st.integers(1, 50), max_size=60), st.integers(0, 200))
def test_a_call_takes_as_many_claims_from_the_front_as_fit(sizes, bound):
    claims = [AskedClaim(f"c{place}", "x" * size, 0, 1, ()) for place, size in enumerate(sizes)]
    asked = []

    def fits(some):
        asked.append(len(some))
        return sum(len(one.text) for one in some) <= bound

    now, rest = next_call(claims, fits)
    assert [*now, *rest] == claims
    assert fits(now)
    assert not rest or not fits(claims[: len(now) + 1])
    assert len(asked) <= len(sizes).bit_length() + 5


@pytest.mark.parametrize(
    ("category", "subcategory", "words", "expected"),
    [
        ("contradiction", "numerical", "7 euros", DistortionType.NUMBER_CHANGED),
        ("contradiction", "value", "7 euros", DistortionType.NUMBER_CHANGED),
        ("contradiction", "value", "blue", None),
        ("contradiction", "temporal", "May", DistortionType.DATE_SHIFTED),
        ("contradiction", "entity", "Acme", DistortionType.ENTITY_SUBSTITUTED),
        ("contradiction", "relational", "by Acme", DistortionType.RELATION_ALTERED),
        ("contradiction", "claim", "it", None),
        ("fabricated_reference", "entity", "Acme", None),
        ("unsupported_addition", "numerical", "7", None),
    ],
)
def test_a_detectors_types_are_mapped_onto_ours(category, subcategory, words, expected):
    assert distortion_type(TypedSpan(0, len(words), category, subcategory), words) is expected


def test_claims_without_a_vote_are_listed_by_reason_in_the_order_of_the_reasons():
    left = {"c1": Gap.OUT_OF_TIME, "c2": Gap.ENDPOINT_FAILED, "c3": Gap.OUT_OF_TIME}
    assert gaps(left) == ((Gap.ENDPOINT_FAILED, ("c2",)), (Gap.OUT_OF_TIME, ("c1", "c3")))


async def test_a_replay_takes_the_recorded_votes_and_gives_the_same_report():
    finished = await analyse(PARAPHRASE, FACT, OTHER, using=using(Votes()))
    report = message_json(report_message(finished))
    shelf = OpinionReplay(recorded_opinion(report))
    quiet = app(
        entailment=TableEntailment(lambda *_: (0.1, 0.8, 0.1)),
        grounding=TableGrounding(lambda _: 0.1),
        second_opinion=shelf,
    )
    again = message_json(report_message(await analyse(PARAPHRASE, FACT, OTHER, using=quiet)))
    assert again["second_opinion"] == report["second_opinion"]
    assert again["report_hash"] == report["report_hash"]
    shelf.record = None
    without = message_json(report_message(await analyse(PARAPHRASE, FACT, OTHER, using=quiet)))
    assert "second_opinion" not in without
    assert without["report_hash"] != report["report_hash"]


async def test_another_vote_in_the_record_is_another_report():
    finished = await analyse(PARAPHRASE, FACT, using=using(Votes()))
    report = message_json(report_message(finished))
    report["second_opinion"]["votes"][0]["vote"] = "OPINION_VOTE_UNSUPPORTED"
    quiet = app(
        entailment=TableEntailment(lambda *_: (0.1, 0.8, 0.1)),
        grounding=TableGrounding(lambda _: 0.1),
        second_opinion=OpinionReplay(recorded_opinion(report)),
    )
    again = message_json(report_message(await analyse(PARAPHRASE, FACT, using=quiet)))
    assert again["claims"][0]["verdict"] == "CLAIM_VERDICT_UNSUPPORTED"
