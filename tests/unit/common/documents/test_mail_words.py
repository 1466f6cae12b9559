"""Mails: whose words a fact holds, and what is said by custom alone."""

import pytest

from evaluation.documents import LIMITS
from services.common.documents.facts.chunking import chunk
from services.common.documents.mail_phrases import (
    after_greeting,
    after_sign_off,
    attribution_of,
    heads_of,
    is_called,
    is_notice,
)
from services.common.documents.mail_words import MailWords
from services.common.documents.reading import read_document

OFFER = """Dear Ms Lind,

thank you for your mail. The KP-40 costs 1,480 EUR without tax. It is delivered
within ten working days.

On Tue, Mar 4, 2025 at 10:12 AM Marta Lind <m.lind@dairy.example>
wrote:
> Dear Mr Wirth,
>
> We need a pump for whey. The old one costs us 300 EUR a month in
> repairs.
>
> > On Monday 3 March Jonas Wirth wrote:
> >> The KP-30 was taken off the list.
>
> Kind regards
> Marta Lind

Please tell us the flange size by Friday.

Kind regards,

Jonas Wirth
Sales engineer
Brueckner Pumps GmbH
Tel.: +49 241 555 017

PS: Our office is closed on 14 March.

This e-mail is confidential and intended solely for the addressee.
"""
PAGE = """<p>Hello everybody,</p><p>From 1 July the car park costs 30 EUR a month.</p>
<table border=1><tr><th>Row</th><th>Who</th></tr><tr><td>C</td><td>Visitors</td></tr></table>
<p>Best wishes<br>Dana Frey<br>Phone: 0300 555 44</p>
<div>On Fri, 30 May 2025, Tom Reed wrote:</div><blockquote><p>Hi Dana,</p><p>The car park was free until now. Shift
workers come by car.</p><ul><li>Row A is full by six.</li></ul><p>Cheers,<br>Tom</p></blockquote>
<p>This message may contain confidential information. If you received this in error, tell the sender.</p>"""
TOP_POSTED = """Sehr geehrte Frau Ostertag,

die Heizung ist seit dem 7. Juni kalt.

Mit freundlichen Grüßen
Lena Brandt

-----Original Message-----
From: Verwaltung <v@haus.example>
Sent: Monday, 9 June 2025 11:02
To: Lena Brandt
Subject: Heizung

Guten Tag Frau Brandt,
der Zugang zum Keller ist frei.
"""


def read(body, kind="plain", author="Jonas Wirth <j@pumps.example>"):
    content = f"From: {author}\nSubject: Pump\nContent-Type: text/{kind}; charset=utf-8\n\n{body}".encode()
    return read_document(content, "", "a.eml", LIMITS)


def facts(document):
    said = [fact.content for fact in chunk(document, lambda text: len(text.split()))]
    return [text.removeprefix("Pump: ") for text in said if "E-mail of " not in text]


def test_a_plain_mail_says_whose_words_each_fact_holds():
    document = read(OFFER)
    assert facts(document) == [
        "The KP-40 costs 1,480 EUR without tax. It is delivered within ten working days.",
        "On Tue, Mar 4, 2025 at 10:12 AM Marta Lind wrote: We need a pump for whey.",
        "On Tue, Mar 4, 2025 at 10:12 AM Marta Lind wrote: The old one costs us 300 EUR a month in repairs.",
        "On Monday 3 March Jonas Wirth wrote: The KP-30 was taken off the list.",
        "Please tell us the flange size by Friday.",
        "Contact of Jonas Wirth: Tel.: +49 241 555 017.",
        "PS: Our office is closed on 14 March.",
    ]
    assert {"Dear Ms Lind,", "Dear Mr Wirth,", "Kind regards,", "Sales engineer", "Marta Lind"} <= set(
        document.furniture
    )
    assert any("confidential" in text for text in document.furniture)


def test_places_are_lines_of_the_mail_s_own_text():
    places = [block.place.path for block in read(OFFER).blocks if block.place.path.startswith("body")]
    assert places[0] == "body, line 3" or places[0] == "body, lines 3-4"
    assert "body, line 19" in places


