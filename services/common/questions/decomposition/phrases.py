"""Cutting coordinations and noun phrases, for query decomposition (SPEC-003 §5.2 step 1.1, ADR 0062).

A *glued* text has the separator ``GLUE`` in place of the blanks around an "and" that is part of a term or a name, so
that no rule cuts there.
"""

import re
from typing import Final

from services.common.questions.decomposition.words import (
    ARTICLE,
    BODIES,
    FIXED_PAIR,
    OF_NOUNS,
    PLURALS,
    PREPOSITION,
    SAME_TWICE,
)

GLUE: Final = "\ufdd0"
"""A code point that no text uses; one that does has a blank there in its sub-queries."""
_BETWEEN: Final = re.compile(
    r"\b(between|(?:(?<=\bof )|(?<=\bfor )|(?<=\bto )|(?<=\bon )|(?<=\bin ))both)\s([^,;:?]{1,80}?)\sand\s",
    re.IGNORECASE,
)
_SEPARATOR: Final = re.compile(
    r"[,;]\s(?:and\s(?:also\s)?|as well as\s)?|\s(?:and\s(?:also\s)?|as well as\s|along with\s)"
)
_NAME_LINKS: Final = frozenset({"of", "de", "the", "for", "&"})


def glued(text: str) -> str:
    """Return the text with terms and names that hold "and" glued."""
    for pattern in (FIXED_PAIR, SAME_TWICE):
        text = pattern.sub(lambda match: match.group().replace(" ", GLUE), text)
    return text


def glued_between(text: str) -> str:
    """Return the text with the "and" of "between … and" and "both … and" glued as well."""
    return _BETWEEN.sub(lambda match: f"{match[1]} {match[2]}{GLUE}and{GLUE}", text)


def unglued(text: str) -> str:
    """Return the text with blanks again."""
    return " ".join(text.replace(GLUE, " ").split())


def without_article(text: str) -> str:
    """Return a phrase without its leading article."""
    return text[match.end() :] if (match := ARTICLE.match(text)) else text


def coordinated(text: str) -> list[str]:
    """Cut ``A, B and C`` into its parts, articles kept; one part when nothing is coordinated."""
    return [part.strip(" ,") for part in _SEPARATOR.split(text)]


def is_one_term(before: str, follows: str) -> bool:
    """Say whether ``before of follows`` is one term or one name."""
    if before.lower() in BODIES and follows[:1].isupper():
        return True
    return before.lower() in OF_NOUNS and follows[:1].islower() and not ARTICLE.match(follows)


def preposition_in(phrase: str) -> "re.Match[str] | None":
    """Return where a noun phrase's first complement begins; an ``of`` that is part of a term begins none."""
    for match in PREPOSITION.finditer(phrase):
        before = phrase[: match.start()].rpartition(" ")[2].lower()
        follows = phrase[match.end() :]
        if match[1].lower() != "of" or not is_one_term(before, follows):
            return match
    return None


def head_and_complement(phrase: str) -> tuple[str, str]:
    """Cut a noun phrase before its first complement; the second is empty when there is none."""
    match = preposition_in(phrase)
    return (phrase, "") if match is None else (phrase[: match.start()], phrase[match.start() + 1 :])


def name_and_rest(phrase: str) -> tuple[str, str]:
    """Cut a phrase behind the name that it begins with; the name is empty when it begins with none."""
    tokens = phrase.split(" ")
    end = 0
    for position, token in enumerate(tokens):
        if token[:1].isdecimal() or token.lower() != token:
            end = position + 1
        elif not (end == position and token.lower() in _NAME_LINKS):
            break
    return " ".join(tokens[:end]), " ".join(tokens[end:])


def is_plural(word: str) -> bool:
    """Say whether a word looks like a plural noun."""
    low = word.lower()
    return low in PLURALS or (len(low) > 3 and low[-1] == "s" and not low.endswith(("ss", "us", "is")))  # noqa: PLR2004
