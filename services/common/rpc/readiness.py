"""Readiness follows the backends, liveness does not.

Every served service is polled through its ``check``; the result stands in grpc.health.v1 under the service's name, and
under "" for the process as a whole (SERVING when every service is). A process whose backend is down stays alive, says
NOT_SERVING, and comes back by itself.
"""

import asyncio
from collections.abc import Sequence
from typing import Any, Final, Protocol

from grpc_health.v1 import health, health_pb2

from services.common.errors import CrpError
from services.common.settings import ServerSettings

_SERVING: Final = health_pb2.HealthCheckResponse.SERVING
_NOT_SERVING: Final = health_pb2.HealthCheckResponse.NOT_SERVING
OVERALL: Final = ""
DRAINING: Final = "draining: this process takes no new calls"
FIRST_POLLS_S: Final = 0.2
"""How often readiness is polled until it holds for the first time."""


class Checked(Protocol):
    """What readiness needs to know of a service."""

    @property
    def name(self) -> str:
        """Full name of the proto service."""
        ...

    async def check(self) -> None:
        """Return when the backends can serve; raise otherwise."""
        ...


class Readiness:
    """Polls the services and publishes the result."""

    def __init__(self, services: Sequence[Any], settings: ServerSettings, log: Any) -> None:
        self.servicer = health.aio.HealthServicer()
        self.problems: dict[str, str] = {service.name: "not checked yet" for service in services}
        self._services = services
        self._settings = settings
        self._log = log
        self._task: asyncio.Task[None] | None = None
        self._draining = False

    @property
    def ready(self) -> bool:
        """Say whether the process as a whole can serve."""
        return not self._draining and not any(self.problems.values())

    @property
    def draining(self) -> bool:
        """Say whether the process is stopping: calls in flight are finished, and no other is taken."""
        return self._draining

    def states(self) -> dict[str, str]:
        """Return what each service is at, in the order of their names: SERVING, or why not."""
        return {
            name: DRAINING if self._draining else problem or "SERVING"
            for name, problem in sorted(self.problems.items())
        }

    def details(self) -> dict[str, str]:
        """Return what the services have to say besides whether they can serve, by topic."""
        return {
            topic: text for service in self._services if service.details for topic, text in service.details().items()
        }

    async def start(self) -> None:
        """Poll once and go on in the background."""
        await self.poll()
        self._task = asyncio.create_task(self._poll_on(), name="readiness")

    async def poll(self) -> None:
        """Check every service at the same time and publish what changed."""
        found = await asyncio.gather(*(self._problem_of(service) for service in self._services))
        for service, problem in zip(self._services, found, strict=True):
            if problem != self.problems[service.name]:
                self._log.info("readiness", service=service.name, ready=not problem, problem=problem)
            self.problems[service.name] = problem
            await self.servicer.set(service.name, _NOT_SERVING if problem else _SERVING)
        await self.servicer.set(OVERALL, _SERVING if self.ready else _NOT_SERVING)

    async def drain(self) -> None:
        """Say NOT_SERVING for good."""
        self._draining = True
        await self.servicer.enter_graceful_shutdown()
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _poll_on(self) -> None:
        while True:
            await asyncio.sleep(self._settings.health_interval_s if self.ready else self._next_try_s())
            await self.poll()

    def _next_try_s(self) -> float:
        return min(FIRST_POLLS_S, self._settings.health_interval_s)

    async def _problem_of(self, service: Any) -> str:
        try:
            async with asyncio.timeout(self._settings.health_timeout_s):
                await service.check()
        except CrpError as error:
            return f"{error.reason.value}: {error.message}"
        except TimeoutError:
            return f"no answer within {self._settings.health_timeout_s} s"
        except Exception as error:  # noqa: BLE001 - a check that breaks is a backend that cannot serve
            self._log.warning("readiness check broke", service=service.name, exc_info=error)
            return type(error).__name__
        return ""
