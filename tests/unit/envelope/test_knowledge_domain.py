"""Identity, versions, state, conditional builds, clustering and labels."""

import hashlib
import uuid
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from services.common.ports.facts import FactStatus
from services.common.questions.decomposition import decompose
from services.envelope.community_search import search
from services.envelope.domain.caching import (
    CacheDirectives,
    MissReason,
    Standing,
    build_key,
    is_cache_directive,
    miss_reason,
    read_directives,
)
from services.envelope.domain.clustering import (
    ClusteredFact,
    label_of,
    large_enough,
    most_important,
    unique_labels,
)
from services.envelope.domain.identity import carried_fact_id_for, fact_id_for
from services.envelope.domain.importance import IMPORTANCE_BY_SOURCE_TYPE, SourceType
from services.envelope.domain.neighbours import NOBODY, Neighbours
from services.envelope.domain.state import state_entry, state_hash
from services.envelope.domain.supersession import StoredFact, version_change
from services.envelope.leiden import LeidenCommunityDetector
from services.envelope.source_identity import fresh_source_id, fresh_source_key

NOW = datetime(2026, 5, 24, 9, 0, tzinfo=UTC)
ACTIVE, STALE, QUARANTINED = FactStatus.ACTIVE, FactStatus.STALE, FactStatus.QUARANTINED


def test_ids_depend_on_everything_that_identifies():
    source, key = fresh_source_id(), fresh_source_key()
    other = fresh_source_id()
    fact = fact_id_for(source, key, "# A", "text")
    assert fact == fact_id_for(source, key, "# A", "text")
    same_text = [
        fact_id_for(source, fresh_source_key(), "# A", "text"),
        fact_id_for(other, key, "# A", "text"),
        fact_id_for(source, "", "# A", "text"),
        fact_id_for(source, key, "# B", "text"),
        fact_id_for(source, key, "# A", "text."),
    ]
    assert len({fact, *same_text}) == 6
    assert fact_id_for("8d5e4b0e-5a3c-5b2f-9a53-5a9b6a0c8f10", "", "# A", "text") == str(
        uuid.uuid5(uuid.UUID("8d5e4b0e-5a3c-5b2f-9a53-5a9b6a0c8f10"), "# A\x1ftext")
    )  # of a source without a key: as it was
    assert carried_fact_id_for("w1", "text") != carried_fact_id_for("w2", "text")


def test_a_plain_query_is_its_own_sub_query():
    assert decompose("  What is\n the deadline? ") == ("What is the deadline?",)


def test_importance_by_source_type():
    assert {kind.name: weight for kind, weight in IMPORTANCE_BY_SOURCE_TYPE.items()} == {
        "REGULATION": 0.90,
        "OFFICIAL_DOCUMENT": 0.80,
        "RESEARCH": 0.75,
        "INTERNAL": 0.70,
        "USER": 0.60,
        "WEB": 0.50,
    }
    assert set(IMPORTANCE_BY_SOURCE_TYPE) == set(SourceType)


def stored(status=ACTIVE, model="m"):
    return StoredFact(status, model)


def superseded(status):
    return StoredFact(status, "m", is_superseded=True)


@pytest.mark.parametrize(
    ("before", "incoming", "replaces", "expected"),
    [
        ({}, "ab", True, ("ab", "", "", "")),
        ({"a": stored(), "b": stored()}, "bc", True, ("c", "", "b", "a")),
        ({"a": stored()}, "b", False, ("b", "", "", "")),
        ({"a": superseded(STALE)}, "a", True, ("a", "a", "", "")),
        ({"a": stored(QUARANTINED)}, "a", True, ("", "", "a", "")),
        ({"a": stored(QUARANTINED), "b": superseded(STALE)}, "", True, ("", "", "", "a")),
        ({"a": superseded(QUARANTINED)}, "", True, ("", "", "", "")),
        ({"a": stored(model="old")}, "a", True, ("a", "a", "", "")),
        ({}, "aab", True, ("ab", "", "", "")),
    ],
    ids=[
        "new",
        "changed",
        "extended",
        "returned",
        "quarantined stays",
        "gone",
        "gone before",
        "other model",
        "duplicates",
    ],
)
def test_version_change(before, incoming, replaces, expected):
    change = version_change(before, incoming, "m", replaces_all=replaces)
    found = tuple("".join(part) for part in (change.written, change.revived, change.unchanged, change.stale))
    assert found == expected  # written, revived, unchanged, stale


def test_what_is_withheld_and_returns_is_no_more_superseded():
    change = version_change({"a": superseded(QUARANTINED), "b": stored(QUARANTINED)}, "ab", "m", replaces_all=True)
    assert (change.written, change.reinstated) == ((), ("a",))


