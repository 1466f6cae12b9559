"""``groundtrail build-info``: which code and weights are installed, and whether somebody vouches for them."""

import asyncio
from dataclasses import asdict

from rich.text import Text

from services.cli.console import Output
from services.cli.exits import Exit
from services.cli.render import coloured
from services.common.build_manifest import BuildError, BuildTrust, installed_build
from services.common.settings import Settings

_MEANING = {
    BuildTrust.SIGNED: "every file is that of the signed build manifest",
    BuildTrust.UNVERIFIED: "every file is that of the build manifest; no public key is configured, so nobody vouches",
    BuildTrust.UNSIGNED: "no build manifest: a development checkout, or a wheel that was never signed",
}
_COLOURS = {BuildTrust.SIGNED: "ok", BuildTrust.UNVERIFIED: "warning", BuildTrust.UNSIGNED: "warning"}


async def build_info(settings: Settings, output: Output) -> Exit:
    """Say what is installed; exit code 3 when it is not what the build manifest says (SPEC-005 §21.1)."""
    try:
        build = await asyncio.to_thread(installed_build, settings.integrity, settings.inference)
    except BuildError as error:
        output.say(f"MISMATCH: {error}", style="bold red")
        output.result({"trust": "MISMATCH", "problem": str(error)})
        return Exit.VERDICT
    rows: list[tuple[str | Text, ...]] = [
        ("trust", Text(build.trust.value, style=coloured(_COLOURS[build.trust]).style)),
        ("meaning", _MEANING[build.trust]),
        ("code", build.code_digest),
        ("weights", build.weights_digest),
        ("key", build.key_id or "-"),
    ]
    output.table("Build", ("what", "value"), rows)
    output.result(asdict(build))
    return Exit.OK
