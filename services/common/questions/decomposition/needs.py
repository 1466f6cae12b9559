"""Queries that ask for several things: questions, lists and conjunctions (SPEC-003 §5.2 step 1.1, ADR 0062).

Splitting costs: each sub-query brings its own nearest facts, and a term that was torn apart brings the wrong ones. So a
conjunction is cut only where its parts can stand alone, and left whole when unsure.
"""

import re
from collections.abc import Sequence
from typing import Final

from services.common.questions.decomposition.phrases import (
    coordinated,
    glued,
    glued_between,
    head_and_complement,
    is_plural,
    unglued,
    without_article,
)
from services.common.questions.decomposition.words import (
    ACTIONS,
    ASKING,
    AUXILIARIES,
    NO_NOUN_PHRASE,
    OWN_ARTICLE,
    PARTICLES,
    QUESTION_WORDS,
    SHARED_PREPOSITIONS,
    alternatives,
)

_ASKS: Final = alternatives(ASKING)
_WH: Final = alternatives(QUESTION_WORDS)
_AUX: Final = alternatives(AUXILIARIES)
_POLITE: Final = (
    r"(?:(?:please|kindly|hi|hello|hey)[,!]?\s|(?:can|could|would|will)\syou\s(?:please\s)?|"
    r"i(?:'d|\swould)\slike\s(?:you\s)?to\s|i\s(?:want|need)\s(?:you\s)?to\s|help\sme\s(?:to\s)?){0,3}"
)
_SENTENCE: Final = re.compile(r"(?<=[?\uff1f])\s*(?=\S)|(?<=[.!;])\s(?=[A-Z\u00bf])")
_ASKING_SENTENCE: Final = re.compile(
    rf"{_POLITE}(?:{_ASKS}|{_WH}|{_AUX}|compare|i\s(?:need|want|would\slike))\b", re.IGNORECASE
)
_GREETING: Final = re.compile(
    r"(?:hi|hello|hey|good (?:morning|afternoon|evening)|thanks|thank you|dear)\b.{0,24}", re.IGNORECASE
)
_BARE: Final = re.compile(rf"(?:{_WH})[?\uff1f. ]*", re.IGNORECASE)
_LEADING: Final = re.compile(
    r"^(?:(?:and|but|also|then|or|so|plus|finally|secondly|next)\b,?\s|if\s(?:so|not|yes|no),\s)+", re.IGNORECASE
)

_CLAUSE: Final = re.compile(
    rf",?\s(?:and|as\swell\sas)\s(?:also\s)?(?=(?:(?:(?:by|for|to|from|at|on|with|within|in|after|before|during|until|since|under)\s)?(?:what|which|whom?|whose|where|when|why|how|whether)\b|(?:{_AUX})\s(?:i|we|you|it|they|there|the|this|my)\b))",
    re.IGNORECASE,
)
_MORE_CLAUSES: Final = re.compile(r",\s(?=(?:what|which|who|where|why|how)\b)", re.IGNORECASE)
_EMBEDDED: Final = re.compile(
    rf"{_POLITE}(?:(?:{_ASKS})\s(?:me\s|us\s)?(?:about\s)?|i\s(?:want|need|would\slike)\sto\s(?:know|understand|learn)\s(?:about\s)?)",
    re.IGNORECASE,
)
_ASKING_CLAUSE: Final = re.compile(
    rf",?\sand\s(?:also\s|then\s)?(?=(?:{_ASKS})\s(?:me\s|us\s)?(?:the|a|an|all|my|our|how|what|which)\s)",
    re.IGNORECASE,
)
_DIRECT: Final = re.compile(
    rf"(?:(?:in|after|before|during|by|for|to|at|on|from|with|within|under|since|until)\s(?=(?:what|which|whom|how)\b))?(?:{_WH}|{_AUX})\b",
    re.IGNORECASE,
)
_AUX_NEXT: Final = re.compile(rf"(?:when|where|who|which)\s(?:(?:{_AUX})\b|\w+\s(?:{_AUX})\b)", re.IGNORECASE)

