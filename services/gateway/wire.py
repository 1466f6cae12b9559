"""The gateway's words and the contract's enums, both ways; one table each."""

from collections.abc import Mapping
from typing import Any, Final, TypeVar

from crp.ckf.v1 import knowledge_service_pb2 as knowledge
from crp.common.v1 import regulation_pb2 as regulation
from crp.common.v1 import taxonomy_pb2 as taxonomy
from crp.dag.v1 import dag_pb2, session_service_pb2
from crp.dpe.v1 import finding_pb2, provenance_service_pb2, report_pb2
from crp.gateway.v1 import dispatch_pb2

from services.gateway.domain.outcome import Enforcement
from services.gateway.domain.remedy_plan import Remedy, RemedyCall, RemedyCondition, RemedyForce
from services.gateway.domain.vocabulary import (
    BreakerState,
    ChainIntegrity,
    Degradation,
    FanInPolicy,
    GroundingMode,
    OversightMode,
    QualityTier,
    RemedyMode,
    RepetitionLevel,
    RetrievalMode,
    RiskLevel,
    SafetyMode,
    StageStatus,
    Strategy,
    WindowStatus,
)
from services.gateway.domain.written import CallPurpose

WordT = TypeVar("WordT")


def inverse(table: Mapping[int, WordT]) -> dict[WordT, Any]:
    """Return the table from words to enum values, which the stubs type as one class per enum."""
    return {word: value for value, word in table.items()}


TIERS: Final = {taxonomy.QualityTier.Value(f"QUALITY_TIER_{tier}"): tier for tier in QualityTier}
RISKS: Final = {taxonomy.RiskLevel.Value(f"RISK_LEVEL_{level}"): level for level in RiskLevel}
STRATEGIES: Final = {
    taxonomy.DispatchStrategy.Value(f"DISPATCH_STRATEGY_{strategy.name}"): strategy for strategy in Strategy
}
GROUNDING_MODES: Final = {taxonomy.GroundingMode.Value(f"GROUNDING_MODE_{mode.name}"): mode for mode in GroundingMode}
RETRIEVAL_MODES: Final = {knowledge.SearchMode.Value(f"SEARCH_MODE_{mode.name}"): mode for mode in RetrievalMode}
INTEGRITIES: Final = {
    taxonomy.ChainIntegrity.Value(f"CHAIN_INTEGRITY_{integrity}"): integrity for integrity in ChainIntegrity
}
BREAKERS: Final = {taxonomy.BreakerState.Value(f"BREAKER_STATE_{state}"): state for state in BreakerState}
STAGE_STATUSES: Final = {taxonomy.StageStatus.Value(f"STAGE_STATUS_{status}"): status for status in StageStatus}
WINDOW_STATUSES: Final = {dag_pb2.WindowStatus.Value(f"WINDOW_STATUS_{status}"): status for status in WindowStatus}
REPETITIONS: Final = {report_pb2.RepetitionLevel.Value(f"REPETITION_LEVEL_{level}"): level for level in RepetitionLevel}
OVERSIGHT_MODES: Final = {
    dispatch_pb2.OversightMode.Value(f"OVERSIGHT_MODE_{mode.name}"): mode for mode in OversightMode
}
SAFETY_MODES: Final = {dispatch_pb2.SafetyMode.Value(f"SAFETY_MODE_{mode.name}"): mode for mode in SafetyMode}
FAN_IN_POLICIES: Final = {
    dispatch_pb2.FanInPolicy.Value(f"FAN_IN_POLICY_{policy.name}"): policy for policy in FanInPolicy
}
DAG_FAN_IN_POLICIES: Final = {
    session_service_pb2.FanInPolicy.Value(f"FAN_IN_POLICY_{policy.name}"): policy for policy in FanInPolicy
}
DEGRADATIONS: Final = {dag_pb2.DegradationLevel.Value(f"DEGRADATION_LEVEL_{level}"): level for level in Degradation}
REMEDY_MODES: Final = {dispatch_pb2.RemediationMode.Value(f"REMEDIATION_MODE_{mode.name}"): mode for mode in RemedyMode}
CALL_PURPOSES: Final = {
    dispatch_pb2.ModelCallPurpose.Value(f"MODEL_CALL_PURPOSE_{purpose}"): purpose for purpose in CallPurpose
}
REMEDIES: Final = {
    provenance_service_pb2.RemediationAction.Value(f"REMEDIATION_ACTION_{each}"): each for each in Remedy
}
REMEDY_FORCES: Final = {
    provenance_service_pb2.RemediationForce.Value(f"REMEDIATION_FORCE_{each}"): each for each in RemedyForce
}
REMEDY_CALLS: Final = {
    provenance_service_pb2.RemediationCall.Value(f"REMEDIATION_CALL_{each}"): each for each in RemedyCall
}
REMEDY_CONDITIONS: Final = {
    provenance_service_pb2.RemediationCondition.Value(f"REMEDIATION_CONDITION_{each}"): each for each in RemedyCondition
}
REMEDY_KINDS: Final = {
    Remedy.UPGRADE_STRATEGY: dispatch_pb2.REMEDIATION_KIND_STRATEGY_UPGRADE,
    Remedy.ANTI_REPETITION: dispatch_pb2.REMEDIATION_KIND_ANTI_REPETITION,
    Remedy.CORRECT_CONTRADICTION: dispatch_pb2.REMEDIATION_KIND_CONTRADICTION_CORRECTION,
    Remedy.AUTO_CONTINUE: dispatch_pb2.REMEDIATION_KIND_AUTO_CONTINUATION,
    Remedy.AUGMENT_FLOW: dispatch_pb2.REMEDIATION_KIND_PROMPT_AUGMENTATION,
    Remedy.STITCH_FLOW: dispatch_pb2.REMEDIATION_KIND_STITCH,
}
"""How a step that was taken is told; one that only warns is a warning of the response."""
ENFORCEMENTS: Final = {dispatch_pb2.Enforcement.Value(f"ENFORCEMENT_{way}"): way for way in Enforcement}
CONTRADICTION_SCOPES: Final = {
    finding_pb2.CONTRADICTION_SCOPE_INTRA: "intra",
    finding_pb2.CONTRADICTION_SCOPE_CROSS_WINDOW: "cross-window",
    finding_pb2.CONTRADICTION_SCOPE_BOTH: "both",
}
NIST_TIERS: Final = {report_pb2.NistTier.Value(f"NIST_TIER_{number}"): f"TIER-{number}" for number in range(1, 5)}

# What an AI system states about itself is kept by its name in the contract, without the enum's prefix.
ANNEX_III_AREAS: Final = {
    value: name.removeprefix("ANNEX_III_AREA_") for name, value in regulation.AnnexIiiArea.items()
}
PROHIBITED_PRACTICES: Final = {
    value: name.removeprefix("PROHIBITED_PRACTICE_") for name, value in regulation.ProhibitedPractice.items()
}
AI_ACT_ROLES: Final = {
    value: name.removeprefix("AI_ACT_ROLE_") for name, value in regulation.AiActRole.items() if value
}
REGULATED_SECTORS: Final = {
    value: name.removeprefix("REGULATED_SECTOR_") for name, value in regulation.RegulatedSector.items() if value
}
