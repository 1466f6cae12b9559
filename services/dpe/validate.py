"""What a request must hold before it is converted; all violations at once."""

import re
from typing import Final

from crp.common.v1 import regulation_pb2
from crp.dpe.v1 import provenance_service_pb2 as pb

from services.common.rpc.validation import Violations, require_member, require_members
from services.common.settings.dpe import DpeSettings
from services.dpe.domain.regulation.system import Domain, domain_of

_MAX_ID_CHARS = 64
_MAX_QUERY_CHARS = 100_000
_MAX_SUB_QUERIES = 100
_TRAIL_ID: Final = re.compile(r"(crp_trail_[A-Za-z0-9]{16,32})?")


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
    _ai_system(request, prefix, found)
    _facts(request, settings, prefix, found)
    _prior_windows(request, settings, prefix, found)
    found.raise_if_any()


def validate_segment(request: pb.SegmentClaimsRequest) -> None:
    """Refuse a malformed SegmentClaimsRequest. Raises as ``validate_analyze``."""
    found = Violations()
    found.require(request.text.strip(), "text", "must not be empty")
    found.raise_if_any()


def _ai_system(request: pb.AnalyzeRequest, prefix: str, found: Violations) -> None:
    name = prefix + "ai_system"
    text = "must be empty or crp_trail_ and 16 to 32 letters and digits"
    found.require(_TRAIL_ID.fullmatch(request.audit_trail_id), prefix + "audit_trail_id", text)
    if not request.HasField("ai_system"):
        return
    system = request.ai_system
    found.require(request.ai_system_id, prefix + "ai_system_id", "must not be empty when ai_system is given")
    domains = f"must be one of {', '.join(Domain)} (CRP-SPEC-005 §14.2)"
    found.require(domain_of(system.domain) is not None, f"{name}.domain", domains)
    require_members(found, f"{name}.annex_iii_areas", system.annex_iii_areas, regulation_pb2.AnnexIiiArea)
    require_members(
        found, f"{name}.prohibited_practices", system.prohibited_practices, regulation_pb2.ProhibitedPractice
    )
    require_member(found, f"{name}.role", system.role, regulation_pb2.AiActRole)
    require_member(found, f"{name}.regulated_sector", system.regulated_sector, regulation_pb2.RegulatedSector)


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
