"""``EncoderBackend`` over Triton: requests grouped by length, bounded, retried while Triton is away.

Batches across callers and processes are Triton's work (``dynamic_batching`` in ``config.pbtxt``); here a call's texts
are cut into requests of like length that Triton can join (ADR 0033), and tenants take turns in sending them, by what
they had (ADR 0088). A request ends with its caller: when that goes
away the call to Triton is cancelled, and it never outlives the caller's deadline.
"""

import asyncio
from collections import Counter
from collections.abc import Sequence
from typing import Final

from tritonclient.grpc import InferInput, InferResult
from tritonclient.grpc.aio import InferenceServerClient
from tritonclient.utils import InferenceServerException

from services.common.adapters.encoders.backend import SLICE_ITEMS, Outputs, TokenIds
from services.common.adapters.encoders.feeds import check_inputs
from services.common.adapters.encoders.outputs import checked
from services.common.adapters.triton.connection import open_client
from services.common.adapters.triton.failures import Failure, failure_of
from services.common.adapters.triton.grouping import grouped, padded_width
from services.common.adapters.triton.served_model import check_served, wait_until_ready
from services.common.adapters.triton.shared_inputs import SharedInputs, open_shared_inputs
from services.common.adapters.triton.tensors import inputs_of, outputs_of, requested
from services.common.context import current_call
from services.common.errors import DeadlineError, ErrorReason, LimitExceededError, UnavailableError
from services.common.fair_turns import FairTurns, current_tenant
from services.common.model_repository import ModelConfig, ModelEntry, ModelRepository, ModelRepositoryError
from services.common.queue_counts import QueueCounts, current_class
from services.common.settings.inference import InferenceSettings

CHECK_S: Final = 2.0
"""Longest wait of a readiness check, in seconds."""
MIN_RETRY_S: Final = 0.05
"""Least ``retry_after_s`` when the queue is full."""
INT64_BYTES: Final = 8
_RATE_SMOOTHING: Final = 0.2


