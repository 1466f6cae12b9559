"""Rules that read a whole fact cost time in proportion to it, whatever it repeats (ADR 0216, SPEC-005 §5.3)."""

import time

import pytest

from services.dpe.domain.asked_places import Asked, read_asked_places
from services.dpe.domain.facts import EnvelopeFact, read_fact
from services.dpe.domain.qualifiers import left_out
from services.dpe.domain.rules import hours, read_claim, read_sources
from services.dpe.domain.rules.rows import values_of
from services.dpe.domain.superlatives import compared


def reserved(times):
    left_out("The fee " + "often may usually " * times + "is paid.", "The fee is paid.", "The fee is paid. " * times)


def restricted(times):
    source = "The fee is paid with the consent of the owner. " * times
    left_out(source, "The fee is paid.", source.replace(" with", ""))


def asked_of(content):
    view = read_fact(0, EnvelopeFact("f", content), ())

    def ask():
        asked = Asked("Which plan is the cheapest?", tuple(read_asked_places([view])))
        compared(asked)
        return [asked.share(place) for place in asked.places]

    return ask


def seconds(run):
    began = time.process_time()
    run()
    return time.process_time() - began


@pytest.mark.timed
@pytest.mark.parametrize("rule", [reserved, restricted])
def test_a_limit_is_found_in_time_that_grows_with_the_text(rule):
    rule(10)
    assert seconds(lambda: rule(1_000)) < 9 * max(seconds(lambda: rule(250)), 0.01)


@pytest.mark.timed
@pytest.mark.parametrize(
    "piece",
    [
        lambda at: f"It costs £{at} in May and ",
        lambda at: f"Plans: Plan: Name{at}; Price: £{at}; Notice: {at} days\n",
        lambda at: f"Plan {at} costs £{at}. ",
    ],
)
def test_places_are_read_in_time_that_grows_with_the_facts(piece):
    few, many = (asked_of("".join(piece(at) for at in range(1, size))) for size in (250, 1_000))
    few()
    assert seconds(many) < 9 * max(seconds(few), 0.02)


@pytest.mark.timed
def test_a_row_of_many_cells_is_read_in_time_that_grows_with_it():
    few, many = (
        asked_of("Plans: Price; " + "; ".join(f"Name{at}: £{at}" for at in range(1, size))) for size in (200, 800)
    )
    few()
    assert seconds(many) < 9 * max(seconds(few), 0.02)


@pytest.mark.parametrize(
    ("claim", "found", "times"),
    [
        ("The fee is 5 euros.", False, 0),
        ("The museum opens at 9:00.", True, 1),
        ("The museum closes at 17:00.", True, 1),
    ],
)
def test_values_of_a_claim_are_read_for_hours_where_something_begins_or_ends(monkeypatch, claim, found, times):
    """They were read of every claim, a twentieth of what a text of amounts took."""
    read = []

    def counted(reading):
        read.append(reading.text)
        return values_of(reading)

    monkeypatch.setattr(hours, "values_of", counted)
    fact = EnvelopeFact("f", "The museum is open from 9:00 to 17:00. The fee is 5 euros.")
    sources = read_sources(read_fact(0, fact, ()), 0)
    assert bool(hours.told_hours(read_claim(claim, 0), sources)) is found
    assert read.count(claim) == times
