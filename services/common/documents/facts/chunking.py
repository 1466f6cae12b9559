"""From a document's blocks to facts: assertions that can be read on their own (CRP-SPEC-009, ADR 0106).

The walk (``walk``) gives each text what it needs to be read alone. What is shorter than 10 tokens then joins a
neighbour (``units``), what is longer than 512 tokens is cut into windows that overlap by 10% (``windows``). (Between
whole assertions the overlap has no effect: an assertion in two chunks has one id and is stored once.)

Invariants: reading order is kept; the same document gives the same drafts; no word of a paragraph, item or row is lost.
"""

from services.common.documents.document import Document
from services.common.documents.facts.draft import FactDraft
from services.common.documents.facts.kinds import kind_of
from services.common.documents.facts.leaning import CountTokens
from services.common.documents.facts.of_itself import name_of_document, named
from services.common.documents.facts.units import join_fragments
from services.common.documents.facts.walk import BlockWalk
from services.common.documents.facts.windows import windows
from services.common.documents.wording import has_words


def chunk(document: Document, count: CountTokens) -> tuple[FactDraft, ...]:
    """Return the facts of a document in reading order, each once per section.

    Args:
        document: what a parser gave.
        count: tokens of a text in the ingestion tokenizer.
    """
    units = join_fragments(BlockWalk(document.blocks, count).units(), count)
    name = name_of_document(document)
    drafts: dict[tuple[str, str], FactDraft] = {}
    for unit in units:
        for text in windows(named(unit, name), count):
            if has_words(text):
                kind = kind_of(text, unit.title, unit.kind)
                drafts.setdefault((unit.section, text), FactDraft(text, unit.section, unit.location, kind, unit.place))
    return tuple(drafts.values())
