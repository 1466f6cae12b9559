"""All settings of a process: typed, frozen, read once at start from ``GROUNDTRAIL_<SECTION>__<FIELD>``.

``load_settings`` is what composition roots call; nothing else reads the environment. An unknown ``GROUNDTRAIL_*``
variable, a value out of range or an impossible combination stops the process with every problem listed at once.
"""

from collections.abc import Mapping
from typing import Any, Self

from pydantic import BaseModel, ValidationError, model_validator
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from services.common.settings.auth import AuthSettings, JwtSettings
from services.common.settings.chat import AnthropicSettings, ChatSettings
from services.common.settings.checkpoints import CheckpointSettings
from services.common.settings.client import ClientSettings
from services.common.settings.dag import DagSettings
from services.common.settings.dpe import DpeSettings
from services.common.settings.edge import EdgeSettings
from services.common.settings.envelope import EnvelopeSettings
from services.common.settings.environment import (
    DELIMITER,
    PREFIX,
    SettingsError,
    StrictEnvironment,
    known_variables,
    validation_problems,
)
from services.common.settings.ercp import ErcpSettings
from services.common.settings.event_sink import EventSinkSettings
from services.common.settings.gateway import GatewaySettings
from services.common.settings.guard import GuardSettings
from services.common.settings.http import HttpSettings
from services.common.settings.inference import InferenceSettings
from services.common.settings.integrity import IntegritySettings
from services.common.settings.limits import LimitSettings
from services.common.settings.llm import LlmSettings
from services.common.settings.log_signer import LogSignerSettings
from services.common.settings.milvus import MilvusSettings
from services.common.settings.neo4j import Neo4jSettings
from services.common.settings.peers import PeerSettings, PeerTlsSettings
from services.common.settings.providers import ProviderSettings
from services.common.settings.reports import ReportSettings
from services.common.settings.retention import RetentionSettings
from services.common.settings.reviews import ReviewSettings
from services.common.settings.second_opinion import SecondOpinionSettings
from services.common.settings.server import ServerSettings, TlsSettings
from services.common.settings.stores import StoreSettings
from services.common.settings.telemetry import TelemetrySettings
from services.common.settings.tools import ToolSettings
from services.common.settings.vectors import VectorSettings
from services.common.settings.workers import WorkerSettings

__all__ = [
    "AnthropicSettings",
    "AuthSettings",
    "ChatSettings",
    "CheckpointSettings",
    "ClientSettings",
    "DagSettings",
    "DpeSettings",
    "EdgeSettings",
    "EnvelopeSettings",
    "ErcpSettings",
    "EventSinkSettings",
    "GatewaySettings",
    "GuardSettings",
    "InferenceSettings",
    "IntegritySettings",
    "JwtSettings",
    "LimitSettings",
    "LlmSettings",
    "LogSignerSettings",
    "MilvusSettings",
    "Neo4jSettings",
    "PeerSettings",
    "PeerTlsSettings",
    "ProviderSettings",
    "ReportSettings",
    "RetentionSettings",
    "ReviewSettings",
    "SecondOpinionSettings",
    "ServerSettings",
    "Settings",
    "SettingsError",
    "StoreSettings",
    "TelemetrySettings",
    "TlsSettings",
    "ToolSettings",
    "VectorSettings",
    "WorkerSettings",
    "changed_configuration",
    "effective_configuration",
    "known_variables",
    "load_settings",
]


