"""Where knowledge is kept, and what every writer of it shares."""

from dataclasses import dataclass, field

from services.common.clock import Clock
from services.common.concurrency import KeyedLock
from services.common.ports.facts import FactStore
from services.common.ports.graph import KnowledgeGraph
from services.envelope.domain.subjects import SubjectIndex
from services.envelope.recovery import Recovery
from services.envelope.state_hashes import StateHashes


@dataclass(frozen=True, slots=True)
class KnowledgeStores:
    """The stores, the state hashes that writes invalidate, the locks that serialise writes to one source, recovery.

    ``subjects`` is what stored facts speak of: one meets the new facts of many documents, and is read for it once.
    """

    facts: FactStore
    graph: KnowledgeGraph
    states: StateHashes
    locks: KeyedLock
    recovery: Recovery
    clock: Clock
    subjects: SubjectIndex = field(default_factory=SubjectIndex)

    @classmethod
    def over(cls, facts: FactStore, graph: KnowledgeGraph, states: StateHashes, clock: Clock) -> "KnowledgeStores":
        """Return the stores with fresh locks and their recovery."""
        return cls(facts, graph, states, KeyedLock(), Recovery(facts, graph, states, clock), clock)
