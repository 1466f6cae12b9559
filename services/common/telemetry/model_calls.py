"""Calls of language models as OpenTelemetry's conventions for generative AI name them: a span each, and histograms.

Spans have the kind CLIENT and the name ``chat {model}``; the histograms are the conventions' own, in the names that
Prometheus gives them. What was said is told only where ``telemetry.log_content`` allows it, and only in spans.
"""

import json
import re
import time
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final

from opentelemetry import trace
from prometheus_client.core import HistogramMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from services.common.context import spender
from services.common.errors import CrpError
from services.common.names import plain_name
from services.common.telemetry.logs import scrub
from services.common.telemetry.traces import outgoing_context

CHAT: Final = "chat"
"""``gen_ai.operation.name`` of every call here."""
OTHER: Final = "_OTHER"
"""The conventions' word for a value that is not told apart."""
MOST_MODELS: Final = 64
"""Models that the histograms tell apart; callers name them, so that there could be any number."""
DURATION_BUCKETS_S: Final = tuple(0.01 * 2**step for step in range(14))
"""Upper bounds in seconds, inclusive, as the conventions advise: 0.01 to 81.92."""
TOKEN_BUCKETS: Final = tuple(4**step for step in range(14))
"""Upper bounds in tokens, inclusive, as the conventions advise: 1 to 67,108,864."""
_MOST_NAME_CHARS: Final = 128
_MODEL: Final = re.compile(r"[A-Za-z0-9][\w./:@+-]{0,127}", re.ASCII)
_CAUSE: Final = re.compile(r"[a-z][a-z0-9_]{0,63}")
_HTTP: Final = re.compile(r"http_(\d{3})")

Message = tuple[str, Sequence[Mapping[str, Any]]]
"""Who speaks, and the parts: ``{"type": "text", "content": …}``."""


@dataclass(frozen=True, slots=True)
class AskedModel:
    """What a model is asked, without the question.

    Attributes:
        provider: what callers are told of it; never an address.
        model: as the caller spells it.
        messages: of the chat; told only where content may be.
    """

    provider: str
    model: str
    is_streamed: bool = False
    max_tokens: int | None = None
    temperature: float | None = None
    top_p: float | None = None
    seed: int | None = None
    messages: Sequence[Message] = field(default=(), repr=False)


class _Histogram:
    __slots__ = ("bounds", "buckets", "total")

    def __init__(self, bounds: Sequence[float]) -> None:
        self.bounds = bounds
        self.buckets = [0] * (len(bounds) + 1)
        self.total = 0.0

    def add(self, value: float) -> None:
        self.buckets[bisect_left(self.bounds, value)] += 1
        self.total += value

    def cumulative(self) -> list[tuple[str, float]]:
        seen, out = 0, list[tuple[str, float]]()
        for bound, count in zip((*(f"{one:.10g}" for one in self.bounds), "+Inf"), self.buckets, strict=True):
            seen += count
            out.append((bound, seen))
        return out


class ModelCall:
    """One call that runs; what is read of the answer is written into it.

    Attributes:
        model, response_id: as the provider says; empty where it does not.
        finish_reasons: of its choices.
        input_tokens, output_tokens: as it counted; ``None`` where it did not say.
        error_type: why there is no answer; empty where there is one.
        texts: of the choices; told only where content may be.
        shows_content: whether ``texts`` are of any use.
        spender: the credential that it is counted for; empty for none.
        chunks: pieces that came of a streamed answer.
        written: the text of the answer, where it was read; for whoever counts its tokens.
    """

    def __init__(self, asked: AskedModel, span: trace.Span, *, shows_content: bool) -> None:
        self.asked = asked
        self.span = span
        self.shows_content = shows_content and span.is_recording()
        self.model = ""
        self.response_id = ""
        self.finish_reasons: tuple[str, ...] = ()
        self.input_tokens: int | None = None
        self.output_tokens: int | None = None
        self.error_type = ""
        self.texts: tuple[str, ...] = ()
        self.first_chunk_s: float | None = None
        self.chunks = 0
        self.spender = spender()
        self.written: str | None = None
        self._began = time.perf_counter()
        self._ended: float | None = None

    @property
    def seconds(self) -> float:
        """How long the provider took, in seconds; until now where its answer has not ended."""
        return (time.perf_counter() if self._ended is None else self._ended) - self._began

    def chunk(self) -> None:
        """Note that a piece of a streamed answer has come."""
        self.chunks += 1
        if self.first_chunk_s is None:
            self.first_chunk_s = self.seconds

    def ended(self) -> None:
        """Note that the provider's answer has ended; what is done with it afterwards is not its time."""
        if self._ended is None:
            self._ended = time.perf_counter()


