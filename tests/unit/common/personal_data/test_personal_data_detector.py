"""The detector of personal data over Presidio: what is found and what is not, checksums, hostile input, silence."""

import asyncio
import logging
import socket
import time

import pytest

from services.common.adapters.presidio import checksums
from services.common.adapters.presidio.choosing import chosen
from services.common.adapters.presidio.detector import PIECE_CHARS, PresidioDetector, ThreadSearcher, open_detector
from services.common.adapters.presidio.engine import Analyzer, search
from services.common.adapters.presidio.kinds import CATEGORIES
from services.common.adapters.presidio.readable import Readable
from services.common.errors import LimitExceededError, UnavailableError
from services.common.ports.personal_data import PersonalData, PersonalDataCategory, RecognisedText
from services.common.ports.recognition import Entity, EntityKind
from services.common.settings.inference import InferenceSettings
from tests.patience import patient


@pytest.fixture(scope="module")
def analyzer():
    return Analyzer()


@pytest.fixture
async def detector(analyzer):
    made = PresidioDetector(ThreadSearcher(search(analyzer)), queue_chars=4_000_000, limit_s=60.0)
    yield made
    await made.close()


def marked(text, *persons):
    return RecognisedText(
        text, tuple(Entity(EntityKind.PERSON, name, text.index(name), text.index(name) + len(name)) for name in persons)
    )


async def found(detector, text, *persons):
    """Return (type, text) of every finding."""
    return [(one.type, text[one.start : one.end]) for one in (await detector.detect([marked(text, *persons)]))[0]]


FOUND = [
    ("Write to maria.keller@example.org soon.", "EMAIL_ADDRESS", "maria.keller@example.org"),
    ("Call me on +41 44 668 18 00 today.", "PHONE_NUMBER", "+41 44 668 18 00"),
    ("They're not answering at 780-999-2181", "PHONE_NUMBER", "780-999-2181"),
    ("Telefon 030 901820 in Berlin", "PHONE_NUMBER", "030 901820"),
    ("Date of birth: 12.03.1981", "DATE_OF_BIRTH", "12.03.1981"),
    ("She was born on 4 March 1980 in Bern.", "DATE_OF_BIRTH", "4 March 1980"),
    ("DOB 1980-03-04", "DATE_OF_BIRTH", "1980-03-04"),
    ("He lives at 12 Harbour Street, Boston, MA 02110.", "STREET_ADDRESS", "12 Harbour Street, Boston, MA 02110"),
    ("Send it to Bahnhofstrasse 12, 8001 Zürich.", "STREET_ADDRESS", "Bahnhofstrasse 12, 8001 Zürich"),
    ("My zip code is 35350", "ZIP_CODE", "35350"),
    ("Her employee ID is E-20417.", "EMPLOYEE_ID", "E-20417"),
    ("Personnel number: 884213", "EMPLOYEE_ID", "884213"),
    ("My SSN is 054-28-6917.", "US_SSN", "054-28-6917"),
    ("National insurance QQ 12 34 56 C? No: AB 12 34 56 C", "UK_NINO", "AB 12 34 56 C"),
    ("Ihre Steuer-ID lautet 86095742719.", "DE_TAX_ID", "86095742719"),
    ("Son NIR est 2 55 08 14 168 025 38.", "FR_NIR", "2 55 08 14 168 025 38"),
    ("AHV 756.9217.0769.85", "CH_AHV", "756.9217.0769.85"),
    ("Her BSN is 111222333.", "NL_BSN", "111222333"),
    ("Pay to GB82 WEST 1234 5698 7654 32.", "IBAN_CODE", "GB82 WEST 1234 5698 7654 32"),
    ("Card 4111 1111 1111 1111 expires soon.", "CREDIT_CARD", "4111 1111 1111 1111"),
    ("Account number: 12345678", "BANK_ACCOUNT", "12345678"),
    ("My salary is €85,000 a year.", "SALARY", "€85,000"),
    ("I have diabetes and take insulin daily.", "HEALTH_DATA", "diabetes"),
    ("My wife is a Muslim and fasts.", "RELIGION_OR_BELIEF", "Muslim"),
    ("I am a union member since May.", "TRADE_UNION_MEMBERSHIP", "union member"),
    ("I voted for the other side, I am gay.", "SEX_LIFE", "gay"),
    ("The request came from 86.121.97.248 at noon.", "IP_ADDRESS", "86.121.97.248"),
    ("Passport no. C01X00T47 was lost.", "PASSPORT", "C01X00T47"),
    ("My driver's license number is F162823540116", "DRIVER_LICENSE", "F162823540116"),
    ("I am 26 years old.", "AGE", "26"),
    ("He moved to Braga 4700-123 in May.", "ZIP_CODE", "4700-123"),
    ("Our plant in Lund 221 00 is closed.", "ZIP_CODE", "221 00"),
    ("She is from Denver, CO 80202.", "ZIP_CODE", "80202"),
    ("The office near Utrecht 3511 AB", "ZIP_CODE", "3511 AB"),
    ("Yesterday Sophie Berger phoned.", "PERSON", "Sophie Berger"),
    ("We heard from Giulia.", "PERSON", "Giulia"),
    ("Ask Tobias van der Velden about it.", "PERSON", "Tobias van der Velden"),
    ("It was Quirin H. Abendroth who called.", "PERSON", "Quirin H. Abendroth"),
    ("He is Zeferina's brother.", "PERSON", "Zeferina"),
    ("My colleague Zeferina is ill.", "PERSON", "Zeferina"),
    ("Reviewed by: Quirin Abendroth", "PERSON", "Quirin Abendroth"),
]


