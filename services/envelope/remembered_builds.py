"""What is remembered of builds, in memory and bounded, to answer If-Match without building (SPEC-003 §11)."""

from collections import OrderedDict
from dataclasses import dataclass
from datetime import datetime

from services.envelope.domain.caching import Standing
from services.envelope.requests import EnvelopeSummary


@dataclass(frozen=True, slots=True)
class RememberedBuild:
    """One build's metadata, never its facts' content; ``continuation_recommended`` as it was answered."""

    summary: EnvelopeSummary
    continuation_recommended: bool
    stands_until: datetime | None = None
    arrived: tuple[int, ...] = ()
    """What was retrievable then, as a number of each namespace that was read (``GrantedStates.arrived``)."""

    @property
    def standing(self) -> Standing:
        """Return what a presented ETag is judged by."""
        return Standing(self.summary.etag, self.summary.state_hash, self.summary.created_at, self.stands_until)


class RememberedBuilds:
    """The latest builds by tenant and build key; a restart forgets them, and the next If-Match is a miss.

    Args:
        capacity: most builds; the least recently used go first.
    """

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._builds: OrderedDict[tuple[str, str], RememberedBuild] = OrderedDict()

    def get(self, tenant_id: str, key: str) -> RememberedBuild | None:
        """Return the build or ``None``."""
        found = self._builds.get((tenant_id, key))
        if found is not None:
            self._builds.move_to_end((tenant_id, key))
        return found

    def put(self, tenant_id: str, key: str, build: RememberedBuild) -> None:
        """Remember a build, forgetting the oldest when there are too many."""
        self._builds[tenant_id, key] = build
        self._builds.move_to_end((tenant_id, key))
        while len(self._builds) > self._capacity:
            self._builds.popitem(last=False)
