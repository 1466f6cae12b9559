"""The ``groundtrail`` command: what it is called, what it takes, what it prints; each command is in ``commands/``."""

from functools import partial
from importlib.metadata import version as installed_version
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from services.cli.ask_command import ask_question
from services.cli.check_command import check_answer
from services.cli.ercp_commands import ercp_app
from services.cli.feedback_commands import feedback_app
from services.cli.forms import AsJson, DagForm, ExportForm, MinCosignatures, Superseded, WitnessKeys, sure
from services.cli.key_commands import key_app
from services.cli.knowledge_commands import fact_app, source_app
from services.cli.later import Later, run
from services.cli.log_commands import log_app, signer_app, witness_app
from services.cli.mcp_command import serve_tools
from services.cli.model_commands import model_app
from services.cli.paths import named_file, named_path
from services.cli.policy_commands import policy_app
from services.cli.provider_commands import provider_app
from services.cli.review_commands import review_app
from services.cli.scan_command import scan_files
from services.cli.session_commands import session_app
from services.cli.store_commands import store_app
from services.cli.system_commands import system_app
from services.cli.violation_report_commands import violation_report_app
from services.common.document_kinds import ACCEPTED
from services.common.taxonomy import GroundingMode

if TYPE_CHECKING:
    from services.cli.commands import audit, dag, doctor, ingest, preview_ingestion, search, version
else:
    audit, dag, doctor, ingest, preview_ingestion, search, version = (
        Later(f"services.cli.commands.{name}")
        for name in ("audit", "dag", "doctor", "ingest", "preview_ingestion", "search", "version")
    )

app = typer.Typer(
    name="groundtrail",
    help="Answers that are grounded, checked, chained and repeatable.\n\n"
    "Commands talk to the server that GROUNDTRAIL_CLIENT__SERVER names; without one they run what they ask inside "
    "the process, on the data under GROUNDTRAIL_STORE__DATA_DIR (default .groundtrail).\n\n"
    "Exit codes: 0 done, 1 failed, 2 wrong input, 3 negative verdict (broken chain, halted answer, refused file), "
    "4 not found, 5 denied, 6 unavailable or over a limit, 130 stopped by Ctrl-C; of check also 10, 11, 12: the level.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=True,
)
app.add_typer(key_app, name="keys")
app.add_typer(system_app, name="systems")
app.add_typer(review_app, name="reviews")
app.add_typer(policy_app, name="policy")
app.add_typer(provider_app, name="providers")
app.add_typer(feedback_app, name="feedback")
app.add_typer(violation_report_app, name="reports")
app.add_typer(model_app, name="models")
app.add_typer(source_app, name="sources")
app.add_typer(fact_app, name="facts")
app.add_typer(store_app, name="stores")
app.add_typer(session_app, name="sessions")
app.add_typer(log_app, name="log")
app.add_typer(witness_app, name="witness")
app.add_typer(signer_app, name="log-signer")
app.add_typer(ercp_app, name="ercp")


def _say_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"groundtrail {installed_version('groundtrail')}")
        raise typer.Exit


