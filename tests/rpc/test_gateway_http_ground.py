"""Mode ground over HTTP: both dialects before a dispatching gateway over real gRPC (ADR 0140, 0141, 0143)."""

import contextlib
import uuid
from typing import Any

import openai
import pytest
from crp.ckf.v1 import knowledge_service_pb2 as knowledge

from services.common.settings import ChatSettings, GatewaySettings
from services.common.settings.chat import ChatMode
from services.common.settings.http import HttpSettings
from tests.fakes.chat_door import CHAT, MESSAGES, Behind, chat_door
from tests.fakes.dag_world import SubjectAuthenticator
from tests.fakes.gateway_world import ANSWER, ETAG, FAULT, QUESTION, GatewayWorld, Script, contradicting

ASKED: dict[str, Any] = {"model": "groundtrail", "messages": [{"role": "user", "content": QUESTION}]}
MESSAGE = ASKED | {"max_tokens": 100}


@contextlib.asynccontextmanager
async def grounded(world=None, subject="alice", **behind):
    world = world or GatewayWorld()
    async with (
        world.serving() as client,
        chat_door(Behind(SubjectAuthenticator(), client.channel, **behind), subject) as door,
    ):
        door.world = world
        yield door


def text_of(events):
    return "".join(data["choices"][0]["delta"].get("content", "") for _, data in events[:-1] if data["choices"])


