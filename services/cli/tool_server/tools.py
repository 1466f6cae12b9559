"""The four tools, over the suite as any command sees it; a refusal is the tool's error, its reason in front."""

from collections.abc import Awaitable
from typing import Annotated, Any, Final, TypeVar

from crp.ckf.v1 import knowledge_service_pb2 as knowledge
from crp.dag.v1 import session_service_pb2 as sessions
from groundtrail.requests import check_request
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import ToolAnnotations
from pydantic import Field

from services.allinone.check import in_force
from services.allinone.check_result import result_of
from services.cli.commands.ask import Asked as AskedQuestion
from services.cli.commands.ask import send
from services.cli.connection import Suite
from services.cli.local_state import LocalState
from services.cli.modes import search_mode
from services.cli.tool_server.results import (
    CheckedAnswer,
    GivenAnswer,
    SearchResult,
    VerifiedSession,
    checked_answer,
    given_answer,
    search_result,
    verified_session,
)
from services.common.errors import CrpError

INSTRUCTIONS: Final = (
    "Grounded answers from this installation's documents. `ask` gives an answer with verdicts and quotations, `search` "
    "the facts themselves; `check` holds a text of your own against facts before you rely on it; `verify` says whether "
    "anybody changed a session's record. Verdicts are data: an answer that was withheld is no error."
)
_READS: Final = ToolAnnotations(read_only_hint=True, open_world_hint=False)
_WRITES: Final = ToolAnnotations(read_only_hint=False, destructive_hint=False, open_world_hint=False)
_BEARER: Final = "bearer "
ResultT = TypeVar("ResultT")

Query = Annotated[str, Field(description="What to look for.")]
Limit = Annotated[int, Field(ge=1, le=100, description="Most facts.")]
SearchMode = Annotated[str, Field(description="How to look, e.g. hybrid or text; empty = the deployment's way.")]
Question = Annotated[str, Field(description="The question, as a person would ask it.")]
SessionId = Annotated[str, Field(description="Of an earlier answer, to go on from it; empty = a new session.")]
Answer = Annotated[str, Field(description="The text to check, complete.")]
Facts = Annotated[list[str], Field(min_length=1, description="What it is checked against: texts, the more the better.")]
Policy = Annotated[str, Field(description="A safety policy, e.g. 'halt-on HIGH'; empty = none.")]
Asked = Annotated[str, Field(description="The question that it answers; empty = not known.")]


class SuiteTools:
    """The tools.

    Args:
        suite: whom they ask.
        state: keeps the tokens of sessions, so that no model sees one.
    """

    def __init__(self, suite: Suite, state: LocalState) -> None:
        self._suite = suite
        self._state = state

    def server(self, version: str) -> MCPServer[Any]:
        """Return the protocol's server with the tools."""
        server: MCPServer[Any] = MCPServer(
            "groundtrail", title="Groundtrail", instructions=INSTRUCTIONS, version=version, log_level="WARNING"
        )
        for tool, notes in ((self.search, _READS), (self.ask, _WRITES), (self.check, _READS), (self.verify, _READS)):
            server.add_tool(tool, annotations=notes, structured_output=True)
        return server

    async def search(
        self, context: Context[Any, Any], query: Query, limit: Limit = 10, mode: SearchMode = ""
    ) -> SearchResult:
        """Find facts of the documents, best first, each with where it stands."""

        async def found(suite: Suite) -> SearchResult:
            wanted = search_mode("mode", mode) if mode else None
            request = knowledge.SearchFactsRequest(query=query, mode=wanted, limit=limit)
            return search_result(await suite.call(suite.knowledge.SearchFacts, request))

        return await _told(found(self._acting(context)))

    async def ask(self, context: Context[Any, Any], question: Question, session_id: SessionId = "") -> GivenAnswer:
        """Answer a question from the documents: every claim with its verdict and the words that bear it out."""

        async def answered(suite: Suite) -> GivenAnswer:
            return given_answer(await send(suite, self._state, AskedQuestion(question, session_id)))

        return await _told(answered(self._acting(context)))

    async def check(
        self, context: Context[Any, Any], answer: Answer, facts: Facts, question: Asked = "", policy: Policy = ""
    ) -> CheckedAnswer:
        """Check a text against facts: every claim with its verdict and the facts' words. Nothing is stored."""

        async def checked(suite: Suite) -> CheckedAnswer:
            force = in_force(policy)
            response = await suite.call(suite.provenance.Check, check_request(answer, facts, question))
            return checked_answer(result_of(response, force))

        return await _told(checked(self._acting(context)))

    async def verify(
        self, context: Context[Any, Any], session_id: Annotated[str, Field(description="Of an answer of `ask`.")]
    ) -> VerifiedSession:
        """Compute a session's chain of hashes anew: whether anybody changed what was asked, answered and found."""

        async def verified(suite: Suite) -> VerifiedSession:
            request = sessions.VerifyChainRequest(session_id=session_id)
            return verified_session(await suite.call(suite.sessions.VerifyChain, request))

        return await _told(verified(self._acting(context)))

    def _acting(self, context: Context[Any, Any]) -> Suite:
        """Return the suite with the caller's own credential: over HTTP the one that the request shows, else ours."""
        headers = context.headers
        if headers is None:
            return self._suite
        shown = headers.get("authorization", "")
        return self._suite.acting(shown[len(_BEARER) :].strip() if shown.lower().startswith(_BEARER) else "")


async def _told(work: Awaitable[ResultT]) -> ResultT:
    """Return what comes of work.

    Raises:
        ToolError: the suite refused; fields that were wrong are named.
    """
    try:
        return await work
    except CrpError as error:
        told = (f"{one.field}: {one.description}" for one in error.violations)
        fields = "".join(f" {one}." for one in told if one not in error.message)
        raise ToolError(f"{error.reason.value}: {error.message}{fields}") from None
