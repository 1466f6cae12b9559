"""An OpenAI-compatible endpoint on loopback whose answers a test scripts: right, hostile, broken, slow, or none."""

import json
import re
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

MODEL = "small-judge"


@dataclass
class Raw:
    """What goes over the wire as it is."""

    status: int = 200
    body: bytes = b""
    headers: dict = field(default_factory=dict)
    delay_s: float = 0.0
    endless: bool = False


def data_of(sent):
    """Return the data of a judge's prompt: the one line between its marks."""
    user = sent["messages"][1]["content"]
    found = re.fullmatch(r"<<<(\w+)\n([^\n]*)\n\1>>>", user)
    assert found is not None, "the data are not one line between two marks"
    assert found.group(1) in sent["messages"][0]["content"]
    return json.loads(found.group(2))


def votes(sent, verdict):
    """Return the answer of a judge that says ``verdict(claim)`` of each claim's text."""
    said = [{"id": one["id"], "verdict": verdict(one["claim"])} for one in data_of(sent)["claims"]]
    return json.dumps({"votes": said})


def all_of(verdict):
    """Return a script that votes the same on every claim."""
    return lambda sent: votes(sent, lambda _: verdict)


def completion(text, **changes):
    """Return the body of a chat completion."""
    choices = [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}]
    usage = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
    reply = {"id": "x", "object": "chat.completion", "created": 1, "model": MODEL, "choices": choices, "usage": usage}
    return json.dumps(reply | changes).encode()


class Endpoint(ThreadingHTTPServer):
    """``script`` gives a text or a ``Raw`` for what was sent; a list gives one after the other, the last for ever."""

    daemon_threads = True

    def __init__(self, script):
        super().__init__(("127.0.0.1", 0), Handler)
        self.script = script
        self.sent = []
        self.authorizations = []
        self.closing = threading.Event()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    def answer(self, sent):
        self.sent.append(sent)
        script = self.script
        if isinstance(script, list):
            script = script[min(len(self.sent), len(script)) - 1]
        found = script(sent) if callable(script) else script
        return found if isinstance(found, Raw) else Raw(body=completion(found))

    def handle_error(self, request, client_address):  # a client that breaks off is what some tests are about
        pass


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: "Endpoint"

    def log_message(self, *_):
        pass

    def do_GET(self):
        body = json.dumps({"object": "list", "data": [{"id": MODEL, "object": "model", "created": 1, "owned_by": "x"}]})
        self._send(Raw(body=body.encode()))

    def do_POST(self):
        self.server.authorizations.append(self.headers.get("authorization"))
        self._send(self.server.answer(json.loads(self.rfile.read(int(self.headers["content-length"])))))

    def _send(self, raw):
        if raw.delay_s:
            self.server.closing.wait(raw.delay_s)
        self.send_response(raw.status)
        self.send_header("content-type", "application/json")
        for name, value in raw.headers.items():
            self.send_header(name, value)
        if not raw.endless:
            self.send_header("content-length", str(len(raw.body)))
        self.end_headers()
        self.wfile.write(raw.body)
        while raw.endless and not self.server.closing.is_set():
            self.wfile.write(b" " * 65536)


@contextmanager
def serving(script):
    """Serve the script until the block ends."""
    server = Endpoint(script)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server
    finally:
        server.closing.set()
        server.shutdown()
        server.server_close()
