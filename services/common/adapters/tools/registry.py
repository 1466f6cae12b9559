"""The registry: a JSON file that says which tools there are, where, and for whom."""

import json
from pathlib import Path
from typing import Any, Final, Literal, Self
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from services.common.settings import SettingsError, ToolSettings
from services.common.settings.outgoing import check_outgoing, host_of

MAX_FILE_BYTES: Final = 1024 * 1024
MAX_TOOLS: Final = 32
MAX_PARAMETER_CHARS: Final = 8_192
_VARIABLE: Final = "GROUNDTRAIL_TOOLS__REGISTRY_FILE"


class RegisteredTool(BaseModel):
    """One entry.

    Attributes:
        kind: http, a POST with the arguments as JSON object; mcp, a tool of a server of the Model Context Protocol.
        url: of the tool, or of the server's endpoint.
        remote_name: of the tool at an MCP server; empty = its name here.
        tenants: that may have it called; empty = all.
        result_path: keys, parted by dots, that lead to the text in a JSON answer over HTTP; empty = the whole answer.
        bearer_token_file: file with a token for the header Authorization, readable by its owner alone.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(pattern=r"^[A-Za-z0-9_.-]{1,64}$")
    description: str = Field(min_length=1, max_length=2_000)
    kind: Literal["http", "mcp"]
    url: str
    parameters: dict[str, Any] = Field(default_factory=lambda: {"type": "object", "properties": {}})
    remote_name: str = Field(default="", max_length=128)
    tenants: tuple[str, ...] = ()
    importance: float = Field(default=0.5, ge=0.0, le=1.0)
    result_path: str = Field(default="", max_length=256)
    bearer_token_file: Path | None = None

    @field_validator("parameters")
    @classmethod
    def _object(cls, value: dict[str, Any]) -> dict[str, Any]:
        properties = value.get("properties", {})
        if value.get("type") != "object" or not isinstance(properties, dict):
            raise ValueError('must be a JSON Schema of an object: {"type": "object", "properties": {…}}')
        if len(json.dumps(value)) > MAX_PARAMETER_CHARS:
            raise ValueError(f"must have at most {MAX_PARAMETER_CHARS} characters as JSON")
        return value

    @property
    def origin(self) -> str:
        """Return scheme, host and port."""
        parts = urlsplit(self.url)
        return f"{parts.scheme}://{parts.netloc}"

    @property
    def host(self) -> str:
        """Return the host."""
        return host_of(self.url)


class Registry(BaseModel):
    """The file."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    tools: tuple[RegisteredTool, ...] = Field(max_length=MAX_TOOLS)

    @model_validator(mode="after")
    def _distinct(self) -> Self:
        names = [tool.name for tool in self.tools]
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise ValueError(f"a name stands twice: {', '.join(twice)}")
        return self


def read_registry(settings: ToolSettings) -> tuple[RegisteredTool, ...]:
    """Return the registered tools; none where no file is named.

    Raises:
        SettingsError: the file cannot be read, or an entry cannot be used; every problem at once.
    """
    path = settings.registry_file
    if path is None:
        return ()
    try:
        with path.open("rb") as file:
            text = file.read(MAX_FILE_BYTES + 1)
    except OSError as error:
        raise SettingsError([f"{_VARIABLE}: {path}: {error.strerror}"]) from None
    if len(text) > MAX_FILE_BYTES:
        raise SettingsError([f"{_VARIABLE}: {path} has more than {MAX_FILE_BYTES} bytes"])
    try:
        tools = Registry.model_validate_json(text).tools
    except ValidationError as error:
        raise SettingsError([f"{_VARIABLE}: {path}: {problem}" for problem in _problems(error)]) from None
    problems = [problem for tool in tools if (problem := _unusable(tool, settings))]
    if problems:
        raise SettingsError([f"{_VARIABLE}: {path}: {problem}" for problem in problems])
    return tools


def _unusable(tool: RegisteredTool, settings: ToolSettings) -> str:
    """Return why a tool's url cannot be used. Its host is allowed by being registered."""
    private = [host for host in settings.private_hosts if host.lower() == tool.host]
    try:
        check_outgoing(f"tool {tool.name}: url", tool.url, [tool.host], private)
    except ValueError as error:
        return str(error)
    return ""


def _problems(error: ValidationError) -> list[str]:
    found = error.errors(include_input=False, include_url=False, include_context=False)
    return [
        f"{'.'.join(str(part) for part in one['loc'])}: {one['msg'].removeprefix('Value error, ')}" for one in found
    ]
