"""Words and the contract's enums, both ways; those of taxonomy.proto are in ``services.common.rpc.enums``."""

from collections.abc import Mapping
from typing import Any, Final, TypeVar

from crp.common.v1 import regulation_pb2 as regulation
from crp.dag.v1 import dag_pb2, session_service_pb2
from crp.dpe.v1 import finding_pb2, provenance_service_pb2, report_pb2
from crp.gateway.v1 import dispatch_pb2

from services.common.rpc.enums import EnumTable
from services.common.taxonomy import (
    Degradation,
    Remedy,
    RemedyCall,
    RemedyCondition,
    RemedyForce,
    RepetitionLevel,
    WindowStatus,
)
from services.gateway.domain.completion import CallPurpose
from services.gateway.domain.holding import Hold
from services.gateway.domain.outcome import Enforcement
from services.gateway.domain.tools import ToolOutcome
from services.gateway.domain.vocabulary import FanInPolicy, OversightMode, RemedyMode, SafetyMode

NameT = TypeVar("NameT")


def inverse(table: Mapping[int, NameT]) -> dict[NameT, Any]:
    """Return the way back of a table of names, to values that the stubs type as one class per enum."""
    return {name: value for value, name in table.items()}


WINDOW_STATUSES: Final = EnumTable(dag_pb2.WindowStatus, WindowStatus)
REPETITIONS: Final = EnumTable(report_pb2.RepetitionLevel, RepetitionLevel)
OVERSIGHT_MODES: Final = EnumTable(dispatch_pb2.OversightMode, OversightMode)
SAFETY_MODES: Final = EnumTable(dispatch_pb2.SafetyMode, SafetyMode)
STREAM_MODES: Final = {
    dispatch_pb2.STREAM_SAFETY_MODE_BUFFER: Hold.ALL,
    dispatch_pb2.STREAM_SAFETY_MODE_PASS_THROUGH: Hold.NOTHING,
}
"""What a caller may ask for; holding back sentences is what is done where nothing is asked."""
FAN_IN_POLICIES: Final = EnumTable(dispatch_pb2.FanInPolicy, FanInPolicy)
DAG_FAN_IN_POLICIES: Final = EnumTable(session_service_pb2.FanInPolicy, FanInPolicy)
DEGRADATIONS: Final = EnumTable(dag_pb2.DegradationLevel, Degradation)
REMEDY_MODES: Final = EnumTable(dispatch_pb2.RemediationMode, RemedyMode)
TOOL_OUTCOMES: Final = EnumTable(dispatch_pb2.ToolOutcome, ToolOutcome)
CALL_PURPOSES: Final = EnumTable(dispatch_pb2.ModelCallPurpose, CallPurpose)
REMEDIES: Final = EnumTable(provenance_service_pb2.RemediationAction, Remedy)
REMEDY_FORCES: Final = EnumTable(provenance_service_pb2.RemediationForce, RemedyForce)
REMEDY_CALLS: Final = EnumTable(provenance_service_pb2.RemediationCall, RemedyCall)
REMEDY_CONDITIONS: Final = EnumTable(provenance_service_pb2.RemediationCondition, RemedyCondition)
REMEDY_KINDS: Final = {
    Remedy.UPGRADE_STRATEGY: dispatch_pb2.REMEDIATION_KIND_STRATEGY_UPGRADE,
    Remedy.ANTI_REPETITION: dispatch_pb2.REMEDIATION_KIND_ANTI_REPETITION,
    Remedy.CORRECT_CONTRADICTION: dispatch_pb2.REMEDIATION_KIND_CONTRADICTION_CORRECTION,
    Remedy.AUTO_CONTINUE: dispatch_pb2.REMEDIATION_KIND_AUTO_CONTINUATION,
    Remedy.AUGMENT_FLOW: dispatch_pb2.REMEDIATION_KIND_PROMPT_AUGMENTATION,
    Remedy.STITCH_FLOW: dispatch_pb2.REMEDIATION_KIND_STITCH,
}
"""How a step that was taken is told; one that only warns is a warning of the response."""
ENFORCEMENTS: Final = EnumTable(dispatch_pb2.Enforcement, Enforcement)
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
