"""Stage 11, personal data (SPEC-005 §13): what of GDPR Art. 4(1) stands in the request's prompt and in the answer.

Finding is the detector's; what a finding means for the report is decided here (ADR 0038). Everything found is listed.
What counts makes ``gdpr_pii_detected`` true and with it the amplifier of §17: a name that stands alone in an answer
about the world does not, nor a firm's mailbox or an address without a person. Facts and earlier windows are not
searched (§13.1); that a name or an address also stands in a fact excuses nothing.
"""

import re
from collections.abc import Iterable, Sequence
from typing import Final

from services.common.ports.personal_data import PersonalData, RecognisedText
from services.common.ports.recognition import Entity
from services.common.taxonomy import StageStatus
from services.dpe.domain.analysis import Analysis, AnalysisInput
from services.dpe.domain.findings import PiiFinding, TextOrigin
from services.dpe.domain.models import ModelRole, Requests
from services.dpe.domain.outcome import Reason, StageOutcome
from services.dpe.domain.results import PersonalDataResult
from services.dpe.domain.stage import Batch, Stage
from services.dpe.domain.stage_row import StageKey
from services.dpe.domain.stages import s01_claims
from services.dpe.domain.unsupported_language import is_unread_text, mostly_unread

NEAR_CHARS: Final = 200
"""A place or an age is about a person who is named at most so far from it."""
ABOUT_CHARS: Final = 120
"""How far around a name the words of a private matter may stand, within its line."""
_NAME: Final = "PERSON"
_NEEDS_PERSON: Final = frozenset({"STREET_ADDRESS", "ZIP_CODE", "AGE"})
_MAILBOXES: Final = frozenset(
    {
        "info", "contact", "support", "sales", "service", "help", "helpdesk", "office", "admin", "hello", "noreply",
        "no-reply", "donotreply", "press", "media", "privacy", "dpo", "dataprotection", "jobs", "careers", "hr",
        "billing", "invoices", "security", "abuse", "claims", "webmaster", "postmaster", "team", "mail", "enquiries",
        "inquiries", "feedback", "customerservice", "customer.service", "customer-service", "customercare",
        "newsletter", "marketing", "legal",
    }
)  # fmt: skip
"""Local parts that are a firm's and no person's."""
_ROLE: Final = (
    r"(?:customer|client|patient|employee|co-?worker|colleague|policy ?holder|insured(?: person)?|claimant|applicant|"
    r"tenant|borrower|debtor|(?:account|card)[ -]?holder|member of staff|staff member|data subject|next of kin)"
)
_INTRODUCED: Final = re.compile(
    r"(?:\b(?:[Mm]y name is|I am|I'm|[Tt]his is|Mr|Mrs|Ms|Miss|Herr|Frau|Dear|[Rr]egards|[Ss]incerely|[Ss]igned|"
    r"[Nn]ame|"
    r"[Mm]y (?:wife|husband|partner|son|daughter|mother|father|sister|brother|boss|colleague|neighbou?r|doctor))|"
    rf"\b(?i:{_ROLE})(?: (?:is|was|named|called))?)[.,:]?\s{{1,3}}\Z"
)
_DESCRIBED: Final = re.compile(
    rf"\A,? (?:(?:is|was|as) )?(?:a|an|our|their|your|one of our|the) (?:[\w-]+ ){{0,2}}{_ROLE}\b", re.IGNORECASE
)
_MATTER: Final = re.compile(
    r"\b(?:(?:claim|policy|ticket|case|order|invoice|account|contract|complaint|application|booking|reservation)"
    r" (?:(?:no\b\.?|number|id|#|ref\w*) ?)?[A-Z]{0,3}[-/]?\d+|"
    r"filed a (?:claim|complaint)|was (?:dismissed|fired|laid off|hired|admitted|discharged|prescribed)|"
    r"(?:is|was|went) on (?:sick|parental|maternity) leave|in arrears|owes us)\b",
    re.IGNORECASE,
)
_FIRST_PERSON: Final = re.compile(r"\b(?:I|I'm|I've|[Mm]y|[Mm]e|[Mm]ine)\b")


def ask_names(analysis: Analysis) -> Requests:
    """Ask for the entities of the prompt; those of the answer are stage 1's."""
    return Requests(recognise=(prompt_of(analysis.input),))


def plan(analysis: Analysis) -> Requests:
    """Ask for both texts in one batch, with the entities that stage 1 had recognised."""
    return Requests(detect=tuple(text for text in _texts(analysis) if text.text))