class TestPlain:
    async def test_the_answer_comes_in_the_form_with_object_and_headers(self):
        async with grounded() as door:
            response = await door.ask(ASKED)
        body, headers = response.json(), response.headers
        told = body["groundtrail"]
        assert response.status_code == 200, response.text
        assert body["object"] == "chat.completion"
        assert body["choices"][0] == {
            "index": 0,
            "message": {"role": "assistant", "content": ANSWER, "refusal": None},
            "logprobs": None,
            "finish_reason": "stop",
        }
        assert (told["mode"], told["risk_level"], told["session"]["window_number"]) == ("ground", "LOW", 1)
        assert headers["CRP-Context-Session-Id"] == told["session"]["session_id"]
        assert headers["CRP-Context-Protocol-Version"] == "3.0.0"
        assert headers["CRP-Safety-Hallucination-Risk"] == "LOW"
        assert headers["CRP-Provenance-Chain-Integrity"] == "UNVERIFIED"
        assert headers["CRP-Set-Session"].startswith(f"token={told['session']['session_token']};")
        assert door.world.statuses() == ["COMMITTED"]

    async def test_openais_own_client_reads_it(self):
        async with grounded() as door:
            client = openai.AsyncOpenAI(
                base_url="http://gateway/v1",
                api_key="none",
                http_client=door.http,
                default_headers={"Authorization": "alice"},
            )
            completion = await client.chat.completions.create(**ASKED)
            pieces = [chunk async for chunk in await client.chat.completions.create(**ASKED, stream=True)]
            assert [model.id async for model in client.models.list()] == ["groundtrail"]
        assert completion.choices[0].message.content == ANSWER
        assert "".join(chunk.choices[0].delta.content or "" for chunk in pieces) == ANSWER
        assert pieces[-1].choices[0].finish_reason == "stop"

    async def test_instruction_and_numbers_reach_the_model_and_history_what_leans_on_it(self):
        world = GatewayWorld()
        messages = [
            {"role": "system", "content": "Answer briefly."},
            {"role": "user", "content": QUESTION},
            {"role": "assistant", "content": "Seven days."},
            {"role": "user", "content": [{"type": "text", "text": "And for a theft?"}]},
        ]
        async with grounded(world) as door:
            response = await door.ask(
                {"model": "gpt-4o", "messages": messages, "max_tokens": 77, "temperature": 0.1, "seed": 5}
            )
        assert response.status_code == 200, response.text
        model: Any = world.model
        (request,) = model.requests
        assert request.messages[0].content.startswith("Answer briefly.")
        assert QUESTION in request.messages[1].content
        assert "Seven days." not in request.messages[1].content
        assert (request.model, request.max_tokens, request.temperature, request.seed) == ("gpt-4o", 77, 0.1, 5)
        assert response.json()["groundtrail"]["unused"] == ["messages[2]"]
        assert "motor accident: for a theft" in world.script.asked["BuildEnvelope"][0].query

    async def test_the_object_and_the_evidence_are_left_out_on_wish(self):
        async with grounded() as door:
            whole = await door.ask(ASKED | {"groundtrail": {"labelled": False}})
            short = await door.ask(ASKED | {"groundtrail": {"evidence": False}})
        assert "groundtrail" not in whole.json()
        assert whole.headers["CRP-Safety-Hallucination-Risk"] == "LOW"
        assert "claims" not in short.json()["groundtrail"]

    @pytest.mark.parametrize(
        ("more", "param"),
        [
            ({"n": 2}, "n"),
            ({"tools": [{"type": "function"}]}, "tools"),
            ({"response_format": {"type": "json_object"}}, "response_format"),
            ({"logprobs": True}, "logprobs"),
            ({"stop": ["x"]}, "stop"),
            ({"anything": 1}, "anything"),
            ({"max_tokens": "many"}, "max_tokens"),
            ({"seed": 2**70}, "seed"),
            ({"temperature": 9.0}, "temperature"),
            ({"messages": []}, "messages"),
            ({"messages": [{"role": "assistant", "content": "x"}]}, "messages"),
            ({"messages": [{"role": "tool", "content": "x"}, *ASKED["messages"]]}, "messages[0].role"),
            ({"messages": [{"role": "user", "content": [{"type": "image_url"}]}]}, "messages[0].content[0]"),
            ({"groundtrail": {"facts": ["x"]}}, "groundtrail.facts"),
            ({"groundtrail": {"unknown": 1}}, "groundtrail.unknown"),
            ({"groundtrail": {"mode": "check"}}, "groundtrail.mode"),
            ({"groundtrail": {"include_superseded": "perhaps"}}, "groundtrail.include_superseded"),
            ({"groundtrail": {"retrieval_mode": "magic"}}, "groundtrail.retrieval_mode"),
            ({"groundtrail": {"conversation": "a", "session_token": "b"}}, "groundtrail.conversation"),
        ],
    )
    async def test_what_cannot_be_honoured_is_refused_by_name(self, more, param):
        async with grounded() as door:
            response = await door.ask(ASKED | more)
            assert door.world.windows() == []
        error = response.json()["error"]
        assert (response.status_code, error["type"], error["param"]) == (400, "invalid_request_error", param)
        assert response.headers["CRP-Context-Protocol-Version"] == "3.0.0"

    async def test_half_a_character_is_refused(self):
        body = '{"messages": [{"role": "user", "content": "What is \\ud83d?"}]}'
        async with grounded() as door:
            response = await door.http.post(CHAT, content=body, headers={"Authorization": "alice"})
        assert (response.status_code, response.json()["error"]["param"]) == (400, "body")

    async def test_what_asks_for_nothing_is_let_through(self):
        neutral = {"n": 1, "top_p": 1.0, "stop": None, "tools": [], "user": "u", "response_format": {"type": "text"}}
        async with grounded() as door:
            assert (await door.ask(ASKED | neutral)).status_code == 200

    @pytest.mark.parametrize("path", [CHAT, MESSAGES])
    async def test_how_facts_are_found_is_asked_for_in_the_field(self, path):
        wanted = {"groundtrail": {"include_superseded": True, "retrieval_mode": "text"}}
        async with grounded() as door:
            for more in (wanted, {}):
                response = await door.ask(MESSAGE | more, path)
                assert response.status_code == 200, response.text
            asked = door.world.script.asked["BuildEnvelope"]
        assert [(one.include_superseded, one.retrieval_mode) for one in asked] == [
            (True, knowledge.SEARCH_MODE_TEXT),
            (False, knowledge.SEARCH_MODE_UNSPECIFIED),
        ]

    async def test_a_reader_may_not(self):
        async with grounded(subject="reader") as door:
            response = await door.ask(ASKED)
        assert (response.status_code, response.json()["error"]["code"]) == (403, "ROLE_MISSING")