class Settings(BaseSettings):
    """One process's settings; arguments win over the environment, the environment over defaults."""

    model_config = SettingsConfigDict(
        frozen=True,
        extra="forbid",
        env_prefix=PREFIX,
        env_nested_delimiter=DELIMITER,
        hide_input_in_errors=True,
    )

    server: ServerSettings = ServerSettings()
    """The gRPC server."""
    auth: AuthSettings = AuthSettings()
    """API keys and JWTs."""
    edge: EdgeSettings = EdgeSettings()
    """What a peer may take that has proven nothing yet."""
    telemetry: TelemetrySettings = TelemetrySettings()
    """Logs, traces and metrics."""
    peers: PeerSettings = PeerSettings()
    """The other services."""
    client: ClientSettings = ClientSettings()
    """What the command line talks to."""
    store: StoreSettings = StoreSettings()
    """The stores: which ones, and the embedded ones."""
    milvus: MilvusSettings = MilvusSettings()
    """The connection to Milvus; used when the facts are there."""
    neo4j: Neo4jSettings = Neo4jSettings()
    """The connection to Neo4j; used by the stores that are there."""
    vectors: VectorSettings = VectorSettings()
    """An engine that proposes nearest facts; none by default."""
    inference: InferenceSettings = InferenceSettings()
    """Models and tokenizers."""
    workers: WorkerSettings = WorkerSettings()
    """Processes for work that may have to be ended."""
    integrity: IntegritySettings = IntegritySettings()
    """Which build may run."""
    llm: LlmSettings = LlmSettings()
    """The provider that writes answers."""
    envelope: EnvelopeSettings = EnvelopeSettings()
    """Ingestion, retrieval and packing."""
    dpe: DpeSettings = DpeSettings()
    """The provenance stages."""
    guard: GuardSettings = GuardSettings()
    """Scoring outside a session: coherence, streams, injection, verified claims."""
    second_opinion: SecondOpinionSettings = SecondOpinionSettings()
    """An endpoint that is asked about claims; off by default."""
    dag: DagSettings = DagSettings()
    """Sessions, windows and tokens."""
    retention: RetentionSettings = RetentionSettings()
    """How long sessions stay."""
    event_sink: EventSinkSettings = EventSinkSettings()
    """Where audit events are streamed to."""
    checkpoints: CheckpointSettings = CheckpointSettings()
    """Where signed heads of the logs are sent."""
    log_signer: LogSignerSettings = LogSignerSettings()
    """Who signs them."""
    gateway: GatewaySettings = GatewaySettings()
    """Dispatch."""
    limits: LimitSettings = LimitSettings()
    """What a credential may ask for in a minute."""
    reviews: ReviewSettings = ReviewSettings()
    """Answers that wait for a person."""
    reports: ReportSettings = ReportSettings()
    """Violation reports."""
    tools: ToolSettings = ToolSettings()
    """Tools that strategy agentic may call."""
    ercp: ErcpSettings = ErcpSettings()
    """The constraint loop."""
    http: HttpSettings = HttpSettings()
    """HTTP beside gRPC, in the gateway process."""
    chat: ChatSettings = ChatSettings()
    """Chats over HTTP: modes, conversations, what is analysed behind the answer."""
    anthropic: AnthropicSettings = AnthropicSettings()
    """The provider behind ``/v1/messages``."""
    providers: ProviderSettings = ProviderSettings()
    """More providers: by name, and tenants' own ones."""

    @model_validator(mode="after")
    def _shared_facts_are_read_strongly(self) -> Self:
        session = self.store.facts == "milvus" and self.milvus.consistency == "session"
        if session and self.envelope.shared_store:
            msg = "envelope.shared_store with facts on Milvus needs milvus.consistency=strong"
            raise ValueError(msg)
        return self

    @model_validator(mode="after")
    def _names_that_no_endpoint_has_go_somewhere(self) -> Self:
        if self.providers.endpoints and not self.llm.configured:
            msg = "providers.endpoints needs llm.base_url, which answers for the names that no endpoint has"
            raise ValueError(msg)
        return self

    @model_validator(mode="after")
    def _one_connection_carries_all_calls(self) -> Self:
        if 0 < self.edge.max_streams_per_connection < 2 * self.server.max_concurrent_calls:
            msg = "edge.max_streams_per_connection is less than twice server.max_concurrent_calls"
            raise ValueError(msg)
        return self

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - replaced by the strict one
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - files are not read
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - files are not read
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Take arguments, then the environment, strictly."""
        return init_settings, StrictEnvironment(settings_cls)


class _KnownVariables(Settings):
    """The settings as far as their variables can be used."""

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - replaced
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - files are not read
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - files are not read
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Take arguments, then what can be used of the environment."""
        return init_settings, StrictEnvironment(settings_cls, refusing=False)


def load_settings(**sections: BaseModel) -> Settings:
    """Read the settings; ``sections`` given here win over the environment.

    Raises:
        SettingsError: with one line per problem; values are never shown.
    """
    try:
        return _with_own_models(Settings(**sections))  # type: ignore[arg-type]  # pydantic checks them
    except ValidationError as error:
        raise SettingsError(validation_problems(error)) from None
    except SettingsError as error:
        raise SettingsError([*error.problems, *_further(sections)]) from None


def _further(sections: Mapping[str, BaseModel]) -> list[str]:
    """Return what is wrong with the values of variables, beside variables that are no settings."""
    try:
        _KnownVariables(**sections)  # type: ignore[arg-type]  # pydantic checks them
    except ValidationError as error:
        # What a whole section lacks may be what could not be used: that has been told.
        return [problem for problem in validation_problems(error) if DELIMITER in problem.split(":", 1)[0]]
    return []


def _with_own_models(settings: Settings) -> Settings:
    """Let the user's own models lie under the data directory where no setting says where they lie."""
    if settings.inference.own_models is not None:
        return settings
    inference = settings.inference.model_copy(update={"own_models": settings.store.data_dir / "models"})
    return settings.model_copy(update={"inference": inference})


def effective_configuration(settings: Settings) -> dict[str, str]:
    """Return every setting as ``section.field`` and text; secrets are hidden by their type."""
    flat: dict[str, str] = {}
    _flatten(settings.model_dump(mode="json"), "", flat)
    return flat


def changed_configuration(settings: Settings) -> dict[str, str]:
    """Return those settings that are not the default, as ``effective_configuration`` does; a secret stays hidden."""
    default = effective_configuration(Settings.model_construct())
    return {name: text for name, text in effective_configuration(settings).items() if default.get(name) != text}


def _flatten(value: Any, path: str, out: dict[str, str]) -> None:
    if isinstance(value, dict) and value:
        for key, item in value.items():
            _flatten(item, f"{path}.{key}" if path else str(key), out)
    else:
        out[path] = "" if value is None else str(value)
