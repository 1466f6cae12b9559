"""What ``groundtrail doctor`` says of the master keys: whether they are those of the records; none is made or shown."""

import hmac
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

from services.common.adapters.sqlite.log_reader import LogReader, reading_logs
from services.common.errors import LogInconsistentError
from services.common.ports.transparency_log import KeptHead
from services.common.settings import Settings
from services.dag.domain.chain import head_mac, same
from services.dag.domain.keys import MasterKey, key_check, log_head_key
from services.dag.master_keys import open_master_keys


@dataclass(frozen=True, slots=True)
class KeyTraces:
    """What the records say of their master keys.

    Attributes:
        checks: what was kept of each version.
        heads: of tenants' logs, each under the MAC of one version.
    """

    checks: dict[int, bytes]
    heads: dict[str, KeptHead]

    @property
    def versions(self) -> list[int]:
        """The versions that were in use, the first one first."""
        return sorted({*self.checks, *(head.key_version for head in self.heads.values())})

    def fit(self, key: MasterKey) -> bool:
        """Say whether this is the key of its version: by what was kept of it, else by what any head says."""
        kept = self.checks.get(key.version)
        if kept is not None:
            return hmac.compare_digest(kept, key_check(key))
        heads = {tenant: head for tenant, head in self.heads.items() if head.key_version == key.version}
        return not heads or any(
            same(head_mac(head.size, head.root, log_head_key(key, tenant)), head.mac) for tenant, head in heads.items()
        )


def key_traces(path: Path) -> KeyTraces:
    """Read what sessions.db says of the master keys.

    Raises:
        sqlite3.Error: the file cannot be read, or is of a version before the kept heads.
    """
    with reading_logs(path) as logs:
        heads = {tenant: head for tenant in logs.tenants() if (head := _head(logs, tenant)) is not None}
        return KeyTraces(logs.key_checks(), heads)


@dataclass(frozen=True, slots=True)
class KeyFault:
    """What is wrong with a version that the records name; one that signs no more may be away."""

    detail: str
    is_needed: bool = True


async def key_faults(settings: Settings, traces: KeyTraces) -> AsyncIterator[KeyFault]:
    """Yield what is wrong with each version that the records name.

    Raises:
        SettingsError: the keys cannot be used, or there are none.
        UnavailableError: SERVICE_UNAVAILABLE: the command that gives keys fails.
    """
    wanted = settings.dag.model_copy(update={"create_master_key": False})
    keys = open_master_keys(wanted, Path(settings.store.data_dir))
    signing = (await keys.current()).version
    for version in traces.versions:
        key = await keys.find(version)
        if key is None:
            yield KeyFault(f"version {version} is not here", is_needed=version >= signing)
        elif not traces.fit(key):
            yield KeyFault(f"version {version} is another key than the one that the sessions were made with")


def _head(logs: LogReader, tenant_id: str) -> KeptHead | None:
    try:
        return logs.state(tenant_id).head
    except LogInconsistentError:
        return None
