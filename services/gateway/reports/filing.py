"""Which reports a dispatch leads to, and where each goes: never further than the allow-lists say."""

from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from typing import Any, Final

from services.common.encoding import canonical_json, iso_micros
from services.common.errors import CrpError
from services.common.ports.violation_reports import OutgoingReport
from services.common.settings.outgoing import check_outgoing, host_of
from services.common.taxonomy import PROTOCOL_VERSION
from services.gateway.domain.command import DispatchCommand, DispatchResult, Notice, derived_id
from services.gateway.domain.headers import audit_trail_uri
from services.gateway.domain.outcome import Violation, enforced_text
from services.gateway.domain.policy import SafetyPolicy, parse_policy
from services.gateway.domain.window import WindowPlace
from services.gateway.ports import TenantRegistry
from services.gateway.reports.queueing import ReportQueue

NOT_SENT: Final = "VIOLATION_REPORT_NOT_SENT"
MAX_URL_CHARS: Final = 2_048


@dataclass(frozen=True, slots=True)
class _Destination:
    """Where reports go, and why they do not; exactly one is set."""

    url: str = ""
    problem: str = ""


class ReportFiling:
    """Files the reports of dispatches; ``ViolationReports`` of the gateway's ports.

    Args:
        queue: takes them; its settings are the deployment's allow-list and groups.
        registry: tenants' own allow-lists.
    """

    def __init__(self, queue: ReportQueue, registry: TenantRegistry) -> None:
        self._queue = queue
        self._registry = registry
        self._settings = queue.settings

    async def file(self, tenant_id: str, command: DispatchCommand, result: DispatchResult) -> tuple[Notice, ...]:
        """Queue a report of each violation for each destination, and return what the caller should know of it."""
        if result.place is None:
            return ()
        destinations = [each async for each in self._destinations(tenant_id, command, result)]
        notices = [Notice(NOT_SENT, each.problem) for each in destinations if each.problem]
        reports = [
            self._report((tenant_id, command, result.place), result, violation, each.url)
            for each in destinations
            if each.url
            for violation in result.verdict.violations
        ]
        try:
            left_out = await self._queue.put(reports)
        except CrpError as error:  # the answer is committed: it reaches its caller with or without reports
            notices.append(Notice(NOT_SENT, f"the reports could not be queued: {error.reason.value}"))
            return tuple(notices)
        if left_out:
            notices.append(Notice(NOT_SENT, f"{left_out} reports were not taken: the queue is full"))
        return tuple(dict.fromkeys(notices))

    async def _destinations(
        self, tenant_id: str, command: DispatchCommand, result: DispatchResult
    ) -> AsyncIterator[_Destination]:
        applied = parse_policy(enforced_text(result.policy_applied))
        wanted = list(_wanted(command, applied, parse_policy(command.policy.report_only)))
        if not wanted:
            return
        if not self._settings.enabled:
            yield _Destination(problem="this deployment sends no violation reports; read the response's violations")
            return
        own = await self._registry.sink_hosts(tenant_id)
        seen = set[str]()
        for name, value in wanted:
            url = self._settings.groups.get(value, "") if name == "report-to" else value
            if url in seen:
                continue
            seen.add(url)
            problem = self._problem(name, value, url, own)
            yield _Destination("", problem) if problem else _Destination(url)

    def _problem(self, name: str, value: str, url: str, own: tuple[str, ...]) -> str:
        if not url:
            return f"report-to names a group that this deployment does not have: {value[:64]}"
        settings = self._settings
        # A group is the operator's; what a request or a tenant names may be at the tenant's own hosts too.
        allowed = (*settings.allowed_hosts, *(() if name == "report-to" else own))
        try:
            check_outgoing(name, url, (*allowed, *settings.private_hosts), settings.private_hosts)
        except ValueError as error:
            return f"{str(error)[:300]}; ask an administrator to allow it"
        if host_of(url) not in {host.lower() for host in allowed}:
            return f"{name}: allowed_hosts must hold its host, {host_of(url)}"
        return f"{name} must have at most {MAX_URL_CHARS} characters" if len(url) > MAX_URL_CHARS else ""

    def _report(
        self,
        asked: tuple[str, DispatchCommand, WindowPlace],
        result: DispatchResult,
        violation: Violation,
        url: str,
    ) -> OutgoingReport:
        (tenant_id, command, place), finding = asked, violation.finding
        told = (place.window_id, finding.directive, finding.violation_type, violation.enforcement.value, url)
        report_id = derived_id(command.request_id, "/".join(("report", *told)))
        body: dict[str, Any] = {
            "crp_version": PROTOCOL_VERSION,
            "report_id": report_id,
            "session_id": place.session_id,
            "window_id": place.window_id,
            "timestamp": iso_micros(self._queue.now()),
            "violation_type": finding.violation_type,
            "directive_violated": finding.directive,
            "enforcement": violation.enforcement.value,
            "signal_missing": finding.signal_missing,
            "audit_trail_uri": audit_trail_uri(place.session_id),
        }
        if (report := result.report) is not None:
            scores = {
                "risk_level": report.risk_level.value,
                "hallucination_score": report.composite_score,
                "grounding_pct": report.grounding_pct,
                "fabrication_count": report.fabrication_count,
            }
            body |= {name: value for name, value in scores.items() if value is not None}
        return self._queue.report(tenant_id, report_id, url, canonical_json(body))


def _wanted(command: DispatchCommand, applied: SafetyPolicy, report_only: SafetyPolicy) -> Iterator[tuple[str, str]]:
    """Yield what names a destination, and the name."""
    if command.safety_report_uri:
        yield "CRP-Safety-Report-URI", command.safety_report_uri
    for policy in (applied, report_only):
        if policy.report_uri:
            yield "report-uri", policy.report_uri
        if policy.report_to:
            yield "report-to", policy.report_to
