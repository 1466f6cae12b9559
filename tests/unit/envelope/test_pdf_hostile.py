"""PDF: damaged, encrypted, cut off and hostile files end in an error or in text, in bounded time."""

import io
import random
import time

import pytest

from services.common.documents.pdf import read_pdf
from services.common.errors import CrpError
from tests.fakes.pdf import PROSE, drawn, raw_file, wrapped, write
from tests.speed import processor_time_below

MAX_CHARS = 2_000_000


def read(content, max_pages=100):
    return read_pdf(content, max_pages, MAX_CHARS)


def reason_of(content, **options):
    with pytest.raises(CrpError) as caught:
        read(content, **options)
    return caught.value


def outcome_of(content):
    """The reason for which a file is refused, or that it was read."""
    try:
        read(content)
    except CrpError as error:
        return error.reason.value
    return "read"


def test_a_raw_page_is_read():
    assert (
        read(raw_file(b"BT /F 12 Tf 60 700 Td (A rule that stands here.) Tj ET")).blocks[0].text
        == "A rule that stands here."
    )


def test_an_encrypted_file_says_so():
    from pypdf import PdfReader, PdfWriter

    writer = PdfWriter()
    writer.append(PdfReader(io.BytesIO(drawn(lambda canvas: canvas.drawString(60, 700, "secret")))))
    writer.encrypt("password", algorithm="AES-256")
    buffer = io.BytesIO()
    writer.write(buffer)
    error = reason_of(buffer.getvalue())
    assert (error.reason.value, "encrypted" in str(error)) == ("UNSUPPORTED_MEDIA", True)


def test_a_file_that_is_cut_off_says_so_wherever_it_ends():
    content = drawn(*[lambda canvas: write(canvas, 60, 760, wrapped(PROSE, 470))] * 5)
    for end in range(30, len(content) - 10, 211):
        error = reason_of(content[:end])
        assert error.reason.value == "UNSUPPORTED_MEDIA"
        assert "ends in the middle" in str(error)


def test_bytes_changed_at_random_end_in_text_or_in_an_error():
    content = drawn(*[lambda canvas: write(canvas, 60, 760, wrapped(PROSE, 470))] * 2)
    chance = random.Random(7)
    outcomes = set()
    for _ in range(150):
        changed = bytearray(content)
        for _ in range(chance.randint(1, 20)):
            changed[chance.randrange(9, len(changed) - 40)] = chance.randrange(256)
        outcomes.add(outcome_of(bytes(changed)))
    assert {"read"} < outcomes <= {"read", "UNSUPPORTED_MEDIA", "DOCUMENT_WITHOUT_TEXT", "MESSAGE_TOO_LARGE"}


def test_too_many_pages_and_a_count_that_lies():
    page = drawn(*[lambda canvas: canvas.drawString(60, 700, "text")] * 4)
    assert reason_of(page, max_pages=3).reason.value == "MESSAGE_TOO_LARGE"
    lying = raw_file(b"BT /F 12 Tf 60 700 Td (text) Tj ET", count=b"2000000000")
    assert outcome_of(lying) in {"read", "MESSAGE_TOO_LARGE", "UNSUPPORTED_MEDIA"}


def test_more_characters_than_are_taken():
    line = b"BT /F 9 Tf 10 700 Td " + b"(words and words ) Tj " * 10_000 + b" ET"
    with pytest.raises(CrpError) as caught:
        read_pdf(raw_file(line), 10, 100_000)
    assert caught.value.reason.value == "MESSAGE_TOO_LARGE"


def test_a_page_tree_that_goes_round_ends():
    looped = raw_file(b"BT /F 12 Tf 60 700 Td (text) Tj ET", pages=b"[2 0 R 3 0 R]", count=b"2")
    assert outcome_of(looped) in {"read", "UNSUPPORTED_MEDIA", "DOCUMENT_WITHOUT_TEXT"}


def test_forms_that_draw_themselves_end():
    body = b"/X Do BT /F 12 Tf 60 700 Td (A rule that stands here.) Tj ET"
    form = (
        b"<</Type/XObject/Subtype/Form/BBox[0 0 595 842]/Resources<</XObject<</X 6 0 R>>>>/Length %d>>stream\n"
        % len(body)
    )
    content = raw_file(body, resources=b"/XObject<</X 6 0 R>>", more=(form + body + b"\nendstream",))
    assert "A rule that stands here." in " ".join(block.text for block in read(content).blocks)


def scattered(count):
    chance = random.Random(3)
    parts = [
        b"BT /F 8 Tf %d %d Td (w%d) Tj ET" % (chance.randrange(590), chance.randrange(840), n) for n in range(count)
    ]
    return b"\n".join(parts)


def columns(count):
    return b"\n".join(
        b"BT /F 2 Tf %d %d Td (ab) Tj ET" % (10 + 8 * (n % 70), 830 - 3 * (n // 70)) for n in range(count)
    )


def rules(count):
    level = b"\n".join(b"10 %.2f m 580 %.2f l S" % (840 * n / count, 840 * n / count) for n in range(count))
    upright = b"\n".join(b"%.2f 10 m %.2f 830 l S" % (590 * n / count, 590 * n / count) for n in range(count))
    return level + b"\n" + upright + b"\n" + scattered(2_000)


def boxes(count):
    return b"\n".join(b"%d %d 60 40 re f" % (n % 500, n % 800) for n in range(count)) + b"\n0 g\n" + scattered(2_000)


@pytest.mark.timed
@pytest.mark.tenth
@pytest.mark.parametrize(
    ("make", "count", "limit"),
    [
        pytest.param(scattered, 30_000, 12.0, id="words all over the page"),
        pytest.param(columns, 20_000, 12.0, id="seventy columns"),
        pytest.param(rules, 6_000, 12.0, id="rules that cross each other"),
        pytest.param(boxes, 30_000, 12.0, id="boxes over boxes"),
        pytest.param(
            lambda n: b"BT /F 9 Tf 10 700 Td " + b"(ab cd ef) Tj 0 -1 Td " * n + b" ET", 20_000, 12.0, id="lines"
        ),
        pytest.param(lambda n: b"q " * n + scattered(1_000), 500_000, 12.0, id="states never restored"),
    ],
)
def test_crowded_pages_take_seconds(make, count, limit):
    content = raw_file(make(count))
    with processor_time_below(limit):
        read(content)


@pytest.mark.timed
def test_blanks_without_end_take_little():
    content = raw_file(b" " * 50_000_000 + b"BT /F 12 Tf 60 700 Td (A rule that stands here.) Tj ET")
    with processor_time_below(6):
        assert read(content).blocks[0].text == "A rule that stands here."


@pytest.mark.timed
@pytest.mark.whole
def test_time_grows_with_the_pages():
    def page(canvas):
        write(canvas, 60, 780, wrapped(PROSE * 8, 220))
        write(canvas, 310, 780, wrapped(PROSE * 8, 220))

    def seconds(count):
        content = drawn(*[page] * count)
        began = time.process_time()
        read(content)
        return time.process_time() - began

    seconds(2)
    assert seconds(40) < 8 * max(seconds(10), 0.02)
