"""Stubs and providers that answer every call with something sound, in no time: for calls that a document generates."""

import contextlib
import json

from google.protobuf.message_factory import GetMessageClass

from services.common.ports.chat_provider import ChatReply, ChatStream


class AnyStub:
    """A stub of one service; ``answers`` holds, by RPC, what is answered instead of an empty message.

    What is streamed is a list of messages there, and one empty message otherwise.
    """

    def __init__(self, service, **answers):
        for method in service.methods:
            kind = GetMessageClass(method.output_type)
            if method.server_streaming:
                setattr(self, method.name, _streams(answers.get(method.name, [kind()])))
            else:
                setattr(self, method.name, _answers(answers.get(method.name, kind())))


def _answers(answer):
    async def call(_message, **_options):
        return answer

    return call


def _streams(answers):
    return lambda _message, **_options: _Call(answers)


class _Call:
    def __init__(self, answers):
        self._answers = answers

    async def initial_metadata(self):
        return (("crp-stream-safety-mode", "hold-back"),)

    async def __aiter__(self):
        for answer in self._answers:
            yield answer

    def cancel(self):
        pass


class AnyProvider:
    """A provider whose answers are whole: ``whole`` and ``events`` are of its form."""

    def __init__(self, whole, events):
        self._whole = json.dumps(whole).encode()
        self._events = [json.dumps(event).encode() for event in events]

    async def ask(self, _body, _headers=None):
        return ChatReply(200, self._whole)

    async def models(self):
        return ChatReply(200, b'{"object": "list", "data": [{"id": "m"}]}')

    @contextlib.asynccontextmanager
    async def stream(self, _body, _headers=None):
        async def events():
            for event in self._events:
                yield event

        yield ChatStream(None, events())