class TestHeaders:
    async def test_request_headers_are_read_into_their_fields(self):
        async with grounded() as door:
            response = await door.ask(
                ASKED,
                CRP_Safety_Policy="halt-on HIGH",
                CRP_LLM_Grounding_Mode="context-strict",
                CRP_Agent_Safety_Budget="0.5",
                CRP_Accept_Quality="S, A, B",
                CRP_Context_Cache="no-store, max-age=5",
                CRP_Provenance_HMAC="dropped",
            )
            (build,) = door.world.script.asked["BuildEnvelope"]
        assert response.status_code == 200, response.text
        assert response.headers["CRP-Safety-Policy-Applied"] == "halt-on HIGH"
        assert response.headers["CRP-Agent-Safety-Budget"] == "0.5"
        assert build.grounding_mode == 1

    @pytest.mark.parametrize(
        ("name", "value", "param", "code"),
        [
            ("CRP_Safety_Hallucination_Risk", "LOW", None, "RESPONSE_ONLY_HEADER"),
            ("CRP_Anything", "x", None, "RESPONSE_ONLY_HEADER"),
            ("CRP_Accept_Risk", "SOME", "crp-accept-risk", "INVALID_FIELD"),
            ("CRP_Agent_Loop_Depth", "-1", "crp-agent-loop-depth", "INVALID_FIELD"),
            ("CRP_Agent_Safety_Budget", "much", "crp-agent-safety-budget", "INVALID_FIELD"),
            ("CRP_Compliance_Data_Residency", "eu", "data_residency", "INVALID_FIELD"),
            ("CRP_Safety_Policy", "no-such 3", None, "UNKNOWN_DIRECTIVE"),
            ("CRP_Stream_Safety_Mode", "soon", "crp-stream-safety-mode", "INVALID_FIELD"),
            ("X_Groundtrail_Mode", "dream", "x-groundtrail-mode", "INVALID_FIELD"),
        ],
    )
    async def test_what_cannot_be_read_is_refused(self, name, value, param, code):
        async with grounded() as door:
            response = await door.ask(ASKED, **{name: value})
            assert door.world.windows() == []
        error = response.json()["error"]
        assert (response.status_code, error["code"]) == (400, code)
        assert error["param"] == param or code == "UNKNOWN_DIRECTIVE"

    async def test_header_and_field_may_not_say_the_same_twice(self):
        async with grounded() as door:
            response = await door.ask(
                ASKED | {"groundtrail": {"policy": "halt-on LOW"}}, CRP_Safety_Policy="halt-on HIGH"
            )
        assert (response.status_code, response.json()["error"]["param"]) == (400, "groundtrail.policy")

    async def test_an_etag_that_holds_is_304_without_a_body(self):
        async with grounded(GatewayWorld(Script(not_modified=True))) as door:
            response = await door.ask(ASKED, CRP_Context_If_Match=ETAG)
        assert (response.status_code, response.content) == (304, b"")
        assert response.headers["CRP-Context-ETag"] == ETAG

    @pytest.mark.parametrize("path", [CHAT, MESSAGES])
    async def test_a_forged_token_is_401_and_may_be_tried_again_at_once(self, path):
        async with grounded() as door:
            response = await door.ask(MESSAGE, path, CRP_Session_Token="forged.token")
        assert response.status_code == 401
        assert response.headers["CRP-Safety-Retry-After"] == "0"
        assert response.json()["error"]["code"] == "TOKEN_INVALID"

    async def test_no_text_of_an_answer_is_in_a_header(self):
        secret = "Zanzibar pays 7 doubloons."
        async with grounded(GatewayWorld(replies=(secret,))) as door:
            response = await door.ask(ASKED)
        assert response.json()["choices"][0]["message"]["content"] == secret
        assert not any("zanzibar" in value.lower() or "doubloons" in value for value in response.headers.values())


