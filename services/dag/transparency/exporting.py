"""The lines that let an export be checked without a server and without a secret (ADR 0053).

After its events and analyses an NDJSON export has one line for each leaf that the log has of the session - salt, index
and inclusion proof - whether its record is in the export or not: a leaf of a record that was taken out or replaced is
among them, and they are counted and signed (ADR 0099). A last line has the signed head, proofs of consistency with
earlier heads, and a signed note, the manifest, that counts and hashes every line before it, so that none can be left
out at the end either. The manifest also says what the server found when it recomputed the chain, hashes the other
members of its own line, and names the keys that sign it, so that no byte of an export is without a signature over it
(ADR 0102).
"""

import base64
import hashlib
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from services.common.encoding import canonical_json, sha256_hex
from services.common.errors import LogInconsistentError
from services.common.merkle import inclusion_spans
from services.common.ports.sessions import AuditEventRecord, SessionSnapshot
from services.common.ports.transparency_log import LeafKind, LogLeaf
from services.common.signed_note import Note
from services.dag.domain.verification import Verification
from services.dag.transparency.cosigned import CosignedHeads
from services.dag.transparency.log import TransparencyApp

EXPORT_TITLE: Final = "groundtrail export v2"
FIRST_TITLE: Final = "groundtrail export v1"
"""Of exports from before ADR 0102: they stay verifiable, but for the bytes that nothing covered."""
INTEGRITY: Final = "integrity"
FAULT: Final = "fault"
LOG_DIGEST: Final = "log"
KEY: Final = "key"
LEAF: Final = "leaf"
LOG: Final = "log"
COSIGNED: Final = "cosigned"
_BATCH: Final = 500
_MOST_ID_CHARS: Final = 200


@dataclass(slots=True)
class ProvenExport:
    """One export under way: what was put out so far."""

    tenant_id: str
    session_id: str
    leaves: Sequence[LogLeaf]
    earlier_sizes: Sequence[int]
    digest: "hashlib._Hash" = field(default_factory=hashlib.sha256)
    salts: dict[tuple[LeafKind, str], bytes] = field(default_factory=dict)
    lines: dict[str, str] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=lambda: {"events": 0, "analyses": 0, "leaves": 0})

    def event(self, record: AuditEventRecord, line: str) -> str:
        """Take an event's line, in order, and return it."""
        self.salts[LeafKind.EVENT, record.event_id] = record.salt
        self.lines[record.event_id] = sha256_hex(line)
        return self._take("events", line)

    def analysis(self, line: str) -> str:
        """Take a window's analysis and return its line."""
        return self._take("analyses", line)

    def leaf(self, line: str) -> str:
        """Take a leaf's line and return it."""
        return self._take("leaves", line)

    def _take(self, kind: str, line: str) -> str:
        self.counts[kind] += 1
        self.digest.update(line.encode() + b"\n")
        return line


