"""What a request must hold before it is converted; all violations at once."""

from crp.dpe.v1 import provenance_service_pb2 as pb

from services.common.rpc.validation import Violations
from services.common.settings.dpe import DpeSettings

_MAX_ID_CHARS = 64
_MAX_QUERY_CHARS = 100_000
_MAX_SUB_QUERIES = 100


def validate_analyze(request: pb.AnalyzeRequest, settings: DpeSettings, prefix: str = "") -> None:
    """Refuse a malformed AnalyzeRequest.

    Args:
        request: the request.
        settings: limits on numbers of facts and windows; sizes of texts are checked where they are analysed.
        prefix: path of the message inside an outer request, e.g. ``analysis.``.

    Raises:
        InvalidRequestError: INVALID_FIELD with every violation.
    """
    found = Violations()
    for name in ("session_id", "window_id"):
        value = getattr(request, name)
        found.require(0 < len(value) <= _MAX_ID_CHARS, prefix + name, f"must hold 1 to {_MAX_ID_CHARS} characters")
    found.require(request.window_number >= 1, prefix + "window_number", "must be 1 or more")
    found.require(request.query.strip(), prefix + "query", "must not be empty")
    found.require(
        len(request.query) <= _MAX_QUERY_CHARS, prefix + "query", f"must hold at most {_MAX_QUERY_CHARS} characters"
    )
    found.require(
        request.HasField("envelope"), prefix + "envelope", "is required; send an empty one if there are no facts"
    )
    found.require(
        len(request.sub_queries) <= _MAX_SUB_QUERIES, prefix + "sub_queries", f"must be at most {_MAX_SUB_QUERIES}"
    )
    _facts(request, settings, prefix, found)
    _prior_windows(request, settings, prefix, found)
    found.raise_if_any()


def validate_segment(request: pb.SegmentClaimsRequest) -> None:
    """Refuse a malformed SegmentClaimsRequest. Raises as ``validate_analyze``."""
    found = Violations()
    found.require(request.text.strip(), "text", "must not be empty")
    found.raise_if_any()


def _facts(request: pb.AnalyzeRequest, settings: DpeSettings, prefix: str, found: Violations) -> None:
    facts, path = request.envelope.facts, prefix + "envelope.facts"
    if len(facts) > settings.max_facts:
        found.add(path, f"must be at most {settings.max_facts}")
        return
    seen: set[str] = set()
    for index, fact in enumerate(facts):
        found.require(fact.fact_id, f"{path}[{index}].fact_id", "must not be empty")
        found.require(fact.fact_id not in seen, f"{path}[{index}].fact_id", "must be unique in the envelope")
        found.require(0.0 <= fact.importance_weight <= 1.0, f"{path}[{index}].importance_weight", "must be 0.0 to 1.0")
        found.require(len(fact.embedding) % 4 == 0, f"{path}[{index}].embedding", "must be little-endian float32")
        seen.add(fact.fact_id)


def _prior_windows(request: pb.AnalyzeRequest, settings: DpeSettings, prefix: str, found: Violations) -> None:
    windows, path = request.prior_windows, prefix + "prior_windows"
    if len(windows) > settings.max_prior_windows:
        found.add(path, f"must be at most {settings.max_prior_windows}")
        return
    for index, window in enumerate(windows):
        found.require(window.window_id, f"{path}[{index}].window_id", "must not be empty")
        found.require(
            1 <= window.window_number < request.window_number,
            f"{path}[{index}].window_number",
            "must be 1 or more and smaller than window_number",
        )
