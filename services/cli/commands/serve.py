"""``groundtrail serve [SERVICE…]``: the whole suite, or some of its services, as one server process."""

from services.cli.console import Output
from services.cli.exits import Exit
from services.common.composition import Adapters
from services.common.errors import FieldViolation, InvalidRequestError
from services.common.rpc.main import serve as serve_until_stopped
from services.common.rpc.server import ServedService
from services.common.settings import Settings
from services.dag import compose as dag
from services.dpe import compose as dpe
from services.envelope import compose as envelope
from services.gateway import compose as gateway

_BUILDERS = {"envelope": envelope.build, "dpe": dpe.build, "dag": dag.build, "gateway": gateway.build}
SERVICES = tuple(_BUILDERS)


async def serve(settings: Settings, output: Output, names: list[str]) -> Exit:
    """Serve the named services, all when none is named, until SIGTERM or SIGINT."""
    unknown = [name for name in names if name not in _BUILDERS]
    if unknown:
        raise InvalidRequestError.of(
            FieldViolation("SERVICE", f"{', '.join(unknown)} is none of {', '.join(SERVICES)}")
        )
    chosen = list(dict.fromkeys(names)) or list(SERVICES)

    async def build(settings: Settings, adapters: Adapters) -> list[ServedService]:
        return [service for name in chosen for service in await _BUILDERS[name](settings, adapters)]

    await serve_until_stopped("groundtrail" if len(chosen) > 1 else chosen[0], build, settings)
    return Exit.OK
