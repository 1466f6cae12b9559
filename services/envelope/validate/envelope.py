"""Rules for ``crp.envelope.v1`` requests."""

import re
from typing import Final

from crp.common.v1 import taxonomy_pb2
from crp.envelope.v1 import envelope_service_pb2

from services.common.rpc.validation import Violations
from services.envelope.domain.caching import ANY_ETAG, is_cache_directive
from services.envelope.validate.search_modes import known_mode

MAX_MODEL_CHARS: Final = 200
MAX_ID_CHARS: Final = 128
MAX_SEEN: Final = 10_000
MAX_CARRIED: Final = 64
MEMORY_TIERS: Final = frozenset({0, 1, 3})
"""Tiers that a build may stop at; what is warm (2) only spares a search."""
MAX_TEXTS: Final = 10_000
MAX_WINDOW_TOKENS: Final = 100_000_000

_ETAG: Final = re.compile(r"sha256:[0-9a-f]{64}")
_KNOWN_MODES: Final = frozenset(taxonomy_pb2.GroundingMode.values())
MAX_TOLD: Final = 200
MAX_TOLD_CHARS: Final = 8_192
MAX_TOOL_CHARS: Final = 64

_KNOWN_STRATEGIES: Final = frozenset(taxonomy_pb2.DispatchStrategy.values())
_TIERS: Final = frozenset(taxonomy_pb2.QualityTier.values()) - {taxonomy_pb2.QUALITY_TIER_UNSPECIFIED}


def build_envelope(request: envelope_service_pb2.BuildEnvelopeRequest, max_query_chars: int) -> None:
    """Check a BuildEnvelopeRequest."""
    found = Violations()
    _question(found, request, max_query_chars)
    for name in ("session_id", "window_id"):
        found.require(len(getattr(request, name)) <= MAX_ID_CHARS, name, f"must have at most {MAX_ID_CHARS} characters")
    found.require(len(request.facts_seen) <= MAX_SEEN, "facts_seen", f"must have at most {MAX_SEEN} ids")
    found.require(len(request.deferred_fact_ids) <= MAX_SEEN, "deferred_fact_ids", f"must have at most {MAX_SEEN} ids")
    transferred = len(request.transferred_fact_ids)
    found.require(transferred <= MAX_SEEN, "transferred_fact_ids", f"must have at most {MAX_SEEN} ids")
    found.require(len(request.active_fact_ids) <= MAX_SEEN, "active_fact_ids", f"must have at most {MAX_SEEN} ids")
    if request.HasField("max_memory_tier"):
        sound = request.max_memory_tier in MEMORY_TIERS
        found.require(sound, "max_memory_tier", "must be 0 (active facts), 1 (the session's as well) or 3 (everything)")
    _carried(found, request)
    _told(found, request)
    etag = request.if_match_etag
    found.require(
        etag in {"", ANY_ETAG} or _ETAG.fullmatch(etag), "if_match_etag", 'must be "*" or sha256: and 64 hex digits'
    )
    for index, directive in enumerate(request.cache_directives):
        found.require(
            is_cache_directive(directive),
            f"cache_directives[{index}]",
            "must be no-store, no-cache, reuse-ckf, only-if-ckf or max-age=N",
        )
    found.require(set(request.accept_quality) <= _TIERS, "accept_quality", "must be tiers S, A, B, C or D")
    found.raise_if_any()


def preview_envelope(request: envelope_service_pb2.PreviewEnvelopeRequest, max_query_chars: int) -> None:
    """Check a PreviewEnvelopeRequest."""
    found = Violations()
    _question(found, request, max_query_chars)
    found.raise_if_any()


def count_tokens(request: envelope_service_pb2.CountTokensRequest) -> None:
    """Check a CountTokensRequest; the fast path builds nothing unless something is wrong."""
    sound = 0 < len(request.model) <= MAX_MODEL_CHARS and 0 < len(request.texts) <= MAX_TEXTS
    if sound and not request.HasField("context_window_tokens"):
        return
    found = Violations()
    _model(found, request.model)
    _window(found, request)
    found.require(0 < len(request.texts) <= MAX_TEXTS, "texts", f"must have 1 to {MAX_TEXTS} texts")
    found.raise_if_any()


def _question(
    found: Violations,
    request: envelope_service_pb2.BuildEnvelopeRequest | envelope_service_pb2.PreviewEnvelopeRequest,
    max_query_chars: int,
) -> None:
    found.require(request.query.strip(), "query", "must not be empty")
    found.require(len(request.query) <= max_query_chars, "query", f"must have at most {max_query_chars} characters")
    _model(found, request.model)
    found.require(request.grounding_mode in _KNOWN_MODES, "grounding_mode", "must be a known grounding mode")
    found.require(request.strategy in _KNOWN_STRATEGIES, "strategy", "must be a known strategy")
    known_mode(found, "retrieval_mode", request.retrieval_mode)
    for name in ("expected_response_tokens", "max_envelope_tokens"):  # a negative number arrives as one near 2 ** 32
        sound = not request.HasField(name) or 0 < getattr(request, name) <= MAX_WINDOW_TOKENS
        found.require(sound, name, f"must be 1 to {MAX_WINDOW_TOKENS}")
    _window(found, request)


def _window(
    found: Violations,
    request: envelope_service_pb2.BuildEnvelopeRequest
    | envelope_service_pb2.PreviewEnvelopeRequest
    | envelope_service_pb2.CountTokensRequest,
) -> None:
    if request.HasField("context_window_tokens"):
        sound = 0 < request.context_window_tokens <= MAX_WINDOW_TOKENS
        found.require(sound, "context_window_tokens", f"must be 1 to {MAX_WINDOW_TOKENS}")


def _model(found: Violations, model: str) -> None:
    found.require(0 < len(model) <= MAX_MODEL_CHARS, "model", f"must have 1 to {MAX_MODEL_CHARS} characters")


def _told(found: Violations, request: envelope_service_pb2.BuildEnvelopeRequest) -> None:
    found.require(len(request.tool_facts) <= MAX_TOLD, "tool_facts", f"must have at most {MAX_TOLD}")
    for index, told in enumerate(request.tool_facts[:MAX_TOLD]):
        path = f"tool_facts[{index}]"
        found.require(told.content.strip(), f"{path}.content", "must not be empty")
        short = len(told.content) <= MAX_TOLD_CHARS
        found.require(short, f"{path}.content", f"must have at most {MAX_TOLD_CHARS} characters")
        named = 0 < len(told.tool) <= MAX_TOOL_CHARS
        found.require(named, f"{path}.tool", f"must have 1 to {MAX_TOOL_CHARS} characters")
        if told.HasField("importance_weight"):
            found.require(0.0 <= told.importance_weight <= 1.0, f"{path}.importance_weight", "must be 0.0 to 1.0")


def _carried(found: Violations, request: envelope_service_pb2.BuildEnvelopeRequest) -> None:
    found.require(len(request.carried_facts) <= MAX_CARRIED, "carried_facts", f"must have at most {MAX_CARRIED}")
    for index, carried in enumerate(request.carried_facts):
        path = f"carried_facts[{index}]"
        found.require(carried.content.strip(), f"{path}.content", "must not be empty")
        found.require(
            0 < len(carried.source_window_id) <= MAX_ID_CHARS,
            f"{path}.source_window_id",
            f"must have 1 to {MAX_ID_CHARS} characters",
        )
        if carried.HasField("importance_weight"):
            found.require(0.0 <= carried.importance_weight <= 1.0, f"{path}.importance_weight", "must be 0.0 to 1.0")
