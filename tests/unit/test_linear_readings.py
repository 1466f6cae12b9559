"""What took more than linear time once, and what it must still say: one test for each."""

import pytest

from services.common.document_kinds import MediaType
from services.common.documents.detection import detect_media_type
from services.common.documents.document import Block, BlockKind, Document, Table
from services.common.documents.facts.chunking import chunk
from services.common.documents.facts.leaning import merge_short
from services.common.documents.facts.rows import MAX_COLUMN_CHARS
from services.common.documents.facts.sentences import split_sentences
from services.common.documents.facts.walk import MAX_CONTEXT_CHARS
from services.common.documents.html.attributes import most_attributes
from services.common.documents.html.reading import MAX_ATTRIBUTES, read_html
from services.common.errors import ErrorReason, LimitExceededError
from services.common.reading.clauses import clauses
from services.dpe.domain import quotations, roles
from tests.speed import processor_time_below

MOST_SECONDS = 4.0
"""Of processor time: each takes a tenth of it, the dearest half of it on a slow machine; most once did not end."""

pytestmark = pytest.mark.timed


@pytest.fixture(autouse=True)
def _in_time():
    with processor_time_below(MOST_SECONDS):
        yield


def words(text):
    return len(text.split())


def paragraphs(*texts, kind=BlockKind.PARAGRAPH):
    return Document("text/plain", "", tuple(Block(kind, text) for text in texts))


@pytest.mark.parametrize("comments", [1, 2, 60, 4_000])
def test_comments_before_what_is_no_html(comments):
    text = "<!-- a -->\n" * comments
    assert detect_media_type((text + "x").encode(), "", "page").media is MediaType.TEXT
    assert detect_media_type((text + "<html>").encode(), "", "page").media is MediaType.HTML


def test_a_comment_ends_at_its_first_closer():
    assert detect_media_type(b"<!-- a -- b --><!----><!doctype html>", "", "page").media is MediaType.HTML
    assert detect_media_type(b"<!-- a --> b --><html>", "", "page").media is MediaType.TEXT


def test_an_element_of_countless_attributes_is_refused():
    attributes = " ".join(f"a{number}=1" for number in range(200_000))
    with pytest.raises(LimitExceededError, match="200000 or more attributes of one element") as refused:
        read_html(f"<p {attributes}>x</p>")
    assert refused.value.reason is ErrorReason.MESSAGE_TOO_LARGE


@pytest.mark.parametrize(
    ("text", "most"),
    [
        pytest.param('<p title=">" {}>x', 5_001, id="a closer in quotation marks"),
        pytest.param("<p/{}>x", 5_000, id="a slash before"),
        pytest.param("<p {}", 5_000, id="never closed"),
        pytest.param("<!-- <p {}> -->", 0, id="in a comment"),
        pytest.param("<script>if (i<p {}) f()</script>", 0, id="in a script"),
        pytest.param("<style>a<p {}</style><p b>", 0, id="in a style sheet"),
        pytest.param("a <b> c {}", 0, id="prose"),
    ],
)
def test_attributes_are_counted_where_the_parser_sees_them(text, most):
    attributes = " ".join(f"a{number}='1'" for number in range(5_000))
    assert most_attributes(text.format(attributes), MAX_ATTRIBUTES) == most


def test_ordinary_attributes_are_taken():
    attributes = " ".join(f"data-a{number}='1'" for number in range(1_000))
    assert [block.text for block in read_html(f"<p {attributes}>x y</p>").blocks] == ["x y"]


@pytest.mark.parametrize("piece", ["Mr. ", "U.S. ", "St. A. B. "])
def test_full_stops_that_end_no_sentence(piece):
    text = piece * (100_000 // len(piece))
    assert split_sentences(text) == (text.strip(),)


def test_numbers_of_a_list_end_no_sentence_where_they_open_one():
    assert split_sentences("  12. May it be so. 13. It is.") == ("12. May it be so.", "13. It is.")
    assert split_sentences("It was in 12. May it be so.") == ("It was in 12.", "May it be so.")


def test_countless_short_texts_are_joined():
    assert merge_short(["a."] * 50_000, words) == [" ".join(["a."] * 50_000)]
    assert merge_short(["a b c d e f g h i j"] * 2 + ["k"], words) == ["a b c d e f g h i j", "a b c d e f g h i j k"]


def test_countless_short_paragraphs_are_joined():
    whole = chunk(paragraphs(*["Ab cd"] * 20_000), words)
    assert whole[0].content.startswith("Ab cd. Ab cd. Ab cd.")
    assert len(whole) < 300


def test_a_heading_longer_than_any_is_text_of_its_own():
    heading = Block(BlockKind.HEADING, "word " * MAX_CONTEXT_CHARS, 1)
    items = [
        Block(BlockKind.PARAGRAPH, f"The limit of policy {number} is five euros for all of them.")
        for number in range(3_000)
    ]
    facts = chunk(Document("text/plain", "", (heading, *items)), words)
    assert sum(len(fact.content) + len(fact.section) for fact in facts) < 400_000


def test_a_lead_in_longer_than_any_is_not_repeated():
    lead_in = Block(BlockKind.PARAGRAPH, "word " * MAX_CONTEXT_CHARS + "follows:")
    items = [Block(BlockKind.LIST_ITEM, f"item {number}") for number in range(3_000)]
    assert sum(len(fact.content) for fact in chunk(Document("text/plain", "", (lead_in, *items)), words)) < 200_000


def test_items_in_countless_lists_keep_their_parents():
    items = [Block(BlockKind.LIST_ITEM, f"Level {depth}:", depth) for depth in range(1_000)]
    items += [Block(BlockKind.LIST_ITEM, f"item {number}", 1_000) for number in range(3_000)]
    assert len(chunk(Document("text/html", "", tuple(items)), words)) == 4_000 - 32


def test_the_head_of_a_column_that_is_a_text_is_not_repeated():
    table = Table((("Plan", "x" * (MAX_COLUMN_CHARS + 1)), ("a", "b")), header_rows=1)
    (fact,) = chunk(Document("text/plain", "", (Block(BlockKind.TABLE, "", table=table),)), words)
    assert fact.content == "Plan: a; b"


@pytest.mark.parametrize(
    ("text", "is_passive"),
    [
        ("The bridge was quickly painted by Ann.", True),
        ("The bridge was painted in May.\nIt stands by the road.", False),
        ("The bridge was\npainted by Ann.", True),
        ("By Ann the bridge was painted.", False),
        ("been " * 20_000, False),
        ("been " * 20_000 + "by", True),
    ],
)
def test_a_passive_with_its_agent(text, is_passive):
    assert roles._is_passive(text) is is_passive


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("The fee is due [1].", "the fee is due"),
        ("The fee is due. [fact 1] [2, 3]", "the fee is due"),
        ("The fee [1] is due.", "the fee [1] is due"),
        ("[abc] [1]", "[abc]"),
    ],
)
def test_marks_of_citations_at_the_end_alone_are_left_out(text, plain):
    assert quotations._comparable(text).rstrip(".") == plain


def test_countless_marks_of_citations():
    assert "so" in quotations._comparable("[1] " * 25_000 + "so")


def test_countless_blanks_within_a_sentence():
    blanks = " " * 12_000
    text = f"The fee is due{blanks};{blanks}the rest is paid{blanks}and{blanks}all is well{blanks}x"
    assert [text[each.start : each.end].split(maxsplit=1)[0] for each in clauses(text, 0, len(text))] == [
        "The",
        "the",
        "all",
    ]
