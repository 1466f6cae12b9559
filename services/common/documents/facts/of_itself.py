"""What a document says of itself: "this policy is effective from 1 January" is read alone only with the policy's name.

A section, a page or a table that points at itself has its heading already, and is left to the walk.
"""

import re
from collections.abc import Sequence
from typing import Final

from services.common.documents.document import Block, BlockKind, Document
from services.common.documents.facts.draft import FactKind
from services.common.documents.facts.texts import joined
from services.common.documents.facts.titles import content_words, is_bare
from services.common.documents.facts.units import Unit

_MAX_NAME_CHARS: Final = 200
"""A longer title is no name."""
_ENGLISH: Final = (
    r"polic(?:y|ies)|agreement|contract|document|handbook|manual|guide|guidelines?|guidance|directive|regulations?|rules"
    r"|procedure|protocol|leaflet|brochure|notice|circular|memo(?:randum)?|terms(?: and conditions)?|conditions"
    r"|statutes?|by-?laws|charter|code of (?:conduct|practice)|lease|deed|tariff|price list|report|statement|newsletter"
    r"|licen[cs]e|instructions?|ordinance|declaration|addendum|amendment|warranty|certificate"
)
_GERMAN: Final = (
    r"(?:\w+-?)?(?:richtlinie|vereinbarung|vertrag(?:e?s)?|dokument(?:e?s)?|ordnung|satzung|regelung|merkblatt(?:e?s)?"
    r"|dienstanweisung|anweisung|leitlinie|handbuch(?:e?s)?|police|verordnung|broschüre|rundschreibens?|preisliste"
    r"|bedingungen|bestimmungen|hinweise|konzepts?|berichte?s?)"
)
_FRENCH: Final = (
    r"politique|accord|contrat|document|r\u00e8glement|directive|notice|manuel|guide|convention|charte|proc\u00e9dure"
    r"|police|brochure|conditions|circulaire|bail|rapport"
)
_POINTING: Final = re.compile(
    rf"\b(?:(?:this|these|the present) (?:[a-z-]+ ){{0,3}}?(?:{_ENGLISH})"
    rf"|(?:diese[rsmn]?|(?:die|der|das|dem|den|des) (?:vorliegende[rsmn]?|hiesige[rsmn]?)) (?:{_GERMAN})"
    rf"|(?:cette|ce|cet|ces|(?:la|le|les) pr\u00e9sente?s?|du pr\u00e9sent|de la pr\u00e9sente) (?:{_FRENCH}))\b",
    re.IGNORECASE,
)
_DATED: Final = re.compile(
    r"(?:effective(?: date)?|valid(?:ity)?|in (?:force|effect)|comes? into force|takes? effect|applicable"
    r"|(?:last |next )?review(?:ed)?(?: date)?|(?:last )?(?:updated|revised|amended)|date of issue|issued?|approved"
    r"|expir(?:es|y)(?: date)?|version"
    r"|g\u00fcltig|in kraft|stand|en vigueur)\b(?: ?: ?| (?:from|since|as of|as from|on|until|till|through|by"
    r"|ab|seit|bis|vom|le|depuis|jusqu'au) | (?=\d))",
    re.IGNORECASE,
)
"""A line without a subject, at the beginning of a text: what it heads is the subject."""


def name_of_document(document: Document) -> str:
    """Return how a document is called: the heading that it begins with, else its title; empty for neither.

    Of parts that stand apart, as sheets of a workbook do, none is named by what heads the first.
    """
    if any(block.is_apart for block in document.blocks):
        return ""
    name = _own_heading(document.blocks) or document.title
    return "" if len(name) > _MAX_NAME_CHARS or is_bare(name) else name.strip()


def named(unit: Unit, name: str) -> str:
    """Return the text of a unit, with the document's name before it where it speaks of the document itself.

    Args:
        unit: of the document.
        name: the document's; empty where it has none.
    """
    if not name or unit.kind in {FactKind.CODE, FactKind.BOILERPLATE} or name.casefold() in unit.text.casefold():
        return unit.text
    return joined(name, unit.text) if _speaks_of_itself(unit, name) else unit.text


def _speaks_of_itself(unit: Unit, name: str) -> bool:
    words = content_words(name)
    # "This travel policy" under "Travel policy" says which it is.
    if any(not words <= content_words(match.group()) for match in _POINTING.finditer(unit.text)):
        return True
    text = unit.text.removeprefix(f"{unit.title}: ") if unit.title else unit.text
    return name in unit.section and _DATED.match(text) is not None


def _own_heading(blocks: Sequence[Block]) -> str:
    first = blocks[0] if blocks else None
    return first.text if first is not None and first.kind is BlockKind.HEADING and first.level == 1 else ""
