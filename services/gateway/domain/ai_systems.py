"""Versions of a registered AI system, and whether any call may be made for it (SPEC-005 §14)."""

from dataclasses import replace
from datetime import datetime
from typing import Final

from services.common.errors import ConflictError, ErrorReason, NotFoundError
from services.common.ports.credentials import AiSystemRecord
from services.common.regulation import regulated_sector

UNACCEPTABLE_CLASS: Final = "UNACCEPTABLE"
PROHIBITED_DOMAIN: Final = "BIOMETRIC_IDENTIFICATION"
"""SPEC-005 §14.2: the one domain whose class is UNACCEPTABLE."""


def prohibited_rows(system: AiSystemRecord | None) -> tuple[str, ...]:
    """Return the rows of the dpe's table that make a system UNACCEPTABLE by its registration alone; empty for none.

    No answer can change them: they are the domain's and those of Art. 5(1) (ADR 0039), so that no model need be called.
    """
    if system is None:
        return ()
    practices = tuple(f"PROHIBITED_PRACTICE_{practice}" for practice in system.prohibited_practices)
    return (*practices, f"DOMAIN_{PROHIBITED_DOMAIN}") if system.domain == PROHIBITED_DOMAIN else practices


def next_version(known: AiSystemRecord | None, described: AiSystemRecord, now: datetime) -> AiSystemRecord:
    """Return the version that a description becomes; ``known`` itself when it says nothing new.

    Args:
        known: the last version, ``None`` for a system that was never registered.
        described: the description, with its tenant; a regulated sector that it does not state is looked up (ADR 0039).
        now: when it is registered.
    """
    sector = described.regulated_sector or regulated_sector(described.sector)
    complete = replace(
        described,
        regulated_sector=sector,
        registered_at=now if known is None else known.registered_at,
        version=1 if known is None else known.version + 1,
        updated_at=now,
    )
    if known is not None and replace(complete, version=known.version, updated_at=known.updated_at) == known:
        return known
    return complete


def check_expected(known: AiSystemRecord | None, expected_version: int | None) -> None:
    """Refuse a description that was written against another version than the one that stands.

    Raises:
        ConflictError: ETAG_STALE.
    """
    present = 0 if known is None else known.version
    if expected_version is not None and expected_version != present:
        raise ConflictError(
            ErrorReason.ETAG_STALE,
            f"version {present} of the AI system stands, not {expected_version}; read it again",
            expected_version=str(expected_version),
            present_version=str(present),
        )


def unknown_ai_system(ai_system_id: str) -> NotFoundError:
    """Return the refusal of a system that the tenant never registered."""
    return NotFoundError(
        ErrorReason.AI_SYSTEM_NOT_FOUND,
        f"no AI system {ai_system_id} is registered; register it with RegisterAiSystem, or leave ai_system_id empty",
        ai_system_id=ai_system_id,
    )
