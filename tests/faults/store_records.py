"""What the kill tests write: records that can be made again from their name alone, to compare with what is found."""

import zlib

from services.common.ports.facts import FactRecord
from services.common.ports.sessions import EdgeRecord, SessionChange, TransferType
from tests.contract.records import event, fact, random_vectors, receipt, report, session, window

WRITERS = 4
BATCH = 20
LAST_VERSION = 4


def batch(name: str) -> list[FactRecord]:
    """Return the facts of one source."""
    vectors = random_vectors(zlib.crc32(name.encode()), BATCH)
    return [
        fact(
            f"{name}/{part:02}",
            source_id=name,
            content=f"source {name} part {part} lorem ipsum",
            embedding=vectors[part],
        )
        for part in range(BATCH)
    ]


def step(name: str, version: int) -> SessionChange:
    """Return the change that takes a session to ``version``."""
    return SessionChange(
        session(name, version),
        windows=(window(name, version, response_text="x" * 3_000),),
        edges=(EdgeRecord(name, f"{name}/w{version - 1}", f"{name}/w{version}", TransferType.SUMMARY, version),)
        if version > 1
        else (),
        events=(event(name, 2 * version - 2), event(name, 2 * version - 1)),
        reports=(report(name, f"{name}/r{version}", body='{"claims":[' + "1," * 2_000 + "1]}"),),
        receipt=receipt(f"{name}/{version}"),
    )
