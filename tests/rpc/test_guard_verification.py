"""VerifyClaims and VerifyClaimsBatch over gRPC: verdicts, votes, spans, limits and bad input (page, ADR 0127)."""

import grpc
import pytest
from crp.common.v1 import taxonomy_pb2 as taxonomy
from crp.dpe.v1 import guard_pb2
from crp.dpe.v1 import guard_service_pb2 as pb

from services.common.settings.guard.verification import VerificationSettings
from tests.fakes.dpe_world import DownModel, models, refusal
from tests.fakes.verified_claims import GuardWorld, judged, texts, verdict_of, votes_of

RENT = "The monthly rent is 1,250 euros. Late payment costs 15 euros."
DEPOSIT = "The deposit is three months' rent. Jane Doe keeps it for Acme Mutual."
INVALID = grpc.StatusCode.INVALID_ARGUMENT
TOO_LARGE = grpc.StatusCode.RESOURCE_EXHAUSTED


@pytest.fixture
async def guard():
    async with GuardWorld().serving() as served:
        yield served


async def test_a_sentence_of_a_source_is_supported_with_its_places(guard):
    answer = "As agreed. Late payment costs 15 euros."
    found = await guard.verify("Late payment costs 15 euros.", DEPOSIT, RENT)
    (claim,) = found.claims
    assert (verdict_of(claim), claim.confidence, found.approved, found.supported_ratio) == ("SUPPORTED", 1.0, True, 1.0)
    assert claim.evidence.id == "s2"
    assert RENT[claim.evidence.span.start : claim.evidence.span.end] == "Late payment costs 15 euros."
    assert (claim.evidence.answer_span.start, claim.evidence.answer_span.end) == (0, len(claim.text))
    assert votes_of(claim) == {
        "NLI": "SUPPORTS",
        "ENTITY": "UNSPECIFIED",
        "NUMBER": "SUPPORTS",
        "NEGATION": "SUPPORTS",
        "TRACEABILITY": "SUPPORTS",
    }
    again = (await guard.verify(answer, DEPOSIT, RENT)).claims[-1]
    assert answer[again.span.start : again.span.end] == again.text == "Late payment costs 15 euros."


@pytest.mark.parametrize("rpc", ["VerifyClaims", "VerifyClaimsBatch"])
async def test_sources_without_ids_are_cited_by_their_order(guard, rpc):
    answer = "Late payment costs 1,250 euros. Jane Doe keeps it for Acme Mutual."
    asked = {"response": answer} if rpc == "VerifyClaims" else {"texts": [pb.ClaimedText(id="t", content=answer)]}
    of_rpc = getattr(pb, f"{rpc}Request")
    nameless = [guard_pb2.GroundingText(content=text) for text in (DEPOSIT, RENT)]
    found = await guard.call(rpc, of_rpc(sources=nameless, **asked))
    false, quoted = (found.texts[0] if rpc == "VerifyClaimsBatch" else found).claims
    assert (false.evidence.id, quoted.evidence.id) == ("s2", "s1")
    assert [one.source_id for one in false.differences] == ["s2"]
    assert found == await guard.call(rpc, of_rpc(sources=texts(DEPOSIT, RENT), **asked))


async def test_a_number_that_occurs_elsewhere_supports_nothing(guard):
    found = await guard.verify("Late payment costs 1,250 euros.", RENT)
    (claim,) = found.claims
    assert verdict_of(claim) == "CONTRADICTED"
    assert votes_of(claim)["NUMBER"] == "CONTRADICTS"
    assert not found.approved
    (difference,) = claim.differences
    assert claim.text[difference.answer_span.start : difference.answer_span.end] == "1,250 euros"
    assert RENT[difference.source_span.start : difference.source_span.end] == "15 euros"
    assert (difference.source_id, difference.decides) == ("s1", True)
    assert difference.kind == pb.VERIFICATION_SIGNAL_KIND_NUMBER


