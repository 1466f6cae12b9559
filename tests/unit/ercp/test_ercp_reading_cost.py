"""What it costs to read hostile texts; a file of its own, so that it can be timed without the tracer of coverage."""

import time

import pytest

from services.common.grounding.words import sentences
from services.common.reading.clauses import clauses
from services.ercp.domain.predicates import (
    Holds,
    Span,
    aligning,
    contradictions,
    evaluate,
    extract_facts,
    meant,
    parse_text,
)
from services.ercp.domain.predicates.mentions import MAX_MENTIONS
from tests.unit.ercp.test_ercp_predicates_reading import read

HOSTILE = [
    "The deadline is 30 days. ", "is 5 km ", "1 ", "a before b after c then d, ", "because x since y therefore ",
    "the x of the y of the ", "\n", "not ", "(5 m", "5 = 5 ", "that of the ", "between 1 and 2 to ",
    "e1 is before e2. ",
    "reason why x is is ", "x is less than y ", "\u2019s ", "1,000,", "$", "in 2020 ", "with a depth of ",
]  # fmt: skip


def test_a_sentence_is_read_once_however_many_values_stand_in_it(monkeypatch):
    """It was read again for each of its values: 100,000 characters of amounts in one sentence took over a minute."""
    asked = []
    asserts = aligning._asserts
    monkeypatch.setattr(aligning, "_asserts", lambda sentence: asked.append(sentence) or asserts(sentence))
    amounts, question = "It costs" + " $1" * 500 + ".", "Is it $2?"
    found = aligning.places_of(extract_facts(f"{amounts} {question}", [Span(0, 1)]))
    assert len(found) == 500
    assert asked == [amounts, question]


def test_the_clauses_of_a_sentence_are_found_once_for_all_its_amounts(monkeypatch):
    """They were found anew for each amount: 8,000 characters of amounts took twelve seconds, eight of them for this."""
    asked = []
    monkeypatch.setattr(meant, "clauses", lambda *given: asked.append(given) or clauses(*given))
    amounts = "It costs" + " $1" * 300 + ", and Anna paid $5 more than the usual $9."
    facts = extract_facts(f"{amounts} It took 3 days.", [Span(0, 1)])
    places = aligning.places_of(facts)
    reckoned = meant.reckoned(facts, places)
    assert [facts.text[start : start + 2] for start in sorted(reckoned)] == ["$5", "$9"]
    assert len(asked) == len({place.span for place in places}) == 2


@pytest.mark.timed
@pytest.mark.tenth
@pytest.mark.parametrize("is_one_sentence", [True, False], ids=["one", "many"])
@pytest.mark.parametrize("piece", HOSTILE)
def test_time_grows_linearly_with_hostile_text(piece, is_one_sentence):
    """Eight times the text may take some sixteen times the time, where squares would take sixty-four."""
    read("Water boils at 100 °C.")  # units are loaded

    def seconds(length):
        text = (piece * (length // len(piece) + 1))[:length]
        spans = [Span(0, length)] if is_one_sentence else [Span(*place) for place in sentences(text)]
        started = time.process_time()
        facts = extract_facts(text, spans)
        contradictions(facts)
        evaluate(parse_text("NoContradiction(deadline)"), facts)
        evaluate(parse_text("TemporalOrder(a, b)"), facts)
        return time.process_time() - started

    small, large = (min(seconds(length), seconds(length)) for length in (5_000, 40_000))
    assert large < 16 * small + 0.3


def test_a_text_with_too_many_amounts_is_not_said_to_agree():
    text = "The deadline is 30 days. " * (MAX_MENTIONS + 1)
    facts = read(text)
    assert not facts.is_complete
    assert evaluate(parse_text("NoContradiction(deadline)"), facts).holds is Holds.UNKNOWN
    assert aligning.places_of(facts) == ()
    assert evaluate(parse_text("Equal(the_term, 31 days)"), facts).holds is Holds.UNKNOWN
    text += "The deadline is 31 days."
    assert evaluate(parse_text("Equal(deadline, 30 days)"), read(text[-200:])).holds is Holds.FALSE