_PLURAL_FRAME: Final = re.compile(r"(?:what|which|who)\s(?:are|were)\s(?:all\s)?", re.IGNORECASE)
_SINGULAR_FRAME: Final = re.compile(r"(?:what\s(?:is|was)|what['\u2019]s)\s", re.IGNORECASE)
_IMPERATIVE: Final = re.compile(
    rf"{_POLITE}(?:(?:{_ASKS})\s(?:(?:me|us)\s)?(?:(?:about|of|with|on|information\s(?:on|about)|details\s(?:on|of|about))\s)?"
    r"|i\s(?:need|want|am\slooking\sfor|would\slike)\s(?:to\s(?:know|understand|learn|see|have)\s)?"
    r"(?:(?:about|information\s(?:on|about)|details\s(?:on|of|about))\s)?"
    r"|(?:tell|inform)\s(?:me|us)\sabout\s|(?:where\scan\si\sfind|information\s(?:on|about))\s)",
    re.IGNORECASE,
)
_ACTION_FRAME: Final = re.compile(
    r"(?:(?:and\s)?(?:how|where)\s(?:do|can|should|could|must|may|would)\s(?:i|we|you|one|employees|users|customers|staff)\s"
    r"|(?:explain|show\sme|tell\sme|describe)\show\sto\s|how\sto\s|i\s(?:want|need|would\slike)\sto\sknow\show\sto\s)",
    re.IGNORECASE,
)
_COLON: Final = re.compile(r"(?P<before>[^:?]{1,80}):\s(?P<items>.+)")
_COLON_FRAME: Final = re.compile(
    rf"{_POLITE}(?:(?:{_ASKS}|cover|address|include|answer|check|search|look\sup|look\sfor|need|i\sneed|i\swant|i\sam\slooking\sfor|i'm\slooking\sfor|topics|questions|wanted)\b"
    r"(?:\s(?:me|us|about|up|for|on|to|know|the|these|this|following|all|of|information|details|points|topics|things|items|"
    r"questions|subjects|aspects|areas)\b){0,8}|the\sfollowing(?:\s\w+)?)",
    re.IGNORECASE,
)
_ITEM_SEPARATOR: Final = re.compile(r",\s(?:and\s)?|;\s(?:and\s)?|\sand\s")
_NUMBERED: Final = re.compile(r"(?:^|\s)\(?(?P<n>\d{1,2})[.)]\s")
_BULLET: Final = re.compile(r"^\s*(?:[-*\u2022\u2013]|\(?\d{1,2}[.)]|\(?[a-h]\))\s+(?P<item>\S.*)$")
_SAYS: Final = re.compile(
    r"what\s(?:do|does|did)\s(?P<thing>[^,]{1,60}?)\s(?:say|state|provide|require|cover|specify)\s"
    r"(?P<preposition>about|on|for|regarding)\s(?P<rest>.+)",
    re.IGNORECASE,
)
_AND: Final = re.compile(r",?\sand\s(?:what\s(?:do|does|did)\s)?", re.IGNORECASE)
_MOST_PART_WORDS: Final = 14
_MOST_THING_WORDS: Final = 6
_LIST_FROM: Final = 3


def listed(raw: str) -> tuple[str, ...]:
    """Return the items of a bulleted or numbered list, or of one behind a colon; nothing when there is none.

    Args:
        raw: the query with its line breaks.
    """
    lines = [match for match in map(_BULLET.match, raw.splitlines()) if match]
    if len(lines) > 1:
        return tuple(_item(match["item"]) for match in lines)
    text = " ".join(raw.split())
    numbers = list(_NUMBERED.finditer(text))
    if len(numbers) > 1 and [int(match["n"]) for match in numbers] == list(range(1, len(numbers) + 1)):
        ends = [*(match.start() for match in numbers[1:]), len(text)]
        return tuple(_item(text[match.end() : end]) for match, end in zip(numbers, ends, strict=True))
    return _behind_colon(text)


