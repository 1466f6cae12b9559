"""Which facts speak about an attribute: found by index just as a walk through all facts finds them."""

from dataclasses import replace

from hypothesis import event, given
from hypothesis import strategies as st

from services.ercp.domain import readings
from services.ercp.domain.predicates.facts import Condition, TextFacts, ValueFact
from services.ercp.domain.predicates.model import Path
from services.ercp.domain.predicates.naming import path_words, words_of
from services.ercp.domain.predicates.selection import about_attribute, selected, subject_words

_THINGS = ("cost", "bridge", "canal bridge", "shipping cost", "maximum load", "load", "team", "deadline of the team")
_SENTENCE = st.builds(
    "The {} of the {} is {} {}{}.".format,
    st.sampled_from(("cost", "load", "length", "maximum load", "number of players")),
    st.sampled_from(_THINGS),
    st.integers(1, 5),
    st.sampled_from(("euros", "days", "kg", "metres")),
    st.sampled_from(("", " in winter", " for the team", " in the canal")),
)
_PATHS = st.builds(
    Path,
    st.lists(
        st.sampled_from(("bridge", "canal bridge", "team", "cost", "load", "players", "number", "winter")),
        min_size=1,
        max_size=2,
    ).map(tuple),
)

_OF_ONE = st.lists(
    st.builds(
        "The cost of the bridge is {} euros{}.".format,
        st.integers(1, 9),
        st.sampled_from(("", " in winter", " in winter", " for the team", " in the canal")),
    ),
    max_size=8,
)
_CONDITIONS = st.lists(st.sampled_from(("winter", "team", "canal")), max_size=2)


def _facts(sentences: list[str]) -> TextFacts:
    text = " ".join(sentences)
    return readings.facts_of(text, readings.sentences_of(text))


def _under_by_walk(values: list[ValueFact], condition: Condition) -> tuple[list[ValueFact], bool]:
    plain = [fact for fact in values if not fact.condition.words]
    if condition.words:
        stated = [fact for fact in values if condition.words <= fact.condition.words]
        return (stated, True) if stated else (plain, True)
    return (plain, True) if plain else (values, False)


def _about_by_walk(facts: TextFacts, path: Path) -> list[ValueFact]:
    wanted, last = frozenset(path_words(path)), words_of(path.segments[-1])
    exact, shorter, longer, is_shared = [], [], {}, False
    for fact in facts.values:
        words = subject_words(fact)
        own = frozenset(words)
        is_last = len(words) >= len(last) and words[len(words) - len(last) :] == last
        if own == wanted:
            exact.append(fact)
        elif own < wanted <= own | fact.condition.words:
            exact.append(replace(fact, condition=Condition()))
        elif is_last and own < wanted:
            shorter.append(fact)
        elif is_last and own > wanted:
            longer.setdefault(own, []).append(fact)
        elif is_last:
            is_shared = True
    near = [*exact, *([] if is_shared else shorter)]
    if len(longer) == 1 and (not is_shared or len(path.segments) > 1):
        own, found = next(iter(longer.items()))
        more = own - wanted
        limiting = frozenset(words_of("maximum minimum average total"))
        if not more & limiting and (not near or more <= frozenset(found[0].subject.entity)):
            near += found
    return sorted(near, key=lambda fact: fact.value_span.start)


@given(st.lists(_SENTENCE, max_size=8), _PATHS)
def test_the_index_finds_what_a_walk_finds(sentences: list[str], path: Path) -> None:
    facts = _facts(sentences)
    assert about_attribute(facts, path) == _about_by_walk(facts, path)


@given(_OF_ONE, st.sampled_from((Path(("bridge", "cost")), Path(("cost",)))), _CONDITIONS)
def test_what_holds_under_a_condition_is_what_a_walk_finds(sentences: list[str], path: Path, words: list[str]) -> None:
    facts, condition = _facts(sentences), Condition(frozenset(words), " ".join(words))
    found = selected(facts, path, condition)
    event(f"{len(found.facts)} facts")
    assert (list(found.facts), found.is_stated) == _under_by_walk(_about_by_walk(facts, path), condition)


@given(st.lists(_SENTENCE, max_size=8), st.integers(0, 300), st.integers(0, 100))
def test_values_of_a_stretch_are_those_that_begin_in_it(sentences: list[str], start: int, length: int) -> None:
    facts = _facts(sentences)
    assert facts.values_in(start, start + length) == [
        each for each in facts.values if start <= each.span.start < start + length
    ]
