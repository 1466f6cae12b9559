"""What came of a POST that an endpoint of others was sent: every fault and every status as a ``Delivery``."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import datetime

import httpx

from services.common.adapters.http.guarded import ForbiddenAddressError, named
from services.common.adapters.http.retrying import retry_after_s
from services.common.errors import UnavailableError
from services.common.ports.event_endpoint import Delivery, Outcome
from services.common.settings import SettingsError


async def deliver(send: Callable[[], Awaitable[Delivery]], host: str, timeout_s: float) -> Delivery:
    """Send once, within a time. Raises nothing but cancellation.

    Args:
        send: the call, and what its answer means.
        host: named where it cannot be reached.
        timeout_s: at most so long.
    """
    try:
        async with asyncio.timeout(timeout_s):
            return await send()
    except ForbiddenAddressError as error:
        return Delivery(Outcome.FORBIDDEN, str(error))
    except SettingsError as error:
        return Delivery(Outcome.FORBIDDEN, "; ".join(error.problems))
    except TimeoutError:
        problem = f"no answer within {timeout_s:g} s"
    except httpx.HTTPError as error:
        problem = named(error)
    except OSError as error:
        problem = f"{host}: {error.strerror or type(error).__name__}"
    except UnavailableError as error:
        problem = error.message
    return Delivery(Outcome.UNREACHABLE, problem)


def judge(answer: httpx.Response, now: datetime, redirected: str, others: Callable[[int], Outcome]) -> Delivery:
    """Return what an answer means.

    Args:
        answer: of the endpoint.
        now: what a date in Retry-After is counted from.
        redirected: what to do about an answer that leads elsewhere.
        others: what a status means that is neither success, redirection nor "later".
    """
    status = answer.status_code
    asked = retry_after_s(answer.headers.get("retry-after", ""), now)
    if answer.is_success:
        return Delivery(Outcome.ACCEPTED)
    if answer.is_redirect:
        return Delivery(Outcome.REFUSED, f"HTTP {status}: redirects are not followed; {redirected}")
    if status in {httpx.codes.TOO_MANY_REQUESTS, httpx.codes.SERVICE_UNAVAILABLE}:
        return Delivery(Outcome.THROTTLED, f"HTTP {status}", asked)
    return Delivery(others(status), f"HTTP {status}", asked)
