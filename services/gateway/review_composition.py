"""The composition of the queue of held answers: the app, and the service on a server of its own."""

from dataclasses import replace

from services.common.composition import Adapters
from services.common.rpc.peers import PEERS, PeerChannels
from services.common.rpc.server import ServedService
from services.common.settings import Settings
from services.gateway.admin.app import AdminApp
from services.gateway.clients.reports import GrpcReportReads
from services.gateway.clients.sessions import GrpcSessionClient
from services.gateway.dispatch.results import Results
from services.gateway.doors.grpc.admin import admin_service
from services.gateway.doors.grpc.feedback import feedback_service
from services.gateway.doors.grpc.reviews import review_service
from services.gateway.ports import HeldAnnouncements
from services.gateway.provider_composition import provider_admin
from services.gateway.reviews.app import ReviewApp


async def open_reviews(
    settings: Settings, adapters: Adapters, channels: PeerChannels, announcements: HeldAnnouncements | None = None
) -> ReviewApp:
    """Return the queue over the shared store and the dag service that the channels lead to."""
    sessions = GrpcSessionClient(channels.to("dag"))
    store = await adapters.reviews()
    return ReviewApp(store, sessions, Results(settings.gateway), adapters.clock, settings.reviews, announcements)


def _to_dag(settings: Settings) -> PeerChannels:
    """Return the channel of services that ask the dag service alone: the others need not be there."""
    return PeerChannels(settings, {"dag": PEERS["dag"]})


async def build_reviews(settings: Settings, adapters: Adapters) -> ServedService:
    """Return ReviewService without the rest of the gateway; the dag service has to be reached."""
    channels = _to_dag(settings)
    adapters.closing(channels.close)
    return review_service(await open_reviews(settings, adapters, channels), channels.listening)


async def build_feedback(settings: Settings, adapters: Adapters) -> ServedService:
    """Return FeedbackService without the rest of the gateway; the dag service has to be reached."""
    channels = _to_dag(settings)
    adapters.closing(channels.close)
    reports = GrpcReportReads(channels.to("dag"))
    return feedback_service(await adapters.feedback(), reports, adapters.clock, channels.listening)


async def build_admin(app: AdminApp, settings: Settings, adapters: Adapters) -> ServedService:
    """Return AdminService with stored windows to try policies on; the dag service has to be reached."""
    channels = _to_dag(settings)
    adapters.closing(channels.close)
    providers = await provider_admin(app, settings, adapters, GrpcSessionClient(channels.to("dag")))
    served = admin_service(app, adapters.clock, GrpcReportReads(channels.to("dag")), providers)
    return replace(served, listening=channels.listening)
