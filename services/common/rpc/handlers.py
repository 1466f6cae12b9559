"""Wrapping a servicer's method once, at registration, so that every call of it goes through the pipeline.

The wrapped handlers take and give bytes: reading and writing messages happens inside, where an oversize or malformed
message can be refused with its reason. Servicers are coroutine functions, or async generators where they stream.
"""

import asyncio
import inspect
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing
from typing import Any

import grpc

from services.common.rpc.methods import Method, WrappedHandler
from services.common.rpc.pipeline import Pipeline


def wrap(pipeline: Pipeline, method: Method) -> WrappedHandler:
    """Return the handler that gRPC calls for ``method``.

    Raises:
        TypeError: the servicer's method is no coroutine function (or async generator).
    """
    streams_in, streams_out = method.handler.request_streaming, method.handler.response_streaming
    fits = inspect.isasyncgenfunction(method.behavior) if streams_out else inspect.iscoroutinefunction(method.behavior)
    if not fits:
        kind = "an async generator" if streams_out else "a coroutine function"
        raise TypeError(f"{method.rpc} must be {kind}")
    if streams_out:
        streaming = _streaming(pipeline, method, streams_in=streams_in)
        if streams_in:
            return grpc.stream_stream_rpc_method_handler(streaming)
        return grpc.unary_stream_rpc_method_handler(streaming)
    unary = _unary(pipeline, method, streams_in=streams_in)
    if streams_in:
        return grpc.stream_unary_rpc_method_handler(unary)
    return grpc.unary_unary_rpc_method_handler(unary)


def _unary(pipeline: Pipeline, method: Method, *, streams_in: bool) -> Callable[[Any, Any], Awaitable[bytes]]:
    behavior, decode, encode = method.behavior, method.decode, method.encode

    async def handle(received: Any, context: Any) -> bytes:
        call = pipeline.begin(method, context)
        try:
            await pipeline.admit(call)
            request = _decoded(method, received) if streams_in else decode(received)
            await pipeline.in_time(call, pipeline.begin_work(call, request))
            data = encode(await pipeline.in_time(call, behavior(request, context)))
            pipeline.succeed(call)
        except asyncio.CancelledError:
            pipeline.cancelled(call)
            raise
        except Exception as error:  # noqa: BLE001 - the one place where everything ends
            await pipeline.fail(call, error)
        else:
            return data
        finally:
            pipeline.end(call)

    return handle


def _streaming(pipeline: Pipeline, method: Method, *, streams_in: bool) -> Callable[[Any, Any], AsyncIterator[bytes]]:
    behavior, decode, encode = method.behavior, method.decode, method.encode

    async def handle(received: Any, context: Any) -> AsyncIterator[bytes]:
        call = pipeline.begin(method, context)
        try:
            await pipeline.admit(call)
            request = _decoded(method, received) if streams_in else decode(received)
            await pipeline.in_time(call, pipeline.begin_work(call, request))
            async with aclosing(behavior(request, context)) as responses:
                while True:
                    try:
                        response = await pipeline.in_time(call, anext(responses))
                    except StopAsyncIteration:
                        break
                    with pipeline.sending(call):
                        yield encode(response)
            pipeline.succeed(call)
        except (asyncio.CancelledError, GeneratorExit):
            pipeline.cancelled(call)
            raise
        except Exception as error:  # noqa: BLE001 - the one place where everything ends
            await pipeline.fail(call, error)
        finally:
            pipeline.end(call)

    return handle


async def _decoded(method: Method, received: AsyncIterator[bytes]) -> AsyncIterator[Any]:
    async for raw in received:
        yield method.decode(raw)
