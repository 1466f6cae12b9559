"""Exit codes of ``groundtrail verify``: PARTIAL is 1, so that a script does not take it for VALID (ADR 0102)."""

from contextlib import asynccontextmanager

import pytest
from crp.common.v1 import taxonomy_pb2 as taxonomy
from crp.dag.v1 import session_service_pb2 as sessions
from typer.testing import CliRunner

from services.cli.app import app
from services.cli.commands import audit
from services.cli.exits import Exit

CODES = {
    "VALID": Exit.OK,
    "BROKEN": Exit.VERDICT,
    "PARTIAL": Exit.FAILURE,
    "UNVERIFIED": Exit.OK,
    "TRUNCATED": Exit.OK,
}


def test_every_verdict_has_a_code():
    names = {name.removeprefix("CHAIN_INTEGRITY_") for name, _ in taxonomy.ChainIntegrity.items()}
    assert names - {"UNSPECIFIED"} == set(CODES)


@pytest.mark.parametrize("verdict", CODES)
def test_the_code_of_a_verdict(verdict, monkeypatch):
    class Suite:
        sessions = type("Stub", (), {"VerifyChain": None})

        async def call(self, *_):
            return sessions.VerifyChainResponse(integrity=f"CHAIN_INTEGRITY_{verdict}")

    @asynccontextmanager
    async def connect(*_):
        yield Suite()

    monkeypatch.setattr(audit, "connect", connect)
    assert CliRunner().invoke(app, ["verify", "crp_sess_x", "--json"]).exit_code == CODES[verdict]


def test_the_help_says_so():
    said = " ".join(CliRunner().invoke(app, ["verify", "--help"]).output.split())
    assert "1: PARTIAL or INCOMPLETE" in said.replace("│ ", "").replace(" │", "")
