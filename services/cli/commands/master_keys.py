"""``groundtrail keys rotate-master``: a fresh master key beside the ones that are held; no key is ever shown."""

from datetime import UTC, datetime, timedelta

from services.cli.console import Output
from services.cli.exits import Exit
from services.common.clock import SystemClock
from services.common.encoding import iso_micros
from services.common.errors import FieldViolation, InvalidRequestError
from services.common.settings import Settings, SettingsError
from services.dag.master_keys import FolderMasterKeys, add_key, key_folder


async def rotate(settings: Settings, output: Output, after_s: int) -> Exit:
    """Write the next master key; it signs new sessions and tokens from ``after_s`` seconds on.

    Raises:
        InvalidRequestError: the keys do not come from files, or the files cannot be used.
    """
    dag = settings.dag
    for name, given in (("MASTER_KEY", dag.master_key), ("MASTER_KEY_COMMAND", dag.master_key_command)):
        if given:
            text = "gives the master keys, not files: rotate where it takes them from (docs/operations.md)"
            raise InvalidRequestError.of(FieldViolation(f"GROUNDTRAIL_DAG__{name}", text))
    folder = key_folder(dag, settings.store.data_dir)
    now = datetime.now(tz=UTC)
    signs_from = now + timedelta(seconds=after_s)
    try:
        FolderMasterKeys(folder, SystemClock())  # a folder that the service would refuse is not rotated
        version = add_key(folder, signs_from=signs_from)
    except (FileNotFoundError, SettingsError) as error:
        text = f"no master-<version>.key in {folder}" if isinstance(error, FileNotFoundError) else str(error)
        raise InvalidRequestError.of(FieldViolation("GROUNDTRAIL_DAG__MASTER_KEY_DIR", text)) from None
    held = FolderMasterKeys(folder, SystemClock()).held()
    lifetime = timedelta(seconds=dag.token_lifetime_s)
    rows = [
        (
            str(key.version),
            f"until {key.retired_at + lifetime:%Y-%m-%d %H:%M:%S} UTC" if key.retired_at else "the latest",
        )
        for key in held
    ]
    output.table(f"Master keys in {folder}", ("version", "its tokens hold"), rows)
    output.say(f"version {version} signs from {signs_from:%Y-%m-%d %H:%M:%S} UTC on", style="bold green")
    output.say("Back the new file up apart from the data: without it its chains cannot be verified.", style="yellow")
    output.result(
        {
            "version": version,
            "signs_from": iso_micros(signs_from),
            "file": str(folder / f"master-{version}.key"),
            "keys": [
                {"version": key.version, "retired_at": iso_micros(key.retired_at) if key.retired_at else None}
                for key in held
            ],
        }
    )
    return Exit.OK
