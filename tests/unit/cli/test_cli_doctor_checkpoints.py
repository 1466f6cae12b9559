"""What ``groundtrail doctor`` says of the log's signer and of where heads go, without signing or sending anything."""

from services.cli.commands import doctor
from services.common.settings import Settings
from services.common.settings.checkpoints import CheckpointSettings
from tests.fakes.event_receiver import KEY, Receiver
from tests.fakes.log_signers import running_signer
from tests.fakes.witnesses import LOOPBACK


async def finding(**sections):
    (found,) = await doctor._checkpoints(Settings(**sections))
    return found.level, found.detail


async def test_no_signer_and_no_place_are_fine():
    assert await finding() == (doctor.Level.OK, "signed by the dag service; sent to nobody on a schedule")


async def test_a_signer_that_answers_is_fine_and_one_that_does_not_a_problem(tmp_path):
    async with running_signer(tmp_path / "signer") as settings:
        level, detail = await finding(log_signer=settings)
        assert (level, "a process of its own" in detail) == (doctor.Level.OK, True)
        assert not list((tmp_path / "signer" / "state").glob("*.head"))
        settings.credential_file.chmod(0o644)
        assert "chmod 600" in (await finding(log_signer=settings))[1]
        settings.credential_file.chmod(0o600)
    level, detail = await finding(log_signer=settings)
    assert (level, "does not answer" in detail) == (doctor.Level.PROBLEM, True)


async def test_an_endpoint_at_a_private_address_is_a_problem(tmp_path):
    key = tmp_path / "key"
    key.write_text(KEY)
    key.chmod(0o600)
    receiver = await Receiver().listen()
    fine = CheckpointSettings(url=receiver.url, signing_key_file=key, **LOOPBACK)
    assert (await finding(checkpoints=fine))[0] is doctor.Level.OK
    changes = {"url": receiver.url.replace("http:", "https:"), "private_hosts": ()}
    level, detail = await finding(checkpoints=fine.model_copy(update=changes))
    assert (level, "private address" in detail) == (doctor.Level.PROBLEM, True)
    await receiver.close()
    assert receiver.requests == []
