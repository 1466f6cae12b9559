"""The composed service publishes its heads while it serves, and shows the cosigned ones."""

import asyncio
import json
import time

from crp.dag.v1 import transparency_service_pb2 as pb

from services.cli.offline import Verdict, WitnessDemand, check_export
from services.common.settings.checkpoints import CheckpointSettings
from services.common.signed_note import NoteKey
from tests.fakes.log_signers import running_signer
from tests.fakes.sealed_world import SealedWorld
from tests.fakes.witnesses import asking, running_witness
from tests.patience import patient


async def until(what, seconds=20):
    deadline = time.monotonic() + patient(seconds)
    while not (found := await what()):
        assert time.monotonic() < deadline, "it did not come"
        await asyncio.sleep(0.02)
    return found


def sizes(path):
    return [json.loads(line)["tree_size"] for line in path.read_text().splitlines()] if path.exists() else []


async def test_heads_go_to_the_file_as_the_log_grows_and_after_a_failure(tmp_path):
    folder = tmp_path / "signer"
    async with running_signer(folder) as signer:
        pass
    path = tmp_path / "heads.ndjson"
    settings = CheckpointSettings(file=path, interval_s=0.02, retry_first_s=0.02, retry_max_s=0.05)
    sections = {"checkpoints": settings, "log_signer": signer}
    async with SealedWorld(sections=sections).serving() as client:
        await client.window()  # what is written does not wait for the signer
        await asyncio.sleep(0.2)
        assert sizes(path) == []
        async with running_signer(folder):
            await until(lambda: _is(lambda: sizes(path)[-1:] == [5]))
            await client.window()
            await until(lambda: _is(lambda: sizes(path)[-1:] == [10]))
    assert sizes(path) == sorted(set(sizes(path)))


async def test_a_witness_of_a_service_whose_log_another_process_signs(tmp_path):
    async with running_signer(tmp_path / "signer") as signer:
        async with SealedWorld(sections={"log_signer": signer}).serving() as client:
            head = (await client.ask_log("GetTreeHead", pb.GetTreeHeadRequest())).tree_head
        key = NoteKey(head.origin, head.public_key)
        async with running_witness(tmp_path / "w", [key]) as witness:
            sections = {"log_signer": signer, "checkpoints": asking(witness, interval_s=0.02)}
            async with SealedWorld(sections=sections).serving() as client:
                first = await client.window()

                async def cosigned():
                    told = await client.ask_log("GetTreeHead", pb.GetTreeHeadRequest())
                    return told if told.cosigned_head.tree_size == 5 else None

                told = await until(cosigned)
                assert told.tree_head.checkpoint == told.cosigned_head.checkpoint
                smaller = await client.ask_log("GetTreeHead", pb.GetTreeHeadRequest(tree_size=3))
                assert (smaller.tree_head.tree_size, smaller.cosigned_head.tree_size) == (3, 5)
                lines = await client.export(first.session.session_id)
    found = check_export(lines, key, None, WitnessDemand((witness.cosigner.key,), 1))
    assert (found.verdict, found.witnessed_size) == (Verdict.VALID, 5)


async def _is(what):
    return what()
