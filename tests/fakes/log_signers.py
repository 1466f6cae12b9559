"""A log signer of ours that listens on a Unix socket of a test."""

import contextlib

from services.common.settings.log_signer import LogSignerSettings
from services.witness import HeadFolder, LogSigner
from services.witness.http import signer_app
from services.witness.unix_server import UnixServer

CREDENTIAL = "a-credential-of-thirty-two-characters"


@contextlib.asynccontextmanager
async def running_signer(folder, seed=b"\5" * 32):
    """Serve a signer; gives the settings that lead to it. Its memory stays in the folder."""
    folder.mkdir(exist_ok=True)
    secret = folder / "credential"
    secret.write_text(CREDENTIAL)
    secret.chmod(0o600)
    heads = HeadFolder.open(folder / "state")
    path = folder / "signer.sock"
    server = await UnixServer.open(signer_app(LogSigner(seed, heads), lambda: CREDENTIAL), path, for_group=False)
    try:
        yield LogSignerSettings(socket=path, credential_file=secret)
    finally:
        await server.close()
        heads.close()
