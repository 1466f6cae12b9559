"""No command lets a stored name act on the terminal: whatever a server answers, people see characters that draw."""

import json
import re
import sys
from contextlib import asynccontextmanager
from datetime import UTC, datetime

import pytest
from google.protobuf.descriptor import FieldDescriptor as Field
from google.protobuf.timestamp_pb2 import Timestamp
from pydantic import SecretStr
from rich.text import Text

from services.cli.commands import (
    ask,
    audit,
    dag,
    erase,
    facts,
    ingest,
    keys,
    offline,
    preview,
    retention,
    search,
    sessions,
    sources,
    systems,
)
from services.cli.console import Output, _checked
from services.cli.forms import DagForm
from services.cli.render import coloured
from services.common.settings import ClientSettings, Settings, StoreSettings

HOSTILE = (
    "a\x1b[2J\x1b]0;title\x07b"  # clears the screen, sets the title
    "\x9b31mc\x9d0;t\x9c"  # the same in C1, which terminals take in UTF-8, too
    "\x08\x08\x7f\r\x00\x0b"  # over what was written before
    "\u202egnp.exe\u2066\u2069\u200f"  # reads the other way round
    "\u2028\u2029\ud800\U000e0041[bold]x[/bold]"
)
ACTING = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ud800-\udfff\U000e0000-\U000e007f]"
)
TEXT = HOSTILE.replace("\ud800", "")  # protobuf takes no lone surrogate
ID = "00000000-0000-4000-8000-000000000000"
ONE_OF_A_KIND = {"next_page_token": "", "page_token": ""}


def hostile(message, depth=0):
    """Fill every field of a message, the texts with what no terminal should get."""
    for field in message.DESCRIPTOR.fields:
        if field.name in ONE_OF_A_KIND or depth > 6:
            continue
        if field.type == Field.TYPE_MESSAGE and field.message_type.GetOptions().map_entry:
            fill_map(message, field)
        elif field.type == Field.TYPE_MESSAGE:
            inner = getattr(message, field.name)
            hostile(inner.add() if field.is_repeated else inner, depth + 1)
            if not field.is_repeated:
                inner.SetInParent()
        elif field.is_repeated:
            getattr(message, field.name).append(value_of(field))
        else:
            setattr(message, field.name, value_of(field))
    if isinstance(message, Timestamp):
        message.FromDatetime(datetime(2026, 1, 2, tzinfo=UTC))
    return message


def fill_map(message, field):
    of = field.message_type.fields_by_name["value"]
    if of.type == Field.TYPE_STRING:
        getattr(message, field.name)[TEXT] = TEXT


def value_of(field):
    if field.type == Field.TYPE_STRING:
        return TEXT
    if field.type == Field.TYPE_BYTES:
        return TEXT.encode()
    if field.type == Field.TYPE_ENUM:
        values = [value for value in field.enum_type.values if value.name.endswith("_COMMITTED")]
        return (values or field.enum_type.values)[-1].number
    return True if field.type == Field.TYPE_BOOL else 1


class HostileSuite:
    """Answers every call with a message of its response's type, filled."""

    address = "127.0.0.1:1"

    def __getattr__(self, service):
        return _Stub()

    async def call(self, _method, request, **_options):
        return hostile(response_type(request)())

    async def stream(self, _method, request):
        yield hostile(response_type(request)())


class _Stub:
    def __getattr__(self, method):
        return method


def response_type(request):
    module = sys.modules[type(request).__module__]
    return getattr(module, type(request).__name__.removesuffix("Request") + "Response")