class TestSessions:
    async def test_a_token_in_the_header_continues(self):
        async with grounded() as door:
            first = (await door.ask(ASKED)).json()["groundtrail"]["session"]
            response = await door.ask(ASKED, CRP_Session_Token=first["session_token"])
            again = await door.ask(ASKED, CRP_Session_Token=first["session_token"])
        second = response.json()["groundtrail"]["session"]
        assert (second["session_id"], second["window_number"]) == (first["session_id"], 2)
        assert response.headers["CRP-Provenance-Chain-Integrity"] == "VALID"
        assert (again.status_code, again.json()["error"]["code"]) == (401, "TOKEN_SPENT")

    async def test_a_conversation_continues_by_its_id_for_its_key(self):
        talk = ASKED | {"groundtrail": {"conversation": "c-1"}}
        async with grounded() as door:
            numbers = [(await door.ask(talk)).json()["groundtrail"]["session"] for _ in range(3)]
            other = (await door.ask(ASKED | {"groundtrail": {"conversation": "c-2"}})).json()["groundtrail"]["session"]
            door.subject = "alice-2"
            key = (await door.ask(talk)).json()["groundtrail"]["session"]
        assert [one["window_number"] for one in numbers] == [1, 2, 3]
        assert len({one["session_id"] for one in numbers}) == 1
        assert other["session_id"] != numbers[0]["session_id"]
        assert (key["window_number"], key["session_id"] != numbers[0]["session_id"]) == (1, True)

    async def test_a_repeat_under_its_key_is_the_same_answer(self):
        talk = ASKED | {"groundtrail": {"conversation": "c"}}
        name = str(uuid.uuid4())
        async with grounded() as door:
            first = await door.ask(talk, Idempotency_Key=name)
            again = await door.ask(talk, Idempotency_Key=name)
            third = await door.ask(talk)
        assert again.json()["groundtrail"] == first.json()["groundtrail"]
        assert third.json()["groundtrail"]["session"]["window_number"] == 2

    async def test_a_session_that_is_complete_goes_on_with_a_new_one(self):
        talk = ASKED | {"groundtrail": {"conversation": "c"}}
        async with grounded() as door:
            windows = [(await door.ask(talk)).json()["groundtrail"]["session"]["window_number"] for _ in range(6)]
        assert windows == [1, 2, 3, 4, 5, 1]

    async def test_what_is_forgotten_begins_anew(self):
        talk = {name: ASKED | {"groundtrail": {"conversation": name}} for name in "ab"}
        async with grounded(chat=ChatSettings(conversations=1)) as door:
            for name in "ab":
                await door.ask(talk[name])
            response = await door.ask(talk["a"])
        assert response.json()["groundtrail"]["session"]["window_number"] == 1


class TestHalts:
    SECRET = "The claim may be reported within 900 days."

    @pytest.mark.parametrize("path", [CHAT, MESSAGES])
    @pytest.mark.parametrize("stream", [False, True])
    async def test_a_halt_is_451_without_a_word_of_the_answer(self, path, stream):
        async with grounded(GatewayWorld(Script(risk="CRITICAL"), replies=(self.SECRET,))) as door:
            response = await door.ask(MESSAGE | {"stream": stream}, path)
            assert door.world.statuses() == ["FAILED"]
        body = response.json()
        assert (response.status_code, body["error"]["code"]) == (451, "ANSWER_WITHHELD")
        assert body["groundtrail"]["crp_halt_reason"] == "CRITICAL_HALLUCINATION_RISK"
        assert response.headers["CRP-Safety-Retry-After"] == "oversight-required"
        assert response.headers["CRP-Safety-Policy-Violation"].startswith("halt-on CRITICAL")
        assert "900 days" not in response.text
        assert "900 days" not in str(response.headers)

    @pytest.mark.parametrize(("path", "reason"), [(CHAT, "content_filter"), (MESSAGES, "refusal")])
    async def test_one_that_comes_late_ends_the_stream_as_filtered(self, path, reason):
        world = GatewayWorld(Script(risk="CRITICAL"), replies=(self.SECRET,))
        slow = HttpSettings(port=0, event_interval_s=0.001)
        async with grounded(world, http=slow) as door:
            response, events = await door.events(MESSAGE, path)
        assert response.status_code == 200
        assert f'"{reason}"' in response.text
        assert "900 days" not in response.text
        told = next(data["groundtrail"] for _, data in events if "groundtrail" in data)
        assert told["headers"]["CRP-Safety-Retry-After"] == "oversight-required"


