"""What the command line keeps between two commands: its API key and its sessions' tokens, for the owner alone."""

import json
import os
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Final

_SESSION_ID: Final = re.compile(r"crp_sess_[A-Za-z0-9]{16,32}")
_MOST_TOKENS: Final = 50
"""Of a session: so many windows a session has by default."""


@dataclass(frozen=True, slots=True)
class HeldSession:
    """What it takes to continue a session.

    Attributes:
        continuation_id: of the latest answer; empty when the session is complete.
        tokens: that came with each answer's pointer, oldest first: they continue a window that is not the latest.
    """

    session_id: str
    session_token: str
    continuation_id: str
    tokens: Mapping[str, str] = field(default_factory=dict)


class LocalState:
    """Files under ``<data_dir>/cli`` (mode 0700; each file 0600)."""

    def __init__(self, data_dir: Path) -> None:
        self._folder = data_dir / "cli"

    def api_key(self) -> str:
        """Return the kept key, or an empty text."""
        path = self._folder / "api-key"
        return path.read_text(encoding="ascii", errors="replace").strip() if path.is_file() else ""

    def keep_api_key(self, key: str) -> None:
        """Keep the key for the next command."""
        self._write("api-key", key + "\n")

    def session(self, session_id: str) -> HeldSession | None:
        """Return what is held of a session; ``None`` when that is nothing, or nothing that can be read."""
        if not _SESSION_ID.fullmatch(session_id):
            return None
        path = self._folder / f"{session_id}.json"
        try:
            return HeldSession(**json.loads(path.read_bytes())) if path.is_file() else None
        except (ValueError, TypeError):  # cut short, or not ours
            return None

    def keep_session(self, held: HeldSession) -> None:
        """Keep the newest token of a session, beside those of its latest windows."""
        before = self.session(held.session_id)
        tokens = {} if before is None else dict(before.tokens)
        if held.continuation_id:
            tokens[held.continuation_id] = held.session_token
        held = replace(held, tokens=dict(list(tokens.items())[-_MOST_TOKENS:]))
        self._write(f"{held.session_id}.json", json.dumps(asdict(held)))

    def _write(self, name: str, text: str) -> None:
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        fresh = self._folder / f".{name}.{os.getpid()}"
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
        fresh.replace(self._folder / name)
