"""The answers and facts that ``bench.dpe`` measures with: written for it, the same on every machine.

A fact is one of eighteen sentences about one of many offices of an invented insurer; an answer says the like in other
words, so that no sentence is a quotation and every claim has to be judged. Every sixth claim is false: its figure
belongs to another office.
"""

from dataclasses import dataclass
from typing import Final

PLACES: Final = (
    "Aldbrook", "Bexmoor", "Carrowby", "Dunholt", "Elverton", "Farleigh", "Garstow", "Hadlow", "Inverlea",
    "Jesmond", "Kelwick", "Lindale", "Marwood", "Netherby", "Ormskirk", "Penrose", "Quarley", "Ravensby",
    "Saltash", "Thornham", "Ulverley", "Vexford", "Wexcombe", "Yarnton", "Zealby", "Ashcombe", "Birchover",
    "Coldharbour", "Denwick", "Eastleigh", "Foxcote", "Greyfriars", "Holmfirth", "Ivybridge", "Kirkdale",
    "Langport", "Millbrook", "Norwell", "Oakhanger", "Pitsea", "Roxby", "Selborne", "Tarleton", "Upwell",
    "Varley", "Wetherby", "Yelverton", "Amberley", "Brigstock", "Clapton", "Deepdale", "Ellerby", "Fenwick",
    "Gosforth", "Hexham", "Ilkley",
)  # fmt: skip
TOPICS: Final = (
    ("The {place} office handles {n} motor claims a month.", "About motor, {place} deals with {n} claims each month."),
    ("Reports of theft reach {place} within {d} days.", "Theft is reported to {place} in at most {d} days."),
    (
        "The manager of {place} may settle up to {m},000 euros alone.",
        "{place}'s manager settles {m},000 euros unaided.",
    ),
    ("{place} opened its doors in {y}.", "The office in {place} has existed since {y}."),
    ("Storm damage in {place} carries a deductible of {s} euros.", "For storms, {place} deducts {s} euros."),
    ("The archive of {place} keeps files for {d} years.", "In {place} a file is kept {d} years before it goes."),
    ("Brokers in {place} earn a commission of {p} percent.", "A broker's share in {place} amounts to {p} percent."),
    ("The staff of {place} counts {n} people.", "{n} people work in {place}."),
    ("Complaints to {place} are answered after {d} days on average.", "{place} takes {d} days to answer a complaint."),
    ("Travel policies sold by {place} cover delays above {h} hours.", "With {place}, a delay counts after {h} hours."),
    ("{place} rejects {p} percent of all glass claims.", "Of claims for glass, {p} percent fail at {place}."),
    ("The premium discount in {place} ends after {d} accidents.", "{place} grants no discount after {d} accidents."),
    ("Salvage from {place} is auctioned every {h} weeks.", "Every {h} weeks {place} puts salvage up for auction."),
    ("A fraud file in {place} passes {h} reviewers.", "In {place}, {h} people review each file about fraud."),
    ("The hotline of {place} picks up within {s} seconds.", "Callers to {place} wait {s} seconds at most."),
    ("Refunds by {place} arrive within {d} working days.", "{place} needs {d} working days for a refund."),
    ("The fleet of {place} drives {n} kilometres a day.", "Each day the cars of {place} cover {n} kilometres."),
    ("Surveyors from {place} see {p} percent of burst pipes.", "{p} percent of burst pipes are surveyed by {place}."),
)
FALSE_EVERY: Final = 6
QUESTION: Final = "What should be known about the offices?"


@dataclass(frozen=True, slots=True)
class Case:
    """An answer and the facts it is checked against, at most ``len(PLACES) * len(TOPICS)`` of them."""

    answer: str
    facts: tuple[str, ...]


def case(claims: int, facts: int, seed: int = 0) -> Case:
    """Return an answer of so many sentences, one claim each, and so many facts; ``seed`` shifts the figures."""
    known = tuple(_say(TOPICS[number % len(TOPICS)][0], number, seed) for number in range(facts))
    said = [
        _say(TOPICS[number % len(TOPICS)][1], number, seed, false=at % FALSE_EVERY == FALSE_EVERY - 1)
        for at, number in enumerate(at * facts // claims if claims <= facts else at for at in range(claims))
    ]
    return Case(" ".join(said), known)


def _say(pattern: str, number: int, seed: int, *, false: bool = False) -> str:
    place = PLACES[number // len(TOPICS) % len(PLACES)]
    base = number + seed * 101 + (7 if false else 0)
    figures = {"n": 40 + base * 3 % 870, "d": 3 + base % 27, "m": 2 + base % 48, "y": 1951 + base % 70}
    figures |= {"s": 50 + base * 5 % 400, "p": 2 + base % 37, "h": 2 + base % 11}
    return pattern.format(place=place, **figures)


def falsified(claims: int, seed: int, *, false_at: int | None) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the sentences of an answer, one of them false or none, and the facts that they are checked against.

    Args:
        claims: sentences, one claim each, and as many facts.
        seed: shifts the figures and the offices.
        false_at: which sentence is false: it has another office's figure; ``None`` = none is.
    """
    numbers = [seed * claims + at for at in range(claims)]
    facts = tuple(_say(TOPICS[number % len(TOPICS)][0], number, seed) for number in numbers)
    said = tuple(
        _say(TOPICS[number % len(TOPICS)][1], number, seed, false=at == false_at) for at, number in enumerate(numbers)
    )
    return said, facts
