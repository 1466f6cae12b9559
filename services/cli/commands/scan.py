"""``groundtrail scan``: prompt injection in documents and prompts, by the rules of stage 1 (ADR 0125).

A text file is searched as it is written, so that lines, quotations and comments count; what else can be read is read by
the document readers, in worker processes, and searched passage by passage, hidden text too. A page is searched both
ways (``scan_markup``).
"""

import asyncio
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from services.cli.commands.ingest import documents
from services.cli.console import Output
from services.cli.exits import Exit
from services.cli.sarif import sarif_document, write_sarif
from services.cli.scan_findings import LEVELS, Finding, finding_at, findings_in, spots_in
from services.cli.scan_markup import findings_of_page
from services.common.composition import Adapters
from services.common.computing import compute
from services.common.counting import counted
from services.common.errors import CrpError, FieldViolation, InvalidRequestError
from services.common.ports.documents import CutDocument, DocumentReader
from services.common.settings import Settings

STANDARD_INPUT: Final = "-"
STDIN_NAME: Final = "<stdin>"
MAX_FILE_BYTES: Final = 64 << 20
_LAID_OUT: Final = frozenset({".html", ".htm", ".xhtml", ".eml", ".pdf", ".docx", ".pptx", ".xlsx", ".svg"})
"""Not searched as they are written: what is read of them is what counts, shown or hidden."""
_MARKUP: Final = frozenset({".html", ".htm", ".xhtml", ".svg"})
_STYLES: Final = {"high": "red", "medium": "yellow", "low": "dim"}


@dataclass(frozen=True, slots=True)
class ScanWish:
    """What the command line asks; ``fail_on`` names a level of ``scan_findings``."""

    paths: tuple[str, ...]
    fail_on: str = "high"
    sarif: Path | None = None


@dataclass(frozen=True, slots=True)
class Scanned:
    """One file: what was found, or why it could not be read."""

    path: str
    findings: tuple[Finding, ...] = ()
    error: str = ""
    reason: str = ""


async def scan(settings: Settings, output: Output, wish: ScanWish) -> Exit:
    """Search and show."""
    least = LEVELS[wish.fail_on]
    scanned: list[Scanned] = []
    async with Adapters(settings) as adapters:
        for path, named in _files(wish.paths):
            one = await _scan_one(adapters, path, named)
            scanned.append(one)
            _show(one, least, output)
    told = [
        {"path": one.path, "findings": [asdict(item) for item in one.findings if item.weight >= least]}
        | ({"error": one.error, "reason": one.reason} if one.error else {})
        for one in scanned
    ]
    if wish.sarif is not None:
        await asyncio.to_thread(write_sarif, wish.sarif, sarif_document(told))
    found = sum(item.weight >= least for one in scanned for item in one.findings)
    unread = sum(bool(one.error) for one in scanned)
    output.result({"files": told, "found": found, "unread": unread})
    output.say(f"{counted(found, 'finding')} in {counted(len(scanned), 'file')}" + _unread(unread), style="bold")
    if unread:
        return Exit.USAGE
    return Exit.VERDICT if found else Exit.OK


def _unread(unread: int) -> str:
    return f", {counted(unread, 'file')} not read" if unread else ""


def _files(paths: Sequence[str]) -> list[tuple[Path | None, str]]:
    """Return the files in order, each with the name by which it is told of; ``None`` = standard input."""
    found: list[tuple[Path | None, str]] = []
    for named in paths:
        if named == STANDARD_INPUT:
            found.append((None, STDIN_NAME))
        else:
            found += [(path, str(path)) for path, _ in documents([_path(named)])]
    return list(dict.fromkeys(found))


def _path(named: str) -> Path:
    if not named:  # as of a variable that is not set: no folder to search
        raise InvalidRequestError.of(FieldViolation("PATH", "must not be empty: name a file or folder"))
    return Path(named)


async def _scan_one(adapters: Adapters, path: Path | None, named: str) -> Scanned:
    try:
        content = await asyncio.to_thread(_content, path)
        suffix = "" if path is None else path.suffix.lower()
        text = None if suffix in _LAID_OUT - _MARKUP else _text(content)
        if text is not None and suffix in _MARKUP:
            return await _scan_page(adapters, content, text, named)
        if text is not None:
            return Scanned(named, await compute(_in_text, text))
        found = await _in_document(await adapters.documents(), content, named)
        return Scanned(named, tuple(finding for finding, _ in found))
    except OSError as error:
        return Scanned(named, error=error.strerror or "cannot be read", reason="FILE_UNREADABLE")
    except CrpError as error:
        return Scanned(named, error=error.message, reason=error.reason.value)


async def _scan_page(adapters: Adapters, content: bytes, page: str, named: str) -> Scanned:
    """Search a page as it is read and as it is written; what cannot be read was searched as written all the same."""
    read: Sequence[tuple[Finding, str]] = ()
    error, reason = "", ""
    try:
        read = await _in_document(await adapters.documents(), content, named)
    except CrpError as refused:
        error, reason = refused.message, refused.reason.value
    return Scanned(named, await compute(lambda: tuple(findings_of_page(page, read))), error, reason)


def _content(path: Path | None) -> bytes:
    source = sys.stdin.buffer if path is None else path.open("rb")
    try:
        content = source.read(MAX_FILE_BYTES + 1)
    finally:
        if path is not None:
            source.close()
    if len(content) > MAX_FILE_BYTES:
        text = f"is larger than {MAX_FILE_BYTES >> 20} MiB"
        raise InvalidRequestError.of(FieldViolation("PATH", f"{path or STDIN_NAME} {text}"))
    return content


def _text(content: bytes) -> str | None:
    """Return a text, or ``None`` for what is none in UTF-8."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return None
    return None if "\x00" in text else text


def _in_text(text: str) -> tuple[Finding, ...]:
    return tuple(findings_in(text, lined=True))


async def _in_document(reader: DocumentReader, content: bytes, name: str) -> tuple[tuple[Finding, str], ...]:
    """Return what is found in all that a reader makes of a document, each with the words that matched."""
    cut = await reader.read(content, "", name)

    def found() -> Iterator[tuple[Finding, str]]:
        for text, place in _texts(cut):
            for spot in spots_in(text, place=place):
                yield finding_at(text, spot), text[spot.start : spot.end]

    return await compute(lambda: tuple(found()))


def _texts(cut: CutDocument) -> Iterator[tuple[str, str]]:
    """Yield every text of a document, with its place: what is shown, hidden, furniture, and what it says of itself."""
    for draft in cut.drafts:
        yield draft.content, str(draft.place) or draft.section
    for one in cut.hidden:
        yield one.text, ", ".join(filter(None, (str(one.place), f"hidden: {one.why}")))
    for furniture in cut.furniture:
        yield furniture, "heads, feet and menus"
    properties = {"title": cut.title, **cut.properties}
    for name, value in properties.items():
        yield value, f"property {name}"


def _show(one: Scanned, least: float, output: Output) -> None:
    if one.error:
        output.say(f"{one.path}: {one.error}", style="red")
    for item in one.findings:
        if item.weight >= least:
            head = f"{one.path}{item.where}: {item.level} {item.pattern_class}: {item.tells}"
            output.drawn([(head, _STYLES[item.level])])
            output.drawn([(f"    {item.excerpt}", "dim")])