class TestStreamed:
    LONG = f"{ANSWER} A theft must be reported within 48 hours."

    async def test_it_is_the_plain_answer_with_the_headers_before_and_in_the_last_event(self):
        async with grounded(GatewayWorld(replies=(self.LONG,))) as door:
            asked = ASKED | {"stream_options": {"include_usage": True}}
            response, events = await door.events(asked, CRP_Stream_Safety_Mode="buffer")
        assert text_of(events) == self.LONG
        assert (
            len([1 for _, data in events[:-1] if data["choices"] and data["choices"][0]["delta"].get("content")]) == 2
        )
        assert events[-1][1] == "[DONE]"
        assert events[-2][1]["usage"]["total_tokens"] >= 0
        told = events[-3][1]["groundtrail"]
        assert told["headers"]["CRP-Set-Session"] == response.headers["CRP-Set-Session"]
        assert response.headers["CRP-Stream-Safety-Mode"] == "buffer"
        assert len({data["id"] for _, data in events[:-1]}) == 1

    @pytest.mark.parametrize("path", [CHAT, MESSAGES])
    async def test_a_sentence_is_held_back_until_it_has_passed(self, path):
        async with grounded(GatewayWorld(replies=(self.LONG,))) as door:
            response, events = await door.events(MESSAGE, path)
        told = next(data["groundtrail"] for _, data in events if "groundtrail" in data)
        assert response.headers["CRP-Stream-Safety-Mode"] == "hold-back"
        assert response.headers["CRP-Context-Session-Id"] == told["session"]["session_id"]
        assert told["headers"]["CRP-Stream-Safety-Mode"] == "hold-back"
        assert told["headers"]["CRP-Set-Session"]

    @pytest.mark.parametrize(("path", "reason"), [(CHAT, "content_filter"), (MESSAGES, "refusal")])
    async def test_a_faulted_sentence_ends_the_stream_as_filtered(self, path, reason):
        world = GatewayWorld(Script(report_of=contradicting), replies=(f"{ANSWER} {FAULT} Pay soon.",))
        async with grounded(world) as door:
            response, events = await door.events(MESSAGE, path)
        told = next(data["groundtrail"] for _, data in events if "groundtrail" in data)
        assert response.status_code == 200
        assert ANSWER in response.text
        assert "900 days" not in response.text
        assert "Pay soon" not in response.text
        assert f'"{reason}"' in response.text
        assert told["crp_halt_reason"] == "CRITICAL_HALLUCINATION_RISK"
        assert told["headers"]["CRP-Safety-Retry-After"] == "oversight-required"
        assert world.statuses() == ["FAILED"]

    async def test_a_streamed_conversation_goes_on(self):
        talk = ASKED | {"groundtrail": {"conversation": "c"}}
        async with grounded() as door:
            told = [
                next(data["groundtrail"] for _, data in (await door.events(talk))[1] if "groundtrail" in data)
                for _ in range(2)
            ]
            plain = (await door.ask(talk)).json()["groundtrail"]
        assert [one["session"]["window_number"] for one in (*told, plain)] == [1, 2, 3]

    async def test_a_slow_answer_comes_behind_comments(self):
        async with grounded(http=HttpSettings(port=0, event_interval_s=0.001)) as door:
            response, events = await door.events(ASKED)
        assert response.text.startswith(":")
        assert text_of(events) == ANSWER
        assert "CRP-Set-Session" not in response.headers
        assert events[-2][1]["groundtrail"]["headers"]["CRP-Set-Session"]

    async def test_a_failure_has_its_status(self):
        async with grounded() as door:
            field = {"conversation": "c", "session_token": "t"}
            response = await door.ask({**ASKED, "groundtrail": field, "stream": True})
        assert (response.status_code, response.json()["error"]["code"]) == (400, "INVALID_FIELD")

    @pytest.mark.parametrize("path", [CHAT, MESSAGES])
    async def test_a_model_without_a_tokenizer_is_asked_all_the_same(self, path):
        async with grounded() as door:
            response = await door.ask(MESSAGE | {"model": "unknown-1"}, path)
            (request,) = door.world.model.requests
            (built,) = door.world.script.asked["BuildEnvelope"]
        assert response.status_code == 200, response.text
        assert request.model == "unknown-1"
        assert (built.approximate_tokens, built.context_window_tokens) == (True, 8192)