@pytest.mark.parametrize(("text", "kind", "data"), FOUND, ids=[f"{kind} {data}" for _, kind, data in FOUND])
async def test_what_is_personal_data_is_found(detector, text, kind, data):
    assert (kind, data) in await found(detector, text)


NOT_FOUND = [
    "Health insurance covers diabetes, cancer and pregnancy up to €30,000.",
    "If an employee is pregnant, she must tell her manager.",
    "Employees with diabetes may ask for a break.",
    "The minimum salary in the sector is €2,000 a month.",
    "Card number 4111 1111 1111 1112 fails the check.",
    "The order 86095742719 was shipped; invoice 111222333 is open.",
    "Page MM-04 replaces version 3.12.4.1 from 12 March 2024.",
    "The limits are €75,000, €2,000,000 and 36 months; the ratio was 0.75.",
    "The composer wrote it; he was born on 27 January 1756.",
    "The server listens on 127.0.0.1 and 0.0.0.0.",
    "Children under 12 travel free; the offer ends at 65.",
    "GB82 WEST 1234 5698 7654 33 is no IBAN.",
    "Freephone 0800 1111 is open all day.",
    "In 2019 sales rose by 4,567 units to 1,234,567.",
    "Vitamin D Deficiency and Plan B Options are listed in Appendix C Tables.",
    "Germany's children and Britain's sister ships were counted.",
    "In Texas 15000 people voted; in Section 12345 nobody did.",
    "They sold it in London 2021 to 40000 buyers.",
]


@pytest.mark.parametrize("text", NOT_FOUND)
async def test_what_is_not_a_persons_is_not_found(detector, text):
    assert await found(detector, text) == []


async def test_health_data_need_somebody_in_the_same_sentence(detector):
    general = "Maria Keller wrote the page. The policy covers epilepsy."
    assert ("HEALTH_DATA", "epilepsy") not in await found(detector, general, "Maria Keller")
    assert ("HEALTH_DATA", "epilepsy") in await found(detector, "Maria Keller has epilepsy.", "Maria Keller")
    product = "Maria Keller sells cancer insurance."
    assert [kind for kind, _ in await found(detector, product, "Maria Keller")] == ["PERSON"]


async def test_names_come_from_the_recogniser_from_forms_of_address_and_again_by_a_part(detector):
    text = "Maria Keller called. Keller was told by Mr. Jonas Weber."
    assert await found(detector, text, "Maria Keller") == [
        ("PERSON", "Maria Keller"), ("PERSON", "Keller"), ("PERSON", "Jonas Weber"),
    ]  # fmt: skip
    motor = "Motor Plus pays; motor plus is a product. Berg Orchestra plays."
    assert await found(detector, motor, "Motor Plus", "Berg Orchestra") == []


