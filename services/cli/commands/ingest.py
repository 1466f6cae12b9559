"""``groundtrail ingest PATH…``: documents into the knowledge fabric."""

import asyncio
import uuid
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Final

from crp.ckf.v1 import ckf_pb2 as ckf
from crp.ckf.v1 import knowledge_service_pb2 as knowledge

from services.allinone.parts import Part
from services.cli.connection import Suite, connect
from services.cli.console import Output
from services.cli.exits import Exit, exit_of
from services.common.document_kinds import SUFFIXES
from services.common.errors import CrpError, ErrorReason, FieldViolation, InvalidRequestError
from services.common.settings import Settings

_SOURCE_TYPES: Final = "regulation, official-document, research, internal, user, web"


@dataclass(frozen=True, slots=True)
class Ingested:
    """What became of one file."""

    path: str
    source_id: str = ""
    facts_created: int = 0
    facts_stale: int = 0
    unchanged: bool = False
    error: str = ""
    reason: str = ""


def documents(paths: Iterable[Path]) -> list[tuple[Path, str]]:
    """Return the files to send, each with its name below the path that was given, folders searched in order.

    Raises:
        InvalidRequestError: a path does not exist, nothing ingestible is below any of them, or two files have one name,
            so that the second would count as a new version of the first.
    """
    found: list[tuple[Path, str]] = []
    for path in paths:
        if path.is_dir():
            # A file that is named is sent whatever its suffix; what begins with a dot is no document of a folder's.
            files = sorted(p for p in path.rglob("*") if p.suffix.lower() in SUFFIXES and _is_shown(p, path))
            found.extend((file, f"{path.name}/{file.relative_to(path).as_posix()}") for file in files)
        elif path.is_file():
            found.append((path, path.name))
        else:
            raise InvalidRequestError.of(FieldViolation("PATH", f"{path} does not exist"))
    if not found:
        raise InvalidRequestError.of(FieldViolation("PATH", f"no file ends in one of {', '.join(SUFFIXES)}"))
    _refuse_twins(found)
    return found


def _is_shown(file: Path, folder: Path) -> bool:
    return not any(part.startswith(".") for part in file.relative_to(folder).parts) and file.is_file()


def _refuse_twins(found: list[tuple[Path, str]]) -> None:
    first: dict[str, Path] = {}
    for path, name in found:
        other = first.setdefault(name, path)
        if other.resolve() != path.resolve():
            text = f"{other} and {path} would both be file:{name}, as versions of one; name a folder above both"
            raise InvalidRequestError.of(FieldViolation("PATH", text))


@dataclass(frozen=True, slots=True)
class Terms:
    """What is said of all files of a call.

    Attributes:
        source_type: a word of the command line, or the enum's name once it is read.
        supersedes: uris of documents that the file takes the place of; for one file alone.
        valid_from: first day on which the facts hold, ``valid_to`` the last; empty = as the document says.
    """

    source_type: str = "internal"
    supersedes: tuple[str, ...] = ()
    valid_from: str = ""
    valid_to: str = ""

    @property
    def metadata(self) -> dict[str, str]:
        """What travels as the documents' metadata."""
        return {key: value for key, value in (("valid_from", self.valid_from), ("valid_to", self.valid_to)) if value}


async def ingest_all(suite: Suite, files: list[tuple[Path, str]], terms: Terms, output: Output) -> list[Ingested]:
    """Send the files one after another under a progress bar; a refused file does not stop the others."""
    results = []
    with output.progress("ingesting", total=len(files)) as bar:
        for path, name in files:
            results.append(await _ingest_one(suite, path, name, terms))
            bar.step()
    return results


async def _ingest_one(suite: Suite, path: Path, name: str, terms: Terms) -> Ingested:
    # A name is bytes to the system; those that are no UTF-8 are written as escapes, the same at each ingestion.
    name = name.encode(errors="backslashreplace").decode()
    try:
        content = await asyncio.to_thread(path.read_bytes)
        response = await suite.call(
            suite.knowledge.IngestSource,
            knowledge.IngestSourceRequest(
                request_id=str(uuid.uuid4()),
                uri=f"file:{name}",
                source_type=terms.source_type,
                content=content,
                metadata=terms.metadata,
                supersedes_uris=terms.supersedes,
            ),
        )
    except OSError as error:
        return Ingested(str(path), error=error.strerror or "cannot be read", reason="FILE_UNREADABLE")
    except CrpError as error:
        if error.reason in {
            ErrorReason.INVALID_FIELD,
            ErrorReason.UNSUPPORTED_MEDIA,
            ErrorReason.DOCUMENT_WITHOUT_TEXT,
            ErrorReason.SOURCE_NOT_FOUND,
        }:
            return Ingested(str(path), error=error.message, reason=error.reason.value)
        if error.reason is ErrorReason.MESSAGE_TOO_LARGE:
            return Ingested(str(path), error=error.message, reason=error.reason.value)
        raise
    return Ingested(
        path=str(path),
        source_id=response.source.source_id,
        facts_created=response.facts_created,
        facts_stale=response.facts_stale,
        unchanged=response.unchanged,
    )


def show(results: list[Ingested], output: Output) -> None:
    """Show a line per file."""
    rows = [
        (
            r.path,
            r.error or ("unchanged" if r.unchanged else f"{r.facts_created} facts"),
            str(r.facts_stale) if r.facts_stale else "",
        )
        for r in results
    ]
    output.table("Documents", ("file", "result", "superseded"), rows)


async def ingest(settings: Settings, output: Output, paths: list[Path], terms: Terms) -> Exit:
    """Ingest files and folders; the exit code tells whether every file was taken."""
    files = documents(paths)
    if terms.supersedes and len(files) > 1:
        raise InvalidRequestError.of(FieldViolation("--supersedes", "is for one file: name it alone"))
    kind = f"SOURCE_TYPE_{terms.source_type.upper().replace('-', '_')}"
    if kind not in ckf.SourceType.keys():  # noqa: SIM118 - an enum wrapper, not a mapping
        raise InvalidRequestError.of(FieldViolation("--source-type", f"{terms.source_type} is none of {_SOURCE_TYPES}"))
    async with connect(settings, Part.KNOWLEDGE) as suite:
        results = await ingest_all(suite, files, replace(terms, source_type=kind), output)
    show(results, output)
    output.result({"documents": [asdict(r) for r in results]})
    refused = [r for r in results if r.error]
    if not refused:
        return Exit.OK
    output.say(f"{len(refused)} of {len(results)} files were not taken", style="red")
    return exit_of(InvalidRequestError.of()) if len(refused) == len(results) else Exit.VERDICT
