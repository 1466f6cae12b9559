"""What stages 1, 3a and 3b read in words: values, polarity, limits, roles, languages (SPEC-005 §3, §5.2, §5.3)."""

import numpy as np
import pytest

from services.common.adapters.memory.embedding import IdentityCalibration
from services.common.reading.agreement import agrees
from services.common.reading.dates import dates_agree
from services.common.reading.languages import is_other_language
from services.common.reading.lexicon import NEGATORS
from services.common.reading.polarity import compared, is_negated
from services.common.reading.sentences import sentences
from services.common.reading.values import scan_values
from services.dpe.domain.antecedents import antecedents
from services.dpe.domain.facts import EnvelopeFact, read_fact
from services.dpe.domain.qualifiers import left_out
from services.dpe.domain.roles import crossed
from services.dpe.domain.segmentation import segment
from tests.each import each
from tests.fakes.dpe_world import analyse, app, models, statuses


@each(
    ("text", "expected"),
    [
        ("half of the users", ["50 %"]),
        ("a third of the voters", ["33.33 %"]),
        ("two thirds voted", ["66.67 %"]),
        ("nine out of ten users", ["90 %"]),
        ("one in five applications", ["20 %"]),
        ("3 in 2024", ["3", "2024"]),
        ("fell by half", ["50 %"]),
        ("twice a day", ["43200 second"]),
        ("three times as fast", ["3 x"]),
        ("10-fold", ["10 x"]),
        ("by a factor of ten", ["10 x"]),
        ("the risk doubled", ["2 x"]),
        ("two to three times", ["2 x", "3 x"]),
        ("a double room", []),
        ("a third party", []),
        ("for three quarters in a row", ["9 month"]),
        ("half a million people", ["500000"]),
        ("half an hour", ["1800 second"]),
        ("half a percent", ["0.5 %"]),
        ("two dozen eggs", ["24"]),
        ("two and a half hours", ["9000 second"]),
        ("1 500 visitors", ["1500"]),
        ("25 basis points", ["0.25 pp"]),
        ("41 °F", ["5 °c"]),
        ("5.6 mmol/L", ["5.6 mole / meter ** 3"]),
        ("between four and seventy-two hours", ["14400 second", "259200 second"]),
        ("in the second quarter of 2024", ["2024-Q2"]),
        ("the twelfth century", ["C12"]),
        ("in the 1930s", ["1930s"]),
        ("on the 5th of each month", ["---05"]),
        ("since June", ["--06"]),
        ("FY24", ["FY2024"]),
        ("in 1648", ["1648"]),
        ("at noon", ["12:00"]),
        ("no later than a fortnight after paying", ["1209600 second"]),
        ("within a week", ["604800 second"]),
        ("after a year of service", ["12 month"]),
        ("within a day or so", []),
        ("20 euros a week", ["20 EUR"]),
        ("for more than a year's rent", ["12 month"]),
    ],
)
def test_values_in_words(text, expected):
    assert [value.normal for value in scan_values(text)] == expected


@pytest.mark.parametrize(
    ("claimed", "known", "expected"),
    [
        ("one month", "30 days", True),
        ("one month", "31 days", True),
        ("one month", "32 days", False),
        ("two months", "30 days", False),
        ("a year", "365 days", False),
        ("one year", "365 days", True),
        ("90 minutes", "1.5 hours", True),
        ("a third of", "33 %", True),
        ("33.3 %", "a third of", True),
        ("a quarter of", "33 %", False),
        ("halved", "50 %", True),
        ("doubled", "100 %", True),
        ("doubled", "50 %", False),
        ("EUR 1.2bn", "1,200 million euros", True),
    ],
)
def test_values_that_agree(claimed, known, expected):
    left, right = scan_values(claimed), scan_values(known)
    found = bool(left) and bool(right) and agrees(left[0], right[0])
    assert found is expected


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ("--06", "2020-06-12", True),
        ("--06", "2020-07-12", False),
        ("1930s", "1934", True),
        ("C12", "1140", True),
        ("C12", "1930s", False),
        ("C20", "1930s", True),
        ("2023-H2", "2023-08", True),
        ("Q2", "2024-Q2", True),
        ("---05", "---15", False),
    ],
)
def test_periods_agree(left, right, expected):
    assert dates_agree(left, right) is expected


@pytest.mark.parametrize(
    ("left", "right", "turned"),
    [
        ("The clause is valid.", "The clause is invalid.", True),
        ("It is harmless.", "It is harmful.", True),
        ("Smoking is prohibited.", "Smoking is not allowed.", False),
        ("It fails to detect leaks.", "It does not detect leaks.", False),
        ("It covers fire, not floods.", "It covers fire.", False),
        ("It is due when it arrives.", "It is not due until it arrives.", False),
        ("Claims before May are paid.", "Claims after May are not paid.", False),
        ("They discover it.", "They cover it.", False),
        ("The ticket is refundable.", "The ticket is non-refundable.", True),
    ],
)
def test_polarity(left, right, turned):
    assert compared(left, right).turned is turned
    assert compared(right, left).turned is turned