def _behind_colon(text: str) -> tuple[str, ...]:
    match = _COLON.fullmatch(glued(text))
    if match is None or not _COLON_FRAME.fullmatch(match["before"].strip()):
        return ()
    separator = re.compile(r";\s(?:and\s)?") if "; " in match["items"] else _ITEM_SEPARATOR
    items = [_item(part) for part in separator.split(match["items"])]
    return tuple(items) if len(items) > 1 and all(items) else ()


def _item(text: str) -> str:
    return unglued(re.sub(r"[,;]?\s(?:and|or)$", "", text.strip()).strip(" ,;.?"))


def questions(query: str) -> tuple[str, ...]:
    """Return the questions of a query that consists of several sentences which all ask; nothing otherwise."""
    sentences = [
        _LEADING.sub("", sentence.strip(), count=1)
        for sentence in _SENTENCE.split(query)
        if not _GREETING.fullmatch(sentence.strip())
    ]
    asking = [
        sentence for sentence in sentences if sentence.endswith(("?", "\uff1f")) or _ASKING_SENTENCE.match(sentence)
    ]
    if len(sentences) < 2 or len(asking) < len(sentences) or not all(len(one) > 1 for one in asking):  # noqa: PLR2004
        return ()
    if any(_BARE.fullmatch(one) for one in asking):  # "The page is already sent. How?" asks of the sentence before
        return ()
    return tuple(sentence.rstrip("?.!;\uff1f ") for sentence in asking)


def conjunction(query: str) -> tuple[str, ...]:
    """Return the needs that one sentence joins, by "and" or in a list; nothing when it holds but one."""
    text = glued_between(glued(query.rstrip("?!. ")))
    for read in (_gapped, _clauses, _asking_clauses, _actions, _nouns):
        parts = read(text)
        if len(parts) > 1:
            return tuple(unglued(part) for part in parts)
    return ()


def _gapped(text: str) -> Sequence[str]:
    """Read "What does clause 14 say about liability and clause 19 about termination"."""
    match = _SAYS.fullmatch(text)
    if match is None:
        return ()
    first, preposition, rest = match["thing"], match["preposition"], match["rest"]
    for cut in _AND.finditer(rest):
        second, said, more = rest[cut.end() :].partition(f" {preposition} ")
        if said and len(second.split()) <= _MOST_THING_WORDS:
            aspects = ((first, rest[: cut.start()]), (second.removesuffix(" say"), more))
            return tuple(f"{without_article(thing)} {without_article(aspect)}" for thing, aspect in aspects)
    return ()


def _clauses(text: str) -> Sequence[str]:
    """Cut before clauses with a question word of their own; each keeps its words."""
    embedded = _EMBEDDED.match(text)
    if embedded is None and not _DIRECT.match(text):
        return ()
    if embedded is None and not _is_direct(text):
        return ()
    parts: list[str] = []
    start = 0
    for match in _CLAUSE.finditer(text):
        if embedded is not None or _starts_question(text[match.end() :]):
            parts.append(text[start : match.start()])
            start = match.end()
    parts.append(text[start:])
    if len(parts) > 1:
        parts = [piece for part in parts for piece in _MORE_CLAUSES.split(part)]
    if embedded is None or len(parts) == 1:
        return parts
    first = parts[0][embedded.end() :]
    more = list(_nouns(parts[0])) if not _DIRECT.match(first) else []
    return [*(more or [without_article(first)]), *parts[1:]]


def _is_direct(text: str) -> bool:
    """Say whether a text asks: "When the disk is full …" begins with a question word and does not."""
    first = text.split(" ", 1)[0].lower()
    return first not in {"when", "where"} or bool(_AUX_NEXT.match(text))


def _starts_question(text: str) -> bool:
    first = text.split(" ", 1)[0].lower()
    return first not in {"when", "where"} or bool(_AUX_NEXT.match(text))


def _asking_clauses(text: str) -> Sequence[str]:
    """Cut "Summarise the termination clause and list the notice periods"."""
    frame = _IMPERATIVE.match(text)
    if frame is None:
        return ()
    parts = _ASKING_CLAUSE.split(text)
    bare = []
    for part in parts:
        opening = _IMPERATIVE.match(part)
        bare.append(without_article(part[opening.end() :] if opening else part))
    return bare