async def test_one_right_number_of_two_does_not_support_the_claim():
    async with GuardWorld(judged(support=lambda _: 0.9)).serving() as guard:
        (claim,) = (await guard.verify("The rent is 1,250 euros and late payment costs 95 euros.", RENT)).claims[-1:]
        assert votes_of(claim)["NUMBER"] != "SUPPORTS"
        assert verdict_of(claim) != "SUPPORTED"


async def test_a_turned_negation_contradicts(guard):
    source = "The tenant may sublet the garage to a neighbour."
    (claim,) = (await guard.verify("The tenant may not sublet the garage to a neighbour.", source)).claims
    assert verdict_of(claim) == "CONTRADICTED"
    assert votes_of(claim)["NEGATION"] == "CONTRADICTS"


async def test_an_invented_name_is_no_support_whatever_the_encoder_says_of_the_rest(guard):
    (claim,) = (await guard.verify("Anna Miller inspected the boiler in Atlantis.", DEPOSIT)).claims
    assert verdict_of(claim) == "FABRICATED"
    assert votes_of(claim)["ENTITY"] == "CONTRADICTS"
    assert votes_of(claim)["TRACEABILITY"] == "FABRICATES"


async def test_another_name_in_the_place_of_one_contradicts(guard):
    (claim,) = (await guard.verify("John Smith keeps it for Acme Mutual.", DEPOSIT)).claims
    assert votes_of(claim)["ENTITY"] == "CONTRADICTS"
    assert verdict_of(claim) == "CONTRADICTED"


async def test_what_only_the_models_could_bear_out_is_told_by_them():
    paraphrase = "Whoever pays behind time owes 15 euros."
    async with GuardWorld(judged(support=lambda _: 0.97)).serving() as guard:
        (claim,) = (await guard.verify(paraphrase, RENT)).claims
        assert verdict_of(claim) == "SUPPORTED"
        assert 0.5 < claim.support < 1.0
    async with GuardWorld(judged(support=lambda _: 0.02)).serving() as guard:
        (claim,) = (await guard.verify(paraphrase, RENT)).claims
        assert verdict_of(claim) != "SUPPORTED"
        assert claim.support < 0.5


async def test_rows_of_separated_values_are_read_with_their_heads(guard):
    table = "Drug,Dose,Interval\nAspirin,500 mg,8 hours\nIbuprofen,400 mg,6 hours\nCodein,30 mg,4 hours\n"
    (claim,) = (await guard.verify("The dose of Ibuprofen is 500 mg.", table)).claims
    assert verdict_of(claim) == "CONTRADICTED"
    assert table[claim.evidence.span.start : claim.evidence.span.end] == "Ibuprofen,400 mg,6 hours"


async def test_another_language_is_not_passed_over(guard):
    source = "Die Miete beträgt 950 Euro im Monat und ist am dritten Werktag fällig."
    found = await guard.verify(source, source)
    assert [verdict_of(claim) for claim in found.claims] == ["SUPPORTED"]
    found = await guard.verify("Die Kaution beträgt drei Monatsmieten und wird verzinst.", source)
    assert [verdict_of(claim) for claim in found.claims] == ["UNVERIFIABLE"]
    assert (found.status, found.reason) == (taxonomy.STAGE_STATUS_DEGRADED, "LANGUAGE_NOT_SUPPORTED")
    assert not found.approved


async def test_an_answer_without_claims_is_not_approved(guard):
    found = await guard.verify("Hello!", RENT)
    assert not found.claims
    assert not found.approved
    assert not found.HasField("supported_ratio")
    assert (found.status, found.reason) == (taxonomy.STAGE_STATUS_NOT_APPLICABLE, "NO_FACTUAL_CLAIMS")


