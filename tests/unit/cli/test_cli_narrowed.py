"""A command makes no signature but its own, takes what it takes in the whole, and collects no garbage at first."""

import gc
import time

import typer

from services.cli import __main__ as entry
from services.cli.app import app
from tests.patience import patient

WHOLE = typer.main.get_group(app)


def narrowed(*arguments):
    """Return the command line as it is for the arguments."""
    return typer.main.get_group(entry.narrowed(app, arguments))


def shape(command):
    """Return a command's options and arguments, those of its own commands too."""
    own = [(one.name, one.opts, one.required, one.default) for one in command.params]
    return own, {name: shape(one) for name, one in getattr(command, "commands", {}).items()}


def test_each_command_stands_alone_as_in_the_whole():
    for name, command in WHOLE.commands.items():
        found = narrowed(name, "--json", "x")
        assert list(found.commands) == [name]
        assert shape(found.commands[name]) == shape(command)
    assert len(WHOLE.commands) > 30
    assert list(typer.main.get_group(app).commands) == list(WHOLE.commands), "the whole stays as it is"


def test_what_is_no_command_leaves_the_command_line_whole():
    for arguments in ((), ("--help",), ("--version",), ("shw",), ("--json", "keys"), ("",)):
        assert list(narrowed(*arguments).commands) == list(WHOLE.commands)


def test_the_collector_rests_while_a_command_begins_and_no_longer(monkeypatch):
    monkeypatch.setattr(entry, "UNCOLLECTED_S", 0.05)
    until = time.monotonic() + patient(5)
    try:
        entry.collect_later()
        assert not gc.isenabled()
        while not gc.isenabled() and time.monotonic() < until:
            time.sleep(0.01)
        assert gc.isenabled()
    finally:
        gc.enable()