@app.callback()
def common(
    *,
    _version: Annotated[
        bool, typer.Option("--version", callback=_say_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Options of the command itself."""


@app.command()
def demo(*, as_json: AsJson = False) -> None:
    """Ingest a handbook, answer two questions in one session, verify the chain."""
    from services.cli.commands.demo import demo as command

    run(command, as_json=as_json)


@app.command()
def serve(  # noqa: PLR0913 - an argument for each option
    services: Annotated[
        list[str] | None,
        typer.Argument(metavar="SERVICE", help="knowledge, envelope, dpe, dag, gateway, ercp; none = the whole suite."),
    ] = None,
    host: Annotated[
        str | None, typer.Option(help="Address to listen on; 127.0.0.1 unless the settings say otherwise.")
    ] = None,
    port: Annotated[
        int | None, typer.Option(help="Port to listen on, 0 = a free one; 50051 unless the settings say otherwise.")
    ] = None,
    http_port: Annotated[int | None, typer.Option(help="Port of the gateway's HTTP; none is served without.")] = None,
    telemetry_port: Annotated[int | None, typer.Option(help="Port of /metrics, /healthz and /readyz.")] = None,
    ready_file: Annotated[Path | None, typer.Option(help="Written as JSON once calls are accepted.")] = None,
    *,
    insecure_local: Annotated[
        bool, typer.Option("--insecure-local", help="No credentials; refused unless bound to loopback.")
    ] = False,
) -> None:
    """Serve the suite, or some of its services, until SIGTERM."""
    from services.cli.commands.serve import serve as command

    ports = {"--port": port, "--http-port": http_port, "--telemetry-port": telemetry_port}
    given = {"--host": host, **ports, "--ready-file": ready_file}
    argv = [text for name, value in given.items() if value is not None for text in (name, str(value))]
    try:
        command(services or [], [*argv, *(["--insecure-local"] if insecure_local else [])])
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="SERVICE") from None


@app.command("ingest", help=f"Ingest documents: {ACCEPTED}.")
def ingest_documents(  # noqa: PLR0913, PLR0917 - the options of a command
    paths: Annotated[
        list[Path], typer.Argument(metavar="PATH", help="Files, or folders to search.", parser=named_path)
    ],
    source_type: Annotated[
        str,
        typer.Option(
            help="regulation, official-document, research, internal, user or web: sets the importance. Default: as it "
            "was; of a new document, internal."
        ),
    ] = "",
    supersedes: Annotated[
        list[str] | None,
        typer.Option(
            metavar="URI", help="A document that the one file takes the place of, such as file:old-name.md; repeatable."
        ),
    ] = None,
    valid_from: Annotated[str, typer.Option(metavar="DATE", help="First day on which the facts hold.")] = "",
    valid_to: Annotated[str, typer.Option(metavar="DATE", help="Last day on which they do.")] = "",
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Write nothing: show the facts, and what to look at before.")
    ] = False,
    facts: Annotated[int, typer.Option(min=0, max=100_000, help="Most facts of a file that --dry-run shows.")] = 20,
    skip_comparison: Annotated[
        bool, typer.Option("--skip-comparison", help="With --dry-run: do not compare with other sources; far faster.")
    ] = False,
    *,
    as_json: AsJson = False,
) -> None:
    """Ingest documents, or look at what would become of them."""
    if dry_run and (supersedes or valid_from or valid_to):
        text = "shows the facts of the document alone; leave --supersedes, --valid-from and --valid-to out"
        raise typer.BadParameter(text, param_hint="--dry-run")
    if skip_comparison and not dry_run:
        text = "is for --dry-run; GROUNDTRAIL_ENVELOPE__COMPARE_WITH_OTHER_SOURCES turns the comparison off for good"
        raise typer.BadParameter(text, param_hint="--skip-comparison")
    if dry_run:
        looking = partial(preview_ingestion.preview_all, paths=paths, most=facts, skip_comparison=skip_comparison)
        run(looking, as_json=as_json)
    else:
        terms = ingest.Terms(source_type, tuple(supersedes or ()), valid_from, valid_to)
        run(partial(ingest.ingest, paths=paths, terms=terms), as_json=as_json)


@app.command("search")
def search_facts(
    query: Annotated[str, typer.Argument(help="What to look for.")],
    mode: Annotated[
        str,
        typer.Option(
            help="dense: by meaning; text: by words; hybrid: by both; late-interaction and reranked: hybrid, with its "
            "best ordered anew, token by token or by a model. Default: the server's, hybrid."
        ),
    ] = "",
    limit: Annotated[int, typer.Option(min=1, max=100, help="Most facts.")] = 10,
    *,
    include_superseded: Superseded = False,
    as_json: AsJson = False,
) -> None:
    """Find facts in the knowledge base: by meaning, by words, or both."""
    work = partial(search.search, query=query, mode=mode, limit=limit, include_superseded=include_superseded)
    run(work, as_json=as_json)


app.command("ask")(ask_question)
app.command("check")(check_answer)
app.command("scan")(scan_files)
app.command("mcp")(serve_tools)

Model = Annotated[
    str, typer.Option(help="Target model: its tokenizer and context window; none = that of your settings.")
]
Budget = Annotated[int, typer.Option(min=0, help="Upper bound of the facts' tokens; 0 = what the window leaves.")]
Grounding = Annotated[GroundingMode, typer.Option(help="What the model may answer from.")]


@app.command("preview")
def preview_envelope(
    question: Annotated[str, typer.Argument(help="The question.")],
    model: Model = "",
    budget: Budget = 0,
    grounding_mode: Grounding = GroundingMode.CONTEXT_PREFERRED,
    *,
    include_superseded: Superseded = False,
    as_json: AsJson = False,
) -> None:
    """Say what a question would get to see: facts, tokens, tier, saturation; no model is asked, nothing is kept."""
    from services.cli.commands.preview import Wanted
    from services.cli.commands.preview import preview as command

    wanted = Wanted(question, model, budget, grounding_mode.value, include_superseded)
    run(partial(command, wanted=wanted), as_json=as_json)


@app.command("envelope")
def build_envelope(
    question: Annotated[str, typer.Argument(help="The question.")],
    model: Model = "",
    budget: Budget = 0,
    grounding_mode: Grounding = GroundingMode.CONTEXT_PREFERRED,
    *,
    include_superseded: Superseded = False,
    as_json: AsJson = False,
) -> None:
    """Build the envelope of a question and list its facts in the order in which a model reads them."""
    from services.cli.commands.preview import Wanted
    from services.cli.commands.preview import envelope as command

    wanted = Wanted(question, model, budget, grounding_mode.value, include_superseded)
    run(partial(command, wanted=wanted), as_json=as_json)


@app.command()
def verify(  # noqa: PLR0913 - one for each option
    session: Annotated[str, typer.Argument(help="crp_sess_…; none with --offline.")] = "",
    *,
    offline: Annotated[
        Path | None,
        typer.Option(metavar="EXPORT", exists=True, dir_okay=False, help="Check a file that `export` wrote instead."),
    ] = None,
    public_key: Annotated[
        str, typer.Option(help="The log's key, as `checkpoint` prints it, or a file with it; with --offline.")
    ] = "",
    checkpoint: Annotated[
        Path | None,
        typer.Option(metavar="FILE", exists=True, dir_okay=False, help="An earlier `checkpoint`; with --offline."),
    ] = None,
    witness: WitnessKeys = None,
    min_cosignatures: MinCosignatures = None,
    as_json: AsJson = False,
) -> None:
    """Recompute a session's chain, or check an export with no server and no secret.

    Exit code 0: VALID, or TRUNCATED by an erasure; 1: PARTIAL or INCOMPLETE, a part could not be recomputed; 3: BROKEN.
    """
    if offline is None:
        if not session or public_key or checkpoint or witness or min_cosignatures is not None:
            raise typer.BadParameter("name a session, or --offline EXPORT with --public-key KEY", param_hint="SESSION")
        run(partial(audit.verify, session_id=session), as_json=as_json)
        return
    if session or not public_key:
        raise typer.BadParameter("--offline takes no session and needs --public-key", param_hint="--offline")
    from services.cli.commands.offline import Trusted
    from services.cli.commands.offline import verify_offline as command

    trusted = Trusted(public_key, tuple(witness or ()), min_cosignatures)
    run(partial(command, source=offline, trusted=trusted, checkpoint=checkpoint), as_json=as_json)


@app.command("checkpoint")
def keep_checkpoint(
    target: Annotated[
        Path | None,
        typer.Argument(
            metavar="FILE",
            parser=named_file,
            help="Where to keep it; the public key goes to FILE.pub. What is there must be an earlier head of the log.",
        ),
    ] = None,
    *,
    cosigned: Annotated[bool, typer.Option("--cosigned", help="The latest one that witnesses cosigned.")] = False,
    as_json: AsJson = False,
) -> None:
    """Show the transparency log's signed head and public key; keep both where the server cannot reach them.

    Exit code 3: the log does not go on from the head that FILE holds; FILE is left as it is.
    """
    from services.cli.commands.offline import checkpoint as command

    run(partial(command, target=target, cosigned=cosigned), as_json=as_json)


@app.command()
def show(
    report: Annotated[str, typer.Argument(metavar="REPORT", help="A report id; `sessions` lists the latest of each.")],
    html: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", parser=named_file, help="Write one page for the file instead: question, answer, why."
        ),
    ] = None,
    *,
    as_json: AsJson = False,
) -> None:
    """Show a stored report: level, answer, claims with the words they rest on, stages, scores."""
    if html is not None:
        from services.cli.commands.report_page import write_page

        run(partial(write_page, report_id=report, target=html), as_json=as_json)
        return
    run(partial(audit.show, report_id=report), as_json=as_json)


@app.command("dag")
def show_dag(
    session: Annotated[str, typer.Argument(help="crp_sess_…")],
    form: Annotated[DagForm, typer.Option("--format", help="A tree for people, or a document for other tools.")] = (
        DagForm.TREE
    ),
    *,
    as_json: AsJson = False,
) -> None:
    """Draw a session's windows and what flowed between them."""
    run(partial(dag.dag, session_id=session, form=form), as_json=as_json)


@app.command("export")
def export_session(  # noqa: PLR0913 - one for each option
    session: Annotated[str, typer.Argument(help="crp_sess_…")],
    target: Annotated[
        Path,
        typer.Argument(
            metavar="FILE", parser=named_file, help="One JSON object a line, for the owner alone; - = standard output."
        ),
    ],
    form: Annotated[
        ExportForm, typer.Option("--format", help="NDJSON for us and auditors, OCSF for a SIEM.")
    ] = ExportForm.NDJSON,
    *,
    with_content: Annotated[
        bool, typer.Option("--with-content", help="Also answers, questions and facts, which replay needs.")
    ] = False,
    checkpoint: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE", exists=True, dir_okay=False, help="Prove that the log goes on from this one."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a file that is there.")] = False,
    as_json: AsJson = False,
) -> None:
    """Write a session's audit trail to a file."""
    if form is ExportForm.OCSF:
        if checkpoint:
            raise typer.BadParameter("an OCSF export proves nothing; take NDJSON", param_hint="--checkpoint")
        from services.cli.commands.ocsf import export_ocsf

        ocsf = partial(export_ocsf, session_id=session, target=target, with_content=with_content, force=force)
        run(ocsf, as_json=as_json)
        return
    from services.cli.commands.export import ExportWish
    from services.cli.commands.export import export as command

    wish = ExportWish(session, target, with_content, force, tuple(checkpoint or ()))
    run(partial(command, wish=wish), as_json=as_json)


@app.command()
def erase(
    session: Annotated[str, typer.Argument(help="crp_sess_…")],
    reason: Annotated[str, typer.Option(help="Why; stands in the audit trail for good, so name no content.")],
    *,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask; nothing brings the content back.")] = False,
    as_json: AsJson = False,
) -> None:
    """Erase a session's answers, reports and event data for good; hashes and proofs stay."""
    from services.cli.commands.erase import erase as command

    sure(f"Erase the content of {session} for good?", yes=yes, as_json=as_json)
    run(partial(command, session_id=session, reason=reason), as_json=as_json)


@app.command()
def replay(
    export: Annotated[Path, typer.Argument(metavar="EXPORT", help="A file that `export --with-content` wrote.")],
    *,
    as_json: AsJson = False,
) -> None:
    """Recompute every report of an export; exit code 3 when one differs, 1 when one cannot be recomputed."""
    from services.cli.commands.replay import replay as command

    run(partial(command, source=export), as_json=as_json)


@app.command("build-info")
def show_build(*, as_json: AsJson = False) -> None:
    """Show which code and weights are installed; exit code 3 when they are not those of the build manifest."""
    from services.cli.commands.build_info import build_info as command

    run(command, as_json=as_json)


@app.command("doctor")
def examine(*, as_json: AsJson = False) -> None:
    """Check weights, stores, ports, keys and settings; exit code 3 when something is wrong."""
    run(doctor.doctor, as_json=as_json)


@app.command("version")
def show_version(*, as_json: AsJson = False) -> None:
    """Show the versions of the product, the protocols and the models."""
    run(version.version, as_json=as_json)
