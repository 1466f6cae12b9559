"""``guard(client)``: a copy of a client whose chats are checked; the client itself stays as it is (ADR 0154)."""

import copy
import inspect
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeVar, get_args

from groundtrail.client import TIMEOUT_S, address_of
from groundtrail.errors import GroundtrailError
from groundtrail.guarding.forms import AnthropicForm, Form, OpenAIForm
from groundtrail.guarding.judging import Findings, Servers
from groundtrail.guarding.rules import FIELD, Checked, Mode, Rules, WithoutSources, checked, read_facts
from groundtrail.guarding.streams import AsyncGuardedStream, GuardedManager, GuardedStream
from groundtrail.results import Level
from groundtrail.sources import Source

if TYPE_CHECKING:
    import grpc

ClientT = TypeVar("ClientT")
_CALLS: Final = ("create", "parse")
_ANEW: Final = ("with_options", "copy")
_RAW: Final = "with_raw_response"
"""Made by a resource of itself: that of the copy is made anew."""
_UNREAD: Final = "with_streaming_response"
_HEAD: Final = frozenset({"headers", "status_code", "request_id", "retries_taken", "elapsed", "url", "method"})
"""Of a response, what is no text of an answer."""
_NO_CLIENT: Final = (
    "guard takes a client of the packages openai or anthropic: "
    "an object with chat.completions.create or messages.create"
)


def guard(  # noqa: PLR0913 - what is done with answers, and who checks them
    client: ClientT,
    *,
    mode: Mode = "raise",
    halt_on: Level | str = Level.HIGH,
    facts: Iterable[Source] = (),
    without_sources: WithoutSources = "pass",
    server: str = "",
    api_key: str = "",
    credentials: "grpc.ChannelCredentials | None" = None,
    timeout_s: float = TIMEOUT_S,
) -> ClientT:
    """Return a client like the given one whose answers are checked against what its calls bring.

    A call's facts are the sources that its messages hold (system messages, documents, results of tools), ``facts``, and
    ``extra_body={"groundtrail": {"facts": [...], "question": "..."}}``, which no provider sees. Other ways to an answer
    than chats, e.g. ``client.responses``, raise NOT_GUARDED.

    Args:
        client: ``OpenAI``, ``AsyncOpenAI``, ``Anthropic`` or ``AsyncAnthropic``, or what looks like one.
        mode: ``raise``: an answer that does not pass raises ``WithheldError``, and of a stream nothing leaves before
            its sentence has passed. ``log``: it is logged under ``groundtrail.guard``, without content. ``annotate``:
            what was found stands in the answer's attribute ``groundtrail``.
        halt_on: the least level that does not pass.
        facts: for every call; files are read now.
        without_sources: ``block`` withholds what there is nothing to check against.
        server: ``host:port``; empty = what GROUNDTRAIL_CLIENT__SERVER names.
        api_key: for the server; empty = GROUNDTRAIL_CLIENT__API_KEY.
        credentials: of a TLS channel; ``None`` = without TLS.
        timeout_s: how long a check may take.

    Raises:
        GroundtrailError: NOT_GUARDED: it is no such client; NO_SERVER; INVALID_FIELD: an argument has no such value.
        OSError: a file cannot be read.
    """
    rules = Rules(_one_of("mode", mode, Mode), _level(halt_on), read_facts(facts), without_sources)
    _one_of("without_sources", without_sources, WithoutSources)
    return _Guard(rules, Servers(address_of(server), api_key, credentials, timeout_s)).client(client)


@dataclass(frozen=True, slots=True)
class _Guard:
    """What is put around clients."""

    rules: Rules
    servers: Servers

    def client(self, client: ClientT) -> ClientT:
        """Return a guarded copy of a client."""
        form = _form_of(client)
        guarded = copy.copy(client)
        for name in (*form.around, _UNREAD):
            if hasattr(client, name):
                _put(guarded, name, _NotGuarded(name))
        for name in _ANEW:
            if callable(made := getattr(client, name, None)):
                _put(guarded, name, _Anew(made, self))
        vars(guarded).pop(_RAW, None)
        at: Any = guarded
        for name in form.resource:
            inner = copy.copy(getattr(at, name))
            vars(inner).pop(_RAW, None)
            if hasattr(inner, _UNREAD):
                _put(inner, _UNREAD, _NotGuarded(f"{name}.{_UNREAD}"))
            _put(at, name, inner)
            at = inner
        self._guard_resource(at, form)
        return guarded

    def _guard_resource(self, resource: Any, form: Form) -> None:
        if hasattr(resource, "batches"):
            _put(resource, "batches", _NotGuarded(".".join([*form.resource, "batches"])))
        for name in _CALLS:
            if callable(call := getattr(resource, name, None)):
                _put(resource, name, _Call(call, form, self))
        if form.opens_streams and callable(opening := getattr(resource, "stream", None)):
            _put(resource, "stream", _Opening(opening, form, self))

    def prepared(self, form: Form, arguments: Mapping[str, Any]) -> tuple[dict[str, Any], Checked]:
        """Return a call's arguments without what is for us, and what its answers are checked against."""
        given = dict(arguments)
        messages = given.get("messages")
        if messages is not None and not isinstance(messages, list | tuple | str):
            given["messages"] = list(messages)
        body = given.get("extra_body")
        options: Any = {}
        if isinstance(body, Mapping) and FIELD in body:
            options = body[FIELD]
            if not isinstance(options, Mapping):
                raise GroundtrailError("INVALID_FIELD", f"{FIELD}: must be an object")
            given["extra_body"] = {name: value for name, value in body.items() if name != FIELD} or None
        return given, checked(self.rules, form.messages(given), options)


