"""What thousands of facts say of a comparison: found by bisection just as a walk that asks every fact finds it."""

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from services.ercp.domain import readings
from services.ercp.domain.predicates import Predicate, evaluate, evaluation, parse_predicate
from services.ercp.domain.predicates.facts import Evaluation, Holds, TextFacts, ValueFact
from services.ercp.domain.predicates.values import Constant

_NUMBERS = st.one_of(st.integers(0, 12), st.sampled_from((1609, 1600, 1999, 2020, 1.6, 2.54, 0.5, 100, 101, 3600)))
_UNITS = st.sampled_from(("", " km", " miles", " m", " hours", " minutes", " euros", " °C", " °F", " km/h"))
_BOUNDS = st.sampled_from(("", "", "about ", "at most ", "at least ", "more than "))
_AMOUNTS = st.one_of(
    st.builds("{}{}{}".format, _BOUNDS, _NUMBERS, _UNITS),
    st.builds("between {} and {}{}".format, st.integers(0, 8), st.integers(3, 12), _UNITS),
    st.sampled_from(("3 May 2020", "May 2020", "2020-05-03", "1999", "Paris", "the Paris", "Rome", "Oslo")),
)
_SENTENCE = st.builds(
    "{}he limit {} {}{}.".format,
    st.sampled_from(("T", "T", "T", "In winter, t")),
    st.sampled_from(("is", "is", "is not")),
    _AMOUNTS,
    st.sampled_from(("", "", "", " (5 km)", " in Denver and 93 °C in Rome")),
)


@st.composite
def _predicates(draw: st.DrawFn) -> Predicate:
    name = draw(st.sampled_from(("Equal", "NotEqual", "LessThan", "GreaterThan")))
    args: dict[str, object] = {"left": "limit"}
    kind = draw(st.sampled_from(("amount", "amount", "amount", "date", "text")))
    if kind == "amount":
        args["right"] = f"{draw(_NUMBERS)}{draw(_UNITS)}"
    else:
        args["right"] = draw(st.sampled_from(("2020-05-03", "1999-01-01") if kind == "date" else ('"Paris"', '"oslo"')))
    if name in {"LessThan", "GreaterThan"}:
        args["right"] = args["right"] if kind != "text" else "5"
        args["inclusive"] = draw(st.booleans())
    elif kind == "amount":
        args |= draw(st.sampled_from(({}, {}, {"tolerance": "2%"}, {"tolerance": "20%"})))
    return parse_predicate(name, args | draw(st.sampled_from(({}, {}, {"condition": "winter"}))))


def _facts(sentences: list[str]) -> TextFacts:
    text = " ".join(sentences)
    return readings.facts_of(text, readings.sentences_of(text))


def _sifted(predicate: Predicate, sentences: list[str], many: int) -> Evaluation:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(evaluation, "MANY", many)
        return evaluate(predicate, _facts(sentences))


@given(st.lists(_SENTENCE, min_size=1, max_size=40), st.lists(_predicates(), min_size=1, max_size=4))
def test_a_sieve_tells_what_a_walk_tells(sentences: list[str], predicates: list[Predicate]) -> None:
    for predicate in predicates:
        walked = _sifted(predicate, sentences, many=10_000)
        event(walked.holds.value)
        assert _sifted(predicate, sentences, many=0) == walked


def test_few_facts_are_asked() -> None:
    facts = _facts([f"The limit is {n}. The limit is not {n}." for n in range(1, 901)])
    asked = 0
    one = evaluation._one

    def counting(predicate: Predicate, right: Constant, fact: ValueFact) -> Holds:
        nonlocal asked
        asked += 1
        return one(predicate, right, fact)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(evaluation, "_one", counting)
        for number in range(100):
            evaluate(parse_predicate("NotEqual", {"left": "limit", "right": str(number)}), facts)
    assert asked < 100 * 40
