"""What a program of a user's does with Anthropic's official package; run by an interpreter that has it.

Writes one JSON object: what came of a plain call, a stream, a withheld answer and a wrong key.
"""

import json
import sys

import anthropic

MODEL = "claude-any"


def main(url, key):
    """Call, and print what was seen."""
    client = anthropic.Anthropic(base_url=url, api_key=key, max_retries=0)

    def ask(manner, **more):
        return {
            "model": MODEL,
            "max_tokens": 100,
            "system": "The fee for late reports is 5 euros.",
            "messages": [{"role": "user", "content": f"What is the fee for late reports? Answer {manner}."}],
            **more,
        }

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
    sys.stdout.write(json.dumps(seen))


if __name__ == "__main__":
    main(*sys.argv[1:])
