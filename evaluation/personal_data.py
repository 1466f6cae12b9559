"""Personal data on the synthetic set: precision and recall per type, beside Presidio's own recognisers (SPEC-005 §13).

Rules were tuned on the texts of even number; those of odd number are reported. A true span is found when a finding of
its type overlaps it, and a finding is right when it overlaps a true span of its type: the set marks an address now as a
whole, now in parts. The share of true spans with exactly the same bounds stands beside it. Dates of birth are the set's
dates with a word of birth near them; what the set marks and this search is not after (titles, organisations, places by
themselves, domains, other dates) is left out.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from presidio_analyzer import predefined_recognizers as presidio
from rich.progress import Progress

from evaluation.data import rows
from evaluation.figures import Figure
from evaluation.recognition import recognise
from services.common.adapters.presidio.detector import open_detector
from services.common.adapters.presidio.engine import artifacts, silence
from services.common.adapters.spacy.recognizer import open_recognizer
from services.common.ports.personal_data import PersonalData, RecognisedText
from services.common.ports.recognition import EntityKind
from services.common.settings.inference import InferenceSettings

TypedSpan = tuple[str, int, int]

BIRTH: Final = "DATE_OF_BIRTH"
TYPES: Final = (
    "PERSON", "EMAIL_ADDRESS", "PHONE_NUMBER", "CREDIT_CARD", "IBAN_CODE", "US_SSN", "US_DRIVER_LICENSE", "IP_ADDRESS",
    "STREET_ADDRESS", "ZIP_CODE", BIRTH, "AGE", "NRP",
)  # fmt: skip
"""The set's names of the types that both sides have."""
_OURS: Final = {
    "DRIVER_LICENSE": "US_DRIVER_LICENSE",
    "ETHNIC_ORIGIN": "NRP",
    "RELIGION_OR_BELIEF": "NRP",
    "POLITICAL_OPINION": "NRP",
}
"""Our types that the set knows under another name."""
_BORN: Final = re.compile(r"\b(?:born|birth|birthday|dob)\b", re.IGNORECASE)
_BORN_CHARS: Final = 60
BASELINE: Final = "Presidio as it comes"
_BASELINE_CONFIDENCE: Final = 0.4


async def measure(data: Path, progress: Progress, limit: int | None) -> list[Figure]:
    """Measure every type on the odd half; ``limit`` bounds the texts."""
    half = rows(data, "pii/dev.jsonl.gz")[1::2][:limit]
    texts = [row["text"] for row in half]
    recogniser = await open_recognizer(InferenceSettings())
    detector = await open_detector(InferenceSettings())
    try:
        entities = await recognise(texts, recogniser, progress, "names in texts with personal data")
        given = [RecognisedText(text, found) for text, found in zip(texts, entities, strict=True)]
        found = await detector.detect(given)
    finally:
        await detector.close()
        await recogniser.close()
    truth = [true_spans(row["text"], row["spans"]) for row in half]
    return figures(truth, [guesses(each) for each in found], [_baseline(one) for one in given])


def true_spans(text: str, marked: Iterable[Mapping[str, Any]]) -> set[TypedSpan]:
    """Return what the set marks, of the types that are measured."""
    found: set[TypedSpan] = set()
    for one in marked:
        kind, start, end = str(one["type"]), int(one["start"]), int(one["end"])
        if kind == "DATE_TIME" and _BORN.search(text[max(0, start - _BORN_CHARS) : end + _BORN_CHARS]):
            kind = BIRTH
        if kind in TYPES:
            found.add((kind, start, end))
    return found


def guesses(found: Iterable[PersonalData]) -> set[TypedSpan]:
    """Return findings under the set's names, of the types that are measured."""
    named = ((_OURS.get(one.type, one.type), one.start, one.end) for one in found)
    return {span for span in named if span[0] in TYPES}


def figures(
    truth: Sequence[set[TypedSpan]], ours: Sequence[set[TypedSpan]], baseline: Sequence[set[TypedSpan]]
) -> list[Figure]:
    """Return precision, recall and exact recall of each type that the texts hold or that was found."""
    own, other = _Tally.of(truth, ours), _Tally.of(truth, baseline)
    made: list[Figure] = []
    for kind in TYPES:
        spans = own.true[kind]
        for metric, value, compared in (
            ("precision", own.precision(kind), other.precision(kind)),
            ("recall", own.recall(kind), other.recall(kind)),
            ("recall, exact span", own.exact_recall(kind), other.exact_recall(kind)),
        ):
            of_baseline = compared if kind in _BASELINE_TYPES else None
            made.append(Figure("personal-data", kind, spans, "detector", metric, value, BASELINE, of_baseline))
    return made


class _Tally:
    """Counts per type over all texts."""

    def __init__(self) -> None:
        self.true: Counter[str] = Counter()
        self.found: Counter[str] = Counter()
        self.exact: Counter[str] = Counter()
        self.guessed: Counter[str] = Counter()
        self.right: Counter[str] = Counter()

    @classmethod
    def of(cls, truth: Sequence[set[TypedSpan]], guessed: Sequence[set[TypedSpan]]) -> "_Tally":
        tally = cls()
        for true, guess in zip(truth, guessed, strict=True):
            tally.true.update(kind for kind, _, _ in true)
            tally.guessed.update(kind for kind, _, _ in guess)
            tally.found.update(span[0] for span in true if any(overlap(span, one) for one in guess))
            tally.right.update(span[0] for span in guess if any(overlap(span, one) for one in true))
            tally.exact.update(kind for kind, _, _ in true & guess)
        return tally

    def precision(self, kind: str) -> float | None:
        return self.right[kind] / self.guessed[kind] if self.guessed[kind] else None

    def recall(self, kind: str) -> float | None:
        return self.found[kind] / self.true[kind] if self.true[kind] else None

    def exact_recall(self, kind: str) -> float | None:
        return self.exact[kind] / self.true[kind] if self.true[kind] else None


def overlap(one: TypedSpan, other: TypedSpan) -> bool:
    """Say whether two spans are of one type and share a character."""
    return one[0] == other[0] and one[1] < other[2] and other[1] < one[2]


# Its e-mail recogniser would fetch the list of top-level domains, and it has none of addresses, ages and births.
_BASELINE_TYPES: Final = (
    "PERSON", "PHONE_NUMBER", "CREDIT_CARD", "IBAN_CODE", "US_SSN", "US_DRIVER_LICENSE", "IP_ADDRESS",
)  # fmt: skip


def _baseline(given: RecognisedText) -> set[TypedSpan]:
    """Return what Presidio's recognisers find by themselves, without words of context, and all persons of the NER."""
    silence()
    found: set[TypedSpan] = set()
    known = artifacts((one.start, one.end) for one in given.entities if one.kind is EntityKind.PERSON)
    for recognizer in _AS_IT_COMES:
        for one in recognizer.analyze(given.text, recognizer.supported_entities, known):
            if one.score >= _BASELINE_CONFIDENCE and one.entity_type in _BASELINE_TYPES:
                found.add((one.entity_type, one.start, one.end))
    return found


_AS_IT_COMES: Final = (
    presidio.SpacyRecognizer(),
    presidio.PhoneRecognizer(),
    presidio.CreditCardRecognizer(),
    presidio.IbanRecognizer(),
    presidio.UsSsnRecognizer(),
    presidio.UsLicenseRecognizer(),
    presidio.IpRecognizer(),
)
