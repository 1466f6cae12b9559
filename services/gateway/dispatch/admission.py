"""What is decided before a window is opened: policy, strategy, AI system, a call's defaults (CRP-SPEC-006, -008)."""

from dataclasses import replace
from typing import Protocol

from services.common.errors import ErrorReason, InvalidRequestError
from services.common.ports.credentials import AiSystemRecord
from services.common.settings import GatewaySettings
from services.gateway.dispatch.screening import screened_command
from services.gateway.dispatch.strategies.choosing import served_strategy, strategy_named
from services.gateway.domain.admitted import AdmittedDispatch
from services.gateway.domain.ai_systems import unknown_ai_system
from services.gateway.domain.command import DispatchCommand
from services.gateway.domain.outcome import PolicyInForce, PolicyRelaxedError, policy_in_force, relaxed
from services.gateway.domain.policy import PolicyError
from services.gateway.domain.vocabulary import RemedyMode
from services.gateway.ports import TenantRegistry


class AnswersFor(Protocol):
    """Says whether a provider answers for a model's name because the deployment, or the tenant, wrote it down."""

    async def __call__(self, tenant_id: str, model: str) -> bool:
        """Say so."""
        ...


class Admission:
    """Turns commands into jobs, or refuses them.

    Args:
        registry: what is registered of the tenant.
        default_model: of the deployment's language model.
        settings: the deployment's defaults.
        answers_for: which names of models providers are set up for, besides the default.
    """

    def __init__(
        self, registry: TenantRegistry, default_model: str, settings: GatewaySettings, answers_for: AnswersFor
    ) -> None:
        self._registry = registry
        self._default_model = default_model
        self._settings = settings
        self._answers_for = answers_for

    async def admit(self, command: DispatchCommand, tenant_id: str) -> AdmittedDispatch:
        """Return the job of a command.

        Raises:
            InvalidRequestError: UNKNOWN_DIRECTIVE, INVALID_FIELD.
            PermissionDeniedError: POLICY_RELAXED.
            PreconditionError: UNSUPPORTED_STRATEGY.
            NotFoundError: AI_SYSTEM_NOT_FOUND.
        """
        generation, settings = command.generation, self._settings
        default = settings.default_temperature
        command, suspicions = await screened_command(command, settings.suspected_queries)
        command = await self._countable(command, tenant_id)
        strategy = strategy_named(served_strategy(command.strategies, command.continuation.merges))
        admitted = AdmittedDispatch(
            command=command,
            policy=await self._policy(command, tenant_id),
            strategy=strategy.name,
            model=generation.model or self._default_model,
            max_tokens=generation.max_tokens or settings.default_max_tokens,
            temperature=default if generation.temperature is None else generation.temperature,
            ai_system=await self._ai_system(command, tenant_id),
            remedies=self._remedies(command),
            prompt_augmentation=settings.prompt_augmentation,
            suspicions=suspicions,
        )
        return strategy.prepared(admitted)

    async def _countable(self, command: DispatchCommand, tenant_id: str) -> DispatchCommand:
        """Return the command so that tokens of a model that is set up are counted in any case (ADR 0217)."""
        context, model = command.context, command.generation.model
        allowed = context.approximate_tokens or model in {"", self._default_model}
        if not allowed and not await self._answers_for(tenant_id, model):
            return command
        window = context.context_window_tokens or self._settings.assumed_window_tokens
        return replace(command, context=replace(context, approximate_tokens=True, context_window_tokens=window))

    def _remedies(self, command: DispatchCommand) -> RemedyMode:
        own = RemedyMode(self._settings.remedies)
        return own if own is RemedyMode.OFF or command.remedies is None else command.remedies

    async def _ai_system(self, command: DispatchCommand, tenant_id: str) -> AiSystemRecord | None:
        """Return the system that the command names; one that is not registered is refused, never guessed (§14)."""
        if not command.ai_system_id:
            return None
        system = await self._registry.ai_system(tenant_id, command.ai_system_id)
        if system is None:
            raise unknown_ai_system(command.ai_system_id)
        return system

    async def _policy(self, command: DispatchCommand, tenant_id: str) -> PolicyInForce:
        tenant = await self._registry.safety_policy(tenant_id)
        try:
            return policy_in_force(command.policy, tenant, self._settings.default_safety_policy)
        except PolicyError as error:
            raise InvalidRequestError(
                ErrorReason.UNKNOWN_DIRECTIVE,
                f"safety policy: {error}; known directives: {', '.join(error.known)}",
                directive=error.directive,
                known=", ".join(error.known),
            ) from None
        except PolicyRelaxedError as error:
            raise relaxed(error, "tenant") from None
