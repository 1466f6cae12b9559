"""A provider's answers recorded and given again: plain, streamed, refused, in order, without keys and questions."""

import httpx
import pytest

from tests.fakes.scripted_chat import ScriptedChat
from tools import recorded_provider
from tools.recorded_provider import Recorder, Replayer, app

CHAT = b'{"model": "m", "messages": [{"role": "user", "content": "zyxword?"}]}'
STREAMED = CHAT[:-1] + b', "stream": true}'


def through(answering):
    transport = httpx.ASGITransport(app(answering))
    headers = {"Authorization": "Bearer sk-secret"}
    return httpx.AsyncClient(transport=transport, base_url="http://recorded", headers=headers)


async def asked(answering):
    async with through(answering) as http:
        found = [await http.post("/chat/completions", content=body) for body in (CHAT, STREAMED, CHAT)]
        found.append(await http.get("/models"))
        return [(one.status_code, one.headers["content-type"], one.content) for one in found]


async def test_what_was_recorded_is_given_again_without_the_provider(tmp_path):
    script, said = ScriptedChat(lambda _: said.pop(0)), ["one", "two three", "four"]
    file = tmp_path / "answers.jsonl"
    with script.running() as base, file.open("w", encoding="utf-8") as lines:
        async with httpx.AsyncClient() as client:
            recorded = await asked(Recorder(base, lines, client))
    replayed = await asked(Replayer(file))
    assert [status for status, *_ in recorded] == [200] * 4
    assert replayed == recorded
    assert b"one" in replayed[0][2]
    assert b"four" in replayed[2][2]
    assert script.asked[0][0]["authorization"] == "Bearer sk-secret"
    assert "zyxword" not in file.read_text()
    assert "sk-secret" not in file.read_text()
    async with through(Replayer(file)) as http:
        unknown = await http.post("/chat/completions", content=b"{}")
    assert (unknown.status_code, unknown.json()["error"]["type"]) == (404, "not_recorded")


def test_what_cannot_be_served_is_said(tmp_path, capsys):
    for given, said in ((["record", "x"], "--base-url"), (["replay", str(tmp_path / "none")], "record it first")):
        with pytest.raises(SystemExit):
            recorded_provider.main(given)
        assert said in capsys.readouterr().err
