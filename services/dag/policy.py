"""What a deployment decided about sessions, in the rules' own types."""

from dataclasses import dataclass
from datetime import timedelta

from services.common.settings.dag import DagSettings
from services.common.settings.retention import RetentionSettings
from services.dag.domain.budget import PROFILES, BudgetProfile
from services.dag.domain.limits import Limits
from services.dag.domain.retention import NEVER, Rules


@dataclass(frozen=True, slots=True)
class DagPolicy:
    """Limits of new sessions, lifetimes, the budget's profile and how much one response verifies.

    Attributes:
        trace_limits: of sessions that keep an ERCP trace (ADR 0073).
        retention: the deployment's rules, in force where a tenant set none (ADR 0104).
    """

    limits: Limits
    trace_limits: Limits
    token_lifetime: timedelta
    pending_lifetime: timedelta
    profile: BudgetProfile
    verify_max_windows: int
    max_session_events: int
    retention: Rules = NEVER

    @classmethod
    def of(cls, settings: DagSettings, retention: RetentionSettings | None = None) -> "DagPolicy":
        """Return the settings as a policy; without those of retention sessions stay as they are."""
        return cls(
            limits=Limits(settings.max_windows, settings.max_fan_out, settings.max_dag_nodes, settings.max_loop_depth),
            trace_limits=Limits(
                settings.max_trace_windows, settings.max_fan_out, settings.max_trace_windows, settings.max_loop_depth
            ),
            token_lifetime=timedelta(seconds=settings.token_lifetime_s),
            pending_lifetime=timedelta(seconds=settings.pending_lifetime_s),
            profile=PROFILES[settings.budget_profile],
            verify_max_windows=settings.verify_max_windows,
            max_session_events=settings.max_session_events,
            retention=_rules(retention) if retention else Rules(),
        )


def _rules(settings: RetentionSettings) -> Rules:
    """Return the deployment's rules; 0 = never."""
    return Rules(
        idle_expiry=timedelta(seconds=settings.idle_expiry_s) or None,
        erase_after=timedelta(days=settings.erase_after_days) or None,
        tombstone_after=timedelta(days=settings.tombstone_after_days) or None,
    )
