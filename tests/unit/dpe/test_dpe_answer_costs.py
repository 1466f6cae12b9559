"""Rules that read a whole fact cost time in proportion to it, whatever it repeats (ADR 0216, SPEC-005 §5.3)."""

import time

import pytest

from services.dpe.domain.asked_places import Asked, read_asked_places
from services.dpe.domain.facts import EnvelopeFact, read_fact
from services.dpe.domain.qualifiers import left_out
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


@pytest.mark.parametrize("rule", [reserved, restricted])
def test_a_limit_is_found_in_time_that_grows_with_the_text(rule):
    rule(10)
    assert seconds(lambda: rule(1_000)) < 9 * max(seconds(lambda: rule(250)), 0.01)


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


def test_a_row_of_many_cells_is_read_in_time_that_grows_with_it():
    few, many = (
        asked_of("Plans: Price; " + "; ".join(f"Name{at}: £{at}" for at in range(1, size))) for size in (200, 800)
    )
    few()
    assert seconds(many) < 9 * max(seconds(few), 0.02)
