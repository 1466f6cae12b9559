"""An OpenAI-compatible provider on loopback that answers with one fixed text and keeps every byte that reaches it."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass(frozen=True)
class Seen:
    """One request as it arrived."""

    path: str
    headers: dict[str, str]
    body: bytes


@dataclass
class Provider:
    """The running provider; ``text`` is what it will say next, after what stands in ``first``."""

    base_url: str
    text: str = "Nothing."
    first: list[str] = field(default_factory=list)
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
            self.answer(self.rfile.read(int(self.headers["content-length"])), _completion(said))

        def answer(self, body: bytes, reply: dict):
            provider.requests.append(Seen(self.path, {k.lower(): v for k, v in self.headers.items()}, body))
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
