"""The worked examples of ADR 0070 and 0071, recomputed."""

import re
from decimal import Decimal
from pathlib import Path

import pytest

from services.common.grounding.words import sentences
from services.ercp.domain.predicates import Amount, Holds, PredicateError, Span, evaluate, extract_facts, parse_text
from services.ercp.domain.predicates.units import converted, in_base
from services.ercp.domain.predicates.values import agree_as_written
from services.ercp.domain.solver import check

ADR = Path(__file__).parents[3] / "docs" / "adr"


def example(name):
    return (ADR / name).read_text(encoding="utf-8").split("## Worked example")[1]


def test_0070_conversions_and_about():
    text = example("0070-predicates-of-ercp.md")
    mile = Amount(Decimal(1), "mi")
    assert f"1 mile is {float(converted(in_base(mile), 'km'))} km" in text
    for number, agrees in (("1.6", True), ("1.7", False)):
        assert f"{number} km" in text
        assert agree_as_written(mile, Amount(Decimal(number), "km")) is agrees
    assert round(100 * 0.009344 / 1.609344, 2) == 0.58
    assert round(100 * (1.7 - 1.609344) / 1.7, 1) == 5.3
    assert not agree_as_written(Amount(Decimal(30), "h"), Amount(Decimal(1), "day"))
    for number, low, high, holds in ((99, 97.02, 100.98, Holds.TRUE), (97, 95.06, 98.94, Holds.FALSE)):
        assert (round(number * 0.98, 2), round(number * 1.02, 2)) == (low, high)
        assert f'bout {number} °C"' in text
        assert str(high) in text
        said = f"Water boils at about {number} °C."
        facts = extract_facts(said, [Span(*place) for place in sentences(said)])
        assert evaluate(parse_text("Equal(water.boiling_point, 100 degC)"), facts).holds is holds


def test_0071_core():
    written = re.findall(r"(c\d) `([^`]+)`", example("0071-z3-encoding-and-time-box.md"))
    assert [name for name, _ in written] == ["c1", "c2", "c3", "c4"]
    predicates = [(name, parse_text(text)) for name, text in written]
    answer = check(predicates, 20_000)
    assert (answer.core, answer.is_minimal) == (("c1", "c2", "c3"), True)


@pytest.mark.parametrize("left_out", ["c1", "c2", "c3"])
def test_0071_without_one_of_the_core_the_rest_holds(left_out):
    written = re.findall(r"(c\d) `([^`]+)`", example("0071-z3-encoding-and-time-box.md"))
    rest = [(name, parse_text(text)) for name, text in written if name != left_out]
    assert check(rest, 20_000).core == ()


def test_the_page_shows_the_errors_that_are_given():
    page = (ADR.parent / "how-to" / "ercp-predicates.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `([^`]+)` \| (\w[\w.]*: .+) \|$", page, re.MULTILINE)
    assert len(rows) == 8
    for predicate, error in rows:
        with pytest.raises(PredicateError) as refused:
            parse_text(predicate)
        assert str(refused.value) == error


def test_the_page_shows_the_answers_that_are_given():
    page = (ADR.parent / "how-to" / "ercp-predicates.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([A-Z][^|`]+\.) \| (TRUE|FALSE|UNKNOWN)\b", page, re.MULTILINE)
    assert len(rows) == 6
    for text, expected in rows:
        facts = extract_facts(text, [Span(*place) for place in sentences(text)])
        found = evaluate(parse_text("Equal(water.boiling_point, 100 degC)"), facts)
        assert found.holds.name == expected, text
