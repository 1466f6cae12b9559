"""What a fact is, by its words: a rule, a definition, an example, boilerplate. English, German and French."""

import re
from typing import Final

from services.common.documents.facts.draft import FactKind

_RULE: Final = re.compile(
    r"\b(?:must|shall|may not|may only|mandatory|required|requires|prohibited|forbidden|permitted|obliged|obligation"
    r"|not allowed|only if|unless|no later than|at the latest|at least|at most|not exceed|within \w+ (?:\w+ )?days?"
    r"|within \w+ hours?|up to \d|maximum|minimum|never|always|is entitled|are entitled|liable"
    r"|muss|m\u00fcssen|darf|d\u00fcrfen|verboten|erlaubt|verpflichtet|sp\u00e4testens"
    r"|h\u00f6chstens|mindestens|untersagt|innerhalb von"
    r"|doit|doivent|interdit|obligatoire|au plus tard|au moins|au plus|ne donnez jamais|il est interdit)\b",
    re.IGNORECASE,
)
_DEFINITION: Final = re.compile(
    r"^[^.;:,]{2,60}?\s(?:means|is defined as|are defined as|refers to|denotes|stands for|bezeichnet|bedeutet"
    r"|d\u00e9signe|s'entend)\b",
    re.IGNORECASE,
)
_EXAMPLE: Final = re.compile(
    r"(?:[^.:]{0,80}: )?(?:for example|for instance|example|e\.g\.|beispiel|zum beispiel|z\. ?b\.|par exemple"
    r"|exemple)\b",
    re.IGNORECASE,
)
_BOILERPLATE: Final = re.compile(
    r"\u00a9|\bcopyright (?:\(c\)|\d{4}|holder|notice)|all rights reserved|permission is hereby granted"
    r"|without (?:any )?warranty|distributed under the|licensed under|free software foundation|registered trademark"
    r"|trademarks? of|\bISBN\b|alle rechte vorbehalten|tous droits r\u00e9serv\u00e9s|special thanks|many thanks"
    r"|report bugs? to|send (?:comments|feedback|bug reports)",
    re.IGNORECASE,
)
_BOILERPLATE_TITLE: Final = re.compile(
    r"^(?:\W*\d[\d.]*\s*)?(?:licen[sc]e|copyright|acknowledge?ments?|credits|thanks|imprint|impressum|colophon"
    r"|about this (?:document|manual)|legal notices?|disclaimer)$",
    re.IGNORECASE,
)


_NOTICE: Final = re.compile(r"(?:copyright|\u00a9|\(c\)\s*\d{4})", re.IGNORECASE)


def is_notice(text: str) -> bool:
    """Say whether a text is a copyright line: whatever heading stands above does not belong to it."""
    return bool(_NOTICE.match(text))


def kind_of(text: str, title: str, otherwise: FactKind) -> FactKind:
    """Return what a fact is.

    Args:
        text: its words.
        title: the heading it stands under.
        otherwise: what it is by where it came from.
    """
    if _BOILERPLATE.search(text) or _BOILERPLATE_TITLE.match(title):
        return FactKind.BOILERPLATE
    if otherwise not in {FactKind.STATEMENT, FactKind.LIST_ITEM}:
        return otherwise
    if _EXAMPLE.match(text):
        return FactKind.EXAMPLE
    if _DEFINITION.match(text):
        return FactKind.DEFINITION
    return FactKind.RULE if _RULE.search(text) else otherwise
