"""What a program of a user's does with LangChain's chat model; run by an interpreter that has it.

Writes one JSON object: what came of invoke, stream and their asynchronous twins, and of a withheld answer.
"""

import asyncio
import json
import sys

import openai
from langchain_openai import ChatOpenAI


def asked(manner):
    """Return the messages."""
    question = f"What is the fee for late reports? Answer {manner}."
    return [("system", "The fee for late reports is 5 euros."), ("user", question)]


async def asynchronous(model):
    """Return a plain answer and a streamed one."""
    whole = (await model.ainvoke(asked("truly"))).content
    return [whole, "".join([chunk.content async for chunk in model.astream(asked("truly"))])]


def main(url, key, *_):
    """Call, and print what was seen."""
    given = {"base_url": f"{url}/v1", "api_key": key, "model": "gpt-4o-mini", "max_retries": 0}
    model = ChatOpenAI(**given)
    seen = {"plain": model.invoke(asked("truly")).content}
    seen["stream"] = "".join(chunk.content for chunk in model.stream(asked("truly")))
    seen["asynchronous"] = asyncio.run(asynchronous(model))
    with_headers = ChatOpenAI(**given, include_response_headers=True).invoke(asked("truly"))
    seen["header"] = with_headers.response_metadata["headers"].get("crp-safety-hallucination-risk")
    strict = ChatOpenAI(**given, extra_body={"groundtrail": {"policy": "halt-on HIGH"}})
    chunks = list(strict.stream(asked("wrongly")))
    reasons = [chunk.response_metadata.get("finish_reason") for chunk in chunks]
    seen["halted"] = ["".join(chunk.content for chunk in chunks), next(filter(None, reasons), None)]
    try:
        strict.invoke(asked("wrongly"))
    except openai.APIStatusError as error:
        seen["withheld"] = [error.status_code, error.code]
    sys.stdout.write(json.dumps(seen))


if __name__ == "__main__":
    main(*sys.argv[1:])
