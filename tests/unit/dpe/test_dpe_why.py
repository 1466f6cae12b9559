"""Every verdict says why in one sentence, with the words on both sides and the document (ADR 0097)."""

from dataclasses import replace
from itertools import product

import pytest

from services.common.provenance import kept_report, report_hash
from services.common.reading.text_types import Claim, ClaimType, Span
from services.common.reading.values import scan_values
from services.common.rpc.canonical import message_json
from services.dpe.convert.responses import analyze_response
from services.dpe.domain.analysis import AnalysisInput
from services.dpe.domain.facts import EnvelopeFact, FactSource
from services.dpe.domain.findings import (
    AlignedValue,
    Basis,
    ConstraintConflict,
    Distortion,
    DistortionType,
    DoubtfulSpan,
    Evidence,
    Judgement,
    Rule,
    Verdict,
)
from services.dpe.domain.why import MAX_WORDS_CHARS, Grounds, place_name, why
from services.dpe.domain.wording import worded
from tests.fakes.dpe_world import TableRecognizer, analyse, app, models
from tests.unit.dpe.test_dpe_vectors import EverythingNear
from tests.unit.dpe.test_dpe_verdicts import near_models

RETENTION = FactSource("s1", "file:15.md", "Data retention", "Retention", 3)
PLACE = "Data retention › Retention, p. 3"  # noqa: RUF001
UNSURE = "That may be said of something else."
FACT = "Claims files are kept for 10 years after the file is closed."


def fact(content=FACT, source=RETENTION):
    return EnvelopeFact("f1", content, 0.7, source=source)


async def analysed(answer, content=FACT, *, entailment=(0.2, 0.7, 0.1), support=0.3, source=RETENTION, names=()):
    using = near_models(entailment, support)
    if names:
        parts = models(entity_recognizer=TableRecognizer(ORGANISATION=names))
        parts.embedding._calibration = EverythingNear()
        using = app(embedding=parts.embedding, entity_recognizer=parts.entity_recognizer)
    given = AnalysisInput("s1", "w1", 1, query="What holds?", answer=answer, facts=(fact(content, source),))
    return await using.analyze(given)


async def sentence(*given, **options):
    return (await analysed(*given, **options)).analysis.outputs.fidelity.judgements["c1"].why


@pytest.mark.parametrize(
    ("answer", "content", "expected"),
    [
        (
            "Claims files are kept for 3 years after the file is closed.",
            FACT,
            f"10 years in {PLACE}; the answer says 3 years.",
        ),
        (FACT, FACT, f"Stands word for word in {PLACE}."),
        (
            "The damage is not covered by the household policy.",
            "The damage is covered by the household policy.",
            f"“covered” in {PLACE}; the answer says “not covered”.",
        ),
        (
            "The damage is covered by the household policy.",
            "The damage is not covered by the household policy.",
            f"“not covered” in {PLACE}; the answer says “covered”.",
        ),
        (
            "The request was rejected by the Complaints department.",
            "The request was approved by the Complaints department.",
            f"“approved” in {PLACE}; the answer says “rejected”.",
        ),
        (
            "Customers get at most 60 days' notice of a higher fee.",
            "Customers get at least 60 days' notice of a higher fee.",
            f"“at least 60 days” in {PLACE}; the answer says “at most 60 days”.",
        ),
        (
            "Claims files are kept for 30 years.",
            "Claims files are kept for 30 years when a person was injured.",
            f"“when a person was injured”, which limits it in {PLACE}, is missing from the answer.",
        ),
    ],
)
async def test_the_sentence_names_both_sides_and_the_document(answer, content, expected):
    assert await sentence(answer, content) == expected


async def test_equal_values_in_two_notations_are_said_to_be_the_same():
    told = await sentence("The files are kept for ten years after being closed.", FACT, support=0.9)
    assert told == f"10 years in {PLACE}; the answer says ten years, which is the same."


async def test_what_an_encoder_alone_says_has_its_probability():
    told = await sentence("Old papers go to the archive of the town.", support=0.2, entailment=(0.05, 0.05, 0.9))
    assert told == f"{PLACE} seems to say otherwise (probability 0.90)."


async def test_a_limit_of_another_value_is_not_missing():
    kept = "Claims files are kept for 10 years after the end, and for 30 years when a person was injured."
    row = "Records: Claims files with injury; Kept for: 30 years; From: the end"
    given = AnalysisInput("s1", "w1", 1, query="", answer="Claims files are kept for 10 years after the end.",
                          facts=(fact(kept), EnvelopeFact("f2", row, 0.7)))  # fmt: skip
    outputs = (await near_models((0.8, 0.1, 0.1), 0.9).analyze(given)).analysis.outputs
    assert outputs.distortion.found == ()
    assert outputs.fidelity.judgements["c1"].verdict is Verdict.SUPPORTED