class ModelCalls(Collector):
    """All calls of language models of a process; plain numbers, which the event loop alone changes.

    Args:
        shows_content: whether spans hold what was said (``telemetry.log_content``).

    Attributes:
        tracer: makes the spans; ``None`` = no traces. Set when the process has one.
        listeners: are told of every call that has ended, in the task that made it.
    """

    def __init__(self, *, shows_content: bool = False) -> None:
        self.tracer: trace.Tracer | None = None
        self.listeners: list[Callable[[ModelCall], None]] = []
        self._shows_content = shows_content
        self._models: set[str] = set()
        self._durations: dict[tuple[str, ...], _Histogram] = {}
        self._first_chunks: dict[tuple[str, ...], _Histogram] = {}
        self._tokens: dict[tuple[str, ...], _Histogram] = {}

    @contextmanager
    def call(self, asked: AskedModel) -> Iterator[ModelCall]:
        """Time a call. Its span is nobody's parent: a stream may be opened in one task and closed in another."""
        span: trace.Span = trace.INVALID_SPAN
        if self.tracer is not None:
            span = self.tracer.start_span(
                f"{CHAT} {_name(asked.model)}".rstrip(),
                context=outgoing_context(),
                kind=trace.SpanKind.CLIENT,
                attributes=_asked_attributes(asked),
            )
        running = ModelCall(asked, span, shows_content=self._shows_content)
        try:
            yield running
        except GeneratorExit:
            raise  # the reader has read enough
        except BaseException as error:
            running.error_type = running.error_type or error_type(error)
            raise
        finally:
            running.ended()
            self._count(running)
            _tell(running)
            for listener in self.listeners:
                listener(running)

    def collect(self) -> Iterator[Metric]:
        """Yield what the registry scrapes."""
        labels = ["gen_ai_operation_name", "gen_ai_provider_name", "gen_ai_request_model"]
        for name, text, numbers, more in (
            ("gen_ai_client_operation_duration_seconds", "Duration of calls", self._durations, ["error_type"]),
            (
                "gen_ai_client_operation_time_to_first_chunk_seconds",
                "Time until the first piece of a stream",
                self._first_chunks,
                [],
            ),
            ("gen_ai_client_token_usage", "Tokens, as the provider counts", self._tokens, ["gen_ai_token_type"]),
        ):
            family = HistogramMetricFamily(name, text, labels=[*labels, *more])
            for values, histogram in sorted(numbers.items()):
                family.add_metric([CHAT, *values], histogram.cumulative(), sum_value=histogram.total)
            yield family

    def _count(self, call: ModelCall) -> None:
        who = (call.asked.provider, self._label(call))
        self._durations.setdefault((*who, call.error_type), _Histogram(DURATION_BUCKETS_S)).add(call.seconds)
        if call.first_chunk_s is not None:
            self._first_chunks.setdefault(who, _Histogram(DURATION_BUCKETS_S)).add(call.first_chunk_s)
        for kind, tokens in (("input", call.input_tokens), ("output", call.output_tokens)):
            if tokens is not None:
                self._tokens.setdefault((*who, kind), _Histogram(TOKEN_BUCKETS)).add(tokens)

    def _label(self, call: ModelCall) -> str:
        """Return the model's name for a label: only one that has answered takes a place."""
        name = _name(call.asked.model)
        if name in self._models:
            return name
        if call.error_type or len(self._models) >= MOST_MODELS or not _MODEL.fullmatch(name):
            return OTHER
        self._models.add(name)
        return name


def error_type(error: BaseException) -> str:
    """Return ``error.type``: the provider's status, else our word for the cause, else the class. Never a message."""
    if not isinstance(error, CrpError):
        return type(error).__name__
    cause = str(error.metadata.get("cause", ""))
    if found := _HTTP.fullmatch(cause):
        return found[1]
    return cause if _CAUSE.fullmatch(cause) else error.reason.value


def _name(text: str) -> str:
    """Return a name that others chose, safe to show: no control characters, no credential, not without end."""
    return scrub(plain_name(text[:_MOST_NAME_CHARS]))


def _asked_attributes(asked: AskedModel) -> dict[str, Any]:
    attributes = {
        "gen_ai.operation.name": CHAT,
        "gen_ai.provider.name": asked.provider,
        "gen_ai.request.model": _name(asked.model) or None,
        "gen_ai.request.stream": asked.is_streamed or None,
        "gen_ai.request.max_tokens": asked.max_tokens,
        "gen_ai.request.temperature": asked.temperature,
        "gen_ai.request.top_p": asked.top_p,
        "gen_ai.request.seed": asked.seed,
    }
    return {name: value for name, value in attributes.items() if value is not None}


def _tell(call: ModelCall) -> None:
    """Write what came back into the span, and end it."""
    span = call.span
    if span.is_recording():
        attributes = {
            "gen_ai.response.model": _name(call.model) or None,
            "gen_ai.response.id": _name(call.response_id) or None,
            "gen_ai.response.finish_reasons": tuple(map(_name, call.finish_reasons)) or None,
            "gen_ai.response.time_to_first_chunk": call.first_chunk_s,
            "gen_ai.usage.input_tokens": call.input_tokens,
            "gen_ai.usage.output_tokens": call.output_tokens,
            "error.type": call.error_type or None,
        }
        if call.shows_content:
            attributes |= _content(call)
        span.set_attributes({name: value for name, value in attributes.items() if value is not None})
        if call.error_type:
            span.set_status(trace.Status(trace.StatusCode.ERROR, call.error_type))
    span.end()


def _content(call: ModelCall) -> dict[str, str]:
    said = [{"role": role, "parts": list(parts)} for role, parts in call.asked.messages]
    reasons = [*call.finish_reasons, *[""] * len(call.texts)]
    written = [
        {"role": "assistant", "parts": [{"type": "text", "content": text}], "finish_reason": reason}
        for text, reason in zip(call.texts, reasons, strict=False)
    ]
    return {"gen_ai.input.messages": scrub(json.dumps(said)), "gen_ai.output.messages": scrub(json.dumps(written))}
