"""Patterns, merging and the spaCy recogniser: every digit in exactly one entity, offsets in code points."""

import asyncio
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.common.adapters.memory.inference import MemoryEntityRecognizer
from services.common.adapters.spacy.reading import PIECE_CHARS, SpacyReading
from services.common.adapters.spacy.recognizer import SpacyEntityRecognizer, ThreadReader, open_recognizer
from services.common.adapters.spacy.spans import merge
from services.common.errors import ErrorReason, LimitExceededError, UnavailableError
from services.common.fair_turns import current_tenant
from services.common.model_repository import ModelRepositoryError
from services.common.ports.recognition import Entity, EntityKind
from services.common.settings.inference import InferenceSettings
from tests.each import each
from tests.speed import processor_time_below


def found(text, entities):
    assert all(text[e.start : e.end] == e.text for e in entities)
    return [(e.kind.value, e.text) for e in entities]


def span(text, part, kind):
    start = text.index(part)
    return Entity(kind, part, start, start + len(part))


def assert_every_digit_is_covered_once(text, entities):
    end = 0
    for entity in entities:
        assert entity.start >= end
        assert text[entity.start : entity.end] == entity.text
        end = entity.end
    for run in re.finditer(r"\d+", text):
        assert sum(e.start <= run.start() and run.end() <= e.end for e in entities) == 1


@each(
    ("text", "expected"),
    [
        ("see [3] and [4, 5].", [("CITATION", "[3]"), ("CITATION", "[4, 5]")]),
        ("under Art. 22 GDPR and § 5.2.", [("CITATION", "Art. 22 GDPR"), ("CITATION", "§ 5.2")]),
        ("Article 6(1)(a) of the GDPR applies", [("CITATION", "Article 6(1)(a) of the GDPR")]),
        ("Section 4.1, as amended", [("CITATION", "Section 4.1")]),
        ("Policy HB-104 says so", [("CITATION", "Policy HB-104")]),
        ("Regulation (EU) 2016/679", [("CITATION", "Regulation (EU) 2016/679")]),
        ("ISO 9001:2015 and RFC 8785", [("CITATION", "ISO 9001:2015"), ("CITATION", "RFC 8785")]),
        ("Smith et al. (2020) and (Lee, 2019)", [("CITATION", "Smith et al. (2020)"), ("CITATION", "(Lee, 2019)")]),
        ("mail a.b+c@x.example.org.", [("EMAIL", "a.b+c@x.example.org")]),
        ("(see https://x.org/a?b=1).", [("URL", "https://x.org/a?b=1")]),
        ("up 12.5% or -3 per cent", [("PERCENT", "12.5%"), ("PERCENT", "-3 per cent")]),
        ("$1,250.50, 5,000 EUR, €3m", [("MONEY", "$1,250.50"), ("MONEY", "5,000 EUR"), ("MONEY", "€3m")]),
        ("1.2 million euros", [("MONEY", "1.2 million euros")]),
        ("15 km, 250kWh and 30°C", [("QUANTITY", "15 km"), ("QUANTITY", "250kWh"), ("QUANTITY", "30°C")]),
        ("on 2023-10-05 at 9:30 am", [("DATE", "2023-10-05"), ("TIME", "9:30 am")]),
        ("1st of March 2024, June 3, 2025", [("DATE", "1st of March 2024"), ("DATE", "June 3, 2025")]),
        ("14 working days, 15-minute", [("DATE", "14 working days"), ("TIME", "15-minute")]),
        ("in Q3 2024", [("DATE", "Q3 2024")]),
        ("GPT-4, v3.11 and COVID-19", [("OTHER", "GPT-4"), ("OTHER", "v3.11"), ("OTHER", "COVID-19")]),
        ("call +49 170 1234567", [("OTHER", "+49 170 1234567")]),
        ("1,234.5 and 7", [("NUMBER", "1,234.5"), ("NUMBER", "7")]),
        ("the 3rd, -4 degrees", [("NUMBER", "3rd"), ("QUANTITY", "-4 degrees")]),
        ("😀 100 %", [("PERCENT", "100 %")]),
        ("no digits here", []),
        ("", []),
    ],
)
def test_patterns_alone(text, expected):
    entities = merge(text, [])
    assert found(text, entities) == expected
    assert_every_digit_is_covered_once(text, entities)


@pytest.mark.parametrize(
    ("text", "model_says", "expected"),
    [
        ("Art. 22 GDPR", [("Art", "PERSON")], [("CITATION", "Art. 22 GDPR")]),
        ("Acme [3] pays", [("Acme [3]", "ORGANISATION")], [("ORGANISATION", "Acme"), ("CITATION", "[3]")]),
        ("about 300 people", [("about 300", "NUMBER")], [("NUMBER", "300")]),
        ("more than ten percent", [("more than ten percent", "PERCENT")], [("PERCENT", "ten percent")]),
        ("1,250.50 francs", [("1,250", "NUMBER")], [("MONEY", "1,250.50 francs")]),
        ("sum 1,250.50 left", [("1,250", "NUMBER")], [("NUMBER", "1,250.50")]),
        ("The Alpine Club's hut", [("The Alpine Club's", "ORGANISATION")], [("ORGANISATION", "Alpine Club")]),
        ("“Berlin”, he said", [("“Berlin”,", "LOCATION")], [("LOCATION", "Berlin")]),
        ("in 2024", [("2024", "DATE")], [("DATE", "2024")]),
        ("the", [("the", "NUMBER")], [("NUMBER", "the")]),
        ("...", [("...", "PERSON")], []),
    ],
    ids=["firm pattern wins", "the rest of a name stays", "hedge is cut", "hedge before words", "unit pattern wins",
         "never cut through a number", "article and possessive", "quotes", "model wins over fallback", "only a word",
         "only marks"],
)  # fmt: skip
def test_model_and_patterns(text, model_says, expected):
    entities = merge(text, [span(text, part, EntityKind(kind)) for part, kind in model_says])
    assert found(text, entities) == expected
    assert_every_digit_is_covered_once(text, entities)