@pytest.mark.parametrize(
    ("using", "reason"),
    [
        pytest.param(models(), "GROUNDING_MODEL_NOT_CONFIGURED", id="no-encoders"),
        pytest.param(judged(entity_recognizer=DownModel()), "ENTITY_RECOGNIZER_FAILED", id="recogniser-down"),
        pytest.param(models(entailment=DownModel(), grounding=DownModel()), "GROUNDING_MODEL_FAILED", id="down"),
    ],
)
async def test_a_signal_without_its_model_degrades_and_never_supports_by_itself(using, reason):
    async with GuardWorld(using).serving() as guard:
        found = await guard.verify("Late payment in March costs 15 euros.", RENT)
        assert (found.status, found.reason) == (taxonomy.STAGE_STATUS_DEGRADED, reason)
        (claim,) = (await guard.verify("Whoever pays behind time owes something.", RENT)).claims
        assert verdict_of(claim) != "SUPPORTED"


async def test_without_vectors_nothing_can_be_matched():
    async with GuardWorld(judged(embedding=DownModel())).serving() as guard:
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await guard.verify(RENT, RENT)
        assert refusal(refused.value)[:2] == (grpc.StatusCode.UNAVAILABLE, "MODEL_UNAVAILABLE")


async def test_a_batch_says_of_each_text_what_a_single_call_says(guard):
    answers = ["Late payment costs 15 euros.", "Late payment costs 1,250 euros. Jane Doe keeps it for Acme Mutual."]
    alone = [await guard.verify(answer, RENT, DEPOSIT) for answer in answers]
    request = pb.VerifyClaimsBatchRequest(
        texts=[pb.ClaimedText(id=f"t{n}", content=answer) for n, answer in enumerate(answers)],
        sources=texts(RENT, DEPOSIT),
    )
    together = await guard.call("VerifyClaimsBatch", request)
    assert [text.id for text in together.texts] == ["t0", "t1"]
    for one, text in zip(alone, together.texts, strict=True):
        assert list(one.claims) == list(text.claims)
        assert (one.approved, one.supported_ratio, one.status) == (text.approved, text.supported_ratio, text.status)
    assert together.policy_hash == alone[0].policy_hash
    assert list(together.models) == list(alone[0].models)


async def test_every_model_is_asked_once_for_a_batch():
    using = judged()
    async with GuardWorld(using).serving() as guard:
        answers = [f"The tenant of flat {number} may keep {number} dogs." for number in range(2, 12)]
        await guard.call(
            "VerifyClaimsBatch",
            pb.VerifyClaimsBatchRequest(
                texts=[pb.ClaimedText(id=answer, content=answer) for answer in answers],
                sources=texts("A tenant of the house may keep 1 dog."),
            ),
        )
        asked = [call for call in using.grounding.calls if call[0].claim in answers]
        assert [len(call) for call in asked] == [len(answers)]
        assert len([call for call in using.entity_recognizer.calls if answers[0] in call]) == 1


async def test_other_thresholds_are_another_policy():
    async with GuardWorld().serving() as guard:
        usual = (await guard.verify(RENT, RENT)).policy_hash
    async with GuardWorld(verification=VerificationSettings(rule_confidence=0.8)).serving() as guard:
        other = (await guard.verify(RENT, RENT)).policy_hash
    assert len(usual) == len(other) == 64
    assert usual != other


async def test_verdicts_are_counted(guard):
    await guard.verify("Late payment costs 15 euros.", RENT)
    counted = guard.telemetry.registry.get_sample_value(
        "groundtrail_guard_verified_claims_total", {"verdict": "SUPPORTED"}
    )
    assert counted == 1.0


