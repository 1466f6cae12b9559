"""An OpenAI-compatible provider that says what a script says, plain and streamed; remembers what it was asked."""

import contextlib
import json
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class ScriptedChat:
    """A provider on loopback; ``answer`` makes an answer of the request's messages."""

    def __init__(self, answer: Callable[[list], str]):
        self.answer = answer
        self.asked = []

    @contextlib.contextmanager
    def running(self):
        script = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                script.asked.append((dict(self.headers), body))
                text = script.answer(body["messages"])
                self._streamed(text) if body.get("stream") else self._plain(text)

            def _plain(self, text):
                choice = {
                    "index": 0,
                    "message": {"role": "assistant", "content": text},
                    "finish_reason": "stop",
                }
                usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
                whole = {"id": "x", "object": "chat.completion", "created": 1, "model": "scripted"}
                data = json.dumps({**whole, "choices": [choice], "usage": usage}).encode()
                self.send_response(200)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def _streamed(self, text):
                self.send_response(200)
                self.send_header("content-type", "text/event-stream")
                self.end_headers()
                for piece in text.split(" "):
                    self._event({"role": "assistant", "content": f"{piece} "}, None)
                self._event({}, "stop")
                self.wfile.write(b"data: [DONE]\n\n")

            def _event(self, delta, reason):
                choice = {"index": 0, "delta": delta, "finish_reason": reason}
                whole = {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "scripted"}
                self.wfile.write(f"data: {json.dumps({**whole, 'choices': [choice]})}\n\n".encode())

            def log_message(self, *_):
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/v1"
        finally:
            server.shutdown()
            server.server_close()
            thread.join()
