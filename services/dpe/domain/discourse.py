"""How a text hangs together with what stood before it: markers of transition, and what it is about (SPEC-005 §11.3).

Closed lists and counts, English; the same words give the same signals with every model installed.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Final

from services.common.reading.text_types import Claim, Sentence
from services.common.reading.words import content_stems, stem, words
from services.dpe.domain.alignment import NAMES
from services.dpe.domain.names import name_key

TOPICS: Final = 5  # SPEC-005 §11.3, signal 9b
_MARKUP: Final = r"[\s*_`\"'“”‘’>#(-]*"  # noqa: RUF001 - typographic quotes
_ADDING: Final = (
    "furthermore|moreover|additionally|in addition|also|besides|beyond (?:this|that|these|those)|further|likewise"
    "|similarly|equally|another|a (?:second|third|further|related)|second(?:ly)?|third(?:ly)?|finally|lastly|next|then"
    "|the (?:next|second|third|following|remaining|other|last)"
)
_CONTRASTING: Final = (
    "however|by contrast|in contrast|conversely|on the other hand|nevertheless|nonetheless|instead|even so|that said"
)
_DRAWING: Final = (
    "therefore|thus|hence|consequently|accordingly|as a result|for (?:this|these) reasons?"
    "|given (?:this|that|these)|with (?:this|that|these)|in (?:this|that) (?:light|context|respect)"
    "|against this background"
)
_DETAILING: Final = (
    "specifically|in particular|more (?:specifically|precisely)|for (?:example|instance)|to illustrate|in practice"
    "|in other words|that is"
)
_REFERRING: Final = (
    "building (?:up)?on|continuing|following (?:on|from|up)|turning (?:now )?to|moving (?:on )?to|returning to"
    "|having (?:\\w+ )?(?:covered|described|discussed|established|outlined|seen|set out)"
    "|as (?:\\w+ )?(?:already |previously )?(?:noted|mentioned|described|discussed|outlined|explained|stated|shown"
    "|seen)|to (?:continue|follow|build)"
)
_TRANSITION: Final = re.compile(
    rf"^{_MARKUP}(?:{_ADDING}|{_CONTRASTING}|{_DRAWING}|{_DETAILING}|{_REFERRING})\b", re.IGNORECASE
)
_POINTING_BACK: Final = re.compile(rf"^{_MARKUP}(?:this|these|those|such)\s", re.IGNORECASE)
_READ_CHARS: Final = 200


def has_transition(opening: Sequence[str]) -> bool:
    """Say whether one of the sentences begins with a marker of continuation (SPEC-005 §11.3, signal 9d).

    A conclusion ("In summary") is none: §11.2 names it as the abrupt case. A first sentence that points back ("These
    obligations ...") is one: nothing but the earlier window stands before it.

    Args:
        opening: the first three sentences of the text.
    """
    heads = [sentence[:_READ_CHARS] for sentence in opening]
    return any(_TRANSITION.match(head) for head in heads) or bool(heads and _POINTING_BACK.match(heads[0]))


def topics(text: str, sentences: Sequence[Sentence], claims: Sequence[Claim]) -> frozenset[str]:
    """Return what a text is about: the five names and words of content that the most of its sentences hold.

    A name counts as one topic in a sentence that holds it, in place of its words. Of equals a name comes first, then
    what is said first.

    Args:
        text: what the offsets are in.
        sentences: the sentences that count.
        claims: the text's claims, for the names of each sentence.
    """
    names: dict[int, list[str]] = defaultdict(list)
    for claim in claims:
        names[claim.sentence_index] += [name_key(entity.text) for entity in claim.entities if entity.kind in NAMES]
    counted: Counter[str] = Counter()
    named: set[str] = set()
    for sentence in sentences:
        held = [name for name in dict.fromkeys(names[sentence.index]) if name]
        covered = content_stems(" ".join(held))
        said = text[sentence.start : sentence.end]
        counts = content_stems(said) - covered
        stems = [key for word in words(said) if (key := stem(word.text)) in counts]
        counted.update([*held, *dict.fromkeys(stems)])
        named.update(held)
    # A Counter keeps the order in which its keys came in, and sorting keeps the order of equals.
    ranked = sorted(counted, key=lambda topic: (-counted[topic], topic not in named))
    return frozenset(ranked[:TOPICS])