def test_another_validity_is_written():
    known = {"a": StoredFact(ACTIVE, "m", has_other_terms=True)}
    assert version_change(known, "a", "m", replaces_all=True).written == ("a",)


def test_state_hash_is_that_of_decision_5():
    entries = [state_entry("f2", "h2", NOW, STALE), state_entry("f1", "h1", NOW, ACTIVE)]
    text = "f1:h1:2026-05-24T09:00:00.000000Z:ACTIVE|f2:h2:2026-05-24T09:00:00.000000Z:STALE|epoch:3|model:m"
    assert state_hash(entries, 3, "m") == "sha256:" + hashlib.sha256(text.encode()).hexdigest()
    assert state_hash(entries, 4, "m") != state_hash(entries, 3, "m")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("no-store", True),
        ("max-age=60", True),
        ("max-age=", False),
        ("max-age=-1", False),
        ("", False),
        ("NO-CACHE", False),
    ],
)
def test_cache_directives_are_known_or_refused(text, expected):
    assert is_cache_directive(text) is expected


def test_directives_are_read_and_the_shortest_age_wins():
    assert read_directives(["no-cache", "max-age=60", "max-age=5", "only-if-ckf"]) == CacheDirectives(
        no_cache=True, only_if_ckf=True, max_age_s=5
    )


STANDING = Standing("sha256:1", "sha256:state", NOW)


@pytest.mark.parametrize(
    ("presented", "directives", "standing", "expected"),
    [
        ("", CacheDirectives(), STANDING, MissReason.NOT_CONDITIONAL),
        ("sha256:1", CacheDirectives(), STANDING, None),
        ("*", CacheDirectives(), STANDING, None),
        ("sha256:2", CacheDirectives(), STANDING, MissReason.UNKNOWN_ETAG),
        ("sha256:1", CacheDirectives(), None, MissReason.UNKNOWN_ETAG),
        ("sha256:1", CacheDirectives(no_cache=True), STANDING, MissReason.NO_CACHE),
        ("sha256:1", CacheDirectives(max_age_s=59), STANDING, MissReason.EXPIRED),
        ("sha256:1", CacheDirectives(max_age_s=60), STANDING, None),
    ],
)
def test_if_match(presented, directives, standing, expected):
    assert miss_reason(presented, directives, standing, NOW + timedelta(seconds=60)) is expected


def test_build_keys_do_not_run_into_each_other():
    assert build_key([["ab"], ["c"]]) != build_key([["a"], ["bc"]])
    assert build_key([["a", "b"], []]) != build_key([["a"], ["b"]])
    assert build_key([["a"]]) == build_key([["a"]])


def unit(*values):
    vector = np.array(values, dtype=np.float32)
    return vector / np.linalg.norm(vector)


def test_two_clouds_are_two_communities_whatever_the_run():
    left = [unit(1, 0.02 * number, 0) for number in range(5)]
    right = [unit(0, 0.02 * number, 1) for number in range(4)]
    alone = [unit(0, -1, 0)]
    former = np.full(10, NOBODY, dtype=np.int32)
    rows = np.stack([*left, *right, *alone])
    _, found = search(Neighbours.none(0), former, rows, LeidenCommunityDetector())
    groups = large_enough({place: number for place, number in enumerate(found.memberships.tolist()) if number >= 0})
    assert groups == [[0, 1, 2, 3, 4], [5, 6, 7, 8]]
    assert found.strengths[9] == 0.0
    assert LeidenCommunityDetector().communities(*Neighbours.none(0).edges()) == {}


def test_two_facts_are_no_community():
    assert large_enough({0: 1, 1: 1, 2: 5, 3: 5, 4: 5}) == [[2, 3, 4]]


def test_the_most_important_facts_name_a_community():
    facts = [ClusteredFact(str(number), str(number), 0.5, float(number)) for number in range(6)]
    facts.append(ClusteredFact("x", "x", 0.9, 0.0))
    assert most_important(facts) == ("x", "5", "4", "3", "2")


@pytest.mark.parametrize(
    ("contents", "expected"),
    [
        (["Motor claims deadline", "Claims deadline rule", "Deadline for claims"], "claims-deadline-motor"),
        (["Über Versicherung: Prämie", "Prämie"], "pramie-uber-versicherung"),
        (["the and of 12"], "community-7"),
        (["правила"], "community-7"),
        (["claim claims claimed"], "claim"),
    ],
)
def test_labels_are_dominant_keywords_in_ascii(contents, expected):
    assert label_of(contents, 7) == expected


def test_labels_are_unique():
    assert unique_labels(["a", "b", "a", "a"]) == ["a", "b", "a-2", "a-3"]
