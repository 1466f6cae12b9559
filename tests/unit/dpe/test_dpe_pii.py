"""Stage 11, personal data (SPEC-005 §13): what is searched, what counts, the uplift of §17 and the warning of §13.3."""

import json
from pathlib import Path

import pytest

from services.common.errors import ErrorReason, UnavailableError
from services.common.ports.personal_data import PersonalData, PersonalDataCategory
from services.dpe.convert.report import report_message
from services.dpe.domain.findings import TextOrigin
from services.dpe.domain.stages import s13_report
from services.dpe.domain.stages.s11_pii import counts
from tests.each import each
from tests.fakes.dpe_world import DownModel, analyse, app, statuses

VECTORS = json.loads((Path(__file__).parents[2] / "vectors/dpe/pii.json").read_text(encoding="utf-8"))
MAIL = "maria.keller@example.org"


class TableDetector:
    """Finds the texts of a table, wherever they stand."""

    fingerprint = "table-pii@1+sha256:3333333333333333"

    def __init__(self, *listed):
        self.listed = listed
        self.calls = []

    async def detect(self, texts):
        self.calls.append(tuple(texts))
        return [tuple(self._in(one.text)) for one in texts]

    def _in(self, text):
        for category, kind, data in self.listed:
            at = text.find(data)
            if at >= 0:
                yield PersonalData(PersonalDataCategory(category), kind, at, at + len(data), 0.9)


class DownDetector(DownModel):
    async def detect(self, texts):
        raise UnavailableError(ErrorReason.MODEL_UNAVAILABLE, "The detector does not answer.")


MAILS = TableDetector(("DIRECT_IDENTIFIER", "EMAIL_ADDRESS", MAIL))


def searching(detector=MAILS, **changes):
    return app(personal_data=detector, **changes)


@each(
    ("given", "expected"),
    [pytest.param(one["input"], one["expected"], id=one["test_id"]) for one in VECTORS["vectors"]],
)
async def test_what_counts(given, expected):
    outputs = (await analyse(given["text"], using=searching(TableDetector(*given["found"])))).analysis.outputs
    assert [one.counted for one in outputs.personal_data.findings] == expected["counted"]
    assert outputs.personal_data.gdpr_detected is expected["detected"]


async def test_both_texts_are_searched_in_one_batch_and_facts_and_earlier_windows_are_not():
    detector = TableDetector(("DIRECT_IDENTIFIER", "EMAIL_ADDRESS", MAIL))
    finished = await analyse("The fee is 5 euros.", f"Write to {MAIL}.", using=searching(detector))
    assert [[one.text for one in call] for call in detector.calls] == [["What holds?", "The fee is 5 euros."]]
    assert finished.analysis.outputs.personal_data.gdpr_detected is False
    assert statuses(finished)["11"] == ("COMPLETED", "")


async def test_the_prompt_is_searched_in_the_place_of_the_query():
    prompt = f"Answer as {MAIL} would."
    outputs = (await analyse("Yes.", using=searching(), prompt=prompt)).analysis.outputs
    found = outputs.personal_data.findings[0]
    assert (found.origin, found.data.start, found.data.end) == (TextOrigin.PROMPT, 10, 10 + len(MAIL))
    assert outputs.personal_data.gdpr_detected is True


async def test_a_name_of_a_fact_is_personal_data_all_the_same():
    text = "Jane Doe filed a claim."
    detector = TableDetector(("DIRECT_IDENTIFIER", "PERSON", "Jane Doe"))
    outputs = (await analyse(text, text, using=searching(detector))).analysis.outputs
    assert [one.counted for one in outputs.personal_data.findings] == [True]


async def test_the_detector_is_given_the_entities_of_stage_1_with_offsets_in_the_answer():
    detector = TableDetector()
    await analyse("The fee is 5 euros. Jane Doe pays it.", using=searching(detector))
    answer = detector.calls[0][1]
    assert [(one.text, one.start, one.end) for one in answer.entities] == [("Jane Doe", 20, 28)]


@pytest.mark.parametrize(("no_store", "warning"), [(False, True), (True, False)])
async def test_the_warning_of_13_3(no_store, warning):
    finished = await analyse(f"Write to {MAIL}.", using=searching(), cache_no_store=no_store)
    report = report_message(finished)
    assert (report.gdpr_pii_detected, report.pii_cache_warning) == (True, warning)


