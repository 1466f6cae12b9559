"""``groundtrail ingest PATH…``: documents into the knowledge fabric."""

import asyncio
import uuid
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from crp.ckf.v1 import ckf_pb2 as ckf
from crp.ckf.v1 import knowledge_service_pb2 as knowledge

from services.allinone.parts import Part
from services.cli import render
from services.cli.connection import Suite, connect
from services.cli.console import Advance, Output
from services.cli.document_files import read_document_file
from services.cli.exits import Exit, exit_of
from services.common.counting import counted
from services.common.document_kinds import ACCEPTED, SUFFIXES
from services.common.documents.signatures import what_else
from services.common.errors import CrpError, ErrorReason, FieldViolation, InvalidRequestError, UnavailableError
from services.common.settings import Settings

_HEAD_BYTES: Final = 4_096
"""So much of a file tells what it is, where its name does not."""
_MOST_BYTES: Final = 32 << 20
_SHOWN_LEFT_OUT: Final = 20
_SOURCE_TYPES: Final = "regulation, official-document, research, internal, user, web"


REFUSALS: Final = frozenset(
    {
        ErrorReason.INVALID_FIELD,
        ErrorReason.UNSUPPORTED_MEDIA,
        ErrorReason.DOCUMENT_WITHOUT_TEXT,
        ErrorReason.SOURCE_NOT_FOUND,
        ErrorReason.MESSAGE_TOO_LARGE,
        ErrorReason.DOCUMENT_TOO_COMPLEX,
    }
)
"""What is wrong with one file, and no reason not to go on with the next."""


@dataclass(frozen=True, slots=True)
class Ingested:
    """What became of one file, which is stored under ``uri``.

    ``report`` says how it was read, ``warnings`` what its owner should know.
    """

    path: str
    source_id: str = ""
    facts_created: int = 0
    facts_stale: int = 0
    unchanged: bool = False
    error: str = ""
    reason: str = ""
    uri: str = ""
    warnings: tuple[str, ...] = ()
    report: dict[str, Any] = field(default_factory=dict)


def documents(paths: Sequence[Path], place: str = "PATH", *, without: Path | None = None) -> list[tuple[Path, str]]:
    """Return the files to send, each with its name below the path that was given, folders searched in order.

    Args:
        paths: files and folders.
        place: what the caller named them by, for errors: an argument or an option.
        without: a folder of which nothing is taken that was not named itself: that of our own data.

    Raises:
        InvalidRequestError: a path does not exist, nothing ingestible is below any of them, or two files have one name,
            so that the second would count as a new version of the first.
    """
    found: list[tuple[Path, str]] = []
    for path in paths:
        if path.is_dir():
            # A file that is named is sent whatever its suffix.
            files = [file for file in _in_folder(path, without) if file.suffix.lower() in SUFFIXES]
            found.extend((file, f"{path.name}/{file.relative_to(path).as_posix()}") for file in files)
        elif path.is_file():
            found.append((path, path.name))
        else:
            why = "is neither a file nor a folder" if path.exists() else "does not exist"
            raise InvalidRequestError.of(FieldViolation(place, f"{path} {why}"))
    if not found:
        below = ", ".join(map(str, paths))
        text = f"no file in {below} is of a kind that is read: {ACCEPTED}"
        raise InvalidRequestError.of(FieldViolation(place, text))
    _refuse_twins(found, place)
    return found


def left_out(paths: Sequence[Path], *, without: Path | None = None) -> list["Ingested"]:
    """Return the files of folders that ``documents`` passes over, each as a refused one, with what it is.

    Args:
        paths: files and folders.
        without: as for ``documents``.
    """
    passed = [file for path in paths if path.is_dir() for file in _in_folder(path, without)]
    named = {path.resolve() for path in paths if path.is_file()}
    return [
        Ingested(str(file), error=_why_left_out(file), reason=ErrorReason.UNSUPPORTED_MEDIA.value)
        for file in dict.fromkeys(passed)
        if file.suffix.lower() not in SUFFIXES and file.resolve() not in named
    ]


