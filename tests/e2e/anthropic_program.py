"""What a program of a user's does with Anthropic's official package; run by an interpreter that has it.

Writes one JSON object: what came of a plain call, a stream, a withheld answer and a wrong key, and of a guarded client.
"""

import asyncio
import json
import sys

import anthropic
from groundtrail import GroundtrailError, WithheldError, guard

MODEL = "claude-any"


def main(url, key, provider, address):
    """Call, and print what was seen."""
    seen = before_the_suite(url, key)
    base = provider.removesuffix("/v1")
    for kind, tell, client in (
        ("waiting", waiting, anthropic.Anthropic(base_url=base, api_key="none")),
        (
            "asynchronous",
            lambda *given: asyncio.run(asynchronous(*given)),
            anthropic.AsyncAnthropic(base_url=base, api_key="none"),
        ),
    ):
        guarded = guard(client, server=address, api_key=key)
        seen[f"guarded {kind}"] = {"true": [], "wrong": [], "around": around(guarded)}
        tell(guarded, seen[f"guarded {kind}"])
    sys.stdout.write(json.dumps(seen))


def asked(manner):
    """Return the arguments of a call."""
    messages = [{"role": "user", "content": f"What is the fee for late reports? Answer {manner}."}]
    return {"model": MODEL, "max_tokens": 100, "system": "The fee for late reports is 5 euros.", "messages": messages}


def around(client):
    """Return why a way around is closed."""
    try:
        client.beta.messages.create(**asked("truly"))
    except GroundtrailError as error:
        return error.reason
    return ""


def waiting(client, found):  # noqa: C901 - each way to call
    """Call in four ways, truly and wrongly."""

    def plain(given, text):
        text.append(client.messages.create(**given).content[0].text)

    def raw(given, text):
        text.append(client.messages.with_raw_response.create(**given).parse().content[0].text)

    def raw_streamed(given, text):
        for event in client.messages.with_raw_response.create(**given, stream=True).parse():
            if event.type == "content_block_delta":
                text.append(event.delta.text)

    def streamed(given, text):
        for event in client.messages.create(**given, stream=True):
            if event.type == "content_block_delta":
                text.append(event.delta.text)

    def opened(given, text):
        with client.messages.stream(**given) as stream:
            text.extend(stream.text_stream)

    for call in (plain, raw, streamed, opened, raw_streamed):
        text = []
        call(asked("truly"), text)
        found["true"].append("".join(text).strip())
        text.clear()
        try:
            call(asked("wrongly"), text)
        except WithheldError as error:
            found["wrong"].append(["".join(text).strip(), error.level])


async def asynchronous(client, found):  # noqa: C901 - each way to call
    """Do as ``waiting``."""

    async def plain(given, text):
        text.append((await client.messages.create(**given)).content[0].text)

    async def raw(given, text):
        response = await client.messages.with_raw_response.create(**given)
        text.append((await response.parse()).content[0].text)

    async def raw_streamed(given, text):
        response = await client.messages.with_raw_response.create(**given, stream=True)
        async for event in await response.parse():
            if event.type == "content_block_delta":
                text.append(event.delta.text)

    async def streamed(given, text):
        async for event in await client.messages.create(**given, stream=True):
            if event.type == "content_block_delta":
                text.append(event.delta.text)

    async def opened(given, text):
        async with client.messages.stream(**given) as stream:
            async for piece in stream.text_stream:
                text.append(piece)

    for call in (plain, raw, streamed, opened, raw_streamed):
        text = []
        await call(asked("truly"), text)
        found["true"].append("".join(text).strip())
        text.clear()
        try:
            await call(asked("wrongly"), text)
        except WithheldError as error:
            found["wrong"].append(["".join(text).strip(), error.level])


def before_the_suite(url, key):
    """Return what came of calls to the suite."""
    client = anthropic.Anthropic(base_url=url, api_key=key, max_retries=0)

    def ask(manner, **more):
        return {**asked(manner), **more}

    seen = {}
    raw = client.messages.with_raw_response.create(**ask("truly"))
    message = raw.parse()
    seen["plain"] = [message.content[0].text, message.stop_reason, message.model_extra["groundtrail"]["mode"]]
    (check,) = message.model_extra["groundtrail"]["checks"]
    seen["header"] = [raw.headers.get("crp-safety-hallucination-risk"), check["risk_level"]]
    with client.messages.stream(**ask("truly")) as stream:
        seen["stream"] = ["".join(stream.text_stream), stream.get_final_message().stop_reason]
    strict = {"extra_body": {"groundtrail": {"policy": "halt-on HIGH"}}}
    with client.messages.stream(**ask("wrongly", **strict)) as stream:
        seen["halted"] = ["".join(stream.text_stream), stream.get_final_message().stop_reason]
    for name, call in (
        ("withheld", lambda: client.messages.create(**ask("wrongly", **strict))),
        ("nobody", lambda: anthropic.Anthropic(base_url=url, api_key="none").messages.create(**ask("truly"))),
        ("refused", lambda: client.messages.create(**ask("truly", extra_headers={"CRP-Accept-Risk": "NONE"}))),
    ):
        try:
            call()
        except anthropic.APIStatusError as error:
            seen[name] = [type(error).__name__, error.status_code, error.body["error"]["code"]]
    grounded = {"system": "Answer briefly.", "extra_body": {"groundtrail": {"mode": "ground"}}}
    message = client.messages.create(**ask("truly", **grounded) | {"model": "groundtrail"})
    seen["ground"] = [message.type, message.model_extra["groundtrail"]["mode"]]
    return seen


if __name__ == "__main__":
    main(*sys.argv[1:])
