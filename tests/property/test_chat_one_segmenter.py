"""Sentences end at the same places for the services, for a stream held back at the door, and for a guarded client."""

import asyncio
from itertools import pairwise
from types import SimpleNamespace

import pytest
from groundtrail.guarding.forms import OpenAIForm
from groundtrail.guarding.holding import Holding
from hypothesis import given
from hypothesis import strategies as st

from services.common.reading.sentences import sentences
from services.gateway.dispatch.held_back import held_back

HARD = (
    "Dr. Smith paid 3.5 m to Acme Inc. The U.S. branch paid nothing. It closed.",
    "See para. Five of the terms. It costs approx. 5 euros, etc. The fee is due on 3 May 2024. See p. 4 of No. 7.",
    'He said "no." Then he left. [1] The rest stays [fact 2, 3]. Why? Because.',
    "Fees:\n\n- first item. And more\n- second item\n\n1. one\n2. two\n\nThe end. It is.",
    "# Head. Line\n\n**Bold. Line**\n\n| a. B | c |\n|---|---|\n| 1. 2 | 3 |\n\nAfter. The table.",
    "```\nx = f(1). Y\n```\nProse. After code.\n~~~\nplain. Text\n~~~\nEnd. Here.",
    "A soft wrap of a line that is long enough to go on in the next\nLine of it. Next.\nShort\nLine. Done.",
    "“Quoted text.” Said so… And on. iPhone sold. iPad too! 全角。文。 End. OK",
    "> quoted. Text\n> more. Of it\n\n--- \nLast. One.",
    "J. R. Smith met A. Jones at 5 p.m. The door was open. vs. Nothing. I. The claim.",
)
ENDS = st.sampled_from([". ", "! ", "? ", "。", "… ", "\n", "\n\n", ".\n", ": ", " "])
TEXTS = st.one_of(
    st.sampled_from(HARD),
    st.lists(st.tuples(st.sampled_from([part for text in HARD for part in text.split()]), ENDS), max_size=20).map(
        lambda parts: "".join(word + end for word, end in parts)
    ),
)


def cut_at(text, cuts):
    edges = [0, *sorted(cut for cut in cuts if cut < len(text)), len(text)]
    return [text[left:right] for left, right in pairwise(edges)]


def asked_by_the_door(pieces):
    asked = []

    async def check(text, *, is_whole):
        if not is_whole:
            asked.append(text)
        return {"withheld": False}

    async def written():
        for piece in pieces:
            await asyncio.sleep(0)
            yield piece

    async def read():
        async for _ in held_back(written(), check):
            pass

    asyncio.run(read())
    return asked


def asked_by_the_client(pieces):
    holding, asked = Holding(OpenAIForm()), []
    for piece in pieces:
        delta = SimpleNamespace(content=piece)
        holding.add(SimpleNamespace(choices=[SimpleNamespace(index=0, delta=delta)]))
        if (text := holding.due()) is not None:
            asked.append(text)
    return asked


@pytest.mark.parametrize("asking", [asked_by_the_door, asked_by_the_client])
@given(text=TEXTS, cuts=st.sets(st.integers(0, 300)))
def test_every_beginning_ends_where_a_sentence_of_the_whole_does(asking, text, cuts):
    ends = {one.end for one in sentences(text)}
    assert {len(beginning.rstrip()) for beginning in asking(cut_at(text, cuts))} <= ends


@pytest.mark.parametrize("text", HARD)
@pytest.mark.parametrize("asking", [asked_by_the_door, asked_by_the_client])
def test_sentences_are_asked_about_while_the_text_grows(asking, text):
    assert asking(list(text))


@pytest.mark.parametrize("asking", [asked_by_the_door, asked_by_the_client])
def test_each_of_the_first_sentences_is_asked_about_as_it_ends(asking):
    listed = [f"The hall number {number} has many seats." for number in range(8)]
    text = " ".join([*listed, "This goes"])
    assert [asked.rstrip() for asked in asking(list(text))] == [" ".join(listed[: to + 1]) for to in range(8)]
