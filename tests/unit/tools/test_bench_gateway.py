"""The benches of the door in short, with the scripted provider in the door's place: what is counted and shed."""

import argparse
import json
import os

import httpx
import pytest

from bench import gateway, gateway_judge, gateway_streams
from bench.dpe_corpus import falsified
from bench.paced_provider import PacedProvider
from tools.real_servers import litellm
from tools.real_servers.provisioning import RealServerError

SHORT = argparse.Namespace(open=4, seconds=0.4, tokens_per_s=40.0)


async def test_slow_streams_are_counted_by_what_became_of_them():
    provider = PacedProvider()
    async with provider.serving() as root:
        whole, *others = await gateway_streams.measure(root, os.getpid(), provider, SHORT)
    assert whole.value == 4.0
    assert whole.note.endswith("4 whole")
    assert {row.unit for row in others} == {"ms", "KiB"}


async def test_what_is_refused_is_said():
    def refused(_):
        return httpx.Response(429)

    seen = gateway_streams.Seen()
    async with httpx.AsyncClient(transport=httpx.MockTransport(refused)) as http:
        await gateway_streams.one_stream(http, "http://door", PacedProvider(), {"say": "x"}, seen)
    assert dict(seen.fates) == {"shed: 429": 1}


async def test_what_left_of_a_falsified_answer_is_measured(tmp_path):
    provider, each = PacedProvider(), tmp_path / "each.jsonl"
    asked = argparse.Namespace(rounds=1, timed_claims=2, tokens_per_s=1000.0)
    pairs = argparse.Namespace(answers=2, claims=3, within_s=60.0, each=each)
    async with provider.serving() as root, httpx.AsyncClient() as http:
        door = gateway_judge.Door(http, root)
        found = await gateway_judge.ask_pairs(door, pairs)
        assert await gateway_judge.ask_pairs(door, argparse.Namespace(answers=2, claims=3, within_s=0.0)) == []
        times = await gateway_judge.measure_time(door, provider, asked)
    none, part, everything, halted, share, whole, *_ = gateway_judge.release_rows(found, pairs)
    assert (none.value, part.value, everything.value, halted.value) == (0.0, 0.0, 2.0, 0.0)
    assert (share.value, whole.value) == (100.0, 2.0)
    assert [json.loads(line)["left"] for line in each.read_text().splitlines()] == [one.left for one in found]
    assert "of the unstreamed; aim: at most 0.35" in times[2].note


@pytest.mark.parametrize(("text", "left"), [("", 0), ("a.", 0), ("a. b", 1), ("a. b. c.", 5)])
def test_a_byte_of_the_false_sentence_counts_as_released(text, left):
    read = gateway_judge.Read(text, halted=True, first_at=0.0, ended_at=0.0)
    assert gateway_judge.released(read, ("a.", "b.", "c."), 1) == left


def test_one_sentence_is_another_and_the_facts_stay():
    clean, facts = falsified(6, 3, false_at=None)
    false, same = falsified(6, 3, false_at=4)
    assert facts == same
    assert [at for at in range(6) if clean[at] != false[at]] == [4]


def test_without_the_peer_a_sentence_says_so(monkeypatch, capsys):
    def missing():
        raise RealServerError("it is not installed")

    monkeypatch.delenv(litellm.VARIABLE, raising=False)
    monkeypatch.setattr(litellm, "found", missing)
    with gateway.peer("http://127.0.0.1:1/v1", install=False) as root:
        assert root is None
    assert "is not measured beside it: it is not installed" in capsys.readouterr().out
    assert [way.name for way in gateway.ways({"door": "d"})] == ["the door, analysis off", "the door, analysis on"]
    assert gateway.ways({"door": "d", "litellm": "l"})[2].root == "l"
