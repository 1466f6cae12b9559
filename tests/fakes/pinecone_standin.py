"""A stand-in for an index of Pinecone, on loopback: no engine, written from the service's published contract.

It keeps what the contract says of requests, limits, errors, namespaces, paging and log positions. Searches compare
every vector. Writes go to a log, and reads see them ``lag_s`` later, as the service's do.
"""

import json
import math
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

API_KEY = "standin-key"
MOST_VECTORS, MOST_IDS, MOST_HITS, MOST_LISTED = 1_000, 1_000, 10_000, 100


@dataclass
class RefusedError(Exception):
    """An answer that is no 200."""

    status: int
    text: str

    @property
    def body(self) -> dict[str, Any]:
        return {"code": {401: 16, 404: 5}.get(self.status, 3), "message": self.text, "details": []}


@dataclass
class Log:
    """Writes in the order in which they came, and the state that reads see."""

    lag_s: float
    entries: list[tuple[float, str, str, list[float] | None]] = field(default_factory=list)
    shown: dict[str, dict[str, list[float]]] = field(default_factory=dict)
    applied: int = 0

    def write(self, namespace: str, vector_id: str, values: list[float] | None) -> None:
        self.entries.append((time.monotonic(), namespace, vector_id, values))

    def catch_up(self) -> None:
        while self.applied < len(self.entries) and self.entries[self.applied][0] + self.lag_s <= time.monotonic():
            _, namespace, vector_id, values = self.entries[self.applied]
            held = self.shown.setdefault(namespace, {})
            if values is None:
                held.pop(vector_id, None)
            else:
                held[vector_id] = values
            self.applied += 1


