"""What the dag service counts of safety budgets (CRP-SPEC-012; ADR 0103). Labels are closed sets, none is a tenant."""

import contextlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from prometheus_client.core import CounterMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from services.common.errors import ErrorReason, PreconditionError
from services.common.taxonomy import BreakerState
from services.dag.domain.breaker import breaker
from services.dag.writing import Changes


@dataclass(eq=False)
class BudgetMetrics(Collector):
    """Counts since the process began. One writer, the event loop; the registry reads when it is scraped.

    Attributes:
        commits: committed windows by the circuit breaker after them.
        suspended: delegations that were refused, by the circuit breaker of who delegates.
        lowered: sessions that what an agent's session has left has lowered.
    """

    commits: Counter[BreakerState] = field(default_factory=Counter)
    suspended: Counter[BreakerState] = field(default_factory=Counter)
    lowered: int = 0

    def committed(self, left: float, changes: Changes) -> None:
        """Count a window that was committed, and the sessions that were lowered with it."""
        self.commits[breaker(left)] += 1
        self.lowered += len(changes) - 1 if isinstance(changes, tuple) else 0

    @contextlib.contextmanager
    def counting_suspended(self) -> Iterator[None]:
        """Count a delegation that is refused."""
        try:
            yield
        except PreconditionError as error:
            if error.reason is ErrorReason.DELEGATION_SUSPENDED:
                self.suspended[BreakerState(error.metadata["circuit_breaker"])] += 1
            raise

    def collect(self) -> Iterator[Metric]:
        """Yield what the registry scrapes."""
        by_state = (
            ("groundtrail_safety_budget_commits", "Windows committed, by circuit breaker after them", self.commits),
            ("groundtrail_delegations_suspended", "Delegations refused, by circuit breaker", self.suspended),
        )
        for name, text, counts in by_state:
            family = CounterMetricFamily(name, text, labels=["circuit_breaker"])
            for state in BreakerState:
                family.add_metric([state.value], counts[state])
            yield family
        text = "Sessions lowered to what an agent's session under them has left"
        yield CounterMetricFamily("groundtrail_safety_budgets_lowered", text, value=self.lowered)
