"""``groundtrail ingest``: which files are sent, and under which names."""

import os
from pathlib import Path
from types import SimpleNamespace

import pytest
from crp.ckf.v1 import ckf_pb2, knowledge_service_pb2
from typer.testing import CliRunner

from services.cli.app import app
from services.cli.commands.ingest import Terms, documents, ingest, ingest_all, left_out, own_data, show
from services.cli.console import Output
from services.cli.document_files import read_document_file
from services.cli.exits import Exit
from services.common.errors import ErrorReason, InvalidRequestError, LimitExceededError
from services.common.settings import Settings


def written(*paths: Path) -> None:
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("A rule.", encoding="utf-8")


def test_names_are_below_the_folder_that_was_given(tmp_path):
    written(tmp_path / "hr" / "a" / "rules.md", tmp_path / "hr" / "b" / "rules.md", tmp_path / "hr" / "note.bin")
    assert [name for _, name in documents([tmp_path / "hr"])] == ["hr/a/rules.md", "hr/b/rules.md"]


def test_two_files_of_one_name_do_not_become_versions_of_one_document(tmp_path):
    one, other = tmp_path / "a" / "rules.md", tmp_path / "b" / "rules.md"
    written(one, other)
    with pytest.raises(InvalidRequestError, match=r"would both be file:rules\.md") as caught:
        documents([one, other])
    assert caught.value.violations[0].field == "PATH"
    assert [name for _, name in documents([one, one])] == ["rules.md", "rules.md"]


