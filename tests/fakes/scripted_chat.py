"""A provider of both forms that says what a script says, plain and streamed; remembers what it was asked."""

import asyncio
import contextlib
import json
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

_MESSAGE = {"id": "msg_x", "type": "message", "role": "assistant", "model": "scripted", "stop_sequence": None}
_CHUNK = {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "scripted"}


class ScriptedChat:
    """A provider on loopback.

    Attributes:
        answer: makes an answer of the request's messages.
        refusal: a status to refuse with.
        body: what is answered instead of a completion.
        events: what is streamed instead of the answer.
        cut: a stream ends without its end.
        blocks: of a message, instead of one text block that holds the answer.
        asked: headers and body of every request; ``raw`` the bytes.
    """

    def __init__(self, answer: Callable[[list], str]):
        self.answer = answer
        self.refusal = 0
        self.body = None
        self.events = None
        self.cut = False
        self.blocks = None
        self.asked = []
        self.raw = []
        self._left = threading.Event()
        self._server: ThreadingHTTPServer

    def stop(self):
        self._server.shutdown()
        self._server.server_close()

    async def left(self, within_s):
        """Return whether a client left in the middle of a stream."""
        return await asyncio.to_thread(self._left.wait, within_s)

    @contextlib.contextmanager
    def running(self):  # noqa: C901 - a handler inside
        script = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                self._json(200, {"object": "list", "data": [{"id": "scripted", "object": "model", "created": 1}]})

            def do_POST(self):
                raw = self.rfile.read(int(self.headers["content-length"]))
                body = json.loads(raw)
                script.raw.append(raw)
                script.asked.append((dict(self.headers), body))
                if script.refusal:
                    self._json(script.refusal, {"error": {"message": "No.", "type": "t", "code": "slow"}})
                elif body.get("stream"):
                    with contextlib.suppress(ConnectionError):
                        self._streamed(script.answer(body["messages"]))
                        return
                    script._left.set()
                else:
                    self._plain(script.answer(body["messages"]))

            def _plain(self, text):
                if self.path.endswith("/messages"):
                    blocks = script.blocks or [{"type": "text", "text": text}]
                    usage = {"input_tokens": 1, "output_tokens": 1}
                    whole = {**_MESSAGE, "content": blocks, "stop_reason": "end_turn", "usage": usage}
                    self._json(200, whole if script.body is None else script.body)
                    return
                choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
                usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
                whole = {**_CHUNK, "object": "chat.completion", "choices": [choice], "usage": usage}
                self._json(200, whole if script.body is None else script.body)

            def _json(self, status, value):
                data = value if isinstance(value, bytes) else value if isinstance(value, str) else json.dumps(value)
                data = data.encode() if isinstance(data, str) else data
                self.send_response(status)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(data)))
                if status >= 400:
                    self.send_header("retry-after", "7")
                self.end_headers()
                with contextlib.suppress(ConnectionError):
                    self.wfile.write(data)

            def _streamed(self, text):
                self.send_response(200)
                self.send_header("content-type", "text/event-stream")
                self.end_headers()
                for event in script.events or ():
                    self.wfile.write(event)
                if script.events is not None:
                    return
                if self.path.endswith("/messages"):
                    self._message(script.blocks or [{"type": "text", "text": text}])
                    return
                for piece in text.split(" "):
                    self._event({"role": "assistant", "content": f"{piece} "}, None)
                if not script.cut:
                    self._event({}, "stop")
                    self.wfile.write(b"data: [DONE]\n\n")

            def _message(self, blocks):
                start = {
                    **_MESSAGE,
                    "content": [],
                    "stop_reason": None,
                    "usage": {"input_tokens": 1, "output_tokens": 1},
                }
                self._named("message_start", message=start)
                for index, block in enumerate(blocks):
                    empty = {**block, "text": ""} if block["type"] == "text" else block
                    self._named("content_block_start", index=index, content_block=empty)
                    for piece in block.get("text", "").split(" ") if block["type"] == "text" else ():
                        delta = {"type": "text_delta", "text": f"{piece} "}
                        self._named("content_block_delta", index=index, delta=delta)
                    self._named("content_block_stop", index=index)
                if not script.cut:
                    end = {"stop_reason": "end_turn", "stop_sequence": None}
                    self._named("message_delta", delta=end, usage={"output_tokens": 5})
                    self._named("message_stop")

            def _named(self, kind, **value):
                data = json.dumps({"type": kind, **value})
                self.wfile.write(f"event: {kind}\ndata: {data}\n\n".encode())

            def _event(self, delta, reason):
                choice = {"index": 0, "delta": delta, "finish_reason": reason}
                self.wfile.write(f"data: {json.dumps({**_CHUNK, 'choices': [choice]})}\n\n".encode())

            def log_message(self, *_):
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{self._server.server_port}/v1"
        finally:
            self.stop()
            thread.join()
