"""Controls of ISO/IEC 42001:2023, Annex A, and the evidence for each (SPEC-005 §14.3; ADR 0039).

Seven controls are evidenced by the dispatch itself, from what is known when stage 12 runs; for these an entry that the
operator registered does not stand in. The other 31 concern the organisation: they are met when the operator registered
where their evidence is kept, which is passed on and not inspected. Nothing is met without a reference.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from services.common.regulation import ISO_42001_CONTROLS
from services.common.taxonomy import StageStatus
from services.dpe.domain.outcome import StageOutcome
from services.dpe.domain.regulation.system import AiSystem
from services.dpe.domain.stage_row import StageKey

MAX_REFERENCES: Final = 20
"""References per control that a report shows; a control is met by one."""
_RAN: Final = frozenset({StageStatus.COMPLETED, StageStatus.NOT_APPLICABLE})


@dataclass(frozen=True, slots=True)
class DispatchEvidence:
    """What is known of a dispatch when stage 12 runs.

    Attributes:
        monitored: the stages that have to have run.
        outcomes: how they ended.
        source_ids: the source of each fact of the envelope; empty where a fact names none.
        envelope_etag: of the envelope; empty when it has none.
        audit_trail_id: where the window was opened; empty when it stands in no trail.
        models: fingerprints of the models that take part.
        stated_headers: CRP headers for users whose values the analysis gave.
    """

    monitored: tuple[StageKey, ...]
    outcomes: tuple[StageOutcome, ...] = ()
    source_ids: tuple[str, ...] = ()
    envelope_etag: str = ""
    audit_trail_id: str = ""
    models: tuple[str, ...] = ()
    stated_headers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Control:
    """One control as assessed: met exactly when there is evidence, otherwise ``missing`` says what there is not."""

    control_id: str
    by_dispatch: bool
    evidence: tuple[str, ...] = ()
    missing: str = ""

    @property
    def title(self) -> str:
        """The control's subject."""
        return ISO_42001_CONTROLS[self.control_id]

    @property
    def met(self) -> bool:
        """Say whether there is evidence."""
        return bool(self.evidence)


Found = tuple[tuple[str, ...], str]
"""References, and what is missing where there are none."""


def assess(system: AiSystem, dispatch: DispatchEvidence) -> tuple[Control, ...]:
    """Return every control of Annex A, in its order."""
    registered = dict(system.evidence)
    return tuple(_control(control_id, system, dispatch, registered) for control_id in ISO_42001_CONTROLS)


def _control(control_id: str, system: AiSystem, dispatch: DispatchEvidence, registered: Mapping[str, str]) -> Control:
    look = BY_DISPATCH.get(control_id)
    if look is not None:
        references, missing = look(system, dispatch)
        return Control(control_id, by_dispatch=True, evidence=references[:MAX_REFERENCES], missing=missing)
    place = registered.get(control_id, "").strip()
    if place:
        return Control(control_id, by_dispatch=False, evidence=(f"registered: {place}",))
    return Control(control_id, by_dispatch=False, missing="no evidence is registered")


def _data_resources(_: AiSystem, dispatch: DispatchEvidence) -> Found:
    if not dispatch.source_ids:
        return (), "the envelope holds no fact"
    if not dispatch.envelope_etag:
        return (), "the envelope has no ETag"
    return (f"envelope {dispatch.envelope_etag}", f"facts {len(dispatch.source_ids)}"), ""


def _tooling(_: AiSystem, dispatch: DispatchEvidence) -> Found:
    return tuple(f"model {each}" for each in dispatch.models), "" if dispatch.models else "no model is named"


def _monitoring(_: AiSystem, dispatch: DispatchEvidence) -> Found:
    ended = {outcome.key: outcome.status for outcome in dispatch.outcomes}
    lacking = [str(key) for key in dispatch.monitored if ended.get(key) not in _RAN]
    if lacking:
        return (), f"not completed: stage {', '.join(lacking)}"
    return tuple(f"stage {key} {ended[key]}" for key in dispatch.monitored), ""


def _event_logs(_: AiSystem, dispatch: DispatchEvidence) -> Found:
    if not dispatch.audit_trail_id:
        return (), "the window stands in no audit trail"
    return (f"audit trail {dispatch.audit_trail_id}",), ""


def _provenance(_: AiSystem, dispatch: DispatchEvidence) -> Found:
    if not dispatch.source_ids:
        return (), "the envelope holds no fact"
    nameless = sum(1 for source in dispatch.source_ids if not source)
    if nameless:
        return (), f"facts without a source: {nameless} of {len(dispatch.source_ids)}"
    return tuple(f"source {source}" for source in sorted(set(dispatch.source_ids))), ""


def _users(_: AiSystem, dispatch: DispatchEvidence) -> Found:
    if not dispatch.audit_trail_id:
        return (), "no gateway sends headers for this analysis"
    if not dispatch.stated_headers:
        return (), "no risk could be computed to tell users of"
    return tuple(f"header {name}" for name in dispatch.stated_headers), ""


def _intended_use(system: AiSystem, _: DispatchEvidence) -> Found:
    if not system.intended_purpose.strip():
        return (), "no intended purpose is registered"
    return (f"intended purpose, registration version {system.version}",), ""


BY_DISPATCH: Final[Mapping[str, Callable[[AiSystem, DispatchEvidence], Found]]] = {
    "A.4.3": _data_resources,
    "A.4.4": _tooling,
    "A.6.2.6": _monitoring,
    "A.6.2.8": _event_logs,
    "A.7.5": _provenance,
    "A.8.2": _users,
    "A.9.4": _intended_use,
}
"""Controls whose evidence is in the dispatch, and where it is looked for."""
