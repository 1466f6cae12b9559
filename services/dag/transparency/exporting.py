"""The lines that let an export be checked without a server and without a secret (ADR 0053).

After its events and analyses an NDJSON export has one line for each leaf - salt, index and inclusion proof - and a last
one with the signed head, proofs of consistency with earlier heads, and a signed note that counts and hashes every line
before it, so that none can be left out at the end either.
"""

import base64
import hashlib
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from services.common.encoding import canonical_json, sha256_hex
from services.common.merkle import inclusion_spans
from services.common.ports.sessions import AuditEventRecord, LeafKind, LogLeaf, WindowRecord
from services.dag.domain.events import OwnEvent
from services.dag.domain.leaves import logged_records
from services.dag.transparency.log import TransparencyApp

EXPORT_TITLE: Final = "groundtrail export v1"
LEAF: Final = "leaf"
LOG: Final = "log"
_BATCH: Final = 500


@dataclass(slots=True)
class ProvenExport:
    """One export under way: what was put out so far."""

    tenant_id: str
    session_id: str
    earlier_sizes: Sequence[int]
    digest: "hashlib._Hash" = field(default_factory=hashlib.sha256)
    records: list[tuple[LeafKind, str]] = field(default_factory=list)
    salts: dict[tuple[LeafKind, str], bytes] = field(default_factory=dict)
    lines: dict[str, str] = field(default_factory=dict)
    buried: bool = False
    """A tombstone stands for the session: its leaves are all that is left of the records."""
    counts: dict[str, int] = field(default_factory=lambda: {"events": 0, "analyses": 0, "leaves": 0})

    def event(self, record: AuditEventRecord, line: str) -> str:
        """Take an event's line, in order, and return it."""
        self.records.extend(logged_records([record]))
        self.salts[LeafKind.EVENT, record.event_id] = record.salt
        self.lines[record.event_id] = sha256_hex(line)
        self.buried |= record.event_type == OwnEvent.SESSION_TOMBSTONED
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
    """Adds to exports what proves them."""

    def __init__(self, app: TransparencyApp) -> None:
        self._app = app

    async def begin(self, tenant_id: str, session_id: str, earlier_sizes: Sequence[int]) -> ProvenExport:
        """Begin an export.

        Raises:
            InvalidRequestError: INVALID_FIELD: an earlier size is above the log's.
        """
        for place, size in enumerate(earlier_sizes):
            await self._app.checked_size(tenant_id, size, f"consistency_from_sizes[{place}]")
        return ProvenExport(tenant_id, session_id, earlier_sizes)

    async def closing(self, export: ProvenExport, windows: Sequence[WindowRecord]) -> AsyncIterator[str]:
        """Yield the lines that close an export: of every leaf, then of the log.

        Args:
            export: every event was taken.
            windows: the session's, with their salts.
        """
        export.salts |= {(LeafKind.WINDOW, window.window_id): window.salt for window in windows}
        head = await self._app.head(export.tenant_id)
        size = head.checkpoint.size
        if export.buried:
            leaves = await self._app.of_session(export.tenant_id, export.session_id)
            export.records = [(leaf.record_kind, leaf.record_id) for leaf in leaves]
        for start in range(0, len(export.records), _BATCH):
            async for line in self._leaf_lines(export, export.records[start : start + _BATCH], size):
                yield export.leaf(line)
        manifest = await self._app.signers.sign(export.tenant_id, _manifest(export, str(head.checkpoint)))
        proofs = []
        for first in export.earlier_sizes:
            _, path = await self._app.consistency(export.tenant_id, first, size)
            proofs.append({"first_tree_size": first, "path": [_text(part) for part in path]})
        yield _line(
            {
                "record": LOG,
                "session_id": export.session_id,
                "checkpoint": str(head.note),
                "manifest": str(manifest),
                "consistency": proofs,
            }
        )

    async def _leaf_lines(
        self, export: ProvenExport, records: Sequence[tuple[LeafKind, str]], size: int
    ) -> AsyncIterator[str]:
        found = await self._app.find(export.tenant_id, export.session_id, records)
        leaves = [leaf for leaf in found if leaf is not None]  # a record that is older than the log has none
        paths = [inclusion_spans(leaf.leaf_index, size) for leaf in leaves]
        hashes = iter(await self._app.hashes(export.tenant_id, [span for path in paths for span in path]))
        for leaf, path in zip(leaves, paths, strict=True):
            yield _line(_leaf_fields(export, leaf, [next(hashes) for _ in path]))


def _leaf_fields(export: ProvenExport, leaf: LogLeaf, path: Sequence[bytes]) -> dict[str, Any]:
    """Return a leaf's line; the hash of the event's line names it also when no salt is left to check it with."""
    salt = export.salts.get((leaf.record_kind, leaf.record_id), b"")
    line = {"line_sha256": export.lines[leaf.record_id]} if leaf.record_id in export.lines else {}
    return line | {
        "record": LEAF,
        "record_kind": leaf.record_kind.value,
        "record_id": leaf.record_id,
        "position": leaf.position,
        "leaf_index": leaf.leaf_index,
        "content_hmac": leaf.content_hmac,
        "salt": salt.hex(),
        "path": [_text(part) for part in path],
    }


def _manifest(export: ProvenExport, checkpoint: str) -> str:
    """Return the text of the export's own note: the head that it refers to, and what the lines before it are."""
    counts = "".join(f"{name} {count}\n" for name, count in export.counts.items())
    return f"{EXPORT_TITLE}\n{checkpoint}session {export.session_id}\n{counts}sha256 {export.digest.hexdigest()}\n"


def _line(fields: dict[str, Any]) -> str:
    return canonical_json(fields).decode()


def _text(raw: bytes) -> str:
    return base64.b64encode(raw).decode("ascii")