async def test_without_a_document_the_fact_is_named():
    assert await sentence(FACT, source=None) == "Stands word for word in fact f1."
    assert await sentence(FACT, source=replace(RETENTION, title="", section="", page=0)) == (
        "Stands word for word in file:15.md."
    )


async def test_without_a_fact_that_is_said():
    finished = await analyse("Claims files are kept for 3 years.")
    assert finished.analysis.outputs.fidelity.judgements["c1"].why == "The envelope holds no fact about it."


@pytest.mark.parametrize("text", ["x" * 4_000, "a\nb\u2028c", "  ", "<b>&"])
def test_names_are_one_line_and_bounded(text):
    shown = place_name(fact(source=FactSource("s", "uri", text, text, 9)))
    assert len(shown) < 300
    assert len(shown.splitlines()) == 1
    assert shown.endswith(", p. 9")


CLAIM = Claim("c1", "Files are kept.", 0, 15, 0, ClaimType.FACTUAL, 0.1)
EVIDENCE = Evidence(0, "f1", Span(0, 5), 0.9, 0.9)


def test_every_verdict_has_one_sentence():
    """Whatever decides, now or later: one sentence, one line, none empty. One test, for there are thousands."""
    cases = product(
        [verdict for verdict in Verdict if verdict is not Verdict.NONE],
        Basis,
        [(), (EVIDENCE,), (replace(EVIDENCE, fact_id="gone"),)],
        [(), (DoubtfulSpan(Span(0, 5), 0.7),)],
        [None, *DistortionType],
    )
    for verdict, basis, evidence, doubtful, distorted in cases:
        case = (verdict, basis, evidence, doubtful, distorted)
        conflict = ConstraintConflict(("r1", "r2", "r3", "r4"), Verdict.NONE) if basis is Basis.CONSTRAINT else None
        judgement = Judgement(verdict, basis, 0.5, 0.4, 0.3, doubtful, evidence, conflict)
        items = () if distorted is None else (Distortion(distorted, "c1", "f1", Span(0, 5), Span(0, 6)),)
        told = why(Grounds(CLAIM, judgement, items, "Files are kept.", {"f1": fact()}))
        assert told.endswith((".", ".”")), case
        assert len(told.splitlines()) == 1, case
        assert len(told) < 500, case


def test_without_a_verdict_nothing_is_said():
    assert why(Grounds(CLAIM, Judgement(Verdict.NONE, None), (), "", {})) == ""


def test_long_stretches_of_a_fact_are_not_repeated():
    content = "secret " * 30
    item = Distortion(DistortionType.ENTITY_SUBSTITUTED, "c1", "f1", Span(0, 15), Span(0, len(content)))
    judgement = Judgement(Verdict.CONTRADICTED, Basis.DISTORTION, evidence=(EVIDENCE,))
    told = why(Grounds(CLAIM, judgement, (item,), "Files are kept.", {"f1": fact(content)}))
    assert len(content) > MAX_WORDS_CHARS
    assert "secret" not in told


class TestWordsOnBothSides:
    """Offsets of a distortion lie in their own texts and hold the words that show it."""

    @pytest.mark.parametrize(
        ("answer", "content", "words"),
        [
            ("The damage is not covered.", "The damage is covered.", ("not", "The damage is covered.")),
            ("The damage is covered.", "The damage is never covered.", ("The damage is covered.", "never")),
            ("The claim was accepted.", "The claim was rejected.", ("accepted", "rejected")),
        ],
    )
    def test_of_a_turned_negation(self, answer, content, words):
        item = Distortion(DistortionType.NEGATION_FLIP, "c1", "f1", Span(0, len(answer)), Span(0, len(content)))
        (found,) = worded(answer, [item], {"f1": content})
        assert (cut(answer, found.answer_span), cut(content, found.fact_span)) == words

    def test_of_a_turned_bound(self):
        answer, content = "It is paid within 30 days.", "Note: it is paid no earlier than 30 days."
        said, known = (Span(text.index("30 days"), text.index("30 days") + 7) for text in (answer, content))
        (found,) = worded(answer, [Distortion(DistortionType.DATE_SHIFTED, "c1", "f1", said, known)], {"f1": content})
        assert cut(answer, found.answer_span).endswith("within 30 days")
        assert cut(content, found.fact_span) == "no earlier than 30 days"

    async def test_of_exchanged_names(self):
        content = "In 2021 the firm Oracle sued the firm Google over the rights."
        answer = "In 2021 the firm Google sued the firm Oracle over the rights."
        finished = await analysed(answer, content, names=("Oracle", "Google"))
        (found,) = finished.analysis.outputs.distortion.found
        assert cut(answer, found.answer_span) == found.values.claimed.text == "Google"
        assert cut(content, found.fact_span) == found.values.known.text == "Oracle"


def cut(text, span):
    return text[span.start : span.end]