@given(
    st.text(alphabet=st.sampled_from("0123 .,-%$€§[]()aAZv@:/\n'\u2019é😀٣"), max_size=80),
    st.lists(st.tuples(st.integers(0, 80), st.integers(1, 30), st.sampled_from(list(EntityKind))), max_size=5),
)
def test_any_text_any_model_output(text, spans):
    given_spans = [
        Entity(kind, text[start : start + length], start, min(start + length, len(text)))
        for start, length, kind in spans
        if start < len(text)
    ]
    entities = merge(text, given_spans)
    assert_every_digit_is_covered_once(text, entities)
    assert entities == merge(text, given_spans)


@pytest.mark.timed
@pytest.mark.tenth
@pytest.mark.parametrize("piece", ["1,", "A.", "A'", "1 ", "+1-", "§1 and ", "(A", "http://", "a@", "1 million "])
def test_time_grows_with_length_and_not_with_its_square(piece):
    merge(piece * 100, [])
    with processor_time_below(5.0):
        merge(piece * (60_000 // len(piece)), [])


# With the delivered model.


@pytest.fixture(scope="module")
def recognised():
    """Entities of a few texts, and whether a second run agrees."""
    texts = [
        "Angela Merkel opened the Siemens plant in Munich on 5 March 2019 for €1.2 million [2].",
        "",
        "😀 Paris has 2,102,650 people. " * 3,
    ]

    async def run():
        recognizer = await open_recognizer(InferenceSettings())
        try:
            return texts, await recognizer.recognize(texts), await recognizer.recognize(texts), recognizer.fingerprint
        finally:
            await recognizer.close()

    return asyncio.run(run())


def test_names_dates_and_amounts(recognised):
    texts, entities, again, fingerprint = recognised
    assert found(texts[0], entities[0]) == [
        ("PERSON", "Angela Merkel"),
        ("ORGANISATION", "Siemens"),
        ("LOCATION", "Munich"),
        ("DATE", "5 March 2019"),
        ("MONEY", "€1.2 million"),
        ("CITATION", "[2]"),
    ]
    assert entities[1] == ()
    assert [e.text for e in entities[2] if e.kind is EntityKind.NUMBER] == ["2,102,650"] * 3
    assert again == entities
    assert re.fullmatch(r"ner@3\.8\.0\+sha256:[0-9a-f]{16}", fingerprint)


async def test_more_texts_than_a_turn_and_longer_than_a_piece():
    recognizer = await open_recognizer(InferenceSettings())
    many = [f"Item {n} of Berlin." for n in range(150)]
    results = await recognizer.recognize(many)
    for text, entities in zip(many, results, strict=True):
        assert_every_digit_is_covered_once(text, entities)
    long = "Bern has 7 hills. " * (PIECE_CHARS // 18 + 10) + "x" * (PIECE_CHARS + 5) + " 12 hills"
    (entities,) = await recognizer.recognize([long])
    assert_every_digit_is_covered_once(long, entities)
    assert long[entities[-1].start :].startswith("12")
    await recognizer.close()


class BrokenPipeline:
    pipe_names = ()

    def memory_zone(self):
        raise MemoryError


async def test_failures_have_reasons():
    good = await open_recognizer(InferenceSettings())
    reader = ThreadReader(SpacyReading(BrokenPipeline()))
    broken = SpacyEntityRecognizer(good._entry, reader, turn_texts=64, queue_texts=1)
    with pytest.raises(UnavailableError) as caught:
        await broken.recognize(["x"])
    assert caught.value.metadata["cause"] == "MemoryError"
    broken._waiting[current_tenant()] = 1
    with pytest.raises(LimitExceededError) as full:
        await broken.recognize(["x"])
    assert full.value.reason is ErrorReason.QUEUE_FULL
    await broken.close()
    await good.close()
    await good.close()
    with pytest.raises(UnavailableError):
        await good.recognize(["x"])


async def test_a_model_of_another_kind_stops_the_start():
    with pytest.raises(ModelRepositoryError, match="GROUNDTRAIL_INFERENCE__NER_MODEL"):
        await open_recognizer(InferenceSettings(ner_model="embedder"))


async def test_memory_recogniser_keeps_the_port():
    text = "Alice paid $30 (5 %) for 2 books"
    ((*entities,),) = await MemoryEntityRecognizer().recognize([text])
    assert found(text, entities) == [("OTHER", "Alice"), ("MONEY", "$30"), ("PERCENT", "5 %"), ("NUMBER", "2")]
