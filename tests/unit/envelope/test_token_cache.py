"""The cache of token vectors: bounds, whose share is whose, and erasure."""

import numpy as np
import pytest

from services.envelope.token_cache import TokenVectorCache

ONE = np.full((4, 8), 0.1, dtype=np.float32)
ONE_BYTES = 4 * 8 * 2


def keys(cache, tenant):
    return sorted(cache.get(tenant, ["a", "b", "c", "d"]))


def test_vectors_are_rounded_before_anybody_sees_them():
    cache = TokenVectorCache(10 * ONE_BYTES, 10 * ONE_BYTES)
    put = cache.put("t", {"a": ONE})["a"]
    got = cache.get("t", ["a"])["a"]
    assert put.dtype == got.dtype == np.float16
    assert np.array_equal(put, got)
    assert np.array_equal(TokenVectorCache(0, 0).put("t", {"a": ONE})["a"], got)


def test_the_least_recently_used_goes_first_and_the_bound_holds():
    cache = TokenVectorCache(2 * ONE_BYTES, 10 * ONE_BYTES)
    cache.put("t", {"a": ONE, "b": ONE})
    cache.get("t", ["a"])
    cache.put("t", {"c": ONE})
    assert keys(cache, "t") == ["a", "c"]
    assert cache.size_bytes == 2 * ONE_BYTES


def test_a_tenant_takes_nothing_of_anothers_share_while_there_is_room():
    cache = TokenVectorCache(2 * ONE_BYTES, 4 * ONE_BYTES)
    cache.put("quiet", {"a": ONE, "b": ONE})
    for key in "abcd":
        cache.put("busy", {key: ONE})
    assert keys(cache, "quiet") == ["a", "b"]
    assert cache.get("quiet", ["c"]) == {}


def test_beyond_the_total_the_tenant_that_was_longest_silent_goes():
    cache = TokenVectorCache(2 * ONE_BYTES, 3 * ONE_BYTES)
    cache.put("first", {"a": ONE})
    cache.put("second", {"a": ONE})
    cache.get("first", ["a"])
    cache.put("third", {"a": ONE, "b": ONE})
    assert (keys(cache, "first"), keys(cache, "second"), keys(cache, "third")) == (["a"], [], ["a", "b"])
    assert cache.size_bytes == 3 * ONE_BYTES


@pytest.mark.parametrize("room", [0, ONE_BYTES - 1], ids=["off", "too small"])
def test_what_does_not_fit_is_given_and_not_kept(room):
    cache = TokenVectorCache(room, room)
    assert list(cache.put("t", {"a": ONE})) == ["a"]
    assert cache.get("t", ["a"]) == {}
    assert cache.size_bytes == 0


def test_the_same_content_twice_is_kept_once():
    cache = TokenVectorCache(10 * ONE_BYTES, 10 * ONE_BYTES)
    cache.put("t", {"a": ONE})
    cache.put("t", {"a": ONE})
    assert cache.size_bytes == ONE_BYTES


def test_after_an_erasure_nothing_of_the_tenant_is_left():
    cache = TokenVectorCache(10 * ONE_BYTES, 10 * ONE_BYTES)
    cache.put("t", {"a": ONE})
    cache.put("other", {"b": ONE})
    cache.forget("t")
    cache.forget("nobody")
    assert (cache.get("t", ["a"]), cache.size_bytes) == ({}, ONE_BYTES)
    assert keys(cache, "other") == ["b"]
