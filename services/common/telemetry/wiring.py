"""One object that carries what the runtime reports through."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import structlog
from opentelemetry.trace import Tracer
from prometheus_client import CollectorRegistry

from services.common.settings.telemetry import TelemetrySettings
from services.common.telemetry.metrics import RpcMetrics
from services.common.telemetry.traces import open_tracing

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider


@dataclass(frozen=True, slots=True)
class Telemetry:
    """Logger, registry and tracer of a process; the default is inert but for the counts.

    Attributes:
        registry: where metrics are registered; never the library's global one.
        rpc_metrics: counts of the RPCs, in ``registry``.
        log: structlog logger for access lines and faults.
        provider: makes spans; ``None`` = no traces.
    """

    registry: CollectorRegistry
    rpc_metrics: RpcMetrics
    log: Any = field(default_factory=lambda: structlog.get_logger("groundtrail"))
    provider: "TracerProvider | None" = None

    @property
    def tracer(self) -> Tracer | None:
        """The tracer, or ``None`` when nothing is traced."""
        return None if self.provider is None else self.provider.get_tracer("groundtrail")

    def close(self) -> None:
        """Send what is left and stop; idempotent."""
        if self.provider is not None:
            self.provider.shutdown()


def open_telemetry(settings: TelemetrySettings, service: str, version: str) -> Telemetry:
    """Build what the settings ask for; logs are configured apart, by ``configure_logs``."""
    registry = CollectorRegistry()
    return Telemetry(registry, RpcMetrics(registry), provider=open_tracing(settings, service, version))
