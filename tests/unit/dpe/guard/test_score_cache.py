"""The score cache: least recently used first out, for a while, each tenant apart (Director-AI page, D1, D2)."""

from services.dpe.domain.guard.coherence import CoherencePolicy, Divergences, scored
from services.dpe.guard.score_cache import Lookup, ScoreCache

SCORE = scored(CoherencePolicy(), Divergences(0.1, 0.2))
OTHER = scored(CoherencePolicy(), Divergences(0.9, 0.8))
FACTS = b"facts"


class Clock:
    def __init__(self):
        self.at = 100.0

    def __call__(self):
        return self.at


def cache(entries=3, ttl_s=300.0):
    clock = Clock()
    return ScoreCache(entries, ttl_s, clock), clock


def test_what_was_kept_is_found_and_counted():
    kept, _ = cache()
    assert kept.find("a", b"1", FACTS) is None
    kept.keep("a", b"1", FACTS, SCORE)
    assert kept.find("a", b"1", FACTS) is SCORE
    assert kept.counts == {Lookup.HIT: 1, Lookup.MISS: 1, Lookup.BYPASSED: 0}


def test_another_tenant_finds_nothing():
    kept, _ = cache()
    kept.keep("a", b"1", FACTS, SCORE)
    assert kept.find("b", b"1", FACTS) is None
    assert not kept.may_hold("b", b"1")


def test_a_score_is_forgotten_when_its_time_is_over():
    kept, clock = cache(ttl_s=300.0)
    kept.keep("a", b"1", FACTS, SCORE)
    clock.at += 299.0
    assert kept.find("a", b"1", FACTS) is SCORE
    clock.at += 1.0
    assert kept.find("a", b"1", FACTS) is None
    assert kept.size == 0


def test_a_score_that_rests_on_other_facts_is_forgotten():
    kept, _ = cache()
    kept.keep("a", b"1", FACTS, SCORE)
    assert kept.find("a", b"1", b"changed") is None
    assert kept.size == 0
    assert kept.find("a", b"1", FACTS) is None


def test_the_least_recently_used_goes_first():
    kept, _ = cache(entries=3)
    for key in (b"1", b"2", b"3"):
        kept.keep("a", key, FACTS, SCORE)
    assert kept.find("a", b"1", FACTS) is SCORE
    kept.keep("a", b"4", FACTS, OTHER)
    assert kept.find("a", b"2", FACTS) is None
    assert [kept.may_hold("a", key) for key in (b"1", b"3", b"4")] == [True, True, True]
    assert kept.size == 3


def test_room_is_taken_from_the_tenant_that_holds_most():
    kept, _ = cache(entries=4)
    kept.keep("small", b"1", FACTS, SCORE)
    for number in range(20):
        kept.keep("large", bytes([number]), FACTS, SCORE)
    assert kept.find("small", b"1", FACTS) is SCORE
    assert kept.size == 4


def test_keeping_again_replaces():
    kept, _ = cache()
    kept.keep("a", b"1", FACTS, SCORE)
    kept.keep("a", b"1", b"new", OTHER)
    assert kept.size == 1
    assert kept.find("a", b"1", b"new") is OTHER


def test_a_cache_without_room_or_time_keeps_nothing():
    for kept, _ in (cache(entries=0), cache(ttl_s=0.0)):
        kept.keep("a", b"1", FACTS, SCORE)
        assert kept.size == 0
