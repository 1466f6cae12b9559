"""Parts of the suite that stand alone: what a command needs when it asks one service and that one needs no other.

Each is the composition of its service, unchanged; what it imports and opens is paid by who asks for it.
"""

from collections.abc import Collection
from enum import StrEnum, unique
from typing import TYPE_CHECKING

from services.common.settings import Settings

if TYPE_CHECKING:
    from services.common.composition import Adapters
    from services.common.rpc.server import ServedService


@unique
class Part(StrEnum):
    """Services that can be started without the others."""

    SESSIONS = "sessions"
    """SessionService, TransparencyService, RetentionService: sessions, windows, reports, the log."""
    KNOWLEDGE = "knowledge"
    """KnowledgeService and EnvelopeService: facts and sources."""
    STORED_KNOWLEDGE = "stored_knowledge"
    """What of KnowledgeService tells of stored facts and sources; KNOWLEDGE, where that is named too, has it all."""
    ADMIN = "admin"
    """AdminService: keys, AI systems, policies."""
    REVIEWS = "reviews"
    """ReviewService: answers that wait for a person; asks SESSIONS."""
    VIOLATION_REPORTS = "violation_reports"
    """ViolationReportService: reports that no endpoint took."""
    FEEDBACK = "feedback"
    """FeedbackService: what people say about verdicts; asks SESSIONS."""


async def build_parts(parts: Collection[Part], settings: Settings, adapters: "Adapters") -> "list[ServedService]":
    """Return the services of the named parts; of the whole suite when none is named."""
    if not parts:
        from services.allinone.compose import build_services

        return await build_services(settings, adapters)
    services: list[ServedService] = []
    if Part.SESSIONS in parts:
        from services.dag.compose import build as build_dag

        services += await build_dag(settings, adapters)
    if Part.KNOWLEDGE in parts:
        from services.envelope.compose import build as build_envelope

        services += await build_envelope(settings, adapters)
    elif Part.STORED_KNOWLEDGE in parts:
        from services.envelope.stored_compose import build as build_stored

        services += await build_stored(settings, adapters)
    if Part.ADMIN in parts:
        from services.gateway.admin.app import AdminApp
        from services.gateway.doors.grpc.admin import admin_service

        app = AdminApp(await adapters.credentials(), adapters.clock, adapters.ids, settings.auth.environment)
        if Part.SESSIONS in parts:
            from services.gateway.review_composition import build_admin

            services.append(await build_admin(app, settings, adapters))
        else:
            services.append(admin_service(app, adapters.clock))
    return [*services, *await _oversight(parts, settings, adapters)]


async def _oversight(parts: Collection[Part], settings: Settings, adapters: "Adapters") -> "list[ServedService]":
    """Return the services of what people have to look at."""
    services: list[ServedService] = []
    if Part.REVIEWS in parts:
        from services.gateway.review_composition import build_reviews

        services.append(await build_reviews(settings, adapters))
    if Part.FEEDBACK in parts:
        from services.gateway.review_composition import build_feedback

        services.append(await build_feedback(settings, adapters))
    if Part.VIOLATION_REPORTS in parts:
        from services.gateway.report_composition import build_violation_reports

        services.append(await build_violation_reports(settings, adapters))
    return services