class TestMessages:
    async def test_the_answer_comes_in_anthropics_form(self):
        async with grounded() as door:
            response = await door.ask(MESSAGE | {"system": "Answer briefly."}, MESSAGES)
            (request,) = door.world.model.requests
        body = response.json()
        assert response.status_code == 200, response.text
        assert (body["type"], body["role"], body["stop_reason"]) == ("message", "assistant", "end_turn")
        assert body["content"] == [{"type": "text", "text": ANSWER}]
        assert body["groundtrail"]["mode"] == "ground"
        assert response.headers["CRP-Context-Session-Id"].startswith("crp_sess_")
        assert request.messages[0].content.startswith("Answer briefly.")
        assert request.max_tokens == 100

    async def test_its_stream_has_the_forms_events_and_the_headers(self):
        async with grounded() as door:
            _, events = await door.events(MESSAGE, MESSAGES)
        assert [kind for kind, _ in events] == [
            *("message_start", "content_block_start", "content_block_delta", "content_block_stop"),
            *("message_delta", "crp-headers", "message_stop"),
        ]
        assert all(data["type"] == kind for kind, data in events)
        assert events[2][1]["delta"] == {"type": "text_delta", "text": ANSWER}
        assert events[4][1]["groundtrail"]["risk_level"] == "LOW"
        assert events[5][1]["headers"]["CRP-Context-Protocol-Version"] == "3.0.0"

    @pytest.mark.parametrize(
        ("more", "param"),
        [
            ({"tools": [{"name": "f"}]}, "tools"),
            ({"stop_sequences": ["x"]}, "stop_sequences"),
            ({"thinking": {"type": "enabled", "budget_tokens": 1024}}, "thinking"),
            ({"messages": [{"role": "user", "content": [{"type": "image"}]}]}, "messages[0].content[0]"),
        ],
    )
    async def test_what_cannot_be_honoured_is_refused_by_name(self, more, param):
        async with grounded() as door:
            response = await door.ask(MESSAGE | more, MESSAGES)
        body = response.json()
        assert (response.status_code, body["type"]) == (400, "error")
        assert (body["error"]["type"], body["error"]["param"]) == ("invalid_request_error", param)


class TestModes:
    async def test_a_deployment_that_strictly_wants_a_provider_says_there_is_none(self):
        async with grounded(chat=ChatSettings(mode="check")) as door:
            refused = await door.ask(ASKED)
            asked = await door.ask(ASKED, X_Groundtrail_Mode="ground")
        assert (refused.status_code, refused.json()["error"]["param"]) == (400, "groundtrail.mode")
        assert asked.status_code == 200

    async def test_a_keys_mode_is_taken_where_the_request_names_none(self):
        modes: dict[str, ChatMode] = {"crp_gw_test_alice123": "check"}
        async with grounded(chat=ChatSettings(mode_of_keys=modes)) as door:
            found = await door.ask(ASKED)
            door.subject = "alice-2"
            other = await door.ask(ASKED)
        assert (found.status_code, other.status_code) == (400, 200)

    async def test_residency_that_is_kept_is_taken(self):
        settings = GatewaySettings(data_residency="eu")
        async with grounded(GatewayWorld(settings=settings), gateway=settings) as door:
            response = await door.ask(ASKED, CRP_Compliance_Data_Residency="eu")
        assert response.headers["CRP-Compliance-Data-Residency"] == "eu"
