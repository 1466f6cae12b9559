"""What two generations of readers made of a document, each fact judged by the document's labels."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum, unique
from pathlib import Path
from typing import Any, Final

from evaluation.document_labels import LabelledDocument, read_labelled
from evaluation.documents import LIMITS
from evaluation.fact_labels import FactLabels
from services.common.documents.facts.chunking import chunk
from services.common.documents.reading import read_document

FOLDER: Final = Path("tests/documents/dev")
FORMER: Final = Path("tests/documents/former.json")
SHOWN: Final = (
    "household_terms.pdf",
    "lab_report.pdf",
    "notice-dolorexan.html",
    "first_aid_handout.docx",
    "delivery_delay.eml",
)
"""Columns; tables of a PDF file; raised figures, merged cells and hidden text of a page; a Word file; a mail."""


@unique
class Verdict(StrEnum):
    """What the labels say of a fact."""

    WRONG = "wrong"
    """It states something false, or tells what nobody sees, or what is no content."""
    WHOLE = "whole"
    """It holds together what belongs together, and nothing in it is wrong by the labels."""
    UNLABELLED = "unlabelled"


@dataclass(frozen=True, slots=True)
class JudgedFact:
    """A fact, and why it is wrong."""

    text: str
    verdict: Verdict
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Reading:
    """What one generation of readers made of a document.

    Attributes:
        refused: why it was not read; empty where it was.
        missing: what should stand together in one fact and does in none.
        told: numbers of the whole, for a line above the facts.
    """

    facts: tuple[JudgedFact, ...]
    missing: tuple[str, ...]
    told: str
    refused: str = ""


def read_shown() -> tuple[LabelledDocument, ...]:
    """Return the documents that are shown, in their order."""
    known = {labelled.path.name: labelled for labelled in read_labelled(FOLDER)}
    return tuple(known[name] for name in SHOWN)


def former_readings() -> Mapping[str, Any]:
    """Return the recorded facts of the former readers, with their commit."""
    record: Mapping[str, Any] = json.loads(FORMER.read_text(encoding="utf-8"))
    return record


def former_reading(labelled: LabelledDocument, record: Mapping[str, Any]) -> Reading:
    """Return what the former readers made of a document."""
    kept = record["documents"][labelled.path.name]
    if "refused" in kept:
        return Reading((), (), f"0 of {len(labelled.together)} labelled statements in a fact", kept["refused"])
    return judge(labelled, kept["facts"])


def todays_reading(labelled: LabelledDocument, count: Callable[[str], int]) -> Reading:
    """Return what today's readers make of the labelled pages; ``count`` counts tokens."""
    drafts = chunk(read_document(labelled.path.read_bytes(), "", labelled.path.name, LIMITS), count)
    first, last = labelled.pages or (0, 0)
    within = [one.content for one in drafts if not last or not one.place.page or first <= one.place.page <= last]
    return judge(labelled, within)


def judge(labelled: LabelledDocument, facts: list[str]) -> Reading:
    """Judge facts by the labels: false statements first, then hidden text and furniture, then what is whole."""
    labels = FactLabels(labelled)
    judged = tuple(_judged(fact, labelled, labels) for fact in facts)
    missing = tuple(_named(one.texts) for one in labels.together if not any(map(one.all_in, facts)))
    false = sum(any(labels.false_part(one, fact) for fact in facts) for one in labels.apart)
    hidden = sum(labels.told(text, facts) for text in labelled.hidden)
    together, apart = len(labels.together), len(labels.apart)
    told = f"{together - len(missing)} of {together} labelled statements in a fact; {false} of {apart} false ones"
    if labelled.hidden:
        told += f"; {hidden} of {len(labelled.hidden)} hidden told"
    return Reading(judged, missing, told)


def _judged(fact: str, labelled: LabelledDocument, labels: FactLabels) -> JudgedFact:
    reasons = [f"false: {_named(one.texts)}" for one in labels.apart if labels.false_part(one, fact)]
    reasons += [f"nobody sees: {text}" for text in labelled.hidden if labels.told(text, [fact])]
    reasons += [f"no content: {text}" for text in labelled.furniture if labels.told(text, [fact])]
    if reasons:
        return JudgedFact(fact, Verdict.WRONG, tuple(reasons))
    whole = any(one.all_in(fact) for one in labels.together)
    return JudgedFact(fact, Verdict.WHOLE if whole else Verdict.UNLABELLED)


def _named(texts: tuple[str, ...]) -> str:
    return " + ".join(texts)