class TritonEncoderBackend:
    """One model on one Triton; belongs to one event loop.

    Args:
        entry: the manifest's entry of the model.
        config: its ``config.pbtxt``; bounds the size of a request.
        settings: time, attempts, requests in flight and the queue's bound.
        client: the connection; closed with the backend.
        shared: the region for inputs, registered; ``None`` = everything goes over the wire.
    """

    def __init__(
        self,
        entry: ModelEntry,
        config: ModelConfig,
        settings: InferenceSettings,
        client: InferenceServerClient,
        shared: SharedInputs | None,
    ) -> None:
        self._entry = entry
        self._group_size = group_size(config)
        self._max_tokens = max_tokens(entry)
        self._settings = settings.triton
        self._queue_items = settings.queue_items
        self._slice = min(SLICE_ITEMS, settings.queue_items)
        self._client = client
        self._shared = shared
        self._turns = FairTurns(self._settings.requests_in_flight)
        self._counts = QueueCounts(entry.name)
        self._calls: set[asyncio.Task[list[Outputs]]] = set()
        self._waiting: Counter[str] = Counter()  # by tenant
        self._items_per_s = 0.0
        self._closed = False

    @property
    def entry(self) -> ModelEntry:
        """The manifest's entry of the model that is served."""
        return self._entry

    @property
    def waiting(self) -> int:
        """How many texts have not been sent yet."""
        return self._waiting.total()

    @property
    def counts(self) -> QueueCounts:
        """What it counts by tenant class."""
        return self._counts

    async def run(self, items: Sequence[TokenIds]) -> list[Outputs]:
        """Return the outputs of each item, in order; equal items are computed once.

        Raises:
            LimitExceededError: QUEUE_FULL; nothing of the slice was sent.
            UnavailableError: MODEL_UNAVAILABLE: Triton is away or refuses, or what it sent cannot be read.
            DeadlineError: the caller's time was up first.
        """
        found: list[Outputs] = []
        for start in range(0, max(1, len(items)), self._slice):
            found += await self._run_slice(items[start : start + self._slice])
        return found

    async def _run_slice(self, items: Sequence[TokenIds]) -> list[Outputs]:
        if self._closed:
            raise self._closed_error()
        groups = grouped(dict.fromkeys(items), self._group_size)
        self._admit(sum(map(len, groups)))
        caller = object()
        calls = [asyncio.create_task(self._take_turn(caller, group)) for group in groups]
        self._calls.update(calls)
        try:
            outputs = await asyncio.gather(*calls)
        except asyncio.CancelledError:
            if _is_cancelled():
                raise
            raise self._closed_error() from None  # close() cancelled the requests, nobody this call
        finally:
            await _cancelled(calls)
            self._calls.difference_update(calls)
        found: dict[TokenIds, Outputs] = {}
        for group, own in zip(groups, outputs, strict=True):
            found.update(zip(group, own, strict=True))
        return [found[item] for item in items]

    @property
    def at_rest(self) -> bool:
        """Never: the server loads its models when it starts."""
        return False

    async def check(self) -> None:
        """Return when Triton has the model ready.

        Raises:
            UnavailableError: MODEL_UNAVAILABLE.
        """
        if self._closed:
            raise self._closed_error()
        try:
            ready = await self._client.is_model_ready(self._entry.name, client_timeout=CHECK_S)
        except InferenceServerException as error:
            raise failure_of(error).error(self._entry.name) from error
        if not ready:
            raise Failure("unavailable").error(self._entry.name)

    async def close(self) -> None:
        """Cancel what is under way, release shared memory and the connection; idempotent."""
        if self._closed:
            return
        self._closed = True
        await _cancelled(list(self._calls))
        if self._shared is not None:
            await self._shared.close(self._client)
        await self._client.close()

    def _admit(self, fresh: int) -> None:
        tenant = current_tenant()
        over = self._waiting[tenant] + fresh - self._queue_items
        if over > 0:
            self._counts.full(current_class())
            raise LimitExceededError(
                ErrorReason.QUEUE_FULL,
                f"The queue of model {self._entry.name} is full; retry later, or with fewer texts at once.",
                retry_after_s=max(MIN_RETRY_S, round(over / (self._items_per_s or float(self._queue_items)), 3)),
                model=self._entry.name,
                queue_items=str(self._queue_items),
            )
        self._waiting[tenant] += fresh

    async def _take_turn(self, caller: object, group: list[TokenIds]) -> list[Outputs]:
        queued, tenant, arrived = True, current_tenant(), asyncio.get_running_loop().time()
        tokens = padded_width(max(map(len, group)), self._max_tokens) * len(group)
        try:
            async with self._turns.turn(tenant, tokens, caller=caller) as turn:
                self._sent(tenant, len(group))
                queued = False
                self._counts.waited(current_class(), asyncio.get_running_loop().time() - arrived)
                self._counts.served(current_class(), tokens)
                return await self._request(group, turn.place)
        finally:
            if queued:
                self._sent(tenant, len(group))

    def _sent(self, tenant: str, texts: int) -> None:
        self._waiting[tenant] -= texts
        if not self._waiting[tenant]:
            del self._waiting[tenant]

    async def _request(self, group: list[TokenIds], place: int) -> list[Outputs]:
        """Send one request, as often as the settings allow, within the time that there is."""
        loop = asyncio.get_running_loop()
        started = loop.time()
        deadline = _callers_deadline()
        ends = min(started + self._settings.timeout_s, deadline)
        attempt = 1
        while True:
            left = ends - loop.time()
            if left <= 0:
                raise self._late_error(hurried=ends == deadline)
            try:
                outputs = await self._attempt(group, place, left)
            except InferenceServerException as error:
                failure = self._failure_of(error)
                if failure.cause == "deadline_exceeded":
                    raise self._late_error(hurried=ends == deadline) from error
                pause = self._settings.backoff_s * 2.0 ** (attempt - 1)
                if not failure.retried or attempt == self._settings.attempts or loop.time() + pause >= ends:
                    raise failure.error(self._entry.name) from error
            else:
                self._measure(len(group) / max(loop.time() - started, 1e-6))
                return outputs
            await asyncio.sleep(pause)
            attempt += 1

    async def _attempt(self, group: list[TokenIds], place: int, timeout_s: float) -> list[Outputs]:
        width = padded_width(max(map(len, group)), self._max_tokens)
        tensors = inputs_of(self._entry, group, width)
        if self._shared is None:
            for tensor, values in tensors:
                tensor.set_data_from_numpy(values)
        else:
            await self._shared.ensure_registered(self._client, timeout_s)
            self._shared.attach(place, tensors)
        result = await self._infer([tensor for tensor, _ in tensors], timeout_s)
        return checked(self._entry, outputs_of(self._entry, result), [len(item) for item in group], width=width)

    async def _infer(self, inputs: list[InferInput], timeout_s: float) -> InferResult:
        answered = False
        try:
            result = await self._client.infer(
                self._entry.name, inputs, outputs=requested(self._entry), client_timeout=timeout_s
            )
            answered = True
        finally:
            if self._shared is not None and not answered:
                self._shared.given_up()
        return result

    def _failure_of(self, error: InferenceServerException) -> Failure:
        if self._shared is not None and self._shared.forgotten(error):
            return Failure("unavailable")  # Triton was started anew; the next attempt registers the region there
        return failure_of(error)

    def _measure(self, rate: float) -> None:
        self._items_per_s += (rate - self._items_per_s) * (_RATE_SMOOTHING if self._items_per_s else 1.0)

    def _late_error(self, *, hurried: bool) -> DeadlineError | UnavailableError:
        if not hurried:
            return Failure("deadline_exceeded").error(self._entry.name)
        return DeadlineError(
            ErrorReason.DEADLINE_EXCEEDED,
            f"Model {self._entry.name} did not answer before the caller's deadline.",
            model=self._entry.name,
        )

    def _closed_error(self) -> UnavailableError:
        name = self._entry.name
        return UnavailableError(ErrorReason.MODEL_UNAVAILABLE, f"Model {name} is shutting down.", model=name)


