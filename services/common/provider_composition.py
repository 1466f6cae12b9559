"""Which language models there are: the providers that the settings name, routed by model name (ADR 0147, ADR 0163)."""

from collections.abc import Sequence
from fnmatch import fnmatchcase

from pydantic import SecretStr

from services.common.ports.chat_provider import ChatProvider
from services.common.ports.credentials import TenantProviderRecord
from services.common.ports.language_model import StreamingLanguageModel
from services.common.settings import AnthropicSettings, LlmSettings, Settings
from services.common.telemetry.model_calls import ModelCalls

OWN: str = "own"
"""What metrics and traces call every tenant's own provider: names of tenants' choosing would be labels without end."""


def has_language_model(settings: Settings) -> bool:
    """Say whether a provider is named that writes answers."""
    anthropic = settings.anthropic
    return settings.llm.configured or bool(anthropic.base_url and anthropic.models)


def answers_for(settings: Settings, model: str) -> bool:
    """Say whether the settings name a provider for a model: as a default, or among the names that one is asked for."""
    anthropic = settings.anthropic
    patterns = [pattern for one in settings.providers.endpoints.values() for pattern in one.models]
    if anthropic.base_url:
        patterns += anthropic.models
    if settings.llm.configured:
        patterns.append(settings.llm.model)
    return any(fnmatchcase(model, pattern) for pattern in patterns)


def named_endpoints(settings: Settings) -> list[tuple[Sequence[str], LlmSettings]]:
    """Return the endpoints by name, each as if it were the only one, and the models that it is asked for."""
    found: list[tuple[Sequence[str], LlmSettings]] = []
    for name, endpoint in settings.providers.endpoints.items():
        key = settings.providers.api_keys.get(name, SecretStr(""))
        given = endpoint.model_dump(exclude={"models"})
        found.append((endpoint.models, LlmSettings(**given, provider=name, api_key=key)))
    return found


async def open_language_models(settings: Settings, calls: ModelCalls) -> StreamingLanguageModel:
    """Return the language model of the settings, several of them as one.

    Args:
        settings: name the providers.
        calls: is told of every call (ADR 0156).

    Raises:
        ValueError: none is named.
    """
    from services.common.adapters.http.chat_provider import HttpChatProvider, anthropic_endpoint
    from services.common.adapters.http.language_models import AnthropicLanguageModel, RoutedLanguageModel
    from services.common.adapters.openai.language_model import open_language_model
    from services.common.adapters.told_models import ToldLanguageModel

    async def opened(endpoint: LlmSettings) -> StreamingLanguageModel:
        return ToldLanguageModel(await open_language_model(endpoint), calls, endpoint.provider)

    routes = [(models, await opened(endpoint)) for models, endpoint in named_endpoints(settings)]
    anthropic = settings.anthropic
    if anthropic.base_url and anthropic.models:
        writer = AnthropicLanguageModel(HttpChatProvider(anthropic_endpoint(anthropic)), anthropic)
        routes.append((anthropic.models, ToldLanguageModel(writer, calls, anthropic.provider)))
        if not settings.llm.configured:
            return routes[-1][1]
    default = await opened(settings.llm)
    return RoutedLanguageModel(default, routes) if routes else default


async def open_chat_provider(settings: Settings, calls: ModelCalls) -> ChatProvider:
    """Return the provider of OpenAI's form that the settings name, several of them as one."""
    from services.common.adapters.http.chat_provider import HttpChatProvider, openai_endpoint
    from services.common.adapters.http.routed_chats import RoutedChatProvider
    from services.common.adapters.told_models import told_openai

    def opened(endpoint: LlmSettings) -> ChatProvider:
        return told_openai(HttpChatProvider(openai_endpoint(endpoint)), calls, endpoint.provider)

    routes = [(models, opened(endpoint)) for models, endpoint in named_endpoints(settings)]
    default = opened(settings.llm)
    return RoutedChatProvider(default, routes) if routes else default


async def open_messages_provider(settings: Settings, calls: ModelCalls) -> ChatProvider:
    """Return the provider of Anthropic's form that the settings name."""
    from services.common.adapters.http.chat_provider import HttpChatProvider, anthropic_endpoint
    from services.common.adapters.told_models import told_anthropic

    return told_anthropic(HttpChatProvider(anthropic_endpoint(settings.anthropic)), calls, settings.anthropic.provider)


async def open_own_provider(
    provider: TenantProviderRecord, api_key: str, settings: Settings, calls: ModelCalls
) -> tuple[ChatProvider, StreamingLanguageModel]:
    """Return a tenant's own provider, as bodies go through and as what writes answers; close both.

    Waits, attempts and circuit are those of the deployment's own provider of the form.
    """
    from services.common.adapters.http.chat_provider import HttpChatProvider, anthropic_endpoint, openai_endpoint
    from services.common.adapters.http.language_models import AnthropicLanguageModel
    from services.common.adapters.openai.language_model import open_language_model
    from services.common.adapters.told_models import ToldLanguageModel, told_anthropic, told_openai

    given = {"base_url": provider.base_url, "api_key": SecretStr(api_key), "provider": provider.name}
    if provider.form == "anthropic":
        anthropic: AnthropicSettings = settings.anthropic.model_copy(update=given)
        chats = HttpChatProvider(anthropic_endpoint(anthropic))
        return told_anthropic(chats, calls, OWN), ToldLanguageModel(
            AnthropicLanguageModel(chats, anthropic), calls, OWN
        )
    openai: LlmSettings = settings.llm.model_copy(update=given)
    writer = await open_language_model(openai)
    return told_openai(HttpChatProvider(openai_endpoint(openai)), calls, OWN), ToldLanguageModel(writer, calls, OWN)
