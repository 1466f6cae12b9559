"""Streams that ``guard`` holds back: whatever the cuts, nothing of a false sentence leaves, nor of what follows it."""

import random
import time
from types import SimpleNamespace
from typing import Any

import pytest
from groundtrail import Level, WithheldError
from groundtrail.grounds import Grounds
from groundtrail.guarding.forms import OpenAIForm
from groundtrail.guarding.holding import Holding
from groundtrail.guarding.rules import Checked, Judged, Rules
from groundtrail.guarding.streams import AsyncGuardedStream, GuardedStream
from groundtrail.reading.growing import MOST_SENTENCE_CHARS
from groundtrail.results import CheckResult, Claim

TRUE = (
    "The fee is 5 euros. ",
    "Dr. Jones pays 3.50 euros, approx. half of it! ",
    "See Prof. Brown's list:\n\n- hail\n- theft\n\n",
    "“Is it covered?” Yes, e.g. in Ulm 🙂. ",
    "費用は五ユーロです。",
)
FALSE = (
    "Only Dr. Jones pays 7 euros. ",
    "The fee of Mrs. Jones is 7.20 euros. ",
    "Nothing, i.e. 0 euros, is paid vs. 5 before! ",
    "費用は七ユーロです。",
)
CHECKED = Checked(Rules("raise", Level.HIGH), Grounds(), ("a fact",))


class Judge:
    """Finds a false sentence once it is whole; ``certain`` says whether it is contradicted or merely not borne out."""

    def __init__(self, *, certain):
        self.verdict = "CONTRADICTED" if certain else "UNSUPPORTED"
        self.read = 0

    def judge(self, checked, text, *, is_whole=True):
        self.read += len(text)
        found = [one for one in FALSE if one.strip() in text]
        claims = tuple(Claim(one, 0, 1, self.verdict, "", None, ()) for one in found)
        result = CheckResult(Level.HIGH if found else Level.LOW, None, claims, (), None)
        return checked.judged(result)

    async def judge_async(self, checked, text, *, is_whole=True):
        return self.judge(checked, text, is_whole=is_whole)


class Stream:
    """A provider's stream, on and off an event loop."""

    def __init__(self, pieces):
        self.pieces = pieces
        self.closed = 0

    def __iter__(self):
        return iter([_chunk(piece) for piece in self.pieces])

    async def __aiter__(self):
        for chunk in self:
            yield chunk

    def close(self):
        self.closed += 1


class AsyncStream(Stream):
    async def close(self):
        self.closed += 1


def _chunk(text):
    return SimpleNamespace(choices=[SimpleNamespace(index=0, delta=SimpleNamespace(content=text))])


def cut(text, chance):
    """Return a text in pieces that end anywhere, some of them empty."""
    places = sorted(chance.randrange(len(text) + 1) for _ in range(chance.randrange(len(text))))
    return [text[a:b] for a, b in zip([0, *places], [*places, len(text)], strict=True)]


def generated(seed):
    chance = random.Random(seed)
    sentences = [chance.choice(TRUE) for _ in range(chance.randrange(1, 9))]
    if chance.random() < 0.7:
        sentences.insert(chance.randrange(len(sentences) + 1), chance.choice(FALSE))
    text = "".join(sentences)
    return text, cut(text, chance), Judge(certain=chance.random() < 0.5)


def allowed(text):
    """Return what may leave at most."""
    return text[: min((text.find(one) for one in FALSE if one in text), default=len(text))]


def test_nothing_false_leaves_a_thousand_streams_and_nothing_true_is_lost():
    halted = 0
    for seed in range(1_000):
        text, pieces, judge = generated(seed)
        inside, seen = Stream(pieces), []
        try:
            for chunk in GuardedStream(inside, OpenAIForm(), judge, CHECKED):
                seen.append(chunk.choices[0].delta.content)  # noqa: PERF401 - what came before the error counts
        except WithheldError:
            halted += 1
            assert inside.closed == 1
            assert allowed(text).startswith("".join(seen)), seed
            assert allowed(text) != text
        else:
            assert "".join(seen) == text == allowed(text), seed
    assert 500 < halted < 900


async def test_on_an_event_loop_the_same_leaves():
    for seed in range(200):
        text, pieces, judge = generated(seed)
        kept = []
        for kind, inside in ((GuardedStream, Stream(pieces)), (AsyncGuardedStream, AsyncStream(pieces))):
            seen = []
            stream: Any = kind(inside, OpenAIForm(), judge, CHECKED)
            try:
                if kind is GuardedStream:
                    for chunk in stream:
                        seen.append(chunk)  # noqa: PERF402 - what came before the error counts
                else:
                    async for chunk in stream:
                        seen.append(chunk)  # noqa: PERF401 - the same
            except WithheldError:
                seen.append(None)
            kept.append("".join(one.choices[0].delta.content if one else "|" for one in seen))
        assert kept[0] == kept[1], text


def test_a_beginning_that_does_not_pass_waits_for_what_makes_it_pass():
    holding = Holding(OpenAIForm())
    first, second = _chunk("A fee is due today. "), _chunk("It is small. Then")
    holding.add(first)
    holding.add(second)
    assert holding.due() == "A fee is due today. It is small. "
    holding.judged(Judged(None, withheld=True))
    assert holding.released() == []
    holding.add(_chunk(" it is over and done with. And"))
    assert holding.due() == "A fee is due today. It is small. Then it is over and done with. "
    holding.judged(Judged(None, withheld=False))
    assert holding.released() == [first, second]
    assert len(holding.rest()) == 1


def test_answers_side_by_side_leave_at_the_end():
    holding = Holding(OpenAIForm())
    for number in (0, 1):
        delta = SimpleNamespace(content=f"Answer number {number} is told. It is")
        holding.add(SimpleNamespace(choices=[SimpleNamespace(index=number, delta=delta)]))
    assert holding.due() is None
    assert holding.released() == []
    assert [text[:15] for text in holding.texts] == ["Answer number 0", "Answer number 1"]
    assert len(holding.rest()) == 2


@pytest.mark.timed
def test_a_word_without_an_end_is_searched_in_linear_time():
    def spent(pieces):
        holding, began = Holding(OpenAIForm()), time.process_time()
        for _ in range(pieces):
            holding.add(_chunk("a" * 100))
            if (text := holding.due()) is not None:  # what has no end is cut after so many characters
                assert len(text) % MOST_SENTENCE_CHARS == 0
        return time.process_time() - began

    few = min(spent(50) for _ in range(3))
    assert min(spent(400) for _ in range(3)) < 24 * few