def test_the_word_that_answers_a_question_is_no_negation():
    assert not is_negated("No, you can keep it.")
    assert is_negated("No, do not take it.")
    assert is_negated("No dog is allowed.")
    assert is_negated("No dogs, no cats, and no birds.")


def test_a_limit_of_a_value_is_no_negation():
    assert not is_negated("It must not exceed 30 °C.")
    assert is_negated("It did not exceed expectations.")


@pytest.mark.parametrize(
    ("source", "said", "limit"),
    [
        ("It may cause drowsiness.", "It causes drowsiness.", "may"),
        ("It may cause drowsiness.", "It can cause drowsiness.", None),
        ("Some patients recover.", "A number of patients recover.", None),
        ("In mice, it shrank tumours.", "It shrank tumours.", "In mice"),
        ("He may go with the consent of a parent.", "He may go.", "with the consent"),
        ("It is paid if it is unused.", "It is paid.", "if it is unused"),
        ("It is paid if it is unused.", "It is paid for unused tickets.", None),
        ("It started in May.", "It started.", None),
    ],
)
def test_limits_that_are_left_out(source, said, limit):
    found = left_out(source, said, said)
    assert (source[found.start : found.end] if found else None) == limit


def test_parties_that_changed_places():
    fact = EnvelopeFact("f1", "The lessor pays for repairs, and the lessee pays for insurance.")
    clauses = read_fact(0, fact, ()).clauses
    assert crossed("The lessee pays for repairs.", clauses) == clauses[1]
    assert crossed("The lessor pays for repairs.", clauses) is None
    assert crossed("The lessor and the lessee pay.", clauses) is None


def test_what_a_pronoun_stands_for():
    text = "A leak must be reported. It is covered.\n\nIt is free."
    claims = segment(text, sentences(text), None).claims
    assert dict(antecedents(claims, text)) == {"c2": frozenset({"leak"})}


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("That's the Larch plan, which is the fastest. It costs 20.", {"larch", "plan"}),
        ("A leak is rare. It is the Larch clause that counts. It costs 20.", {"leak"}),
        ("A leak is rare. It is a nuisance. It costs 20.", {"leak"}),
    ],
    ids=["a name is introduced", "no name up to a comma or the end", "no name"],
)
def test_what_a_pronoun_introduces_by_its_name_is_meant_by_the_next_one(text, meant):
    claims = segment(text, sentences(text), None).claims
    assert antecedents(claims, text)[claims[-1].claim_id] == meant


class EverythingNear(IdentityCalibration):
    def apply(self, cosine):
        return np.where(cosine > 0.05, 0.9, 0.0).astype(np.float32)


async def compare(answer, fact):
    """Analyse an answer of which every claim is near the fact."""
    parts = models()
    parts.embedding._calibration = EverythingNear()
    return (await analyse(answer, fact, using=app(embedding=parts.embedding))).analysis.outputs


async def test_a_value_that_belongs_to_something_else_is_found_behind_a_pronoun():
    fact = "A fire must be reported within 14 days and a leak within 5 days."
    outputs = await compare("A leak was found. It must be reported within 14 days.", fact)
    kinds = {(item.claim_id, str(item.type)) for item in outputs.distortion.found}
    assert ("c2", "NUMBER_CHANGED") in kinds


async def test_an_instruction_is_compared_with_its_source():
    fact = "A leak must be reported within 5 days, a fire within 14 days."
    outputs = await compare("Report a leak within 14 days.", fact)
    assert [str(item.type) for item in outputs.distortion.found or ()] == ["NUMBER_CHANGED"]


@pytest.mark.parametrize(
    "text",
    [
        "Die Frist endet nach dreißig Tagen und kann nicht verlängert werden.",
        "La garanzia dura due anni e non si può estendere.",
        "El plazo es de 30 días.",
        "Avgiften är 5 euro och ska betalas inom en månad.",
        "保险不包括洪水。",
        "Штраф составляет 500 евро.",
    ],
    ids=["german", "italian", "spanish", "swedish", "chinese", "russian"],
)
def test_other_languages(text):
    assert is_other_language(text)


@pytest.mark.parametrize(
    "text",
    [
        "The fee is 5 euros.",
        "Metformin 500 mg twice daily",
        "Vincent van Gogh painted it in Arles.",
        "",
        "x = f(1)",
        "A: €140 per night, B: €220 per night",
    ],
)
def test_english(text):
    assert not is_other_language(text)


