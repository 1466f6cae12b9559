"""``groundtrail ingest``: which files are sent, and under which names."""

import os
from pathlib import Path
from types import SimpleNamespace

import pytest
from crp.ckf.v1 import ckf_pb2, knowledge_service_pb2

from services.cli.commands.ingest import Terms, documents, ingest, ingest_all
from services.cli.console import Output
from services.common.errors import InvalidRequestError
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
