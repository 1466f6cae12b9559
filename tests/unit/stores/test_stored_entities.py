"""Stored entities behave as the tuple that they were, and are read when they are looked at."""

import json

import pytest

from services.common.adapters.sqlite import stored_entities
from services.common.adapters.sqlite.stored_entities import StoredEntities
from services.common.ports.recognition import Entity, EntityKind

ENTITIES = (Entity(EntityKind.MONEY, "EUR 5", 4, 9), Entity(EntityKind.OTHER, "Ünder", 12, 17))
TEXT = json.dumps([[one.kind, one.text, one.start, one.end] for one in ENTITIES])


def test_they_equal_a_tuple_from_both_sides_and_hash_like_it():
    stored = StoredEntities(TEXT)
    assert stored == ENTITIES
    assert (ENTITIES == stored) is True  # noqa: SIM300 - the other side
    assert stored == StoredEntities(TEXT.replace(", ", ","))
    assert stored != ENTITIES[:1]
    assert stored != list(ENTITIES)
    assert hash(stored) == hash(ENTITIES)
    assert repr(stored) == repr(ENTITIES)


def test_they_are_a_sequence():
    stored = StoredEntities(TEXT)
    assert (len(stored), list(stored), stored[1], stored[:1]) == (2, list(ENTITIES), ENTITIES[1], ENTITIES[:1])
    assert ENTITIES[0] in stored


def test_they_are_read_once_and_not_before(monkeypatch):
    read = []
    loads = stored_entities.json.loads
    monkeypatch.setattr(stored_entities.json, "loads", lambda text: read.append(text) or loads(text))
    stored = StoredEntities(TEXT)
    assert read == []
    assert list(stored) == list(stored)
    assert read == [TEXT]


def test_an_unknown_kind_is_said_when_it_is_read():
    with pytest.raises(KeyError):
        list(StoredEntities('[["NO_SUCH_KIND", "x", 0, 1]]'))