def apply(analysis: Analysis) -> Analysis:
    """List what was found in prompt and answer, and say whether it is personal data that counts."""
    if not analysis.models.has(ModelRole.PERSONAL_DATA):
        return analysis.ended(StageOutcome(STAGE, StageStatus.SKIPPED, Reason.PII_DETECTOR_NOT_CONFIGURED))
    known = analysis.models.personal_data
    if known is None:
        return analysis.ended(StageOutcome(STAGE, StageStatus.FAILED, Reason.PII_DETECTOR_FAILED))
    prompt, answer = _texts(analysis)
    found = (
        *_findings(prompt.text, known.get(prompt, ()), TextOrigin.PROMPT),
        *_findings(answer.text, known.get(answer, ()), TextOrigin.RESPONSE),
    )
    counted = sum(one.counted for one in found)
    status, reason = _status(analysis, prompt.text)
    outcome = StageOutcome(STAGE, status, reason, findings=counted)
    # Without the recogniser, and in another language, names were not looked for: finding nothing is no "false"
    # (ADR 0018, ADR 0047).
    detected = True if counted else (False if status is StageStatus.COMPLETED else None)
    # SPEC-005 §13.3: personal data, and CRP-Context-Cache does not hold no-store.
    warning = bool(detected) and not analysis.input.cache_no_store
    return analysis.ended(outcome, PersonalDataResult(found, detected, warning))


def _status(analysis: Analysis, prompt: str) -> tuple[StageStatus, Reason]:
    if analysis.models.recognised is None:
        return StageStatus.DEGRADED, Reason.ENTITY_RECOGNIZER_FAILED
    if mostly_unread(analysis.outputs.text.sentences) or is_unread_text(prompt):
        return StageStatus.DEGRADED, Reason.LANGUAGE_NOT_SUPPORTED
    return StageStatus.COMPLETED, Reason.NONE


def prompt_of(given: AnalysisInput) -> str:
    """Return the text that offsets of ``TextOrigin.PROMPT`` refer to: the prompt, or the query when none was sent."""
    return given.prompt or given.query


def _texts(analysis: Analysis) -> tuple[RecognisedText, RecognisedText]:
    given, recognised = analysis.input, analysis.models.recognised or {}
    prompt = prompt_of(given)
    entities = tuple(
        Entity(one.kind, one.text, one.start + sentence.start, one.end + sentence.start)
        for sentence in analysis.outputs.text.sentences
        for one in recognised.get(analysis.text_of(sentence), ())
    )
    return RecognisedText(prompt, tuple(recognised.get(prompt, ()))), RecognisedText(given.answer, entities)


def _findings(text: str, found: Sequence[PersonalData], origin: TextOrigin) -> list[PiiFinding]:
    names = [one for one in found if one.type == _NAME]
    return [PiiFinding(one, origin, counted=counts(text, one, names)) for one in found]


def counts(text: str, one: PersonalData, names: Iterable[PersonalData]) -> bool:
    """Say whether a finding alone makes a text one that holds personal data (ADR 0038).

    Args:
        text: the text.
        one: a finding in it.
        names: the persons found in it.
    """
    if one.type == "EMAIL_ADDRESS":
        return text[one.start : one.end].partition("@")[0].partition("+")[0].lower() not in _MAILBOXES
    if one.type == _NAME:
        # SPEC-005 §13.2: "full names".
        return len(text[one.start : one.end].split()) > 1 and _is_private(text, one.start, one.end)
    if one.type in _NEEDS_PERSON:
        near = any(name.start - NEAR_CHARS <= one.end and one.start <= name.end + NEAR_CHARS for name in names)
        return near or _FIRST_PERSON.search(_around(text, one.start, one.end)) is not None
    return True


def _is_private(text: str, start: int, end: int) -> bool:
    """Say whether a person is spoken of as a private one: introduced, addressed, or the subject of such a matter."""
    before, after = text[max(0, start - ABOUT_CHARS) : start], text[end : end + ABOUT_CHARS]
    matters = (_INTRODUCED.search(before), _DESCRIBED.search(after), _MATTER.search(_around(text, start, end)))
    return any(match is not None for match in matters)


def _around(text: str, start: int, end: int) -> str:
    """Return what stands around a finding in its line."""
    low = max(start - ABOUT_CHARS, text.rfind("\n", 0, start) + 1, 0)
    stop = text.find("\n", end)
    return text[low : min(end + ABOUT_CHARS, len(text) if stop < 0 else stop)]


STAGE: Final = Stage(
    key=StageKey(11),
    name="PII Detection",
    section="CRP-SPEC-005 §13",
    needs=(s01_claims.STAGE,),
    # The class of a registered system may depend on whether there is personal data (§14.2).
    amplifiers=("gdpr_pii", "eu_high_risk"),
    reads_prompt=True,
    apply=apply,
    plan=plan,
    shares={Batch.NAMES: ask_names},
)