def test_a_page_says_so_as_well_and_its_table_stays_a_table():
    document = read(PAGE, "html")
    assert facts(document) == [
        "From 1 July the car park costs 30 EUR a month.",
        "Row: C; Who: Visitors",
        "Contact of Dana Frey: Phone: 0300 555 44.",
        "On Fri, 30 May 2025, Tom Reed wrote: The car park was free until now.",
        "On Fri, 30 May 2025, Tom Reed wrote: Shift workers come by car.",
        "On Fri, 30 May 2025, Tom Reed wrote: Row A is full by six.",
    ]


def test_heads_above_an_earlier_mail_say_whose_it_is():
    assert facts(read(TOP_POSTED, author="Lena Brandt <l@haus.example>")) == [
        "Die Heizung ist seit dem 7. Juni kalt.",
        "On Monday, 9 June 2025 11:02 Verwaltung wrote: Der Zugang zum Keller ist frei.",
    ]


ANSWERED = """<p>The desk answers on 3000.</p><p>Regards<br>Hanna Weiss</p>
<div>-----Original message-----<br>From: Ward 9<br>Sent: 5 June 2024<br>Subject: printers?
<blockquote><p>Will the printers work?</p></blockquote></div>
<p>Label printers work from the spare computer.</p><p>Phone 0300 555 1</p>"""


def test_what_is_said_below_a_quotation_is_not_the_quoted_one_s():
    assert facts(read(ANSWERED, "html", author="Hanna Weiss <h@ward.example>")) == [
        "The desk answers on 3000.",
        "On 5 June 2024 Ward 9 wrote: Will the printers work?",
        "Label printers work from the spare computer.",
        "Contact of Hanna Weiss: Phone 0300 555 1.",
    ]
    quoted = "<div>On Fri, 30 May 2025, Tom Reed wrote:</div><blockquote><p>Is it free?</p></blockquote>"
    answer = f"{quoted}<p>It is not free.</p>"
    assert facts(read(answer, "html")) == [
        "On Fri, 30 May 2025, Tom Reed wrote: Is it free?",
        "Jonas Wirth answers: It is not free.",
    ]
    set_in = "<p>The rule says:</p><blockquote><p>Nobody stands below the hook of a crane.</p></blockquote>"
    assert not any("earlier mail" in text for text in facts(read(set_in, "html")))


def test_quoted_words_without_a_line_before_them_are_an_earlier_mail_s():
    assert facts(
        read("> The fee is 3 EUR for each copy that is made.\n\nThat was the fee of last year, not of this.")
    ) == [
        "An earlier mail that is quoted says: The fee is 3 EUR for each copy that is made.",
        "Jonas Wirth answers: That was the fee of last year, not of this.",
    ]


@pytest.mark.parametrize(
    ("line", "rest"),
    [
        ("Dear Ms Lind,", ""),
        ("Dear Dr. Hay,", ""),
        ("Hi all", ""),
        ("Hello Tom, the lift is out of order.", "the lift is out of order."),
        ("Bonjour Madame,", ""),
        ("Dear customers of the north line who travel every day", None),
        ("High prices are the reason.", None),
        ("Best practice is to close the valve.", None),
    ],
)
def test_greetings(line, rest):
    assert after_greeting(line) == rest


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("Kind regards,", ""),
        ("Best wishes Dana Frey Head of Facilities", "Dana Frey Head of Facilities"),
        ("Thanks, Tom", "Tom"),
        ("Mit freundlichen Grüßen", ""),
        ("Thanks to the new pump costs fell by half", None),
        ("Best results are had at 60 degrees.", None),
        ("Thank you for the 20 pumps.", None),
        ("Cheers went up when the result was read.", None),
    ],
)
def test_sign_offs(line, name):
    assert after_sign_off(line) == name


def test_lines_that_only_look_like_such_are_said():
    body = "We agreed on this:\n\nOn page 4 the auditor wrote:\n\nThe reserve is 90,000 EUR and must not be used.\n"
    assert facts(read(body))[-1].endswith("The reserve is 90,000 EUR and must not be used.")
    assert not any("auditor wrote: The reserve" in text and "On page 4" not in text for text in facts(read(body)))
    assert not is_notice("Confidential files go to the intended recipient by courier.")
    assert is_notice("Please consider the environment before printing this e-mail.")
    assert not attribution_of("In her report Dr Hay wrote:", quoted_below=False)
    assert attribution_of("Dr Hay wrote:", quoted_below=True) == "Dr Hay wrote"
    assert heads_of(["From: the left", "turn to the right", "To: nobody"]) is None


