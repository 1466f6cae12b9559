from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from typing import ClassVar as _ClassVar

DESCRIPTOR: _descriptor.FileDescriptor

class QualityTier(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    QUALITY_TIER_UNSPECIFIED: _ClassVar[QualityTier]
    QUALITY_TIER_S: _ClassVar[QualityTier]
    QUALITY_TIER_A: _ClassVar[QualityTier]
    QUALITY_TIER_B: _ClassVar[QualityTier]
    QUALITY_TIER_C: _ClassVar[QualityTier]
    QUALITY_TIER_D: _ClassVar[QualityTier]

class RiskLevel(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    RISK_LEVEL_UNSPECIFIED: _ClassVar[RiskLevel]
    RISK_LEVEL_LOW: _ClassVar[RiskLevel]
    RISK_LEVEL_MEDIUM: _ClassVar[RiskLevel]
    RISK_LEVEL_HIGH: _ClassVar[RiskLevel]
    RISK_LEVEL_CRITICAL: _ClassVar[RiskLevel]

class GroundingMode(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    GROUNDING_MODE_UNSPECIFIED: _ClassVar[GroundingMode]
    GROUNDING_MODE_CONTEXT_STRICT: _ClassVar[GroundingMode]
    GROUNDING_MODE_CONTEXT_PREFERRED: _ClassVar[GroundingMode]
    GROUNDING_MODE_OPEN: _ClassVar[GroundingMode]

class DispatchStrategy(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    DISPATCH_STRATEGY_UNSPECIFIED: _ClassVar[DispatchStrategy]
    DISPATCH_STRATEGY_PUSH: _ClassVar[DispatchStrategy]
    DISPATCH_STRATEGY_PULL: _ClassVar[DispatchStrategy]
    DISPATCH_STRATEGY_REFLEXIVE: _ClassVar[DispatchStrategy]
    DISPATCH_STRATEGY_AGENTIC: _ClassVar[DispatchStrategy]
    DISPATCH_STRATEGY_HIERARCHICAL: _ClassVar[DispatchStrategy]
    DISPATCH_STRATEGY_BATCH: _ClassVar[DispatchStrategy]
    DISPATCH_STRATEGY_STREAMING: _ClassVar[DispatchStrategy]
    DISPATCH_STRATEGY_FAN_OUT: _ClassVar[DispatchStrategy]
    DISPATCH_STRATEGY_FAN_IN: _ClassVar[DispatchStrategy]

class BreakerState(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    BREAKER_STATE_UNSPECIFIED: _ClassVar[BreakerState]
    BREAKER_STATE_CLOSED: _ClassVar[BreakerState]
    BREAKER_STATE_HALF_OPEN: _ClassVar[BreakerState]
    BREAKER_STATE_OPEN: _ClassVar[BreakerState]

class ChainIntegrity(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    CHAIN_INTEGRITY_UNSPECIFIED: _ClassVar[ChainIntegrity]
    CHAIN_INTEGRITY_VALID: _ClassVar[ChainIntegrity]
    CHAIN_INTEGRITY_BROKEN: _ClassVar[ChainIntegrity]
    CHAIN_INTEGRITY_PARTIAL: _ClassVar[ChainIntegrity]
    CHAIN_INTEGRITY_UNVERIFIED: _ClassVar[ChainIntegrity]
    CHAIN_INTEGRITY_TRUNCATED: _ClassVar[ChainIntegrity]

class StageStatus(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    STAGE_STATUS_UNSPECIFIED: _ClassVar[StageStatus]
    STAGE_STATUS_COMPLETED: _ClassVar[StageStatus]
    STAGE_STATUS_NOT_APPLICABLE: _ClassVar[StageStatus]
    STAGE_STATUS_SKIPPED: _ClassVar[StageStatus]
    STAGE_STATUS_DEGRADED: _ClassVar[StageStatus]
    STAGE_STATUS_FAILED: _ClassVar[StageStatus]
QUALITY_TIER_UNSPECIFIED: QualityTier
QUALITY_TIER_S: QualityTier
QUALITY_TIER_A: QualityTier
QUALITY_TIER_B: QualityTier
QUALITY_TIER_C: QualityTier
QUALITY_TIER_D: QualityTier
RISK_LEVEL_UNSPECIFIED: RiskLevel
RISK_LEVEL_LOW: RiskLevel
RISK_LEVEL_MEDIUM: RiskLevel
RISK_LEVEL_HIGH: RiskLevel
RISK_LEVEL_CRITICAL: RiskLevel
GROUNDING_MODE_UNSPECIFIED: GroundingMode
GROUNDING_MODE_CONTEXT_STRICT: GroundingMode
GROUNDING_MODE_CONTEXT_PREFERRED: GroundingMode
GROUNDING_MODE_OPEN: GroundingMode
DISPATCH_STRATEGY_UNSPECIFIED: DispatchStrategy
DISPATCH_STRATEGY_PUSH: DispatchStrategy
DISPATCH_STRATEGY_PULL: DispatchStrategy
DISPATCH_STRATEGY_REFLEXIVE: DispatchStrategy
DISPATCH_STRATEGY_AGENTIC: DispatchStrategy
DISPATCH_STRATEGY_HIERARCHICAL: DispatchStrategy
DISPATCH_STRATEGY_BATCH: DispatchStrategy
DISPATCH_STRATEGY_STREAMING: DispatchStrategy
DISPATCH_STRATEGY_FAN_OUT: DispatchStrategy
DISPATCH_STRATEGY_FAN_IN: DispatchStrategy
BREAKER_STATE_UNSPECIFIED: BreakerState
BREAKER_STATE_CLOSED: BreakerState
BREAKER_STATE_HALF_OPEN: BreakerState
BREAKER_STATE_OPEN: BreakerState
CHAIN_INTEGRITY_UNSPECIFIED: ChainIntegrity
CHAIN_INTEGRITY_VALID: ChainIntegrity
CHAIN_INTEGRITY_BROKEN: ChainIntegrity
CHAIN_INTEGRITY_PARTIAL: ChainIntegrity
CHAIN_INTEGRITY_UNVERIFIED: ChainIntegrity
CHAIN_INTEGRITY_TRUNCATED: ChainIntegrity
STAGE_STATUS_UNSPECIFIED: StageStatus
STAGE_STATUS_COMPLETED: StageStatus
STAGE_STATUS_NOT_APPLICABLE: StageStatus
STAGE_STATUS_SKIPPED: StageStatus
STAGE_STATUS_DEGRADED: StageStatus
STAGE_STATUS_FAILED: StageStatus