def test_what_a_folder_holds_beside_documents_is_refused_by_name(tmp_path, capsys):
    folder = tmp_path / "policies"
    written(folder / "leave.md", folder / ".git" / "HEAD", folder / "LICENSE", tmp_path / "data" / "x.bin")
    (folder / "sub").mkdir()
    (folder / "old.doc").write_bytes(
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 8_000 + "WordDocument".encode("utf-16-le")
    )
    (folder / "sub" / "a.rtf").write_bytes(b"{\\rtf1 x}")
    (folder / "scan.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    found = left_out([folder, folder / "LICENSE", tmp_path / "data"], without=tmp_path / "data")
    told = {Path(one.path).name: one.error for one in found}
    assert set(told) == {"old.doc", "a.rtf", "scan.png"}  # a file that is named is sent, ours and hidden ones are none
    assert "Word document" in told["old.doc"]
    assert "save it as DOCX" in told["old.doc"]
    assert "RTF document" in told["a.rtf"]
    assert "PNG image" in told["scan.png"]
    assert {one.reason for one in found} == {"UNSUPPORTED_MEDIA"}
    assert "name the file to send it all the same" in left_out([folder])[0].error
    show([], Output(as_json=False), found * 10)
    shown = " ".join(capsys.readouterr().out.split())
    assert "left out: the document is an RTF document" in shown
    assert "and 10 more left out (--json)" in shown


async def test_a_name_that_is_no_unicode_is_sent_as_escapes(tmp_path):
    sent: list[knowledge_service_pb2.IngestSourceRequest] = []

    async def stream(_method, request):
        sent.append(request.source)
        far = knowledge_service_pb2.IngestionProgress(stage="embedding", facts_done=1, facts_total=2, seconds_left=3)
        yield knowledge_service_pb2.IngestSourceStreamResponse(progress=far)
        result = knowledge_service_pb2.IngestSourceResponse(source=ckf_pb2.Source(source_id="s"), facts_created=1)
        yield knowledge_service_pb2.IngestSourceStreamResponse(result=result)

    path = tmp_path / os.fsdecode(b"caf\xe9.md")
    written(path)
    suite = SimpleNamespace(stream=stream, knowledge=SimpleNamespace(IngestSourceStream=None))
    (result,) = await ingest_all(suite, documents([path]), Terms("SOURCE_TYPE_INTERNAL"), Output(as_json=True))
    assert (result.error, result.facts_created) == ("", 1)
    assert (sent[0].uri, sent[0].title) == ("file:caf\\udce9.md", "")  # the document's own, or its address


async def test_what_is_said_of_a_file_travels_with_it(tmp_path):
    sent: list[knowledge_service_pb2.IngestSourceRequest] = []

    async def stream(_method, request):
        sent.append(request.source)
        result = knowledge_service_pb2.IngestSourceResponse(source=ckf_pb2.Source(source_id="s"), facts_created=1)
        yield knowledge_service_pb2.IngestSourceStreamResponse(result=result)

    path = tmp_path / "fees.md"
    written(path)
    suite = SimpleNamespace(stream=stream, knowledge=SimpleNamespace(IngestSourceStream=None))
    terms = Terms("SOURCE_TYPE_INTERNAL", ("file:old.md",), "2026-01-01", "2026-12-31")
    await ingest_all(suite, documents([path]), terms, Output(as_json=True))
    assert list(sent[0].supersedes_uris) == ["file:old.md"]
    assert dict(sent[0].metadata) == {"valid_from": "2026-01-01", "valid_to": "2026-12-31"}


async def test_only_one_file_takes_the_place_of_another(tmp_path):
    for name in ("a.md", "b.md"):
        written(tmp_path / name)
    with pytest.raises(InvalidRequestError) as caught:
        await ingest(Settings(), Output(as_json=True), [tmp_path], Terms(supersedes=("file:old.md",)))
    assert caught.value.violations[0].field == "--supersedes"


async def test_a_document_that_takes_too_long_does_not_stop_the_others(tmp_path):
    async def stream(_method, request):
        if request.source.uri.endswith("bad.pdf"):
            raise LimitExceededError(ErrorReason.DOCUMENT_TOO_COMPLEX, "reading it took too long")
        result = knowledge_service_pb2.IngestSourceResponse(source=ckf_pb2.Source(source_id="s"), facts_created=1)
        yield knowledge_service_pb2.IngestSourceStreamResponse(result=result)

    written(tmp_path / "a.md", tmp_path / "bad.pdf", tmp_path / "c.md")
    suite = SimpleNamespace(stream=stream, knowledge=SimpleNamespace(IngestSourceStream=None))
    found = await ingest_all(suite, documents([tmp_path]), Terms("SOURCE_TYPE_INTERNAL"), Output(as_json=True))
    assert [(one.reason, one.facts_created) for one in found] == [("", 1), ("DOCUMENT_TOO_COMPLEX", 0), ("", 1)]


def test_what_is_no_ordinary_file_is_not_opened(tmp_path):
    pipe = tmp_path / "a.txt"
    os.mkfifo(pipe)
    with pytest.raises(InvalidRequestError, match="is neither a file nor a folder"):
        documents([pipe])
    written(tmp_path / "b.txt")
    assert [name for _, name in documents([tmp_path])] == [f"{tmp_path.name}/b.txt"]


def test_no_more_of_a_file_is_read_than_any_document_has(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(b"0123456789")
    assert read_document_file(path, most=10) == b"0123456789"
    with pytest.raises(LimitExceededError, match="10 or more bytes, at most 9"):
        read_document_file(path, most=9)


@pytest.mark.parametrize(
    ("terms", "field", "said"),
    [
        (Terms(valid_from="01/02/2026"), "--valid-from", "must be a date such as 2026-01-31"),
        (Terms(valid_to="soon"), "--valid-to", "must be a date such as 2026-01-31"),
        (Terms(valid_from="2026-02-01", valid_to="2026-01-01"), "--valid-to", "must not be before --valid-from"),
    ],
)
async def test_a_date_that_is_none_is_said_once_and_by_its_option(tmp_path, terms, field, said):
    written(tmp_path / "a.md", tmp_path / "b.md")
    with pytest.raises(InvalidRequestError) as caught:
        await ingest(Settings(), Output(as_json=True), [tmp_path], terms)
    (violation,) = caught.value.violations
    assert (violation.field, violation.description.startswith(said)) == (field, True)


async def test_an_empty_file_is_called_that(tmp_path):
    (tmp_path / "empty.txt").touch()
    suite = SimpleNamespace(stream=None, knowledge=SimpleNamespace(IngestSourceStream=None))
    (result,) = await ingest_all(suite, documents([tmp_path / "empty.txt"]), Terms(), Output(as_json=True))
    assert (result.error, result.reason) == ("the file is empty", "INVALID_FIELD")


def test_our_own_data_is_no_document(tmp_path):
    written(tmp_path / "docs" / "rules.md", tmp_path / "data" / "cli" / "crp_sess_x.json")
    settings = Settings(store={"data_dir": str(tmp_path / "data")})
    found = documents([tmp_path], without=own_data(settings))
    assert [path.name for path, _ in found] == ["rules.md"]
    with pytest.raises(InvalidRequestError, match="no file in"):
        documents([tmp_path / "data"], without=own_data(settings))


@pytest.mark.parametrize(
    "arguments", [["ingest", ""], ["ingest", "--dry-run", ""], ["check", "--answer", "x", "--facts", ""]]
)
def test_an_empty_path_is_no_folder(arguments):
    found = CliRunner().invoke(app, arguments)
    assert found.exit_code == Exit.USAGE
    assert "must not be empty" in found.output


def test_scan_refuses_an_empty_path(capsys):
    found = CliRunner().invoke(app, ["scan", "", "--json"])
    assert found.exit_code == Exit.USAGE
    assert "must not be empty" in found.output