def test_many_changes_of_voice_are_read_in_linear_time():
    text = "".join(f"On 3 May 2025 at 10:12, A{n} wrote:\n> > The fee is {n} EUR.\n> So.\nYes.\n" for n in range(2_000))
    lines = list(MailWords("A").lines(text))
    assert len([line for line, _ in lines if line.text]) == 6_000
    assert ("Yes.", "") in [(line.text, lead) for line, lead in lines]


def test_a_signature_without_end_is_read_in_linear_time():
    words = MailWords("A")
    lines = list(words.lines("Yes, we do.\n\nKind regards\n" + "Somebody of the office\n" * 50_000))
    assert [line.text for line, _ in lines] == ["Yes, we do.", ""]
    assert len(words.furniture) == 50_001


FORWARDED = """Ben,

please read below, the test of the generator is moved.

Best regards
Marta

Marta Lind
Head of Facilities
Tel. +44 20 5550 1234

> On Tue, 3 Mar 2026 at 16:40, Theo Okafor
> <theo@wvh.example> wrote:
> Hello Marta,
> is the test still on 11 March at 05:30? The fuel contract pays for
> 1,200 litres a quarter only.
>
> Theo
> Tel. +44 20 5550 7777
>
>> On Mon, 2 Mar 2026 Marta Lind wrote:
>> The test is on 11 March 2026 and takes 60 minutes.

The lifts stay out of service until 07:30 that morning.
"""


def test_who_wrote_stands_within_what_is_quoted():
    """As programs write it that set a whole thread in: the line before a quotation is quoted itself."""
    theo = "On Tue, 3 Mar 2026 at 16:40, Theo Okafor wrote"
    document = read(FORWARDED, author="Marta Lind <marta@wvh.example>")
    assert facts(document) == [
        "Please read below, the test of the generator is moved.",
        "Contact of Marta: Tel. +44 20 5550 1234.",
        f"{theo}: Is the test still on 11 March at 05:30?",
        f"{theo}: The fuel contract pays for 1,200 litres a quarter only.",
        f"{theo}: Contact of Theo: Tel. +44 20 5550 7777.",
        "On Mon, 2 Mar 2026 Marta Lind wrote: The test is on 11 March 2026 and takes 60 minutes.",
        "The lifts stay out of service until 07:30 that morning.",
    ]
    assert {"Ben,", "Hello Marta,", "Theo"} <= set(document.furniture)


def test_a_page_that_runs_the_line_and_the_words_together():
    quoted = "On Mon, 2 Mar 2026 at 11:20, Max Orr wrote:<br>Hi Zoe,<br>when is it defrosted? Group B needs two days."
    said = facts(read(f"<p>Freezer 7 is out of use until Monday.</p><blockquote><p>{quoted}</p></blockquote>", "html"))
    assert said[1:] == [
        "On Mon, 2 Mar 2026 at 11:20, Max Orr wrote: When is it defrosted?",
        "On Mon, 2 Mar 2026 at 11:20, Max Orr wrote: Group B needs two days.",
    ]


def test_what_the_writer_tells_of_others_stays_the_writer_s():
    told = "On 28 March 2026 our carrier wrote: the ferry is late. We send the desks by train now."
    assert facts(read(f"<p>{told}</p>", "html")) == [told]
    assert facts(read(f"{told}\n")) == [told]


@pytest.mark.parametrize(
    ("line", "calls"),
    [
        ("Ben,", True),
        ("Rosa and Tim,", True),
        ("Ann-Marie O'Neil,", True),
        ("All,", True),
        ("Ben", False),
        ("Ben, the pump", False),
        ("In the end,", False),
        ("Room 4,", False),
        ("", False),
    ],
)
def test_a_name_and_a_comma_calls_somebody(line, calls):
    assert is_called(line) is calls


def test_a_name_and_a_comma_in_the_middle_of_a_mail_is_said():
    said = facts(read("The desks went to three towns of the coast:\n\nBerlin,\n\nand to others that nobody knows.\n"))
    assert any("Berlin" in text for text in said)
