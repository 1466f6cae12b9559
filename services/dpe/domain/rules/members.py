"""Lists and pairs (SPEC-005 §5.3, ADR 0095): what is listed together, and whether all of it or one of it is meant."""

import re
from typing import Final

from services.common.reading.clauses import finite_verb_at
from services.common.reading.lexicon import AUXILIARIES, SUBORDINATORS
from services.common.reading.polarity import is_negated
from services.common.reading.text_types import Span
from services.common.reading.words import words
from services.dpe.domain.findings import DistortionType, Rule
from services.dpe.domain.rules.finding import Departure
from services.dpe.domain.rules.reading import Reading, nearest_to, roots, share
from services.dpe.domain.rules.rows import values_of

_MIN_MEMBERS: Final = 3
_HEAD_WORDS: Final = 3
_ITEM_WORDS: Final = 8
_LIST: Final = re.compile(
    r"(?P<items>[^,;:()]{1,80}(?:, (?!and |or )[^,;:()]{1,60}){1,12},?) (?:and|or) (?P<last>[^,;:().]{1,80})"
)
_BOTH: Final = re.compile(r"\b(?:and|as well as|together with|plus|along with|both)\b", re.IGNORECASE)
_EITHER: Final = re.compile(r"\b(?:or|either|alternatively)\b", re.IGNORECASE)
_CHOICE: Final = re.compile(r"\b(?:between|choice\sof)\s[^,;.:]{0,80}$", re.IGNORECASE)
_NEITHER: Final = re.compile(
    r"\b(?:neither|nor|not|no|without|never|nothing|nobody|cannot|exclud(?:es?|ed|ing)|except"
    r"|forbidden|prohibited|banned)\b|n['\u2019]t\b",
    re.IGNORECASE,
)
"""Of what is denied or excluded "this or that" and "this and that" say the same."""
_OPENERS: Final = frozenset({"for", "in", "at", "on", "with", "under", "from", "after", "before", "during", "as", "by"})
_CONTRASTED: Final = re.compile(r"not\b", re.IGNORECASE)
"""What opens no last member of a list: "supplied with a plug, and not with a cable"."""
SAME: Final = 0.5


def foreign_member(claim: Reading, sources: list[Reading]) -> Departure | None:
    """Return the member of a claim's list that its source lists elsewhere, or ``None``."""
    listed = _members(claim)
    if len(listed) < _MIN_MEMBERS:
        return None
    frame = claim.content - frozenset[str]().union(*(content for _, content in listed))
    rated = sorted(
        (
            (sum(1 for _, one in listed if one <= source.content), share(frame, source.known), source)
            for source in sources
        ),
        key=lambda item: (-item[0], -item[1]),
    )
    if not rated or rated[0][0] < len(listed) - 1 or rated[0][0] < _MIN_MEMBERS - 1:
        return None
    held, _, group = rated[0]
    missing = [(span, content) for span, content in listed if not content & group.content]
    if held == len(listed) or len(missing) != 1 or not frame & group.known:
        return None
    span, content = missing[0]
    if any(value.start < span.end and span.start < value.end for value in claim.once(values_of)):
        return None  # "within two years" for "within 24 months" is no member of a list
    if not _is_listed_elsewhere(content, frame, group, sources):
        return None
    return Departure(
        DistortionType.ENTITY_SUBSTITUTED, Rule.MEMBER, claim.span(span.start, span.end), group, group.whole
    )


def _is_listed_elsewhere(member: frozenset[str], frame: frozenset[str], group: Reading, sources: list[Reading]) -> bool:
    """Say whether other sentences hold a member, and none says of it what the list says of its own.

    "We also cover floods" is a sentence beside the list of what is covered; "not covered: rust" is another list.
    """
    holding = [one for one in sources if one is not group and share(member, one.content) >= SAME]
    as_the_list = is_negated(group.text)
    return bool(holding) and not any(
        share(frame, one.content) >= SAME and is_negated(one.text) == as_the_list for one in holding
    )


