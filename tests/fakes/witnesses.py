"""Witnesses of ours on loopback, and what publishes to them, over a sealed world's store."""

import contextlib
from dataclasses import dataclass, field
from typing import Any

from services.common.adapters.http import HttpWitness
from services.common.clock import SystemClock
from services.common.cosignature import Cosigner
from services.common.settings.checkpoints import CheckpointSettings, WitnessSettings
from services.common.settings.http import HttpSettings
from services.dag.domain.keys import MasterKey
from services.dag.log_keeper import LogKeeper
from services.dag.master_keys import FixedMasterKeys
from services.dag.publishing import Cosigning, HeadSource, Publisher, PublisherParts
from services.dag.transparency import CosignedHeads, HeadSigners, TransparencyApp
from services.gateway.doors.http.server import HttpServer
from services.witness import HeadFolder, Witness
from services.witness.http import witness_app
from tests.fakes.sealed_world import SECRET, SealedWorld

LOOPBACK: dict[str, Any] = {"allowed_hosts": ("127.0.0.1",), "private_hosts": ("127.0.0.1",)}
TENANT = "tenant-a"


@dataclass
class RunningWitness:
    """A witness that listens."""

    cosigner: Cosigner
    url: str
    folder: object

    @property
    def setting(self):
        return WitnessSettings(key=str(self.cosigner.key), url=self.url)


@contextlib.asynccontextmanager
async def running_witness(folder, logs, name="witness.example/w1", seed=b"\7" * 32):
    """Serve a witness on a free port."""
    heads = HeadFolder.open(folder)
    cosigner = Cosigner(name, seed)
    app = witness_app(Witness(logs, cosigner, heads, SystemClock()))
    server = await HttpServer.open(app, HttpSettings(port=0))
    try:
        yield RunningWitness(cosigner, f"http://127.0.0.1:{server.port}/", folder)
    finally:
        await server.close()
        heads.close()


@dataclass
class Publishing:
    """Publishes the heads of a world; ``settings`` say where to."""

    world: SealedWorld = field(default_factory=SealedWorld)
    log_name: str = "log.example"
    opened: list[HttpWitness] = field(default_factory=list)

    def __post_init__(self):
        keys = FixedMasterKeys({1: MasterKey(1, bytes.fromhex(SECRET))})
        self.signers = HeadSigners(keys, self.log_name)
        keeper = LogKeeper(self.world.store, keys)
        self.app = TransparencyApp(self.world.store, self.signers, self.world.clock, keeper)
        self.cosigned = CosignedHeads(self.world.store, self.app)

    async def close(self):
        for one in self.opened:
            await one.close()

    async def log_key(self, tenant=TENANT):
        return (await self.signers.current(tenant)).key

    def publisher(self, targets=(), settings=None, holder="one"):
        settings = settings or CheckpointSettings()
        source = HeadSource(self.app, self.world.store, self.cosigned)
        asked = [HttpWitness(one, settings) for one in settings.witnesses]
        self.opened += asked
        witnesses = [Cosigning(one, source.log) for one in asked]
        feed = self.world.store.event_feed()
        parts = PublisherParts(feed, source, targets, witnesses, self.world.clock, holder, share=lambda: 0.0)
        return Publisher(parts, settings)


def asking(*witnesses, **changes):
    """Settings that ask these witnesses."""
    return CheckpointSettings(witnesses=tuple(one.setting for one in witnesses), **(LOOPBACK | changes))