COMMANDS = {
    "sources list": (sources, sources.list_sources),
    "sources erase": (sources, lambda s, o: sources.erase_source(s, o, TEXT)),
    "facts quarantine": (sources, lambda s, o: sources.quarantine_fact(s, o, ID)),
    "facts show": (facts, lambda s, o: facts.show_fact(s, o, ID)),
    "facts show PREFIX": (facts, lambda s, o: facts.show_fact(s, o, ID[:8])),
    "facts restore": (sources, lambda s, o: sources.restore_fact(s, o, ID)),
    "keys list": (keys, keys.list_keys),
    "keys create": (keys, lambda s, o: keys.create(s, o, keys.Wish(TEXT, ["reader"]))),
    "keys revoke": (keys, lambda s, o: keys.revoke(s, o, ID)),
    "systems list": (systems, systems.list_systems),
    "systems versions": (systems, lambda s, o: systems.list_systems(s, o, TEXT)),
    "sessions": (sessions, sessions.list_sessions),
    "sessions expire": (retention, lambda s, o: retention.apply(s, o, 9)),
    "sessions expire --dry-run": (retention, lambda s, o: retention.preview(s, o, 9)),
    "sessions hold": (retention, lambda s, o: retention.hold(s, o, TEXT, TEXT, held=True)),
    "sessions rules": (retention, retention.show_rules),
    "sessions set-rules": (retention, lambda s, o: retention.set_rules(s, o, {}, TEXT, legal_hold=True)),
    "verify": (audit, lambda s, o: audit.verify(s, o, TEXT)),
    "show": (audit, lambda s, o: audit.show(s, o, TEXT)),
    "dag": (dag, lambda s, o: dag.dag(s, o, TEXT, DagForm.TREE)),
    "erase": (erase, lambda s, o: erase.erase(s, o, TEXT, TEXT)),
    "checkpoint": (offline, lambda s, o: offline.checkpoint(s, o, None)),
    "search": (search, lambda s, o: search.search(s, o, TEXT, "dense", 5)),
    "ask": (ask, lambda s, o: ask.ask(s, o, ask.Asked(TEXT), ask.ContextWishes("", ()), headers=True)),
    "ask --stream": (ask, lambda s, o: ask.ask(s, o, ask.Asked(TEXT), stream=True)),
    "preview": (preview, lambda s, o: preview.preview(s, o, preview.Wanted(TEXT, "", 0, "open"))),
    "envelope": (preview, lambda s, o: preview.envelope(s, o, preview.Wanted(TEXT, "", 0, "open"))),
}


@pytest.fixture
def settings(tmp_path):
    client = ClientSettings(server="127.0.0.1:1", api_key=SecretStr("crp_gw_dev_x"))
    return Settings(store=StoreSettings(data_dir=tmp_path), client=client)


@pytest.fixture
def suite(monkeypatch):
    @asynccontextmanager
    async def connect(_settings, *_parts, **_more):
        yield HostileSuite()

    for module in {module for module, _ in COMMANDS.values()}:
        monkeypatch.setattr(module, "connect", connect)
    monkeypatch.setenv("COLUMNS", "200")


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.usefixtures("suite")
async def test_what_people_are_shown_acts_on_no_terminal(settings, capsys, name):
    await COMMANDS[name][1](settings, Output(as_json=False))
    shown = "".join(capsys.readouterr())
    assert ACTING.findall(shown) == []


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.usefixtures("suite")
async def test_as_json_the_values_are_whole_and_written_as_escapes(settings, capsys, name):
    await COMMANDS[name][1](settings, Output(as_json=True))
    written = capsys.readouterr().out
    assert ACTING.findall(written) == []
    json.loads(written)


@pytest.mark.usefixtures("suite")
async def test_the_test_can_fail(settings, capsys):
    """The names do reach the output, spelled out; and as JSON they come back as they were."""
    await sources.list_sources(settings, Output(as_json=False))
    assert "<U+001B>" in re.sub(r"\s", "", capsys.readouterr().out)
    await sources.list_sources(settings, Output(as_json=True))
    assert json.loads(capsys.readouterr().out)["sources"][0]["uri"] == TEXT


@pytest.mark.parametrize("text", [HOSTILE, "\x1b[31mred", "\u202e"])
def test_every_way_to_speak_spells_out(capsys, text):
    output = Output(as_json=False)
    output.say(text)
    output.drawn([(text, "bold")])
    output.table(text, ("a", "b", "c"), [(text, coloured(text), Text.assemble(coloured("LOW"), text))])
    output.error(text, hint=text, fields=[{"field": text, "description": text}])
    assert ACTING.findall("".join(capsys.readouterr())) == []


def test_a_cell_in_colour_keeps_its_colour_when_it_only_draws():
    cell = coloured("LOW")
    assert _checked(cell) is cell
    assert _checked(coloured("\x1b[2J")).plain == "<U+001B>[2J"


def test_file_names_of_an_ingestion_are_spelled_out(capsys):
    ingest.show([ingest.Ingested(path=TEXT, error=TEXT)], Output(as_json=False))
    shown = capsys.readouterr().out
    assert ACTING.findall(shown) == []
    assert "<U+" in shown


def test_where_no_terminal_reads_an_error_is_not_folded(capsys):
    path = "/a/folder/" + "with-a-name-that-is-long/" * 12 + "file.txt"
    Output(as_json=False).error(
        f"no file {path}", hint=f"name another than {path}", fields=[{"field": path, "description": path}]
    )
    assert capsys.readouterr().err.splitlines() == [
        f"error: no file {path}",
        f"  {path}: {path}",
        f"  name another than {path}",
    ]
