"""What an envelope is asked for: the gateway asks it, the envelope service answers (SPEC-003 §5.2, §8.4, §11).

One type for both ends. A field has the name that it has in the contract, so that ``services.common.rpc.by_name`` reads
and writes it; what a caller of Dispatch wishes of an envelope passes through the gateway unread.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from types import MappingProxyType
from typing import Final

from services.common.taxonomy import DispatchStrategy, GroundingMode, QualityTier, RetrievalMode

BESIDE_THE_BUILD: Final[Mapping[str, bool]] = MappingProxyType({"beside the build": True})
"""Metadata of a field that no build depends on, or only through other fields that the key holds (ADR 0111)."""
CARRIED_IMPORTANCE: Final = 0.95
"""Importance of a former window's summary or response, unless the request says otherwise (SPEC-003 §14.1)."""
TOOL_IMPORTANCE: Final = 0.50
"""Importance of what a tool answered: that of a page of the web (CRP-SPEC-009)."""
TOOL_URI: Final = "tool:"
"""How the uri of a source begins that is a tool."""
WHOLE_MEMORY: Final = 3
"""The memory tier that a build searches, unless it is told to stop before (SPEC-003 §5.2)."""


@dataclass(frozen=True, slots=True)
class CarriedText:
    """Text of a former window that is packed as a fact (SPEC-003 §14.1)."""

    content: str = field(repr=False)
    source_window_id: str
    transfer_type: str
    importance_weight: float = CARRIED_IMPORTANCE


@dataclass(frozen=True, slots=True)
class ToolText:
    """What a tool answered, a fact of one build alone (CRP-SPEC-008, agentic)."""

    content: str = field(repr=False)
    tool: str
    importance_weight: float = TOOL_IMPORTANCE


@dataclass(frozen=True, slots=True, kw_only=True)
class EnvelopeWishes:
    """How the envelope shall be built, as far as a caller of Dispatch has a say in it.

    Attributes:
        cache_directives: of CRP-Context-Cache.
        accept_quality: tiers that are accepted; empty = all.
        max_envelope_tokens: upper bound of the envelope; ``None`` = what the model's context window leaves.
        retrieval_mode: ``None`` = the envelope service's own.
        active_fact_ids: of facts that the window's context holds already (§5.2 step 1.4).
        include_superseded: facts that do not hold now are found too, whatever the query asks for (ADR 0109).
        approximate_tokens: tokens may be counted by a stand-in where the model's own tokenizer is not known (§10.1).
        context_window_tokens: of a model that is counted so; ``None`` = the model's own.
    """

    cache_directives: tuple[str, ...] = field(default=(), metadata=BESIDE_THE_BUILD)
    accept_quality: tuple[QualityTier, ...] = field(default=(), metadata=BESIDE_THE_BUILD)
    max_envelope_tokens: int | None = field(default=None, metadata=BESIDE_THE_BUILD)
    retrieval_mode: RetrievalMode | None = None
    active_fact_ids: tuple[str, ...] = ()
    include_superseded: bool = False
    approximate_tokens: bool = field(default=False, metadata=BESIDE_THE_BUILD)
    context_window_tokens: int | None = field(default=None, metadata=BESIDE_THE_BUILD)


@dataclass(frozen=True, slots=True)
class EnvelopeRequest(EnvelopeWishes):
    """One build; ``None`` takes the setting.

    What is marked ``BESIDE_THE_BUILD`` changes no envelope, or does so only through the token budget of the plan; every
    other field, those to come included, is part of the key that a conditional request is judged under (ADR 0111).

    Attributes:
        session_id, window_id, window_number: the window; empty while there is none, when only an ETag is compared.
        system_prompt: what the prompt holds besides facts, query and grounding instruction; counted, not read.
        upgrade_on_risk: the policy in force has the directive (SPEC-003 §8.4).
        told: what tools answered.
    """

    query: str = field(repr=False)
    model: str
    session_id: str = field(default="", metadata=BESIDE_THE_BUILD)
    window_id: str = field(default="", metadata=BESIDE_THE_BUILD)
    window_number: int = field(default=1, metadata=BESIDE_THE_BUILD)
    grounding_mode: GroundingMode = GroundingMode.CONTEXT_PREFERRED
    strategy: DispatchStrategy = DispatchStrategy.PUSH
    system_prompt: str = field(default="", repr=False, metadata=BESIDE_THE_BUILD)
    expected_response_tokens: int | None = field(default=None, metadata=BESIDE_THE_BUILD)
    facts_seen: tuple[str, ...] = ()
    deferred_fact_ids: tuple[str, ...] = ()
    transferred_fact_ids: tuple[str, ...] = ()
    max_memory_tier: int = WHOLE_MEMORY
    carried: tuple[CarriedText, ...] = ()
    if_match_etag: str = field(default="", metadata=BESIDE_THE_BUILD)
    upgrade_on_risk: bool = field(default=False, metadata=BESIDE_THE_BUILD)
    told: tuple[ToolText, ...] = ()

    @property
    def seen(self) -> frozenset[str]:
        """The facts that former windows of the session held."""
        return frozenset(self.facts_seen)

    def wishing(self, wishes: EnvelopeWishes) -> "EnvelopeRequest":
        """Return the request with all that a caller wishes."""
        return replace(self, **{one.name: getattr(wishes, one.name) for one in fields(EnvelopeWishes)})