SOURCE = texts(RENT)
REFUSED = [
    pytest.param("VerifyClaims", pb.VerifyClaimsRequest(), ["response", "sources"], id="empty"),
    pytest.param("VerifyClaims", pb.VerifyClaimsRequest(response=" ", sources=SOURCE), ["response"], id="blank"),
    pytest.param("VerifyClaims", pb.VerifyClaimsRequest(response=RENT), ["sources"], id="no-sources"),
    pytest.param(
        "VerifyClaims",
        pb.VerifyClaimsRequest(response=RENT, sources=texts(" \n")),
        ["sources[0].content"],
        id="blank-source",
    ),
    pytest.param(
        "VerifyClaims",
        pb.VerifyClaimsRequest(response=RENT, sources=[guard_pb2.GroundingText(content=DEPOSIT), *SOURCE]),
        ["sources[0].id"],
        id="one-source-without-id",
    ),
    pytest.param(
        "VerifyClaims",
        pb.VerifyClaimsRequest(response=RENT, sources=[*SOURCE, *SOURCE]),
        ["sources[1].id"],
        id="source-twice",
    ),
    pytest.param(
        "VerifyClaims",
        pb.VerifyClaimsRequest(response=RENT, sources=SOURCE, question="q" * 100_001),
        ["question"],
        id="long-question",
    ),
    pytest.param("VerifyClaimsBatch", pb.VerifyClaimsBatchRequest(), ["texts", "sources"], id="empty-batch"),
    pytest.param(
        "VerifyClaimsBatch",
        pb.VerifyClaimsBatchRequest(
            texts=[pb.ClaimedText(id="a", content=RENT), pb.ClaimedText(id="a"), pb.ClaimedText(content=RENT)],
            sources=SOURCE,
        ),
        ["texts[1].content", "texts[2].id", "texts[1].id"],
        id="bad-texts",
    ),
]


@pytest.mark.parametrize(("rpc", "request_", "fields"), REFUSED)
async def test_bad_input_is_refused_with_every_violation(guard, rpc, request_, fields):
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await guard.call(rpc, request_)
    assert refusal(refused.value) == (INVALID, "INVALID_FIELD", fields)


SMALL = VerificationSettings(max_sources=2, max_source_chars=1_000, max_batch_texts=2, max_batch_chars=1_200)


@pytest.mark.parametrize(
    ("rpc", "request_", "code"),
    [
        pytest.param("VerifyClaims", pb.VerifyClaimsRequest(response=RENT, sources=texts("a b. " * 300)), TOO_LARGE,
                     id="sources-too-long"),
        pytest.param("VerifyClaims", pb.VerifyClaimsRequest(response="a b. " * 200_000, sources=SOURCE), TOO_LARGE,
                     id="answer-too-long"),
        pytest.param("VerifyClaims", pb.VerifyClaimsRequest(response=RENT, sources=texts(*"abc")), INVALID,
                     id="too-many-sources"),
        pytest.param(
            "VerifyClaimsBatch",
            pb.VerifyClaimsBatchRequest(
                texts=[pb.ClaimedText(id=str(n), content=RENT) for n in range(2)], sources=texts("a b. " * 180)
            ),
            TOO_LARGE,
            id="batch-times-sources",
        ),
        pytest.param(
            "VerifyClaimsBatch",
            pb.VerifyClaimsBatchRequest(
                texts=[pb.ClaimedText(id=str(n), content=RENT) for n in range(3)], sources=SOURCE
            ),
            INVALID,
            id="too-many-texts",
        ),
    ],
)  # fmt: skip
async def test_limits_are_refused_whole(rpc, request_, code):
    async with GuardWorld(verification=SMALL).serving() as guard:
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await guard.call(rpc, request_)
        assert refused.value.code() is code
        if code is TOO_LARGE:
            assert refusal(refused.value)[1] == "MESSAGE_TOO_LARGE"


@pytest.mark.parametrize("data", [b"\xff\xff\xff\xff", b"\x0a\x02\xff\xfe"], ids=["no-message", "no-unicode"])
async def test_bytes_that_are_no_request_are_refused(guard, data):
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await guard.raw("VerifyClaims", data)
    assert refused.value.code() is not grpc.StatusCode.OK


async def test_nobody_without_a_credential(guard):
    with pytest.raises(grpc.aio.AioRpcError) as refused:
        await guard.stub.VerifyClaims(pb.VerifyClaimsRequest(response=RENT, sources=SOURCE))
    assert refused.value.code() is grpc.StatusCode.UNAUTHENTICATED
