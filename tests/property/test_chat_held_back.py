"""Text that is held back: nothing of a faulted sentence or behind it leaves, a clean stream loses nothing."""

import asyncio
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from services.common.reading.sentences import sentences
from services.gateway.dispatch.held_back import Released, held_back

FAULT = "Gamma is 7 units"
PARTS = (
    "Alpha is 3.5 m long.",
    "Dr. Beta said so on 3 May 2024!",
    "Is it? ",
    "\n\n- first item\n- second item\n\n",
    "“Quoted text.” ",
    "Version 2.0.1 costs €1,200.50 😀.",
    "| a | b |\n|---|---|\n| 1 | 2 |\n\n",
    "No end here",
)
SENTENCES = st.sampled_from(PARTS)


@st.composite
def streams(draw, with_fault):
    parts = draw(st.lists(SENTENCES, min_size=0, max_size=8))
    at = draw(st.integers(0, len(parts)))
    parts = parts[:at] + ([f"{FAULT}. "] if with_fault else []) + parts[at:]
    text = " ".join(parts)
    cuts = sorted(draw(st.lists(st.integers(0, len(text)), max_size=30)))
    edges = [0, *cuts, len(text)]
    return text, [text[left:right] for left, right in pairwise(edges)]


class Scripted:
    """Withholds every text with the fault; with ``slow`` the model is always ahead of it."""

    def __init__(self, slow, certain=True):
        self.slow = slow
        self.certain = certain
        self.asked = []

    async def __call__(self, text, *, is_whole):
        self.asked.append((text, is_whole))
        for _ in range(self.slow):
            await asyncio.sleep(0)
        found = FAULT in text
        return {
            "withheld": found,
            "certain": self.certain and found,
            "faulted_at": text.index(FAULT) if found else None,
        }


def run(pieces, check):
    async def main():
        async def written():
            for piece in pieces:
                await asyncio.sleep(0)
                yield piece

        return [one async for one in held_back(written(), check)]

    return asyncio.run(main())


def released(found):
    return "".join(one.text for one in found if isinstance(one, Released))


@given(streams(with_fault=False), st.integers(0, 40))
def test_a_clean_stream_loses_nothing(stream, slow):
    text, pieces = stream
    found = run(pieces, Scripted(slow))
    assert released(found) == text
    assert not found[-1].halted


@given(streams(with_fault=True), st.integers(0, 40), st.booleans())
def test_nothing_of_the_faulted_sentence_or_behind_it_leaves(stream, slow, certain):
    text, pieces = stream
    found = run(pieces, Scripted(slow, certain))
    left = released(found)
    assert text.startswith(left)
    assert len(left) <= text.index(FAULT)
    assert found[-1].halted
    assert left == released(run(list(text), Scripted(0, certain)))  # whatever the cuts and the speed


@given(streams(with_fault=False), st.integers(0, 40))
def test_what_left_had_passed_and_the_last_check_is_of_the_whole(stream, slow):
    text, pieces = stream
    check = Scripted(slow)
    run(pieces, check)
    if text.strip():
        assert check.asked[-1] == (text, True)
    starts = {sentence.start for sentence in sentences(text)} | {len(text)}
    assert sum(is_whole for _, is_whole in check.asked) == bool(text.strip())
    assert all(text.startswith(asked) for asked, _ in check.asked)
    assert all(len(asked) in starts or not is_whole for asked, is_whole in check.asked)


def test_a_beginning_that_may_heal_waits_and_leaves_with_the_whole():
    async def check(text, *, is_whole):
        return {"withheld": not is_whole, "certain": False}

    found = run(["One. ", "Two. ", "Three."], check)
    assert released(found) == "One. Two. Three."
    assert len(found) == 2


def test_a_sentence_leaves_while_the_model_still_writes():
    left = []

    async def main():
        async def written():
            yield "One is here. Two"
            while not left:  # noqa: ASYNC110 - the point of the test
                await asyncio.sleep(0)
            yield " is too."

        async for one in held_back(written(), Scripted(0)):
            left.append(one)  # noqa: PERF401 - looked at meanwhile

    asyncio.run(asyncio.wait_for(main(), 10))
    assert left[0] == Released("One is here. ")
