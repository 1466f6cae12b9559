"""What one fact holds of a document's labels: what stands in it whole, what it states falsely, what nobody sees.

Texts are compared without regard to case, white space, kinds of dashes and quotation marks. A string stands in a fact
when it stands there as words: ``3 EUR`` is not in ``13 EUR``.
"""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from evaluation.document_labels import LabelledDocument, LabelledTable
from services.common.documents.facts.sentences import split_sentences

_ALIKE: Final = str.maketrans(
    {
        **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2212", "-"),
        **dict.fromkeys("\u2018\u2019\u201b\u2032", "'"),
        **dict.fromkeys("\u201c\u201d\u201e\u201f\u00ab\u00bb\u2033", '"'),
        "\u00ad": None,
        "\u200b": None,
        "\ufeff": None,
    }
)
_RAISED: Final = re.compile(r"(?<=[^\W_])[\u207b\u207a]?[\u2070\u00b9\u00b2\u00b3\u2074-\u2079]+")
"""Raised figures count as what a person writes for them: 10^6."""
_SHORT_CHARS: Final = 12
"""Shorter hidden or furniture texts count only where a fact is nothing else: ``3`` stands in many facts."""
_ROW_PART: Final = re.compile(r";\s+")
_NAMED: Final = re.compile(r"[^:;]+: ")


def plain(text: str) -> str:
    """Return a text as it is compared where words count."""
    raised = _RAISED.sub(lambda match: f"^{match[0]}", text.translate(_ALIKE))
    return " ".join(unicodedata.normalize("NFKC", raised).translate(_ALIKE).casefold().split())


def bare(text: str) -> str:
    """Return the letters and digits of a text."""
    return "".join(character for character in plain(text) if character.isalnum())


@dataclass(frozen=True, slots=True)
class LabelledGroup:
    """Strings that must stand in one fact, or must not stand in one statement.

    Attributes:
        true_row: a row of a labelled table holds them all, under its heads: only its cells are judged then.
    """

    texts: tuple[str, ...]
    patterns: tuple[re.Pattern[str], ...]
    true_row: bool

    def all_in(self, text: str) -> bool:
        """Say whether all of the strings stand in the text, as words."""
        told = plain(text)
        return all(one.search(told) for one in self.patterns)


class FactLabels:
    """The labels of a document, to be asked about its facts one by one."""

    def __init__(self, labelled: LabelledDocument) -> None:
        self._seen = _seen(labelled)
        lines = [bare(" ".join(line)) for table in labelled.tables for line in _true_rows(table)]
        self.together = tuple(_group(texts, lines) for texts in labelled.together)
        self.apart = tuple(_group(texts, lines) for texts in labelled.apart)

    def false_part(self, group: LabelledGroup, fact: str) -> str | None:
        """Return the sentence or cell of a fact in which the strings of a group make a false statement."""
        return next((unit for unit in _units(fact, group.true_row) if group.all_in(unit)), None)

    def told(self, text: str, facts: Iterable[str]) -> bool:
        """Say whether a text that nobody should be told stands in a fact, and not only what is seen elsewhere."""
        return _told(text, [bare(fact) for fact in facts], self._seen)


def _group(texts: tuple[str, ...], lines: list[str]) -> LabelledGroup:
    true_row = any(all(bare(text) in line for text in texts) for line in lines)
    return LabelledGroup(texts, tuple(map(_as_words, texts)), true_row)


def _seen(labelled: LabelledDocument) -> str:
    """Return what is labelled as seen: a running head that repeats the title is no fault where the title stands."""
    texts = [*labelled.order, *(text for _, text in labelled.headings)]
    for table in labelled.tables:
        texts += [table.caption, *(cell for row in table.grid for cell in row)]
    texts += [text for group in labelled.together for text in group]
    return "\n".join(bare(text) for text in texts)


def _told(text: str, bare_facts: list[str], seen: str) -> bool:
    """Say whether a text, or one of its sentences, stands in a fact and is not also labelled as seen."""
    for part in {text, *split_sentences(text)}:
        want = bare(part)
        if not want or (want in seen and part != text) or want in seen.split("\n"):
            continue
        if len(want) < _SHORT_CHARS:
            if want in bare_facts:
                return True
        elif want not in seen and any(want in fact for fact in bare_facts):
            return True
    return False


def _as_words(text: str) -> re.Pattern[str]:
    """Return what finds a text as words, and its figures as whole figures."""
    escaped = re.escape(plain(text))
    before = r"(?<!\w)(?<!\d[.,])" if escaped and plain(text)[0].isalnum() else ""
    after = r"(?!\w)(?![.,]\d)" if escaped and plain(text)[-1].isalnum() else ""
    return re.compile(before + escaped + after)


def _true_rows(table: LabelledTable) -> Iterable[list[str]]:
    """Yield all that stands in a row or above it: what a fact of a row may hold though its cells are not one's."""
    heads = [cell for row in table.grid[: table.header_rows] for cell in row]
    for row in table.grid[table.header_rows :]:
        yield [table.caption, table.where, *heads, *row]


def _units(fact: str, true_row: bool) -> Iterable[str]:
    """Yield the sentences of a fact; where a true row holds the strings, its cells, and its head with each of them."""
    parts = _ROW_PART.split(fact)
    if not true_row or len(parts) == 1 or not all(_NAMED.match(part) for part in parts[1:]):
        yield from split_sentences(fact)
        return
    head = parts[0].rsplit(": ", 1)[-1]
    yield from parts
    yield from (f"{head}; {part}" for part in parts[1:])
