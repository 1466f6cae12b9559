"""LiteLLM's real proxy before a scripted provider, with one entry in its configuration: answers are checked."""

import json
import os
import socket
from pathlib import Path

import httpx
import pytest

from tests.e2e.processes import command, environment, start
from tests.fakes.scripted_chat import ScriptedChat
from tests.patience import patient
from tools.real_servers import litellm

pytestmark = [pytest.mark.needs_litellm, pytest.mark.timeout(300)]

FEE = "The fee for late reports is 5 euros."
WRONG = "The fee for late reports is 6 euros."


def answer(messages):
    return WRONG if "wrongly" in json.dumps(messages) else FEE


@pytest.fixture(scope="module")
def proxy(tmp_path_factory):
    """Yield the proxy's URL and the provider behind it."""
    program = os.environ.get(litellm.VARIABLE, "")
    if not program:
        pytest.skip(f"set {litellm.VARIABLE} to the path of LiteLLM's program, as make test-real does")
    folder = tmp_path_factory.mktemp("litellm")
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    patience = {"GROUNDTRAIL_HTTP__CALL_TIMEOUT_S": str(patient(60))}
    env = environment(folder / "data", GROUNDTRAIL_HTTP__PORT=str(port), **patience)
    made = command(folder, "keys", "create", "--label", "proxy", "--role", "reader", "--json", env=env)
    assert made.returncode == 0, made.stdout + made.stderr
    server = start(folder, "suite", env=env)
    provider = ScriptedChat(answer)
    try:
        with provider.running() as base:
            guardrail = {
                "guardrail": "generic_guardrail_api",
                "mode": ["pre_call", "post_call"],
                "api_base": f"http://127.0.0.1:{port}",
                "api_key": json.loads(made.stdout)["api_key"],
                "default_on": True,
                "additional_provider_specific_params": {"policy": "halt-on HIGH"},
            }
            behind = {"model": "openai/scripted", "api_base": base, "api_key": "none"}
            configuration = {
                "model_list": [{"model_name": "any", "litellm_params": behind}],
                "guardrails": [{"guardrail_name": "groundtrail", "litellm_params": guardrail}],
            }
            with litellm.running(Path(program), configuration) as url:
                yield url, provider
    finally:
        server.stop()


def asked(url, manner, **more):
    messages = [
        {"role": "system", "content": FEE},
        {"role": "user", "content": f"What is the fee for late reports? Answer {manner}."},
    ]
    headers = {"Authorization": f"Bearer {litellm.MASTER_KEY}"}
    body = {"model": "any", "messages": messages, **more}
    return httpx.post(f"{url}/v1/chat/completions", json=body, headers=headers, timeout=patient(60))


def test_a_true_answer_arrives_unchanged(proxy):
    response = asked(proxy[0], "truly")
    assert response.status_code == 200, response.text
    assert response.json()["choices"][0]["message"]["content"] == FEE


def test_a_wrong_answer_is_withheld_and_the_client_learns_why(proxy):
    response = asked(proxy[0], "wrongly")
    assert response.status_code == 400
    assert "5 euros in system message" in response.json()["error"]["message"]


def test_a_wrong_answer_is_cut_off_in_a_stream_and_a_true_one_is_not(proxy):
    assert "Withheld" in asked(proxy[0], "wrongly", stream=True).text
    whole = asked(proxy[0], "truly", stream=True).text
    assert "Withheld" not in whole
    assert "5 " in whole


def test_nothing_of_ours_reaches_the_provider(proxy):
    url, provider = proxy
    asked(url, "truly")
    headers, body = provider.asked[-1]
    assert not any("groundtrail" in text.lower() or "crp" in text.lower() for text in [*headers, json.dumps(body)])
