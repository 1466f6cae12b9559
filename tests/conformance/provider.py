"""An OpenAI-compatible provider on loopback that answers with one fixed text and keeps every byte that reaches it."""

import contextlib
import json
import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

EAGER = 60
EAGER_S = 0.01
HESITANT_S = 0.5
"""A stream's first words come at once, the others so slowly that whoever stops it does so before its end."""


@dataclass(frozen=True)
class Seen:
    """One request as it arrived."""

    path: str
    headers: dict[str, str]
    body: bytes


@dataclass
class Provider:
    """The running provider; ``text`` is what it will say next, after what stands in ``first``.

    ``sent`` counts the words that were streamed.
    """

    base_url: str
    text: str = "Nothing."
    first: list[str] = field(default_factory=list)
    sent: int = 0
    requests: list[Seen] = field(default_factory=list)

    @property
    def completions(self) -> list[Seen]:
        return [seen for seen in self.requests if seen.path.endswith("/chat/completions")]


def _completion(text: str) -> dict:
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}
    usage = {"prompt_tokens": 10, "completion_tokens": 10, "total_tokens": 20}
    named = {"id": "x", "object": "chat.completion", "created": 0, "model": "fixed-text"}
    return named | {"choices": [choice], "usage": usage}


@contextmanager
def running() -> Iterator[Provider]:
    """Serve on a free loopback port until the block ends."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            self.answer(b"", {"object": "list", "data": []})

        def do_POST(self):
            said = provider.first.pop(0) if provider.first else provider.text
            body = self.rfile.read(int(self.headers["content-length"]))
            if json.loads(body).get("stream"):
                self.stream(body, said)
            else:
                self.answer(body, _completion(said))

        def stream(self, body: bytes, said: str):
            """Send the text word by word, as long as somebody reads."""
            self.keep(body)
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.end_headers()
            with contextlib.suppress(OSError):
                for number, piece in enumerate(re.findall(r"\S+\s*", said)):
                    self.chunk({"content": piece} | ({"role": "assistant"} if not number else {}), None)
                    provider.sent += 1
                    time.sleep(EAGER_S if number < EAGER else HESITANT_S)
                self.chunk({}, "stop")
                self.wfile.write(b"data: [DONE]\n\n")

        def chunk(self, delta: dict, finish: str | None):
            choice = {"index": 0, "delta": delta, "finish_reason": finish}
            named = {"id": "x", "object": "chat.completion.chunk", "created": 0, "model": "fixed-text"}
            self.wfile.write(f"data: {json.dumps(named | {'choices': [choice]})}\n\n".encode())
            self.wfile.flush()

        def keep(self, body: bytes):
            provider.requests.append(Seen(self.path, {k.lower(): v for k, v in self.headers.items()}, body))

        def answer(self, body: bytes, reply: dict):
            self.keep(body)
            payload = json.dumps(reply).encode()
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(payload)))
            self.end_headers()
            self.wfile.write(payload)

        def log_message(self, *_):
            """Stay silent."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    provider = Provider(f"http://127.0.0.1:{server.server_address[1]}/v1")
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield provider
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