class TestEvidence:
    """An answer quotes; what is hashed and kept names facts and offsets."""

    async def test_the_document_and_the_words_stand_in_the_evidence(self):
        report = analyze_response(await analysed("Claims files are kept for 3 years after the file is closed.")).report
        (claim,) = report.claims
        for item in (claim.judgement.evidence[0], claim.attribution.evidence[0]):
            assert (item.source.title, item.source.section, item.source.page) == ("Data retention", "Retention", 3)
            assert item.quote == FACT[item.fact_span.start : item.fact_span.end]
            assert item.quote

    async def test_quotes_are_neither_hashed_nor_kept_and_all_else_is(self):
        report = analyze_response(await analysed("Claims files are kept for 3 years after the file is closed.")).report
        kept = kept_report(message_json(report))
        assert report_hash(kept) == report.report_hash
        assert "'quote'" not in str(kept)
        kept["claims"][0]["judgement"]["why"] = "Stands word for word in the Bible."
        assert report_hash(kept) != report.report_hash

    async def test_the_test_can_fail(self):
        report = analyze_response(await analysed(FACT)).report
        assert report_hash(message_json(report)) != report.report_hash


class TestOmissions:
    """What belongs to the question counts; what §12.2 finds is counted beside it."""

    ASKED = "The fee for late reports is 100 EUR."
    BESIDE = "Rooms are cleaned on Mondays by another firm."

    async def report(self, **options):
        using = options.pop("using", None) or app()
        asked = {"query": "What is the fee for late reports?"} | options
        return analyze_response(
            await analyse("Nothing is known.", self.ASKED, self.BESIDE, using=using, **asked)
        ).report

    async def test_only_facts_of_the_question_count(self):
        report = await self.report(importance=0.95, sub_queries=("fee for late reports",))
        assert [item.fact_id for item in report.omissions] == ["f1"]
        assert dict(report.omission_summary) == {"CRITICAL": 1, "HIGH": 0, "MEDIUM": 0}
        assert dict(report.omissions_in_envelope) == {"CRITICAL": 2, "HIGH": 0, "MEDIUM": 0}
        assert report.omissions[0].quote == self.ASKED
        assert report.omissions[0].query_similarity > 0.7

    async def test_what_is_beside_the_question_counts_for_section_12_2_alone(self):
        report = await self.report(importance=0.95, sub_queries=("colour of the moon",))
        assert not report.omissions
        assert sum(report.omission_summary.values()) == 0
        assert report.omissions_in_envelope["CRITICAL"] == 2


def test_a_number_in_words_beside_the_same_in_figures_is_shown_with_its_words():
    content = "A ticket covers two adults. Children under 4 swim free of charge at any time."
    answer = "A ticket is for adults and up to four children who swim free of charge."
    item = Distortion(
        DistortionType.NUMBER_CHANGED,
        "c1",
        "f1",
        Span(answer.index("four"), answer.index("four") + 4),
        Span(content.index("4"), content.index("4") + 1),
        AlignedValue(scan_values(answer)[0], scan_values(content)[-1], equal=False),
        Rule.APPLIED,
        is_near=False,
    )
    claim = Claim("c1", answer, 0, len(answer), 0, ClaimType.FACTUAL, 0.0)
    evidence = (Evidence(0, "f1", Span(0, 1), 0.5, 0.5),)
    judged = Judgement(Verdict.UNSUPPORTED, Basis.DISTORTION, evidence=evidence)
    told = why(Grounds(claim, judged, (item,), answer, {"f1": fact(content)}))
    assert told == f"“Children under 4” in {PLACE}; the answer says “up to four”. {UNSURE}"


def test_what_decides_is_said_first_and_a_limit_that_is_missing_last():
    span = Span(0, 3)
    words = AlignedValue(scan_values("3 days")[0], scan_values("5 days")[0], equal=False)
    limit = Distortion(DistortionType.CONTEXT_STRIPPED, "c1", "f1", span, Span(0, 6), rule=Rule.LIMIT)
    applied = Distortion(DistortionType.NUMBER_CHANGED, "c1", "f1", span, span, words, Rule.APPLIED, is_near=False)
    value = Distortion(DistortionType.NUMBER_CHANGED, "c1", "f1", span, span, words, Rule.VALUE)
    claim = Claim("c1", FACT, 0, len(FACT), 0, ClaimType.FACTUAL, 0.0)
    judged = Judgement(Verdict.CONTRADICTED, Basis.VALUE_CONFLICT, evidence=(Evidence(0, "f1", span, 0.5, 0.5),))
    found = f"5 days in {PLACE}; the answer says 3 days."
    assert why(Grounds(claim, judged, (limit, applied, value), FACT, {"f1": fact()})) == found
    assert why(Grounds(claim, judged, (limit, applied), FACT, {"f1": fact()})) == f"{found} {UNSURE}"
    assert why(Grounds(claim, judged, (limit,), FACT, {"f1": fact()})).endswith("is missing from the answer.")