def _why_left_out(file: Path) -> str:
    try:
        with file.open("rb") as opened:
            head = opened.read(_HEAD_BYTES)
            kind = what_else(head)
            if kind is not None and not kind.advice:  # what an Office file is may stand further behind
                kind = what_else(head + opened.read(_MOST_BYTES))
    except OSError as error:
        return error.strerror or "cannot be read"
    if kind:
        return f"the document is {kind.name}, which is not read{kind.advice}"
    suffix = file.suffix.lower()
    what = f"{suffix} is no suffix of a kind" if suffix else "its name has no suffix of a kind"
    return f"{what} that is looked for in folders; name the file to send it all the same"


def _in_folder(folder: Path, without: Path | None) -> list[Path]:
    """Return the files below a folder; what begins with a dot, and our own data, is no document of a folder's."""
    return sorted(p for p in folder.rglob("*") if _is_shown(p, folder) and not _is_below(p, without))


def own_data(settings: Settings) -> Path:
    """Return the folder of the suite's own data: sessions, keys and stores are no documents."""
    return Path(settings.store.data_dir).resolve()


def _is_below(file: Path, folder: Path | None) -> bool:
    return folder is not None and file.resolve().is_relative_to(folder)


def _is_shown(file: Path, folder: Path) -> bool:
    return not any(part.startswith(".") for part in file.relative_to(folder).parts) and file.is_file()


def _refuse_twins(found: list[tuple[Path, str]], place: str) -> None:
    first: dict[str, Path] = {}
    for path, name in found:
        other = first.setdefault(name, path)
        if other.resolve() != path.resolve():
            text = f"{other} and {path} would both be file:{name}, as versions of one; name a folder above both"
            raise InvalidRequestError.of(FieldViolation(place, text))


@dataclass(frozen=True, slots=True)
class Terms:
    """What is said of all files of a call.

    Attributes:
        source_type: a word of the command line, or the enum's name once it is read; empty = as the document had, or
            internal.
        supersedes: uris of documents that the file takes the place of; for one file alone.
        valid_from: first day on which the facts hold, ``valid_to`` the last; empty = as the document says.
    """

    source_type: str = ""
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
            results.append(await _ingest_one(suite, path, uri_of(name), terms, bar))
            bar.step()
    return results


def uri_of(name: str) -> str:
    """Return the uri of a file by its name below the path that was given.

    A name is bytes to the system; those that are no UTF-8 are written as escapes, the same at each ingestion.
    """
    return f"file:{name.encode(errors='backslashreplace').decode()}"


async def _ingest_one(suite: Suite, path: Path, uri: str, terms: Terms, bar: Advance) -> Ingested:
    try:
        content = await asyncio.to_thread(read_document_file, path)
        if not content:
            return Ingested(str(path), error="the file is empty", reason=ErrorReason.INVALID_FIELD.value)
        source = knowledge.IngestSourceRequest(
            request_id=str(uuid.uuid4()),
            uri=uri,
            source_type=terms.source_type,
            content=content,
            metadata=terms.metadata,
            supersedes_uris=terms.supersedes,
        )
        response = await _told(suite, source, bar)
    except OSError as error:
        return Ingested(str(path), error=error.strerror or "cannot be read", reason="FILE_UNREADABLE")
    except CrpError as error:
        if error.reason in REFUSALS:
            return Ingested(str(path), error=error.message, reason=error.reason.value)
        raise
    return Ingested(
        path=str(path),
        source_id=response.source.source_id,
        facts_created=response.facts_created,
        facts_stale=response.facts_stale,
        unchanged=response.unchanged,
        uri=uri,
        warnings=tuple(response.warnings),
        report=render.response_json(response.report) if response.HasField("report") else {},
    )


async def _told(suite: Suite, source: knowledge.IngestSourceRequest, bar: Advance) -> knowledge.IngestSourceResponse:
    """Return what an ingestion did; the bar says meanwhile how far it is."""
    request = knowledge.IngestSourceStreamRequest(source=source)
    async for event in suite.stream(suite.knowledge.IngestSourceStream, request):
        if event.WhichOneof("event") == "result":
            result: knowledge.IngestSourceResponse = event.result
            return result
        bar.tell(_so_far(event.progress))
    raise UnavailableError(ErrorReason.SERVICE_UNAVAILABLE, "the server ended the ingestion without an answer")


