"""Which language models there are: the providers that the settings name, routed by model name (ADR 0147)."""

from services.common.ports.language_model import StreamingLanguageModel
from services.common.settings import Settings


def has_language_model(settings: Settings) -> bool:
    """Say whether a provider is named that writes answers."""
    anthropic = settings.anthropic
    return settings.llm.configured or bool(anthropic.base_url and anthropic.models)


async def open_language_models(settings: Settings) -> StreamingLanguageModel:
    """Return the language model of the settings, several of them as one.

    Raises:
        ValueError: none is named.
    """
    from services.common.adapters.http.chat_provider import HttpChatProvider, anthropic_endpoint
    from services.common.adapters.http.language_models import AnthropicLanguageModel, RoutedLanguageModel
    from services.common.adapters.openai.language_model import open_language_model

    anthropic = settings.anthropic
    if not (anthropic.base_url and anthropic.models):
        return await open_language_model(settings.llm)
    claude = AnthropicLanguageModel(HttpChatProvider(anthropic_endpoint(anthropic)), anthropic)
    if not settings.llm.configured:
        return claude
    return RoutedLanguageModel(await open_language_model(settings.llm), [(anthropic.models, claude)])
