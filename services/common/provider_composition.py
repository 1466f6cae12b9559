"""Which language models there are: the providers that the settings name, routed by model name (ADR 0147)."""

from services.common.ports.chat_provider import ChatProvider
from services.common.ports.language_model import StreamingLanguageModel
from services.common.settings import Settings
from services.common.telemetry.model_calls import ModelCalls


def has_language_model(settings: Settings) -> bool:
    """Say whether a provider is named that writes answers."""
    anthropic = settings.anthropic
    return settings.llm.configured or bool(anthropic.base_url and anthropic.models)


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

    async def default() -> StreamingLanguageModel:
        return ToldLanguageModel(await open_language_model(settings.llm), calls, settings.llm.provider)

    anthropic = settings.anthropic
    if not (anthropic.base_url and anthropic.models):
        return await default()
    writer = AnthropicLanguageModel(HttpChatProvider(anthropic_endpoint(anthropic)), anthropic)
    claude = ToldLanguageModel(writer, calls, anthropic.provider)
    if not settings.llm.configured:
        return claude
    return RoutedLanguageModel(await default(), [(anthropic.models, claude)])


async def open_chat_provider(settings: Settings, calls: ModelCalls) -> ChatProvider:
    """Return the provider of OpenAI's form that the settings name."""
    from services.common.adapters.http.chat_provider import HttpChatProvider, openai_endpoint
    from services.common.adapters.told_models import told_openai

    return told_openai(HttpChatProvider(openai_endpoint(settings.llm)), calls, settings.llm.provider)


async def open_messages_provider(settings: Settings, calls: ModelCalls) -> ChatProvider:
    """Return the provider of Anthropic's form that the settings name."""
    from services.common.adapters.http.chat_provider import HttpChatProvider, anthropic_endpoint
    from services.common.adapters.told_models import told_anthropic

    return told_anthropic(HttpChatProvider(anthropic_endpoint(settings.anthropic)), calls, settings.anthropic.provider)