def _so_far(progress: knowledge.IngestionProgress) -> str:
    """Return how far an ingestion is: ``embedding the facts, 120 of 600, 14 s left``."""
    if not progress.facts_total or progress.facts_done >= progress.facts_total:
        return str(progress.stage)
    counted = f"{progress.stage}, {progress.facts_done} of {progress.facts_total}"
    return f"{counted}, {progress.seconds_left:.0f} s left" if progress.HasField("seconds_left") else counted


def show_left_out(passed_over: Sequence[Ingested], output: Output) -> None:
    """Show the files of folders that were not sent, the first of them by name."""
    for one in passed_over[:_SHOWN_LEFT_OUT]:
        output.say(f"{one.path}: left out: {one.error}", style="red")
    if len(passed_over) > _SHOWN_LEFT_OUT:
        output.say(f"and {len(passed_over) - _SHOWN_LEFT_OUT} more left out (--json)", style="red")


def show(results: list[Ingested], output: Output, passed_over: Sequence[Ingested] = ()) -> None:
    """Show a line per file, and those that were not sent."""
    rows = [
        (
            r.path if r.uri in {"", f"file:{r.path}"} else f"{r.path}\n{r.uri}",
            r.error or ("unchanged" if r.unchanged else counted(r.facts_created, "fact")),
            str(r.facts_stale) if r.facts_stale else "",
        )
        for r in results
    ]
    output.table("Documents", ("file", "result", "superseded"), rows)
    show_left_out(passed_over, output)
    for one in results:
        for told in (*one.warnings, *_remarks(one.report)):
            output.say(f"{one.path}: {told}", style="yellow")
    if any(_remarks(one.report) for one in results):
        output.say("`groundtrail ingest --dry-run` with the same paths shows them.", style="dim")


def _remarks(report: dict[str, Any]) -> list[str]:
    """Return what is worth a look before a document is trusted."""
    told = (
        ("suspected_instruction_count", "text that speaks to a model", "texts that speak to a model"),
        ("hidden_text_count", "hidden text left out", "hidden texts left out"),
        ("doubtful_table_count", "table that may have been read wrong", "tables that may have been read wrong"),
        ("disagreement_count", "fact with another value than in another source",
         "facts with other values than in other sources"),
    )  # fmt: skip
    return [counted(report[name], one, several) for name, one, several in told if report.get(name)]


def _check_period(terms: Terms) -> None:
    """Say once, and by the options' names, what would be wrong for every file.

    Raises:
        InvalidRequestError: INVALID_FIELD: a date is none, or the last day is before the first.
    """
    if not terms.metadata:
        return
    from services.envelope.domain.validity import of_metadata

    try:
        of_metadata(terms.metadata)
    except ValueError as error:
        key, _, text = str(error).replace("valid_from", "--valid-from").replace("valid_to", "--valid-to").partition(" ")
        raise InvalidRequestError.of(FieldViolation(key, text)) from None


async def ingest(settings: Settings, output: Output, paths: list[Path], terms: Terms) -> Exit:
    """Ingest files and folders; the exit code tells whether every file was taken."""
    files = documents(paths, without=own_data(settings))
    passed_over = left_out(paths, without=own_data(settings))
    if terms.supersedes and len(files) > 1:
        raise InvalidRequestError.of(FieldViolation("--supersedes", "is for one file: name it alone"))
    kind = f"SOURCE_TYPE_{(terms.source_type or 'unspecified').upper().replace('-', '_')}"
    if terms.source_type == "unspecified" or kind not in ckf.SourceType.keys():  # noqa: SIM118 - an enum wrapper
        raise InvalidRequestError.of(FieldViolation("--source-type", f"{terms.source_type} is none of {_SOURCE_TYPES}"))
    _check_period(terms)
    async with connect(settings, Part.KNOWLEDGE) as suite:
        results = await ingest_all(suite, files, replace(terms, source_type=kind), output)
    show(results, output, passed_over)
    results += passed_over
    output.result({"documents": [asdict(r) for r in results]})
    refused = [r for r in results if r.error]
    if not refused:
        return Exit.OK
    output.say(f"not taken: {len(refused)} of {counted(len(results), 'file')}", style="red")
    return exit_of(InvalidRequestError.of()) if len(refused) == len(results) else Exit.VERDICT
