"""What the writes of ``app`` answer, in the rules' own types; ``convert`` turns them into messages."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from services.common.ports.sessions import SessionRecord, WindowRecord
from services.common.taxonomy import ChainIntegrity, Degradation
from services.dag.domain.transfer import Transfer
from services.dag.domain.view import DagView
from services.dag.tokens import Issued


@dataclass(frozen=True, slots=True)
class Created:
    """A new session and its first token; of a joined one the token for its latest window, and its windows."""

    session: SessionRecord
    issued: Issued
    dag: DagView | None = None


@dataclass(frozen=True, slots=True)
class Opened:
    """A pending window and what it starts from.

    Attributes:
        dag: the session with the window.
        transfers: each parent and what flows from it.
        facts_seen: ids, sorted.
        prior_windows: ancestors, from the root on.
        questions: what they answer, by window id; only those that were kept.
        draft_key: random; stands in the remembered answer alone (ADR 0055).
        depleted: the window starts with a budget that ends a session.
        agents_left_out: sessions of agents that had no answer to merge.
    """

    session: SessionRecord
    window: WindowRecord
    dag: DagView
    transfers: tuple[tuple[WindowRecord, Transfer], ...]
    facts_seen: tuple[str, ...]
    integrity: ChainIntegrity
    prior_windows: tuple[WindowRecord, ...]
    quality_history: tuple[str, ...]
    degradation: Degradation
    draft_key: bytes = field(repr=False)
    depleted: bool
    questions: Mapping[str, str] = field(default_factory=dict, repr=False)
    agents_left_out: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Committed:
    """A committed window and what the client needs to go on.

    Attributes:
        root_window_id: empty when the root is not in this store.
        end_cause: why the session ended with this window; empty when it goes on.
        needs_review: the budget asks for a person to look.
    """

    session: SessionRecord
    window: WindowRecord
    dag: DagView
    issued: Issued
    integrity: ChainIntegrity
    lineage: str
    quality_history: tuple[str, ...]
    degradation: Degradation
    root_window_id: str
    end_cause: str
    needs_review: bool
