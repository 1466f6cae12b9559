"""What ``groundtrail doctor`` says of the event sink, without sending anything."""

from services.cli.commands import doctor
from services.common.settings import Settings
from tests.fakes.event_receiver import Receiver
from tests.fakes.event_sinks import sink_settings


async def finding(sink=None):
    (found,) = await doctor._event_sink(Settings(**({"event_sink": sink} if sink else {})))
    return found


async def test_a_sink_that_can_send_and_none_at_all_are_fine(tmp_path):
    receiver = await Receiver().listen()
    assert (await finding(sink_settings(tmp_path, receiver.url))).level is doctor.Level.OK
    assert (await finding()).level is doctor.Level.OK
    await receiver.close()
    assert receiver.requests == []


async def test_an_open_secret_and_a_private_address_are_problems(tmp_path):
    settings = sink_settings(tmp_path, "https://127.0.0.1:1/x", private_hosts=())
    found = await finding(settings)
    assert (found.level, "private address" in found.detail) == (doctor.Level.PROBLEM, True)
    settings.signing_key_file.chmod(0o644)
    found = await finding(settings)
    assert (found.level, "chmod 600" in found.detail) == (doctor.Level.PROBLEM, True)