def _members(claim: Reading) -> list[tuple[Span, frozenset[str]]]:
    found = _LIST.search(claim.text)
    if found is None:
        return []
    stretches: list[tuple[int, int]] = []
    at = found.start("items")
    for item in found["items"].rstrip(",").split(", "):
        stretches.append((at, at + len(item)))
        at += len(item) + 2
    stretches.append((found.start("last"), found.end("last")))
    if _CONTRASTED.match(found["last"]):
        return []
    listed: list[tuple[Span, frozenset[str]]] = []
    opening = words(claim.text[slice(*stretches[0])])
    opens_clause = bool(opening) and opening[0].text in SUBORDINATORS
    if opens_clause or (opening and opening[0].text in _OPENERS and finite_verb_at(opening) is None):
        stretches = stretches[1:]
    if _holds_clause([claim.text[start:end] for start, end in stretches]):
        return []
    for number, (start, end) in enumerate(stretches):
        spoken = words(claim.text[start:end])
        verb = finite_verb_at(spoken) if number == len(stretches) - 1 else None
        tokens = [word for word in spoken[: verb or None] if roots(word.text)]
        if not tokens or (len(tokens) > _ITEM_WORDS and number):
            return []
        # What stands before the first item belongs to the sentence: its last word is the item's.
        kept = tokens[-1:] if number == 0 else tokens[:_HEAD_WORDS]
        content = frozenset[str]().union(*(roots(word.text) for word in kept))
        listed.append((Span(start + kept[0].start, start + kept[-1].end), content))
    return listed


def _holds_clause(items: list[str]) -> bool:
    """Say whether a piece behind the first states something itself: "it counts as empty", "as is rust", "cover stops".

    Behind the last thing of a list the sentence may go on: "pliers, a hammer and a drill are in the kit".
    """
    if len(items) < _MIN_MEMBERS:
        return True
    told, *middle, last = [words(item) for item in items]
    for spoken in middle:
        verb = finite_verb_at(spoken)
        if not spoken or spoken[0].text in SUBORDINATORS:
            return True
        if verb is not None and (spoken[verb].text in AUXILIARIES or 0 < verb < len(spoken) - 1):
            return True
    relative = next((at for at, word in enumerate(last) if at and word.text in SUBORDINATORS), len(last))
    verb = finite_verb_at(last[:relative])
    return verb is not None and verb > 0 and finite_verb_at(told) is not None


def changed_pair(claim: Reading, sources: list[Reading]) -> Departure | None:
    """Return where a claim says "or" of two things of which its source says "and", or the other way, or ``None``."""
    joined = list(re.finditer(r"\b(?:and|or)\b", claim.text))
    if not joined or _NEITHER.search(claim.text):
        return None
    for match in joined:
        is_or = match.group().lower() == "or"
        if not is_or and _CHOICE.search(claim.text, 0, match.start()):
            continue  # between one and the other: one of them
        left, right = _beside(claim, match.start(), before=True), _beside(claim, match.end(), before=False)
        if not left or not right or set(left) & set(right):
            continue
        for _, source in nearest_to(claim, sources)[:_READ]:
            joint = _joint(source, left, right)
            if joint is None:
                continue
            start, end = joint
            between = source.text[start:end]
            says_or, says_and = bool(_EITHER.search(between)), bool(_BOTH.search(between))
            if says_or == says_and or _NEITHER.search(source.text[:end]):
                break
            if is_or != says_or:
                said = (_EITHER if says_or else _BOTH).search(between)
                start, end = (start + said.start(), start + said.end()) if said is not None else (start, end)
                return Departure(
                    DistortionType.QUANTIFIER_ALTERED,
                    Rule.CONJUNCTION,
                    claim.span(match.start(), match.end()),
                    source,
                    source.span(start, end),
                )
            break
    return None


_READ: Final = 2


def _beside(reading: Reading, at: int, *, before: bool) -> list[str]:
    """Return the roots of the words beside a coordinator, the nearest first, up to a comma or another coordinator."""
    text = reading.text[:at] if before else reading.text[at:]
    piece = re.split(r"[,;:]|\b(?:and|or)\b", text)[-1 if before else 0]
    tokens = [word for word in words(piece) if roots(word.text)]
    tokens = list(reversed(tokens)) if before else tokens
    return [next(iter(roots(word.text))) for word in tokens[:_HEAD_WORDS]]


def _joint(source: Reading, left: list[str], right: list[str]) -> tuple[int, int] | None:
    """Return the stretch of a source between the nearest words of the one thing and of the other."""
    places: dict[str, list[tuple[int, int]]] = {}
    for word in source.tokens:
        for one in roots(word.text):
            places.setdefault(one, []).append((word.start, word.end))
    ours = [place for one in left for place in places.get(one, ())]
    theirs = [place for one in right for place in places.get(one, ())]
    if not ours or not theirs:
        return None
    pairs = [(a, b) if a[0] < b[0] else (b, a) for a in ours[:_PLACES] for b in theirs[:_PLACES] if a != b]
    first, second = min(pairs, key=lambda pair: pair[1][0] - pair[0][1], default=((0, 0), (0, 0)))
    return (first[1], second[0]) if second[0] > first[1] else None


_PLACES: Final = 8
