"""Which sentences of a text can answer something (SPEC-005 §10.2): those that say something about the matter.

A sentence about the answer itself does not ("The provided facts do not cover the fees" names the fees and tells
nothing), nor does a question. A heading or a lead-in ("The fees are:") counts with what stands under it, for list items
often leave out what they are about; with nothing under it, it only announces.
"""

from collections import defaultdict
from collections.abc import Sequence
from typing import Final

from services.common.reading.text_types import Claim, ClaimType, Sentence, SentenceKind

_MARKUP: Final = "*_`\"'”’ "  # noqa: RUF001 - typographic quotes


def answering(text: str, sentences: Sequence[Sentence], claims: Sequence[Claim]) -> list[str]:
    """Return the texts of the sentences that count, in order.

    Args:
        text: what the offsets are in.
        sentences: all sentences of the text.
        claims: all claims of the text.
    """
    kinds: dict[int, set[ClaimType]] = defaultdict(set)
    for claim in claims:
        kinds[claim.sentence_index].add(claim.claim_type)
    counts = [False] * len(sentences)
    for at in range(len(sentences) - 1, -1, -1):
        sentence, held = sentences[at], kinds[sentences[at].index]
        is_heading = sentence.kind is SentenceKind.HEADING
        if sentence.kind is SentenceKind.TABLE_ROW or held - {ClaimType.META} or not (held or is_heading):
            counts[at] = True
        elif at + 1 < len(sentences) and (is_heading or _leads_in(text, sentence)):
            counts[at] = counts[at + 1] and _belongs_under(text, sentence, sentences[at + 1])
    said = zip(sentences, counts, strict=True)
    return [text[sentence.start : sentence.end] for sentence, says in said if says]


def _leads_in(text: str, sentence: Sentence) -> bool:
    return text[sentence.start : sentence.end].rstrip(_MARKUP).endswith(":")


def _belongs_under(text: str, sentence: Sentence, following: Sentence) -> bool:
    """Say whether what follows stands under a heading or lead-in: no heading of the same or a higher level."""
    if following.kind is not SentenceKind.HEADING:
        return True
    return sentence.kind is SentenceKind.HEADING and _level(text, following) > _level(text, sentence)


def _level(text: str, heading: Sentence) -> int:
    """Return the number of marks before a heading; one without marks (bold text) is below all that have some."""
    before = text[text.rfind("\n", 0, heading.start) + 1 : heading.start]
    return before.count("#") or 7