def _actions(text: str) -> Sequence[str]:
    """Cut "How do I add a driver and report an accident": verbs with their objects."""
    frame = _ACTION_FRAME.match(text)
    if frame is None:
        return ()
    parts = coordinated(text[frame.end() :])
    sound = all(len(part.split()) > 1 and part.split()[0].lower() in ACTIONS for part in parts[1:])
    first = parts[0].split()
    has_object = len(first) > 1 and not (len(first) == 2 and first[1].lower() in PARTICLES)  # noqa: PLR2004
    return parts if sound and has_object else ()


def _nouns(text: str) -> Sequence[str]:
    """Cut coordinated noun phrases behind a frame such as "What are" or "Explain", or behind none."""
    plural, singular, imperative = (frame.match(text) for frame in (_PLURAL_FRAME, _SINGULAR_FRAME, _IMPERATIVE))
    frame = plural or singular or imperative
    if frame is None and (_DIRECT.match(text) or text.split(" ", 1)[0].lower() in NO_NOUN_PHRASE):
        return ()
    body = (text[frame.end() :] if frame else text).removeprefix("both ")
    parts = coordinated(body)
    if len(parts) < 2 or not all(map(_is_noun_phrase, parts)):  # noqa: PLR2004
        return ()
    if len(parts) >= _LIST_FROM:
        sound = singular is None or _are_nouns(parts)
    else:
        sound = _can_part(parts[0], parts[1], plural=plural is not None, singular=singular is not None)
    return _with_shared_complement(parts) if sound else ()


def _is_noun_phrase(part: str) -> bool:
    words = part.split()
    if not 0 < len(words) <= _MOST_PART_WORDS or ":" in part:
        return False
    return words[0].lower() not in NO_NOUN_PHRASE and not words[0][0].isdecimal()


def _are_nouns(parts: Sequence[str]) -> bool:
    """Say whether a list behind "What is" holds nouns, each for itself, and not adjectives of one noun."""
    if all(OWN_ARTICLE.match(part) for part in parts):
        return True
    return len(head_and_complement(parts[-1])[0].split()) == 1 and not parts[0].lower().startswith(("a ", "an "))


def _can_part(first: str, second: str, *, plural: bool, singular: bool) -> bool:
    """Say whether two coordinated noun phrases are two needs."""
    own_article = OWN_ARTICLE.match(second) is not None
    first_head, first_complement = head_and_complement(first)
    second_head, second_complement = head_and_complement(second)
    if first_complement:
        # "the duties of the landlord and the tenant": the second may belong to the complement of the first
        return own_article and bool(second_complement)
    if own_article:
        return not singular or OWN_ARTICLE.match(first) is not None
    if singular or first_head.lower().startswith(("a ", "an ")):
        return False
    return _are_parallel(without_article(first_head).split(), second_head.split(), second_complement, plural=plural)


def _are_parallel(first: Sequence[str], second: Sequence[str], complement: str, *, plural: bool) -> bool:
    """Say whether two heads without articles are two nouns rather than two modifiers of the second's noun."""
    if not is_plural(first[-1]):
        return False
    if len(first) > 1 == len(second):
        return bool(complement)  # "inheritance tax thresholds and exemptions": the second would lose what it is about
    if len(first) == 1 < len(second):
        return plural and is_plural(second[-1])  # "the sales and marketing budget" is one
    return True


def _with_shared_complement(parts: Sequence[str]) -> list[str]:
    """Give what stands behind the last part to every part that has nothing behind it, where the sense shares it."""
    complement = head_and_complement(parts[-1])[1]
    bare = [without_article(part) for part in parts]
    if not complement:
        return bare
    own_article = OWN_ARTICLE.match(parts[-1]) is not None
    if own_article and not OWN_ARTICLE.match(parts[0]):
        return bare  # "GDPR fines as well as the role of the officer"
    if own_article and complement.split()[0].lower() not in SHARED_PREPOSITIONS:
        return bare
    shared = [part if head_and_complement(part)[1] else f"{part} {complement}" for part in bare[:-1]]
    return [*shared, bare[-1]]