async def test_offsets_are_code_points_of_the_text_as_it_was_sent(detector):
    text = "😀\u200b \uff23all \uff0b\uff14\uff11 44\u00a0668\u200b 18 00, card 4111\u200b1111\u200b1111\u200b1111."
    ends = [(one.type, text[one.start : one.end]) for one in (await detector.detect([RecognisedText(text)]))[0]]
    assert ends == [
        ("PHONE_NUMBER", "\uff0b\uff14\uff11 44\u00a0668\u200b 18 00"),
        ("CREDIT_CARD", "4111\u200b1111\u200b1111\u200b1111"),
    ]  # fmt: skip


async def test_a_finding_on_the_border_of_two_pieces_is_found_once(detector):
    for shift in range(-30, 5, 3):
        text = "a " * ((PIECE_CHARS + shift) // 2) + "maria.keller@example.org " + "b " * 300
        assert await found(detector, text) == [("EMAIL_ADDRESS", "maria.keller@example.org")]


async def test_texts_are_one_batch_and_keep_their_order(detector):
    one, two, three = await detector.detect(
        [RecognisedText("a@example.org"), RecognisedText(""), RecognisedText("Call +41 44 668 18 00")]
    )
    assert [[each.type for each in found] for found in (one, two, three)] == [["EMAIL_ADDRESS"], [], ["PHONE_NUMBER"]]


HOSTILE = {
    "one sentence": "I have told you that the fee is 5 euros and that it is due. ",
    "digits": "1234567890",
    "grouped digits": "1 2-3 (4) 5.6/7 ",
    "capitals": "Aaaa Bbbb ",
    "letters": "a",
    "at signs": "a@",
    "dots": "a.b-c_d+e.",
    "iban": "GB82WEST12345698765432",
    "colons": "::1:ab:",
    "streets": "12 Via 12 Via ",
    "born": "born birth dob ",
    "words of context": "passport ssn salary card phone ",
    "brackets": "((((",
    "newlines": "\n,\n ",
    "towns": "in Aa-Bb Cc 12345x ",
    "initials": "Anna B. Cccc ",
    "upper case": "in AAAAAAAA",
}


@pytest.mark.timed
@pytest.mark.tenth
@pytest.mark.parametrize("unit", HOSTILE.values(), ids=HOSTILE)
async def test_the_work_grows_with_the_length_and_nothing_else(analyzer, unit):
    small, large = (unit * 8_000)[:8_000], (unit * 32_000)[:32_000]
    times = []
    for text in (small, large):
        began = time.thread_time()
        for at in range(0, len(text), PIECE_CHARS):
            analyzer.analyze(text[max(0, at - 400) : at + PIECE_CHARS + 400], ())
        times.append(time.thread_time() - began)
    assert times[1] < 12 * times[0] + 0.5


@pytest.mark.timed
@pytest.mark.slow
@pytest.mark.timeout(300)
async def test_a_megabyte_of_one_sentence_is_searched_off_the_event_loop(detector):
    text = (HOSTILE["one sentence"] * 20_000)[:1_000_000]
    longest = 0.0

    async def watch():
        nonlocal longest
        while True:
            began = time.perf_counter()
            await asyncio.sleep(0.01)
            longest = max(longest, time.perf_counter() - began)

    watching = asyncio.create_task(watch())
    found = (await detector.detect([RecognisedText(text)]))[0]
    watching.cancel()
    assert found == ()
    assert longest < patient(5.0)


async def test_what_takes_too_long_is_given_up_and_nothing_is_reported_as_searched(analyzer):
    hasty = PresidioDetector(ThreadSearcher(search(analyzer)), queue_chars=10_000, limit_s=1e-9)
    with pytest.raises(UnavailableError) as error:
        await hasty.detect([RecognisedText("word " * 20_000)])
    assert error.value.metadata["cause"] == "out of time"
    await hasty.close()
    with pytest.raises(UnavailableError):
        await hasty.detect([RecognisedText("word")])


async def test_a_full_queue_refuses(analyzer):
    busy = PresidioDetector(ThreadSearcher(search(analyzer)), queue_chars=10, limit_s=60.0)
    first = asyncio.create_task(busy.detect([RecognisedText("word " * 2_000)]))
    await asyncio.sleep(0)
    with pytest.raises(LimitExceededError):
        await busy.detect([RecognisedText("one more word")])
    await first
    await busy.close()


async def test_neither_log_nor_error_nor_finding_holds_the_data(analyzer, caplog):
    class Broken(Analyzer):
        def __init__(self):
            pass

        def analyze(self, text, persons):
            raise ValueError(f"did not find {text}")

    secret = "maria.keller@example.org GB8\u0662WEST12345698765432"
    with caplog.at_level(logging.DEBUG):
        broken = PresidioDetector(ThreadSearcher(search(Broken())), queue_chars=1_000, limit_s=1.0)
        with pytest.raises(UnavailableError) as error:
            await broken.detect([RecognisedText(secret)])
        sound = PresidioDetector(ThreadSearcher(search(analyzer)), queue_chars=1_000, limit_s=9.0)
        found = await sound.detect([RecognisedText(secret)])
    told = f"{error.value} {error.value.metadata} {error.value.__cause__} {found} {caplog.text}"
    assert "keller" not in told
    assert "WEST" not in told
    assert "keller" not in repr(RecognisedText(secret))
    await broken.close()
    await sound.close()


async def test_it_starts_and_works_without_a_network(monkeypatch):
    def refuse(*_):
        raise AssertionError("a connection was asked for")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    detector = await open_detector(InferenceSettings())
    assert await found(detector, "Write to maria.keller@firma.co.uk") == [("EMAIL_ADDRESS", "maria.keller@firma.co.uk")]
    assert detector.fingerprint.startswith("personal_data@2.2.")
    await detector.close()


def test_every_type_has_a_category(analyzer):
    assert analyzer.types() == set(CATEGORIES)
    assert set(CATEGORIES.values()) == set(PersonalDataCategory)


CHECKED = [
    (checksums.payment_card, "5555 5555 5555 4444", "5555 5555 5555 4445"),
    (checksums.payment_card, "378282246310005", "378282246310006"),
    (checksums.german_tax_id, "86095742719", "86095742718"),
    (checksums.french_nir, "255081416802538", "255081416802539"),
    (checksums.french_nir, "1 84 12 2A 451 089 33", "1 84 12 2A 451 089 34"),
    (checksums.dutch_bsn, "111222333", "111222334"),
    (checksums.belgian_nrn, "85.07.30-033 28", "85.07.30-033 29"),
    (checksums.swiss_ahv, "756.9217.0769.85", "756.9217.0769.84"),
    (checksums.irish_pps, "1234567T", "1234567U"),
    (checksums.swedish_personal_number, "811228-9874", "811228-9875"),
    (checksums.luhn, "046 454 286", "046 454 287"),
]


@pytest.mark.parametrize(("check", "right", "wrong"), CHECKED, ids=lambda value: getattr(value, "__name__", value))
def test_check_digits(check, right, wrong):
    assert check(right)
    assert not check(wrong)


def test_of_two_that_overlap_the_surer_then_the_longer_stands():
    def one(kind, start, end, confidence):
        return PersonalData(CATEGORIES[kind], kind, start, end, confidence)

    proposed = [one("PERSON", 4, 9, 0.75), one("STREET_ADDRESS", 0, 20, 0.8), one("AGE", 21, 23, 0.7)]
    assert [each.type for each in chosen(proposed)] == ["STREET_ADDRESS", "AGE"]
    same = [one("ZIP_CODE", 0, 5, 0.8), one("STREET_ADDRESS", 0, 9, 0.8)]
    assert [each.type for each in chosen(same)] == ["STREET_ADDRESS"]


@pytest.mark.parametrize(
    ("source", "plain"), [("abc", "abc"), ("\uff14\u200b\uff12", "42"), ("٤٢\u20131", "42-1"), ("a\u00ad\ufeffb", "ab")]
)
def test_readable(source, plain):
    readable = Readable(source)
    assert readable.text == plain
    start, end = readable.origin(0, len(plain))
    assert (start, end) == (0, len(source))
    assert readable.place(len(source)) == len(plain)
