"""What a document says of itself carries its name: another document's date answers for nothing else (ADR 0223)."""

import pytest

from services.common.documents.document import Block, BlockKind, Document
from services.common.documents.facts.chunking import chunk
from services.common.documents.markdown import read_markdown
from services.common.documents.plain import read_text
from services.envelope.domain.validity import Passage, of_passages

LONG = "for all staff of the house and of its daughters"


def drafts(document):
    return chunk(document, lambda text: len(text.split()))


def facts(text):
    return [draft.content for draft in drafts(read_markdown(text))]


def test_a_document_that_speaks_of_itself_is_named():
    assert facts(f"# Travel policy\n\n## Scope\n\nThis policy is effective from 1 January 2025 {LONG}.\n") == [
        f"Travel policy: This policy is effective from 1 January 2025 {LONG}."
    ]


@pytest.mark.parametrize(
    ("title", "sentence"),
    [
        ("Lease of shop 4", f"Nobody but the owner may end the present agreement {LONG}."),
        ("House rules of Linden Court", f"Whoever breaks these rules pays a fine of 50 euros {LONG}."),
        ("Reisekosten der Stadtwerke", f"Diese Richtlinie gilt ab dem 1. Juli 2026 {LONG}."),
        ("Voyages", f"La présente politique entre en vigueur le 1er janvier 2026 {LONG}."),
    ],
)
def test_in_whatever_words(title, sentence):
    assert facts(f"# {title}\n\n## Scope of what follows\n\n{sentence}\n")[0].startswith(f"{title}: ")


def test_a_sentence_before_does_not_name_it_by_the_same_words():
    """``Remote work policy`` is not said by "may work remotely. This policy …"."""
    text = "All staff of the institute may work remotely. This policy is effective from 1 May 2026 in all parts."
    assert facts(f"# Remote work policy\n\n## Scope\n\n{text}\n") == [f"Remote work policy: {text}"]


def test_the_title_names_it_where_no_heading_does():
    text = f"This agreement ends on 31 December 2027 {LONG}."
    document = Document("application/pdf", "Lease of shop 4", (Block(BlockKind.PARAGRAPH, text),))
    assert [draft.content for draft in drafts(document)] == [f"Lease of shop 4: {text}"]


@pytest.mark.parametrize("title", ["", "lease_v3.pdf", "A title of more words than any name has " * 6])
def test_what_is_no_name_stands_before_nothing(title):
    text = f"This agreement ends on 31 December 2027 {LONG}."
    document = Document("application/pdf", title, (Block(BlockKind.PARAGRAPH, text),))
    assert [draft.content for draft in drafts(document)] == [text]


@pytest.mark.parametrize(
    "text",
    [
        f"Nothing in this travel policy of ours holds abroad {LONG}.",
        f"The travel policy of the house: this policy is in force {LONG}.",
        f"Nobody insures this policyholder of ours while abroad {LONG}.",
        f"The policy of other houses is effective from 1 January {LONG}.",
    ],
)
def test_what_is_named_or_speaks_of_something_else_is_left(text):
    assert facts(f"# Travel policy\n\n{text}\n") == [text]


def test_a_line_without_a_subject_is_about_the_document_and_dates_it():
    document = read_text(
        "HOUSE RULES\n\n1. In general\n\nEffective from 1 January 2025\n\n2. Quiet\n\nMusic ends at 22:00 each day.\n"
    )
    found = drafts(document)
    assert [draft.content for draft in found] == [
        "HOUSE RULES: 1. In general: Effective from 1 January 2025",
        "2. Quiet: Music ends at 22:00 each day.",
    ]
    (dated, other) = of_passages([Passage(draft.content, draft.section) for draft in found])
    assert dated.told() == "from 2025-01-01"
    assert other == dated
