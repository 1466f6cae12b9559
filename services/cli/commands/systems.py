"""``groundtrail systems register | list | versions``: the tenant's AI systems (SPEC-005 §14).

A system is described by a JSON file in the form of ``crp.gateway.v1.AiSystem``, so that it can be kept beside the code
of the system and reviewed like it. Enum values may be written without their prefix.
"""

import json
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from crp.common.v1 import regulation_pb2 as regulation
from crp.gateway.v1 import admin_pb2 as admin
from crp.gateway.v1 import admin_service_pb2 as service
from google.protobuf.json_format import ParseDict, ParseError

from services.allinone.parts import Part
from services.cli import render
from services.cli.connection import Suite, connect
from services.cli.console import Output
from services.cli.exits import Exit
from services.cli.words import enum_text
from services.common.errors import FieldViolation, InvalidRequestError
from services.common.settings import Settings

_PREFIXES: Final = {
    "domain": "AI_SYSTEM_DOMAIN_",
    "annex_iii_areas": "ANNEX_III_AREA_",
    "prohibited_practices": "PROHIBITED_PRACTICE_",
    "role": "AI_ACT_ROLE_",
    "regulated_sector": "REGULATED_SECTOR_",
}


_OF_THE_SERVER: Final = frozenset({"register_time", "update_time", "version"})


async def register(settings: Settings, output: Output, path: Path, expected_version: int | None) -> Exit:
    """Register the system that a file describes, or describe it anew."""
    request = service.RegisterAiSystemRequest(request_id=str(uuid.uuid4()), ai_system=read_description(path))
    if expected_version is not None:
        request.expected_version = expected_version
    async with connect(settings, Part.ADMIN) as suite:
        system = (await suite.call(suite.admin.RegisterAiSystem, request)).ai_system
    output.say(f"{system.ai_system_id}, version {system.version}", style="green")
    if system.sector and system.regulated_sector == regulation.REGULATED_SECTOR_OTHER:
        text = f'sector "{system.sector}" counts as neither financial nor medical; state regulated_sector if it is'
        output.say(text, style="yellow")
    output.result(render.response_json(system))
    return Exit.OK


async def list_systems(settings: Settings, output: Output, versions_of: str = "") -> Exit:
    """List the systems as they stand, or every version of one."""
    async with connect(settings, Part.ADMIN) as suite:
        systems = await _all(suite, versions_of)
    rows: list[tuple[str, ...]] = [
        (
            system.ai_system_id,
            str(system.version),
            system.name,
            "\n".join(_statements(system)),
            f"{system.update_time.ToDatetime():%Y-%m-%d\n%H:%M} UTC",
        )
        for system in systems
    ]
    title = f"Versions of {versions_of}" if versions_of else "AI systems"
    output.table(f"{title} ({len(rows)})", ("id", "version", "name", "states", "since"), rows, whole="id")
    output.result({"ai_systems": [render.response_json(system) for system in systems]})
    return Exit.OK


async def _all(suite: Suite, versions_of: str) -> list[admin.AiSystem]:
    systems: list[admin.AiSystem] = []
    token = ""
    while True:
        request = service.ListAiSystemsRequest(page_size=100, page_token=token, versions_of=versions_of)
        page = await suite.call(suite.admin.ListAiSystems, request)
        systems.extend(page.ai_systems)
        token = page.next_page_token
        if not token:
            return systems


def _statements(system: admin.AiSystem) -> list[str]:
    """Return what the class follows from, one line each."""
    flags = ("interacts_with_people", "generates_content", "safety_component", "makes_decisions")
    return [
        enum_text(admin.AiSystemDomain, system.domain),
        *(regulation.AnnexIiiArea.Name(area) for area in system.annex_iii_areas),
        *(regulation.ProhibitedPractice.Name(practice) for practice in system.prohibited_practices),
        *(flag for flag in flags if getattr(system, flag)),
    ]


def read_description(path: Path) -> admin.AiSystem:
    """Return the system that a JSON file describes.

    Raises:
        InvalidRequestError: the file is no JSON object, or names a field or value that there is not.
    """
    try:
        described = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        text = f"{path} cannot be read: {error.strerror}"
        raise InvalidRequestError.of(FieldViolation("FILE", text)) from None
    except ValueError as error:
        raise InvalidRequestError.of(FieldViolation(str(path), f"must be JSON in UTF-8: {error}")) from None
    if not isinstance(described, dict):
        raise InvalidRequestError.of(FieldViolation(str(path), "must hold one JSON object"))
    unknown = [text for name, value in described.items() for text in _unknown(name, value)]
    if unknown:
        raise InvalidRequestError.of(*(FieldViolation(str(path), text) for text in unknown))
    try:
        return ParseDict({name: _prefixed(name, value) for name, value in described.items()}, admin.AiSystem())
    except ParseError as error:
        raise InvalidRequestError.of(FieldViolation(str(path), str(error))) from None


def _prefixed(name: str, value: Any) -> Any:
    """Return an enum's value, or each of a list, with its prefix; anything else as it is."""
    prefix = _PREFIXES.get(name)
    if prefix is None:
        return value
    if isinstance(value, list):
        return [_prefixed(name, each) for each in value]
    return prefix + value if isinstance(value, str) and not value.startswith(prefix) else value


def _unknown(name: str, value: Any) -> Iterator[str]:
    """Yield what of a field there is not, with what there is: the field itself, or a word among its values."""
    fields = {each.name: each for each in admin.AiSystem.DESCRIPTOR.fields}
    known = fields.get(name) or next((each for each in fields.values() if each.json_name == name), None)
    if known is None:
        stated = ", ".join(each for each in fields if each not in _OF_THE_SERVER)
        yield f"{name} is no field; there are {stated}"
    elif known.enum_type is not None:
        prefix = _PREFIXES[known.name]
        words = [each.name.removeprefix(prefix) for each in known.enum_type.values if each.number]
        for one in value if isinstance(value, list) else [value]:
            if isinstance(one, str) and one.removeprefix(prefix) not in words:
                yield f"{name}: {one} is none of {', '.join(words)}"