async def test_an_answer_in_another_language_is_not_scored_as_false():
    fact = "The fee is 1,500 euros and is due within 30 days."
    answer = (
        "Die Gebühr beträgt 1.500 Euro. Der Betrag ist innerhalb von 30 Tagen fällig und wird von Jane Doe gebucht."
    )
    finished = await analyse(answer, fact)
    outputs = finished.analysis.outputs
    assert statuses(finished)["1"] == ("DEGRADED", "LANGUAGE_NOT_SUPPORTED")
    assert (outputs.text.claims, outputs.fabrication.found) == ((), ())
    assert statuses(finished)["2"] == ("NOT_APPLICABLE", "NO_FACTUAL_CLAIMS")


async def test_digits_and_addresses_of_another_language_are_looked_up():
    answer = "Die Gebühr beträgt 1.700 Euro und ist auf https://example.org/gebuehr zu finden."
    outputs = (await analyse(answer, "The fee is 1,500 euros.")).analysis.outputs
    assert [item.entity.text for item in outputs.fabrication.found] == ["1.700 Euro", "https://example.org/gebuehr"]


async def test_a_foreign_sentence_hides_no_english_one():
    answer = "Die Gebühr ist in der Regel nicht mit der Rechnung zu zahlen. The fee is 7 euros."
    finished = await analyse(answer, "The fee is 5 euros.")
    assert statuses(finished)["1"] == ("DEGRADED", "LANGUAGE_NOT_SUPPORTED")
    assert [item.entity.text for item in finished.analysis.outputs.fabrication.found] == ["7 euros"]


@pytest.mark.parametrize(
    ("answer", "fabricated"),
    [
        ("Jane Doe wrote it.", ["Jane Doe"]),
        ("Globex wrote it.", ["Globex"]),
        ("It was written on 3 May 2021.", ["3 May 2021"]),
        ("It grew by 12 percent.", ["12 percent"]),
        ("Revenue tripled.", ["tripled"]),
        ("See Art. 99 of the Act.", ["Art. 99"]),
        ("It is at https://example.org/made-up.", ["https://example.org/made-up"]),
        ("It applies in France, since January, says ISO.", []),
        ("More than 4,000 people work there.", []),
        ("About 4,200 people work there.", []),
        ("One month is allowed.", []),
    ],
    ids=[
        "person",
        "organisation",
        "date",
        "statistic",
        "multiplier",
        "citation",
        "url",
        "gazetteer",
        "floor",
        "rounded",
        "span",
    ],
)
async def test_the_six_kinds_of_fabrication(answer, fabricated):
    outputs = (await analyse(answer, "Acme Mutual employs 4,217 people; it allows 30 days.")).analysis.outputs
    assert [item.entity.text for item in outputs.fabrication.found] == fabricated


@pytest.mark.parametrize(
    ("text", "normals"),
    [
        ("Parent: Other parent; Paid weeks: 8; Pay: 100 %", ["4838400 second", "100 %"]),
        ("Item: A; Price (EUR): 12; Weight in kg: 3.5", ["12 EUR", "3.5 kilogram"]),
        ("Share (%): 40; Term in months: 6", ["40 %", "6 month"]),
        ("Week: 8; Topic: roofs", ["8"]),
        ("Paid weeks: 8 or more", ["8"]),
        ("Counted days: 5 to 7", ["5", "7"]),
    ],
)
def test_a_bare_number_of_a_cell_has_the_unit_of_its_head(text, normals):
    """ADR 0158."""
    assert [value.normal for value in scan_values(text)] == normals


def test_two_numerals_with_to_are_no_time():
    assert [value.normal for value in scan_values("It is ten to seven.")] == ["06:50"]
    assert [value.normal for value in scan_values("A set of 5 to 7 cups.")] == ["5", "7"]


NEGATING = (
    *(
        "He fails to pay.",
        "They refused to sign.",
        "She is unable to come.",
        "It neglects to say so.",
        "It lacks a seal.",
    ),
    *(
        "They hardly pay.",
        "He is barely known.",
        "It seldom rains.",
        "Non-smokers pay.",
        "It is free of charge.",
        "Duty-free goods.",
    ),
    *(
        "Goods are exempt from duty.",
        "It was left out of it.",
        "This is beyond the scope.",
        "It lies outside our remit.",
    ),
    *("It no longer holds.", "It doesn’t apply.", "IT DOES NOT APPLY."),  # noqa: RUF001 - as people type it
)


@each("text", [*NEGATING, *(f"We {word} pay." for word in sorted(NEGATORS))])
def test_whatever_negates_is_read_though_most_stretches_are_not(text):
    assert is_negated(text)
    assert is_negated(f"{'1-' * 200} {text}")