class PineconeStandIn(ThreadingHTTPServer):
    """An index of one dimension, with cosine.

    Args:
        dimension: of every vector.
        lag_s: how long reads lag behind writes.
        positions: answers tell log positions.
    """

    daemon_threads = True

    def __init__(self, dimension: int, *, lag_s: float = 0.0, positions: bool = True) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.dimension, self.positions, self.log = dimension, positions, Log(lag_s)
        self.lock = threading.Lock()
        self.sent: list[tuple[str, dict[str, Any]]] = []
        self.broken = False

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def answer(self, method: str, path: str, asked: dict[str, Any], key: str) -> tuple[dict[str, Any], dict[str, str]]:
        with self.lock:
            if self.broken:
                raise RefusedError(500, "internal error")
            if key != API_KEY:
                raise RefusedError(401, "Invalid API key")
            self.sent.append((path, asked))
            self.log.catch_up()
            doing: Callable[[dict[str, Any]], dict[str, Any]] | None = {
                ("POST", "/vectors/upsert"): self.upsert,
                ("POST", "/vectors/delete"): self.delete,
                ("POST", "/query"): self.query,
                ("GET", "/vectors/list"): self.page,
                ("GET", "/vectors/fetch"): self.fetch,
                ("POST", "/describe_index_stats"): self.stats,
            }.get((method, path))
            if doing is None:
                raise RefusedError(404, f"no {method} {path}")
            found = doing(asked)
            if not self.positions:
                return found, {}
            if path in {"/vectors/upsert", "/vectors/delete"}:
                return found, {"x-pinecone-lsn-committed": str(len(self.log.entries))}
            return found, {"x-pinecone-lsn-reconciled": str(self.log.applied)}

    def upsert(self, asked: dict[str, Any]) -> dict[str, Any]:
        vectors = asked["vectors"]
        if not 0 < len(vectors) <= MOST_VECTORS:
            raise RefusedError(400, f"{len(vectors)} vectors")
        for one in vectors:
            self._check(one["values"])
        for one in vectors:
            self.log.write(asked.get("namespace", ""), one["id"], one["values"])
        return {"upsertedCount": len(vectors)}

    def delete(self, asked: dict[str, Any]) -> dict[str, Any]:
        if not 0 < len(asked["ids"]) <= MOST_IDS:
            raise RefusedError(400, f"{len(asked['ids'])} ids")
        namespace = asked.get("namespace", "")
        if all(written != namespace for _, written, _, _ in self.log.entries):
            raise RefusedError(404, "Namespace not found")
        for one in asked["ids"]:
            self.log.write(namespace, one, None)
        return {}

    def query(self, asked: dict[str, Any]) -> dict[str, Any]:
        self._check(asked["vector"])
        if not 0 < asked["topK"] <= MOST_HITS:
            raise RefusedError(400, f"topK {asked['topK']}")
        namespace = asked.get("namespace", "")
        scored = [
            {"id": one, "score": cosine(asked["vector"], values), "values": []}
            for one, values in self.log.shown.get(namespace, {}).items()
        ]
        best = sorted(scored, key=lambda one: (-float(str(one["score"])), str(one["id"])))[: asked["topK"]]
        return {"matches": best, "namespace": namespace, "usage": {"readUnits": 1}}

    def page(self, asked: dict[str, Any]) -> dict[str, Any]:
        namespace, limit = asked.get("namespace", ""), int(asked.get("limit", MOST_LISTED))
        after = asked.get("paginationToken", "")
        ids = sorted(one for one in self.log.shown.get(namespace, {}) if one > after)
        page: dict[str, Any] = {"vectors": [{"id": one} for one in ids[:limit]], "namespace": namespace}
        if len(ids) > limit:
            page["pagination"] = {"next": ids[limit - 1]}
        return page | {"usage": {"readUnits": 1}}

    def fetch(self, asked: dict[str, Any]) -> dict[str, Any]:
        ids, namespace = asked["ids"], asked.get("namespace", "")
        if not 0 < len(ids) <= MOST_IDS:
            raise RefusedError(400, f"{len(ids)} ids")
        held = self.log.shown.get(namespace, {})
        found = {one: {"id": one, "values": held[one]} for one in ids if one in held}
        return {"vectors": found, "namespace": namespace, "usage": {"readUnits": 1}}

    def stats(self, _asked: dict[str, Any]) -> dict[str, Any]:
        held = {name: {"vectorCount": len(vectors)} for name, vectors in self.log.shown.items() if vectors}
        total = sum(one["vectorCount"] for one in held.values())
        shape = {"dimension": self.dimension, "metric": "cosine", "vectorType": "dense"}
        return {"namespaces": held, "indexFullness": 0.0, "totalVectorCount": total} | shape

    def _check(self, values: list[float]) -> None:
        if len(values) != self.dimension:
            raise RefusedError(400, f"Vector dimension {len(values)} does not match the index's {self.dimension}")

    def handle_error(self, request: Any, client_address: Any) -> None:  # a client that breaks off
        pass


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # the answer's head and body are two writes
    server: PineconeStandIn

    def do_GET(self) -> None:
        where = urlsplit(self.path)
        asked: dict[str, Any] = parse_qs(where.query)
        self._serve("GET", where.path, {name: one if name == "ids" else one[0] for name, one in asked.items()})

    def do_POST(self) -> None:
        sent = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self._serve("POST", self.path, json.loads(sent or b"{}"))

    def _serve(self, method: str, path: str, asked: dict[str, Any]) -> None:
        status, headers = 200, {}
        try:
            body, headers = self.server.answer(method, path, asked, self.headers.get("Api-Key", ""))
        except RefusedError as refusal:
            status, body = refusal.status, refusal.body
        text = json.dumps(body).encode()
        self.send_response(status)
        for name, value in {**headers, "Content-Type": "application/json", "Content-Length": str(len(text))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_: Any) -> None:
        pass


def cosine(one: list[float], other: list[float]) -> float:
    lengths = math.sqrt(sum(x * x for x in one) * sum(y * y for y in other))
    return sum(x * y for x, y in zip(one, other, strict=True)) / lengths if lengths else 0.0


@contextmanager
def pinecone_standin(dimension: int, **options: Any) -> Iterator[PineconeStandIn]:
    """Serve one until the block ends."""
    server = PineconeStandIn(dimension, **options)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
