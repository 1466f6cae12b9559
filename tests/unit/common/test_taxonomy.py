"""The words that services share mirror crp/common/v1/taxonomy.proto, and each has one number there."""

from enum import StrEnum, unique

import pytest
from crp.common.v1 import taxonomy_pb2
from crp.dag.v1 import dag_pb2

from services.common import taxonomy
from services.common.rpc.enums import TAXONOMY, EnumTable
from services.common.taxonomy import (
    DispatchStrategy,
    GroundingMode,
    OrderedWord,
    QualityTier,
    RetrievalMode,
    worst_tier,
)

DECLARED = taxonomy_pb2.DESCRIPTOR.enum_types_by_name
SMALL = {DispatchStrategy, GroundingMode, RetrievalMode}
ORDERED = sorted(
    name for name, word in vars(taxonomy).items() if isinstance(word, type) and OrderedWord in word.__bases__
)


def test_every_enum_of_the_contract_has_a_table():
    assert set(TAXONOMY) == set(DECLARED) != set()


@pytest.mark.parametrize("name", DECLARED)
def test_words_are_the_values_of_the_contract_in_its_order(name):
    prefix = DECLARED[name].values[0].name.removesuffix("UNSPECIFIED")
    declared = [(value.name.removeprefix(prefix), value.number) for value in DECLARED[name].values[1:]]
    words = getattr(taxonomy, name)
    assert [(word.name, TAXONOMY[name].number(word)) for word in words] == declared
    assert [*TAXONOMY[name].items()] == [(number, words[word]) for word, number in declared]


@pytest.mark.parametrize("name", DECLARED)
def test_unspecified_has_no_word(name):
    assert 0 not in TAXONOMY[name]
    assert TAXONOMY[name].get(0) is None


@unique
class Foreign(StrEnum):
    PENDING = "PENDING"
    LOST = "LOST"


def test_a_word_that_the_contract_does_not_have_is_refused_when_the_table_is_made():
    with pytest.raises(ValueError, match="WINDOW_STATUS_LOST"):
        EnumTable(dag_pb2.WindowStatus, Foreign)


@pytest.mark.parametrize(
    ("words", "spelled"),
    [
        (GroundingMode, ["context-strict", "context-preferred", "open"]),
        (RetrievalMode, ["dense", "text", "hybrid", "reranked", "late-interaction"]),
        (
            DispatchStrategy,
            ["push", "pull", "reflexive", "agentic", "hierarchical", "batch", "streaming", "fan-out", "fan-in"],
        ),
    ],
)
def test_headers_spell_modes_and_strategies_in_small_letters(words, spelled):
    assert [word.value for word in words] == spelled


def test_all_other_words_are_stored_as_they_are_named():
    shared = [
        word for word in vars(taxonomy).values() if isinstance(word, type) and word.__module__ == taxonomy.__name__
    ]
    others = [each for words in shared if words not in SMALL and issubclass(words, StrEnum) for each in words]
    assert len(others) > 50
    assert [each.value for each in others] == [each.name for each in others]


@pytest.mark.parametrize("name", ORDERED)
def test_ranks_follow_the_order_of_the_definition(name):
    words = list(getattr(taxonomy, name))
    assert [word.rank for word in words] == list(range(len(words)))


def test_the_worst_tier_is_that_of_the_highest_rank_and_not_of_the_last_letter():
    assert worst_tier(QualityTier.S, QualityTier.A) is QualityTier.A
    assert worst_tier(*QualityTier) is QualityTier.D
