"""Sentences that give values to different things: found by what their values are of just as by every pair of values."""

from hypothesis import event, given
from hypothesis import strategies as st

from services.ercp.domain import checking, readings
from services.ercp.domain.predicates.facts import TextFacts, ValueFact
from services.ercp.domain.records import Sentence

_SENTENCE = st.builds(
    "The {} of the {} is {} {}{}.".format,
    st.sampled_from(("cost", "load", "maximum load")),
    st.sampled_from(("bridge", "canal bridge", "canal", "team")),
    st.integers(1, 5),
    st.sampled_from(("euros", "kg", "metres")),
    st.sampled_from(("", " and that of the road 3 kg", " and a length of 5 metres", " (3 kg)")),
)


def _words(fact: ValueFact) -> frozenset[str]:
    return frozenset((*fact.subject.entity, *fact.subject.attribute))


def _apart_by_pairs(facts: TextFacts, first: Sentence, second: Sentence) -> bool:
    mine = [each for each in facts.values if first.start <= each.span.start < first.end]
    theirs = [each for each in facts.values if second.start <= each.span.start < second.end]
    alike = [(one, other) for one in mine for other in theirs if one.dimension == other.dimension]
    return bool(alike) and not any(_words(one) <= _words(other) or _words(other) <= _words(one) for one, other in alike)


def _sentence_by_walk(facts: TextFacts, at: int) -> str:
    return next(
        (facts.text[each.start : each.end] for each in facts.sentences if each.start <= at < each.end), facts.text
    )


@given(st.lists(_SENTENCE, min_size=1, max_size=6))
def test_sentences_are_apart_as_their_values_are_pair_by_pair(parts: list[str]) -> None:
    text = " ".join(parts)
    sentences = readings.sentences_of(text)
    facts = readings.facts_of(text, sentences)
    for first in sentences:
        for second in sentences:
            found = readings.apart(facts, first, second)
            event(str(found))
            assert found == _apart_by_pairs(facts, first, second)


@given(st.lists(_SENTENCE, max_size=5), st.sampled_from((" ", "\n\n", "   ")))
def test_the_sentence_at_a_place_is_the_one_that_a_walk_comes_to(parts: list[str], gap: str) -> None:
    text = gap.join(parts)
    facts = readings.facts_of(text, readings.sentences_of(text))
    assert [checking._sentence(facts, at) for at in range(-1, len(text) + 2)] == [
        _sentence_by_walk(facts, at) for at in range(-1, len(text) + 2)
    ]
