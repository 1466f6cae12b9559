"""Facts and sources with ids of their own, without any, and with some (ADR 0124)."""

import pytest
from crp.dpe.v1 import guard_pb2
from crp.dpe.v1 import guard_service_pb2 as pb

from services.common.rpc.validation import Violations
from services.common.settings.guard.oversight import OversightSettings
from services.dpe.convert.guard.grounding_texts import FACT, SOURCE, ids_of, require_texts
from services.dpe.convert.guard.oversight import message_of
from services.dpe.domain.guard.stream_messages import Start


def texts(*ids):
    return [guard_pb2.GroundingText(id=name, content=f"Text {number}.") for number, name in enumerate(ids)]


@pytest.mark.parametrize(
    ("ids", "letter", "expected"),
    [
        ((), SOURCE, ()),
        (("", ""), SOURCE, ("s1", "s2")),
        (("", ""), FACT, ("f1", "f2")),
        (("lease", "s1"), SOURCE, ("lease", "s1")),
    ],
)
def test_only_where_no_text_has_an_id_are_ids_made_of_the_order(ids, letter, expected):
    assert ids_of(texts(*ids), letter) == expected


@pytest.mark.parametrize(
    ("ids", "fields"),
    [
        (("", "", ""), []),
        (("a", "b"), []),
        (("a", "", "b", ""), ["sources[1].id", "sources[3].id"]),
        (("a", "a", "xxxx"), ["sources[1].id", "sources[2].id"]),
    ],
)
def test_ids_for_some_texts_alone_are_refused_one_by_one(ids, fields):
    found = Violations()
    require_texts(found, "sources", texts(*ids), 10, 3)
    assert [one.field for one in found.found] == fields


def test_what_is_behind_the_most_that_are_looked_at_is_not_told_of_again():
    found = Violations()
    require_texts(found, "sources", texts("a", "", ""), 2, 3)
    assert [one.field for one in found.found] == ["sources[1].id"]


def test_a_stream_cites_its_facts_in_the_same_way():
    start = guard_pb2.StartOversight(prompt="What holds?", facts=texts("", ""))
    message = message_of(pb.OverseeStreamRequest(start=start), OversightSettings())
    assert isinstance(message, Start)
    assert [fact.text_id for fact in message.facts] == ["f1", "f2"]