async def test_no_personal_data_no_warning():
    report = report_message(await analyse("The fee is 5 euros.", using=searching()))
    assert report.HasField("gdpr_pii_detected")
    assert (report.gdpr_pii_detected, report.pii_cache_warning, list(report.pii_findings)) == (False, False, [])
    assert list(report.amplifiers_applied) == []


async def test_the_uplift_is_applied_once_whatever_is_found_and_where():
    fact = "The fee for late reports is 5 euros."
    plain = (await analyse(fact + " Ships sail to Atlantis in 2031.", fact, using=searching())).analysis.outputs.risk
    text = fact + f" Ships sail to Atlantis in 2031. {MAIL}"
    detector = TableDetector(
        ("DIRECT_IDENTIFIER", "EMAIL_ADDRESS", MAIL), ("QUASI_IDENTIFIER", "DATE_OF_BIRTH", "2031")
    )
    finished = await analyse(text, fact, using=searching(detector), query=f"May I write to {MAIL}?")
    risk = finished.analysis.outputs.risk
    assert plain.amplifiers == ()
    assert risk.amplifiers == ("gdpr_pii",)
    assert risk.composite_score == pytest.approx(min(1.0, risk.base_score * 1.30))
    assert finished.analysis.outcome(s13_report.STAGE.key).status == "COMPLETED"


async def test_what_is_listed_and_does_not_count_lifts_nothing():
    detector = TableDetector(("DIRECT_IDENTIFIER", "PERSON", "Jane Doe"))
    finished = await analyse("Jane Doe was queen of France.", using=searching(detector))
    assert finished.analysis.outputs.risk.amplifiers == ()
    assert len(report_message(finished).pii_findings) == 1


async def test_the_report_says_where_and_never_what():
    message = report_message(await analyse(f"Write to {MAIL}.", using=searching()))
    found = message.pii_findings[0]
    assert (found.category, found.type, found.origin) == (1, "EMAIL_ADDRESS", 2)
    assert (found.span.start, found.span.end, found.confidence, found.counted) == (9, 9 + len(MAIL), 0.9, True)
    assert MAIL not in str(found)
    assert ("personal_data", TableDetector.fingerprint) in [(one.role, one.fingerprint) for one in message.models]


async def test_without_a_detector_the_stage_says_so():
    finished = await analyse(f"Write to {MAIL}.")
    assert statuses(finished)["11"] == ("SKIPPED", "PII_DETECTOR_NOT_CONFIGURED")
    assert not report_message(finished).HasField("gdpr_pii_detected")


async def test_a_detector_that_fails_leaves_the_answer_open():
    finished = await analyse(f"Write to {MAIL}.", using=searching(DownDetector()))
    assert statuses(finished)["11"] == ("FAILED", "PII_DETECTOR_FAILED")
    report = report_message(finished)
    assert not report.HasField("gdpr_pii_detected")
    assert "gdpr_pii" not in report.amplifiers_applied


@pytest.mark.parametrize(("answer", "detected"), [("The fee is 5 euros.", None), (f"Write to {MAIL}.", True)])
async def test_without_the_recogniser_names_were_not_looked_for(answer, detected):
    finished = await analyse(answer, using=searching(entity_recognizer=DownModel()))
    assert statuses(finished)["11"] == ("DEGRADED", "ENTITY_RECOGNIZER_FAILED")
    assert finished.analysis.outputs.personal_data.gdpr_detected is detected


@pytest.mark.parametrize(
    ("text", "private"),
    [
        ("My name is Maria Keller.", True),
        ("Dear Maria Keller, thank you.", True),
        ("Ms Maria Keller wrote to us.", True),
        ("Maria Keller is a customer of ours.", True),
        ("Policy no. 88-2213 of Maria Keller ends.", True),
        ("Maria Keller was dismissed in May.", True),
        ("Claims (owner: Maria Keller). Members judge.", False),
        ("Maria Keller leads the crisis team.", False),
        ("It has 96 employees and reports to Maria Keller.", False),
        ("Maria Keller painted it in 1955.", False),
    ],
)
def test_when_a_person_is_a_private_one(text, private):
    at = text.index("Maria Keller")
    name = PersonalData(PersonalDataCategory.DIRECT_IDENTIFIER, "PERSON", at, at + 12, 0.75)
    assert counts(text, name, [name]) is private