class ExportProofs:
    """Adds to exports what proves them.

    Args:
        app: heads and proofs.
        cosigned: the heads that witnesses saw; none when nobody is asked.
    """

    def __init__(self, app: TransparencyApp, cosigned: CosignedHeads | None = None) -> None:
        self._app = app
        self._cosigned = cosigned

    async def begin(
        self, tenant_id: str, snapshot: SessionSnapshot, leaves: Sequence[LogLeaf], earlier_sizes: Sequence[int]
    ) -> ProvenExport:
        """Begin an export.

        Args:
            tenant_id: whose.
            snapshot: of the session, its windows with their salts; events up to its last are exported.
            leaves: every one that the log has of the session, read together with the snapshot.
            earlier_sizes: of which the log is to be proven to go on.

        Raises:
            InvalidRequestError: INVALID_FIELD: an earlier size is above the log's.
        """
        for place, size in enumerate(earlier_sizes):
            await self._app.checked_size(tenant_id, size, f"consistency_from_sizes[{place}]")
        salts = {(LeafKind.WINDOW, window.window_id): window.salt for window in snapshot.windows}
        return ProvenExport(tenant_id, snapshot.session.session_id, leaves, earlier_sizes, salts=salts)

    async def closing(self, export: ProvenExport, found: Verification) -> AsyncIterator[str]:
        """Yield the lines that close an export: of every leaf, then of the log.

        Args:
            export: every event was taken.
            found: what the chain was found to be.

        Raises:
            LogInconsistentError: LOG_INCONSISTENT: no head can be signed, or a leaf stands outside the log.
        """
        head = await self._app.head(export.tenant_id)
        size = head.checkpoint.size
        for start in range(0, len(export.leaves), _BATCH):
            async for line in self._leaf_lines(export, export.leaves[start : start + _BATCH], size):
                yield export.leaf(line)
        told: dict[str, Any] = {
            "record": LOG,
            "session_id": export.session_id,
            "checkpoint": str(head.note),
            "consistency": await self._consistency(export, size),
            **await self._witnessed(export.tenant_id, size),
        }
        yield _line({**told, "manifest": str(await self._manifest(export, str(head.checkpoint), found, told))})

    async def _consistency(self, export: ProvenExport, size: int) -> list[dict[str, Any]]:
        proofs = []
        for first in export.earlier_sizes:
            _, path = await self._app.consistency(export.tenant_id, first, size)
            proofs.append({"first_tree_size": first, "path": [_text(part) for part in path]})
        return proofs

    async def _manifest(
        self, export: ProvenExport, checkpoint: str, found: Verification, line: Mapping[str, Any]
    ) -> Note:
        """Return the export's own note: the head that it refers to, what the lines are, and who signs."""
        keys = await self._app.signers.keys(export.tenant_id)
        fields = [("session", export.session_id), *((name, str(count)) for name, count in export.counts.items())]
        fields.append((INTEGRITY, found.integrity.value))
        if found.fault is not None:
            fields.append((FAULT, f"{found.fault.record_kind} {_plain(found.fault.record_id)}"))
        fields += [("sha256", export.digest.hexdigest()), (LOG_DIGEST, sha256_hex(canonical_json(line)))]
        fields += [(KEY, str(key)) for key in keys]
        text = "".join(f"{name} {value}\n" for name, value in fields)
        note = await self._app.signers.sign(export.tenant_id, f"{EXPORT_TITLE}\n{checkpoint}{text}")
        # A signature by a key that the text does not name could be changed unseen.
        named = {key.key_id for key in keys}
        return replace(note, signatures=tuple(one for one in note.signatures if one.key_id in named))

    async def _witnessed(self, tenant_id: str, size: int) -> dict[str, Any]:
        """Return the head that witnesses cosigned, and the proof that the export's head goes on from it (ADR 0100)."""
        kept = await self._cosigned.latest(tenant_id) if self._cosigned else None
        if kept is None or kept.checkpoint.size > size:
            return {}
        _, path = await self._app.consistency(tenant_id, kept.checkpoint.size, size)
        return {COSIGNED: {"checkpoint": str(kept.note), "path": [_text(part) for part in path]}}

    async def _leaf_lines(self, export: ProvenExport, leaves: Sequence[LogLeaf], size: int) -> AsyncIterator[str]:
        try:
            paths = [inclusion_spans(leaf.leaf_index, size) for leaf in leaves]
        except (ValueError, TypeError):
            raise LogInconsistentError.of("a leaf of the session stands outside of it") from None
        hashes = iter(await self._app.hashes(export.tenant_id, [span for path in paths for span in path]))
        for leaf, path in zip(leaves, paths, strict=True):
            yield _line(_leaf_fields(export, leaf, [next(hashes) for _ in path]))


def _leaf_fields(export: ProvenExport, leaf: LogLeaf, path: Sequence[bytes]) -> dict[str, Any]:
    """Return a leaf's line; the hash of the event's line names it also when no salt is left to check it with.

    A leaf that is of no record of the session has neither salt nor line.
    """
    salt = export.salts.get((leaf.record_kind, leaf.record_id), b"")
    text = export.lines.get(leaf.record_id) if leaf.record_kind == LeafKind.EVENT else None
    return ({} if text is None else {"line_sha256": text}) | {
        "record": LEAF,
        "record_kind": _json(leaf.record_kind),
        "record_id": _json(leaf.record_id),
        "position": _json(leaf.position),
        "leaf_index": leaf.leaf_index,
        "content_hmac": _json(leaf.content_hmac),
        "salt": salt.hex(),
        "path": [_text(part) for part in path],
    }


def _json(stored: Any) -> Any:
    """Return a stored value as JSON can say it; of whatever type it should not be, it fits no hash."""
    return stored if isinstance(stored, str | int) else str(stored)


def _plain(record_id: str) -> str:
    """Return the id as one line of ASCII: whoever changed the record may have changed its id too."""
    return "".join(one if " " <= one <= "~" else "?" for one in record_id[:_MOST_ID_CHARS])


def _line(fields: dict[str, Any]) -> str:
    return canonical_json(fields).decode()


def _text(raw: bytes) -> str:
    return base64.b64encode(raw).decode("ascii")
