"""Settings of providers beside the deployment's first one: several by name, and which ones tenants may bring."""

from collections.abc import Mapping
from typing import Annotated, Final, Self
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, SecretStr, model_validator

from services.common.settings.addresses import without_credentials
from services.common.settings.llm import ProviderPatience
from services.common.settings.outgoing import check_outgoing

MAX_MODELS: Final = 32
NAME: Final = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$"
ProviderName = Annotated[str, Field(pattern=NAME)]
ModelPattern = Annotated[str, Field(min_length=1, max_length=200)]


class NamedEndpoint(ProviderPatience):
    """One OpenAI-compatible endpoint; what stands beside `base_url` and `models` is as in `GROUNDTRAIL_LLM__*`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    base_url: str = Field(pattern=r"^https?://\S+$")
    """Root of the API, without user, password, query and fragment. It is logged, and never told to callers."""
    models: tuple[ModelPattern, ...] = Field(min_length=1, max_length=MAX_MODELS)
    """Names of models that are asked there; `*` stands for any characters."""

    @model_validator(mode="after")
    def _address_without_secrets(self) -> Self:
        parts = urlsplit(without_credentials(self.base_url, "the key goes into GROUNDTRAIL_PROVIDERS__API_KEYS"))
        if parts.query or parts.fragment:
            msg = "base_url must hold no query and no fragment: it is the root that /chat/completions is appended to"
            raise ValueError(msg)
        return self


class ProviderSettings(BaseModel):
    """``GROUNDTRAIL_PROVIDERS__*``: endpoints by name beside ``GROUNDTRAIL_LLM__BASE_URL``, and tenants' own ones."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    endpoints: Mapping[ProviderName, NamedEndpoint] = {}
    """OpenAI-compatible endpoints by name, as a JSON object, e.g. {"local": {"base_url": "http://127.0.0.1:8000/v1",
    "models": ["llama-*"]}}. The first whose `models` hold the asked name answers; other names go to
    GROUNDTRAIL_LLM__BASE_URL. The name is what callers are told of the provider."""
    api_keys: Mapping[ProviderName, SecretStr] = {}
    """Their keys by the same names, as a JSON object; an endpoint without one wants none."""
    allowed_hosts: tuple[str, ...] = ()
    """Hosts that tenants may name for providers of their own, as a JSON list, e.g. ["api.openai.com"]. Default []:
    none, and SetTenantProvider is refused."""
    private_hosts: tuple[str, ...] = ()
    """Of these, hosts that may be spoken to by http, e.g. a server of models beside this process. Default []."""
    max_per_tenant: int = Field(default=16, ge=1, le=1_000)
    """Providers of its own that a tenant may have; 1-1000, default 16."""

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if stray := sorted(set(self.api_keys) - set(self.endpoints)):
            msg = f"api_keys: endpoints must hold {', '.join(stray)} too"
            raise ValueError(msg)
        if stray := sorted(set(self.private_hosts) - set(self.allowed_hosts)):
            msg = f"private_hosts: allowed_hosts must hold {', '.join(stray)} too"
            raise ValueError(msg)
        return self

    def check_own(self, name: str, url: str) -> None:
        """Refuse the address of a tenant's own provider that the deployment does not allow.

        Raises:
            ValueError: says what is wrong.
        """
        try:
            check_outgoing(name, url, self.allowed_hosts, self.private_hosts)
        except ValueError as error:
            text = str(error).replace("allowed_hosts must hold", "providers.allowed_hosts of the deployment must hold")
            raise ValueError(
                text.replace("; a token goes into bearer_token_file", "; the key goes into api_key")
            ) from None
        if urlsplit(url).query:
            raise ValueError(f"{name} must hold no query: it is the root that the form's path is appended to")