async def open_triton_backend(
    settings: InferenceSettings, repository: ModelRepository, entry: ModelEntry
) -> TritonEncoderBackend:
    """Wait until Triton serves the model, prove that it is the repository's, and return it ready to serve.

    Args:
        settings: where Triton is, how long to wait for it, how requests are sent.
        repository: holds the model's ``config.pbtxt``; its files must have been verified.
        entry: the model's manifest entry.

    Raises:
        ModelRepositoryError: the model is not served by an encoder's inputs, or Triton serves another one.
        StartupError: Triton is not ready in time, or the certificates or the shared memory cannot be used.
    """
    check_inputs(entry)
    config = await asyncio.to_thread(repository.config, entry.name)
    connection = settings.triton
    client = await open_client(connection)
    shared: SharedInputs | None = None
    try:
        await wait_until_ready(client, entry.name, target=connection.target, timeout_s=connection.start_timeout_s)
        variant = await check_served(client, config, target=connection.target)
        if connection.shared_memory:
            shared = await open_shared_inputs(
                client,
                entry.name,
                settings=connection,
                place_bytes=len(entry.inputs) * group_size(config) * max_tokens(entry) * INT64_BYTES,
            )
    except BaseException:
        await client.close()
        raise
    served = entry if variant is None else entry.model_copy(update={"version": f"{entry.version}-{variant}"})
    return TritonEncoderBackend(served, config, settings, client, shared)


def group_size(config: ModelConfig) -> int:
    """Return how many texts one request holds at most: the largest preferred batch, or else the largest batch."""
    return max(1, config.preferred_batch_sizes[-1] if config.preferred_batch_sizes else config.max_batch_size)


def max_tokens(entry: ModelEntry) -> int:
    """Return the model's longest input.

    Raises:
        ModelRepositoryError: the manifest does not say.
    """
    if entry.max_tokens is None:
        raise ModelRepositoryError(f"MANIFEST.json: the encoder {entry.name} needs max_tokens")
    return entry.max_tokens


def _callers_deadline() -> float:
    """Return the event-loop time at which the caller stops waiting; infinite when it waits or nobody calls."""
    try:
        deadline = current_call().deadline
    except LookupError:
        return float("inf")
    return float("inf") if deadline is None else deadline


def _is_cancelled() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


async def _cancelled(tasks: Sequence["asyncio.Task[list[Outputs]]"]) -> None:
    """Cancel tasks and wait until they have ended, so that nothing of theirs goes on unseen."""
    pending = [task for task in tasks if not task.done()]
    for task in pending:
        task.cancel()
    if pending:
        await asyncio.wait(pending)
    for task in tasks:
        if not task.cancelled():
            task.exception()  # counts as retrieved; the first one was raised to the caller