class _Call:
    """A call of a resource, on or off an event loop: what the call returns decides."""

    def __init__(self, call: Callable[..., Any], form: Form, guard: _Guard) -> None:
        self._call = call
        self._form = form
        self._guard = guard
        self.__doc__ = call.__doc__

    def __call__(self, *args: Any, **arguments: Any) -> Any:
        given, against = self._guard.prepared(self._form, arguments)
        got = self._call(*args, **given)
        is_streamed = arguments.get("stream") is True
        if inspect.isawaitable(got):
            return self._awaited(got, against, is_streamed=is_streamed)
        if is_streamed:
            return self._streamed(got, against, GuardedStream)
        answer = _parsed(got)
        texts, unchecked = self._form.texts(answer)
        findings = Findings(against, (), unchecked)
        try:
            findings.found = [self._guard.servers.judge(against, text) for text in texts if text.strip()]
        except GroundtrailError as error:
            findings.failed = error
        findings.settle(answer)
        return got

    async def _awaited(self, got: Any, against: Checked, *, is_streamed: bool) -> Any:
        got = await got
        if is_streamed:
            return self._streamed(got, against, AsyncGuardedStream)
        answer = _parsed(got)
        if inspect.isawaitable(answer):
            answer = await answer
        texts, unchecked = self._form.texts(answer)
        findings = Findings(against, (), unchecked)
        try:
            findings.found = [await self._guard.servers.judge_async(against, text) for text in texts if text.strip()]
        except GroundtrailError as error:
            findings.failed = error
        findings.settle(answer)
        return got

    def _streamed(self, got: Any, against: Checked, kind: type[GuardedStream] | type[AsyncGuardedStream]) -> Any:
        if _is_raw(got):
            return _RawStream(got, lambda inside: kind(inside, self._form, self._guard.servers, against))
        return kind(got, self._form, self._guard.servers, against)


class _Opening:
    """A call that returns a manager of a stream."""

    def __init__(self, call: Callable[..., Any], form: Form, guard: _Guard) -> None:
        self._call = call
        self._form = form
        self._guard = guard
        self.__doc__ = call.__doc__

    def __call__(self, *args: Any, **arguments: Any) -> GuardedManager:
        given, against = self._guard.prepared(self._form, arguments)

        def guarded(inside: Any, kind: Any) -> Any:
            return kind(inside, self._form, self._guard.servers, against)

        return GuardedManager(self._call(*args, **given), guarded)


class _Anew:
    """A call that returns another client: it is guarded as well."""

    def __init__(self, call: Callable[..., Any], guard: _Guard) -> None:
        self._call = call
        self._guard = guard

    def __call__(self, *args: Any, **arguments: Any) -> Any:
        return self._guard.client(self._call(*args, **arguments))


class _RawStream:
    """A response with its headers whose stream is guarded."""

    def __init__(self, inside: Any, guarded: Callable[[Any], Any]) -> None:
        self._inside = inside
        self._guarded = guarded

    def __getattr__(self, name: str) -> Any:
        if name not in _HEAD:
            return getattr(_NotGuarded("a raw response"), name)
        return getattr(self._inside, name)

    def parse(self, *args: Any, **arguments: Any) -> Any:
        """Return the stream, or what is awaited for it."""
        parsed = self._inside.parse(*args, **arguments)
        return self._awaited(parsed) if inspect.isawaitable(parsed) else self._guarded(parsed)

    async def _awaited(self, parsed: Awaitable[Any]) -> Any:
        return self._guarded(await parsed)


class _NotGuarded:
    """Stands where a client has a way to answers that are not checked."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        text = f"{self._name} is not guarded: use chats, or the client that was given to guard"
        raise GroundtrailError("NOT_GUARDED", text)


def _form_of(client: Any) -> Form:
    forms: tuple[Form, ...] = (OpenAIForm(), AnthropicForm())
    for form in forms:
        at: Any = client
        for name in form.resource:
            at = getattr(at, name, None)
        if callable(getattr(at, "create", None)):
            return form
    raise GroundtrailError("NOT_GUARDED", _NO_CLIENT)


def _put(owner: Any, name: str, value: Any) -> None:
    """Set an attribute of an instance, also where its class has a cached property of that name."""
    vars(owner)[name] = value


def _is_raw(got: Any) -> bool:
    return hasattr(got, "http_response") and callable(getattr(got, "parse", None))


def _parsed(got: Any) -> Any:
    return got.parse() if _is_raw(got) else got


def _level(value: Level | str) -> Level:
    try:
        return Level(value)
    except ValueError:
        raise GroundtrailError("INVALID_FIELD", f"halt_on: must be one of {', '.join(Level)}") from None


def _one_of(name: str, value: Any, values: Any) -> Any:
    if value not in get_args(values):
        raise GroundtrailError("INVALID_FIELD", f"{name}: must be one of {', '.join(get_args(values))}")
    return value
