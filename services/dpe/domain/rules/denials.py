"""What the facts deny or forbid, asserted among other things (SPEC-005 §5.3, NEGATION_FLIP, ADR 0190).

"It applies on Rowan and Alder wards. It does not apply to the day unit." A claim that it "applies on Rowan and Alder
wards and in the day unit" is nearest to the first sentence, and everything that the second one denies is in it.
"""

import re
from collections.abc import Sequence
from typing import Final

from services.common.reading.clauses import finite_verb_at
from services.common.reading.lexicon import NEGATORS
from services.common.reading.words import Word, words
from services.dpe.domain.findings import DistortionType, Rule
from services.dpe.domain.rules.finding import Departure
from services.dpe.domain.rules.reading import Reading, is_content, pieces, root, roots, share, without_lead

_FORBIDDEN: Final = re.compile(
    r"\b(?:is|are)\s(?:strictly\s|also\s)?(?:prohibited|forbidden|banned|excluded"
    r"|not\s(?:allowed|permitted|possible|covered|included|available|eligible))\b",
    re.IGNORECASE,
)
_DENIED: Final = re.compile(
    r"\b(?:do|does|did|is|are|was|were|will|may|must|can|shall|should)\snot\b|\bcannot\b", re.IGNORECASE
)
_LIMITED: Final = re.compile(
    r"\b(?:if|unless|when|where|while|before|after|until|till|except|only|without|than|more|less|least|most|yet|also"
    r"|already|alone|both|all|every|each|always|necessarily|who|which|that|because|so|exceed(?:s|ed)?|above|below|over"
    r"|under)\b|\d",
    re.IGNORECASE,
)
"""What is denied under a condition, in part, or beyond a value, is not denied."""
_CONDITION: Final = re.compile(r"\b(?:if|when|provided|in\scase|except)\b|^\W*unless\b", re.IGNORECASE)
_CASE: Final = re.compile(r"\W*(?:in|during|for|on|at|within|under|throughout)\s", re.IGNORECASE)
_OPPOSED: Final = re.compile(
    r"\b(?:prohibited|forbidden|banned|excluded|except|apart|unless|without|only|instead|rather|unlike|neither|nor|no"
    r"|none|never|excluding|unable|impossible|barred|bars?|forbids?|refus\w{1,4}|fail(?:s|ed|ure)?|lack(?:s|ed)?|prevent(?:s|ed)?)\b",
    re.IGNORECASE,
)
_UNDER: Final = re.compile(
    r"\b(?:if|unless|provided|only|who|which|having|when|once|after|with|without|needs?|requires?|required|subject|must|agree\w{0,6}"
    r"|approv\w{1,3}|permission|consent|long\sas)\b",
    re.IGNORECASE,
)
_MIN_CONTENT: Final = 3
_AGENT: Final = re.compile(r"\sby\s")


def denied_part(claim: Reading, sources: list[Reading]) -> Departure | None:
    """Return where a claim without any denial has all the words of what a sentence denies, or ``None``."""
    if _OPPOSED.search(claim.text) or any(word.text in NEGATORS or word.text.endswith("n't") for word in claim.tokens):
        return None
    said = [(root(word.text), word) for word in claim.tokens if is_content(word, claim.text)]
    for source in sources:
        for denied, at in source.once(_denials):
            held = _in_order(denied, said)
            if source.text.find(" unless ", at[1]) == at[1] and _names_condition(claim, source.text[at[1] :]):
                continue  # "may if the head agrees" is what "not allowed unless the head agrees" says
            if held and not _is_asserted(frozenset(denied), sources):
                span = claim.span(held[0].start, held[-1].end)
                return Departure(DistortionType.NEGATION_FLIP, Rule.NEGATION, span, source, source.span(*at))
    return None


def _names_condition(claim: Reading, condition: str) -> bool:
    """Say whether a claim names what frees from a denial, by its words or by a word for any condition."""
    return _UNDER.search(claim.text) is not None or share(roots(condition), claim.content) >= _NAMED


_NAMED: Final = 0.5
_BUT_NOT: Final = re.compile(
    r"(?:,\s|\s)(?:but|and)\snot\s(?P<link>in|on|at|to|for|from|with|by|of|within|during|after|before)\s"
    r"(?P<case>[^,.;:]{1,80})",
    re.IGNORECASE,
)
_MOSTLY: Final = 0.7


def denied_case(claim: Reading, sources: list[Reading]) -> Departure | None:
    """Return where a claim says of a case what its source denies of it alone, or ``None``.

    "Permitted in Paper 2 but not in Paper 1": of Paper 1 a claim without a denial says the opposite.
    """
    if _OPPOSED.search(claim.text) or any(word.text in NEGATORS or word.text.endswith("n't") for word in claim.tokens):
        return None
    for source in sources:
        match = _BUT_NOT.search(source.text)
        if match is None:
            continue
        main, _, same = without_lead(source.text[: match.start()]).rpartition(f" {match['link'].lower()} ")
        said, denied, other = roots(main), roots(match["case"]), roots(same)
        if (
            said
            and denied - other
            and other - denied
            and said | denied <= claim.content
            and not (other - denied) & claim.content
            and share(claim.content, said | denied) >= _MOSTLY
            and not _is_asserted(said | denied, sources)
        ):
            at = (match.start("case"), match.end("case"))
            return Departure(DistortionType.NEGATION_FLIP, Rule.NEGATION, claim.whole, source, source.span(*at))
    return None


def _in_order(denied: Sequence[str], said: Sequence[tuple[str, Word]]) -> list[Word]:
    """Return the claim's words that are those denied, in their order; none where one is missing."""
    held: list[Word] = []
    for known, word in said:
        if len(held) < len(denied) and known == denied[len(held)]:
            held.append(word)
    return held if len(held) == len(denied) else []


def _denials(source: Reading) -> tuple[tuple[tuple[str, ...], tuple[int, int]], ...]:
    """Return the roots of what each piece of a sentence denies, with its place in the sentence.

    The case that a sentence begins with belongs to what it denies: "In the probation period, working from home is not
    allowed". What is denied "unless" something is, is denied all the same to whom leaves that out.
    """
    found: list[tuple[tuple[str, ...], tuple[int, int]]] = []
    case: tuple[Word, ...] = ()
    for place, piece in enumerate(pieces(source) if not _CONDITION.search(source.text) else ()):
        if place == 0 and _CASE.match(piece.text) and finite_verb_at(piece.tokens) is None:
            case = tuple(word for word in piece.tokens if is_content(word, piece.text))
            continue
        text = piece.text.partition(" unless ")[0]
        match = _FORBIDDEN.search(text) or _DENIED.search(text)
        if match is None or _LIMITED.search(text):
            continue
        agent = _AGENT.search(text, match.end())
        end = len(text) if agent is None else agent.start()
        denied = tuple(
            root(word.text)
            for word in piece.tokens
            if is_content(word, piece.text) and not match.start() <= word.start < match.end() and word.start < end
        )
        whole = (*(root(word.text) for word in case), *denied)
        if len(whole) >= _MIN_CONTENT:
            start = piece.start - source.start
            found.append((whole, (start, start + len(text))))
    return tuple(found)


def _is_asserted(content: frozenset[str], sources: list[Reading]) -> bool:
    """Say whether a sentence without a denial says the same."""
    return any(
        content <= source.content and not any(word.text in NEGATORS for word in words(source.text))
        for source in sources
        if not _FORBIDDEN.search(source.text)
    )
