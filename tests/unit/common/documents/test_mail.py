"""E-mails: heads, the part that people see, quoted mails, attachments by name."""

from email.message import EmailMessage

import pytest

from services.common.documents.facts.chunking import chunk
from services.common.documents.reading import ReadingLimits, read_document
from services.common.errors import CrpError

LIMITS = ReadingLimits(10_000_000, 50, 1_000_000)


def read(message):
    content = message if isinstance(message, bytes) else message.as_bytes()
    return read_document(content, "", "a.eml", LIMITS)


def mail(text="The fee is 3 EUR.\n", subject="Fees"):
    message = EmailMessage()
    message["From"] = "Ann Münch <ann@example.org>"
    message["To"] = "bob@example.org"
    message["Subject"] = subject
    message["Date"] = "Tue, 12 Mar 2024 09:41:00 +0100"
    message.set_content(text)
    return message


def kinds(document):
    return [(b.kind.name, b.term, b.text) for b in document.blocks]


def test_heads_and_plain_text():
    found = read(mail(subject="Re: Fees für März"))
    assert found.media_type == "message/rfc822"
    assert found.title == "Fees für März"
    assert kinds(found) == [
        ("HEADING", "", "Re: Fees für März"),
        (
            "LIST_ITEM",
            "",
            "E-mail of Ann Münch <ann@example.org>, sent on Tue, 12 Mar 2024 09:41:00 +0100, to bob@example.org.",
        ),
        ("PARAGRAPH", "", "The fee is 3 EUR."),
    ]
    assert (found.properties["author"], found.properties["date"]) == ("Ann Münch <ann@example.org>", "2024-03-12")
    assert str(found.blocks[-1].place) == "body, line 1"


def test_the_html_part_is_read_instead_of_the_plain_one():
    message = mail()
    message.add_alternative("<html><body><p>The fee is <b>4</b> EUR.</p></body></html>", subtype="html")
    assert [block.text for block in read(message).blocks][-1] == "The fee is 4 EUR."


def test_the_date_of_a_mail_is_told_as_the_mail_s():
    """Under its subject alone, it answered when the test is that the mail is about."""
    message = mail("It moves to 18 March 2026 at 06:00 for all of the house.\n", "Re: Generator test")
    said = [fact.content for fact in chunk(read(message), lambda text: len(text.split()))]
    sent = "E-mail of Ann Münch <ann@example.org>, sent on Tue, 12 Mar 2024 09:41:00 +0100, to bob@example.org."
    assert said == [
        f"Re: Generator test: {sent}",
        "Re: Generator test: It moves to 18 March 2026 at 06:00 for all of the house.",
    ]


def test_heads_that_are_missing_are_not_told():
    content = b"Subject: Fees\nDate: Tue, 12 Mar 2024 09:41:00 +0100\n\nThe fee is 3 EUR.\n"
    assert [block.text for block in read(content).blocks] == [
        "Fees",
        "E-mail sent on Tue, 12 Mar 2024 09:41:00 +0100.",
        "The fee is 3 EUR.",
    ]
    assert [block.text for block in read(b"Subject: Fees\n\nThe fee is 3 EUR.\n").blocks] == [
        "Fees",
        "The fee is 3 EUR.",
    ]


def test_attachments_are_named_and_not_read():
    message = mail()
    message.add_attachment(b"%PDF-1.4 x", maintype="application", subtype="pdf", filename="plan.pdf")
    found = read(message)
    assert found.warnings == ("attachment plan.pdf was not read: bring it by itself",)
    assert len(found.blocks) == 3


def test_a_forwarded_mail_is_read_under_its_own_head():
    message = mail("See below.\n", "Fwd: Plan")
    message.add_attachment(mail("The plan is old.\n", "Plan"))
    blocks = read(message).blocks
    assert [(b.level, b.text) for b in blocks if b.kind.name == "HEADING"] == [(1, "Fwd: Plan"), (2, "Plan")]
    assert blocks[-1].text == "The plan is old."


def test_quoted_lines_are_told_as_whose_words_they_are_and_flowed_lines_lose_their_breaks():
    text = "I agree.\n\nOn Monday Bob wrote:\n> The fee\n> is 3 EUR.\n>> Older.\nBye\n-- \nAnn, Sales\n"
    assert [block.text for block in read(mail(text)).blocks][2:] == [
        "I agree.",
        "On Monday Bob wrote: The fee is 3 EUR.",
        "An earlier mail that is quoted says: Older.",
        "Bye",
    ]
    flowed = b"From: a@example.org\nSubject: x\nContent-Type: text/plain; format=flowed\n\nThe fee \nis 3 EUR.\n"
    assert read(flowed).blocks[-1].text == "The fee is 3 EUR."


def test_characters_that_are_none_in_the_charset_are_replaced_and_told():
    content = b"From: a@example.org\nSubject: x\nContent-Type: text/plain; charset=utf-8\n\ncaf\xe9 au lait\n"
    found = read_document(content, "message/rfc822; charset=latin-1", "a.eml", LIMITS)
    assert found.blocks[-1].text == "caf\ufffd au lait"
    assert found.warnings == ("characters that are none in the declared charset were replaced",)


def test_a_mail_in_another_charset_is_read_though_its_bytes_are_no_utf8():
    content = b"From: a@example.org\nSubject: x\nContent-Type: text/plain; charset=iso-8859-1\n\ncaf\xe9\n"
    assert read(content).blocks[-1].text == "café"


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        pytest.param(b"no heads here at all\n", "UNSUPPORTED_MEDIA", id="no mail"),
        pytest.param(b"From: a\n" + b"X: boundary=b\n" * 300 + b"\nx", "MESSAGE_TOO_LARGE", id="parts"),
        pytest.param(b"From: " + b"a" * 2_000_000, "MESSAGE_TOO_LARGE", id="heads"),
    ],
)
def test_what_is_no_mail_or_without_end_is_refused(content, reason):
    with pytest.raises(CrpError) as caught:
        read(content)
    assert caught.value.reason.value == reason
