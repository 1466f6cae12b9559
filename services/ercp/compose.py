"""The ERCP service's composition: adapters and settings in, the served service out."""

from functools import partial

from ercp.v1 import ercp_service_pb2_grpc as pb_grpc

from services.common.composition import Adapters
from services.common.concurrency import KeyedLock
from services.common.extractive.composing import ExtractLimits
from services.common.extractive.model import ExtractiveLanguageModel
from services.common.ports.language_model import LanguageModel
from services.common.rpc.peers import PeerChannels
from services.common.rpc.server import ServedService
from services.common.settings import ErcpSettings, Settings
from services.ercp.clients.knowledge import GrpcKnowledgeSource
from services.ercp.clients.provenance import GrpcProvenance
from services.ercp.clients.sessions import GrpcTraceSessions
from services.ercp.deciding import Deciding
from services.ercp.domain import predicates, solver
from services.ercp.generating import Generating, Generator
from services.ercp.journal import TraceWriter
from services.ercp.metrics import RunMetrics
from services.ercp.node_key import open_node_signer
from services.ercp.operator_app import OperatorApp
from services.ercp.ports import Redactor
from services.ercp.redaction import DetectingRedactor, NoRedactor
from services.ercp.run_app import RunApp
from services.ercp.run_parts import OperatorParts
from services.ercp.servicer import ROLES, SERVICE_NAME, ErcpServicer
from services.ercp.suspicion_bounds import load_bounds
from services.ercp.understanding import Wording
from services.ercp.unit_reading import UnitReading
from services.ercp.verifying import SecondDetector, Verifying
from services.ercp.work import WORK


async def build(
    settings: Settings, adapters: Adapters, *, language_model: LanguageModel | None = None
) -> list[ServedService]:
    """Return ErcpService.

    Args:
        settings: of the process.
        adapters: of the process.
        language_model: writes the candidates in place of the configured provider.

    Raises:
        SettingsError: the node key cannot be used.
    """
    predicates.warm()
    solver.warm()
    channels = PeerChannels(settings)
    adapters.closing(channels.close)
    generator = await _generator(settings, adapters, language_model)
    signer = open_node_signer(settings.ercp, settings.store.data_dir)
    sessions = GrpcTraceSessions(channels.to("dag"), adapters.ids)
    scribe = TraceWriter(sessions, signer, await _redactor(settings.ercp, adapters), adapters.clock)
    provenance = GrpcProvenance(channels.to("dpe"))
    parts = await _parts(settings, adapters, Generating(generator, sessions, provenance, settings.ercp), channels)
    adapters.closing(parts.generating.close)
    turns = KeyedLock()
    runs = RunApp(parts, scribe, settings.ercp, scribe.clock, turns)
    operators = OperatorApp(parts, provenance, scribe, turns, runs.counts)
    proposing = settings.ercp.proposed_predicates == "take" and generator.generative
    wording = Wording(
        generator.model if proposing else None,
        holds_words=settings.ercp.words_not_understood == "suspect",
        counts=runs.counts,
    )
    servicer = ErcpServicer(runs, operators, scribe.signer, settings.ercp, wording)

    async def check() -> None:
        await channels.check()
        await generator.model.check()

    return [
        ServedService(
            name=SERVICE_NAME,
            register=partial(pb_grpc.add_ErcpServiceServicer_to_server, servicer),
            roles=ROLES,
            check=check,
            listening=channels.listening,
            metrics=RunMetrics(runs.counts),
            work=WORK,
        )
    ]


async def _parts(
    settings: Settings, adapters: Adapters, generating: Generating, channels: PeerChannels
) -> OperatorParts:
    return OperatorParts(
        generating=generating,
        verifying=await _verifying(settings.ercp, adapters),
        deciding=Deciding(await adapters.embedding(), settings.ercp),
        knowledge=GrpcKnowledgeSource(channels.to("envelope"), settings.ercp.token_model),
    )


async def _verifying(settings: ErcpSettings, adapters: Adapters) -> Verifying:
    """Return the oracle, with the second detector where the entailment model is delivered."""
    entailment = await adapters.entailment()
    units = await _units(settings, adapters)
    if entailment is None:
        return Verifying(None, settings, units=units)
    second = SecondDetector(entailment, await adapters.embedding(), load_bounds(), settings.max_suspicion_pairs)
    return Verifying(entailment, settings, second, units)


async def _units(settings: ErcpSettings, adapters: Adapters) -> UnitReading:
    heads = await adapters.sentence_heads() if settings.sentence_heads == "on" else None
    return UnitReading(heads, settings.max_nli_pairs)


async def _generator(settings: Settings, adapters: Adapters, given: LanguageModel | None) -> Generator:
    """Return who writes: the one given, the configured provider, or the extractive answerer (ADR 0020)."""
    provider = given if given is not None else await adapters.language_model()
    if provider is not None:
        return Generator(provider, generative=True)
    limits = ExtractLimits(settings.ercp.extractive_max_sentences, settings.ercp.extractive_min_score)
    model = ExtractiveLanguageModel(await adapters.tokens(), settings.ercp.token_model, limits)
    return Generator(model, generative=False)


async def _redactor(settings: ErcpSettings, adapters: Adapters) -> Redactor:
    if not settings.redact_personal_data:
        return NoRedactor()
    return DetectingRedactor(await adapters.entity_recognizer(), await adapters.personal_data())
