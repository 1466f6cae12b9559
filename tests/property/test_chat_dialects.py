"""Streams of both dialects to the byte: nothing of a faulted sentence or behind it leaves, a clean one loses nothing.

Text comes in events that are cut anywhere, inside words, numbers, JSON escapes and surrogate pairs.
"""

import asyncio
import json
import random
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.gateway.domain.holding import Hold
from services.gateway.doors.http.chat.forms import OpenAiDialect
from services.gateway.doors.http.chat.sending import HeldBack, held_back_answer
from services.gateway.doors.http.messages.forms import AnthropicDialect
from tests.fakes.chat_door import events_of
from tests.property.test_chat_held_back import FAULT, PARTS, Scripted, streams
from tests.tenth import tenth

BOTH = pytest.mark.parametrize("dialect", [OpenAiDialect(), AnthropicDialect()], ids=["openai", "anthropic"])


def in_utf16(text, cuts):
    """Return a text in pieces cut between UTF-16 code units: half a surrogate pair is a piece that JSON can hold."""
    units = text.encode("utf-16-le")
    edges = [0, *sorted({cut % (len(units) // 2 + 1) for cut in cuts}), len(units) // 2]
    return [units[2 * left : 2 * right].decode("utf-16-le", "surrogatepass") for left, right in pairwise(edges)]


def chunks(pieces, _):
    yield from (json.dumps({"choices": [{"delta": {"content": piece}}]}).encode() for piece in pieces)
    yield json.dumps({"choices": [{"delta": {}, "finish_reason": "stop"}]}).encode()


def messages(pieces, blocks):
    """Return the events of a message whose pieces are spread over so many blocks of text, a tool between them."""
    yield json.dumps({"type": "message_start", "message": {"id": "m", "type": "message"}}).encode()
    size = len(pieces) // blocks + 1
    for number in range(blocks):
        index = 2 * number
        own = pieces[number * size : (number + 1) * size]
        for kind, block in (("text", {"type": "text", "text": ""}), ("tool", {"type": "tool_use", "id": "t"})):
            at = index + (kind == "tool")
            yield json.dumps({"type": "content_block_start", "index": at, "content_block": block}).encode()
            for piece in own if kind == "text" else ():
                delta = {"type": "text_delta", "text": piece}
                yield json.dumps({"type": "content_block_delta", "index": at, "delta": delta}).encode()
            yield json.dumps({"type": "content_block_stop", "index": at}).encode()
    yield json.dumps({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {}}).encode()
    yield json.dumps({"type": "message_stop"}).encode()


def run(dialect, events, check, hold=Hold.SENTENCES):
    async def main():
        async def written():
            for event in events:
                await asyncio.sleep(0)
                yield event

        def told(last, unchecked):
            return {"withheld": last.get("withheld"), "unchecked": unchecked}

        how = HeldBack(check, hold, told, "r")
        return b"".join([one async for one in held_back_answer(written(), dialect.stream(), how)])

    return asyncio.run(main())


def provided(dialect, pieces, blocks):
    return (messages if isinstance(dialect, AnthropicDialect) else chunks)(pieces, blocks)


def text_of(sent):
    found = []
    for _, data in events_of(sent.decode("ascii")):
        if data != "[DONE]":
            found += [choice["delta"].get("content", "") for choice in data.get("choices", [])]
            found.append(data.get("delta", {}).get("text", ""))
    return "".join(found)


@BOTH
@given(streams(with_fault=False), st.lists(st.integers(0, 2_000), max_size=30), st.integers(0, 20), st.integers(1, 3))
def test_a_clean_stream_loses_nothing(dialect, stream, cuts, slow, blocks):
    text, _ = stream
    for hold in Hold:
        sent = run(dialect, provided(dialect, in_utf16(text, cuts), blocks), Scripted(slow), hold)
        assert text_of(sent) == text
        assert b"content_filter" not in sent
        assert b"refusal" not in sent


@BOTH
@given(
    streams(with_fault=True),
    st.lists(st.integers(0, 2_000), max_size=30),
    st.integers(0, 20),
    st.integers(1, 3),
    st.booleans(),
)
def test_not_a_byte_behind_the_halting_point_leaves(dialect, stream, cuts, slow, blocks, certain):
    text, _ = stream
    sent = run(dialect, provided(dialect, in_utf16(text, cuts), blocks), Scripted(slow, certain))
    left = text_of(sent)
    assert text.startswith(left)
    assert len(left) <= text.index(FAULT)
    assert FAULT not in sent.decode("ascii")
    assert (b'"content_filter"' in sent) or (b'"refusal"' in sent)
    assert b"tool_use" not in sent.replace(b'"unchecked":["tool_use"]', b"")
    held = run(dialect, provided(dialect, in_utf16(text, cuts), blocks), Scripted(slow, certain), Hold.ALL)
    assert text_of(held) == ""


@BOTH
@given(st.text(), st.lists(st.integers(0, 2_000), max_size=30))
def test_any_text_arrives_as_it_was_written(dialect, text, cuts):
    sent = run(dialect, provided(dialect, in_utf16(text, cuts), 1), Scripted(0))
    assert text_of(sent) == text


@BOTH
def test_half_a_character_that_nothing_follows_is_a_replacement(dialect):
    sent = run(dialect, provided(dialect, ["a\ud83d", "b. ", "\ude00\ud83d"], 1), Scripted(0))
    assert text_of(sent) == "a\ufffdb. \ufffd\ufffd"


@given(streams(with_fault=False), st.lists(st.integers(0, 2_000), max_size=30), st.integers(1, 3))
def test_blocks_of_a_message_are_numbered_and_closed(stream, cuts, blocks):
    text, _ = stream
    sent = run(AnthropicDialect(), messages(in_utf16(text, cuts), blocks), Scripted(0))
    open_now, number = None, -1
    for kind, data in events_of(sent.decode("ascii")):
        if kind == "content_block_start":
            number += 1
            assert (open_now, data["index"]) == (None, number)
            open_now = number
        elif kind.startswith("content_block"):
            assert data["index"] == open_now
            open_now = None if kind == "content_block_stop" else open_now
    assert open_now is None


@pytest.mark.tenth(inside=True)
def test_nothing_faulted_leaves_a_thousand_streams_and_nothing_clean_is_lost():
    faulted, dialects = 0, (OpenAiDialect(), AnthropicDialect())
    seeds = tenth("streams of both dialects", range(1_000))
    for seed in seeds:
        chance = random.Random(seed)
        parts = [chance.choice(PARTS) for _ in range(chance.randrange(1, 8))]
        is_faulted = chance.random() < 0.7
        if is_faulted:
            parts.insert(chance.randrange(len(parts) + 1), f"{FAULT}. ")
        text, cuts = " ".join(parts), [chance.randrange(2_000) for _ in range(chance.randrange(40))]
        dialect, check = dialects[seed % 2], Scripted(chance.randrange(20), chance.random() < 0.5)
        sent = run(dialect, provided(dialect, in_utf16(text, cuts), chance.randrange(1, 4)), check)
        left = text_of(sent)
        if not is_faulted:
            assert left == text, seed
            continue
        faulted += 1
        assert text.startswith(left), seed
        assert len(left) <= text.index(FAULT), seed
    assert 0.6 < faulted / len(seeds) < 0.8
