"""What ``groundtrail doctor`` says of the endpoint of second opinions; no model of ours is needed for it."""

from pydantic import SecretStr

from services.cli.commands import doctor
from services.common.settings import Settings
from services.common.settings.second_opinion import SecondOpinionSettings
from tests.fakes.opinion_endpoint import all_of, serving


async def finding(url):
    wanted = SecondOpinionSettings(base_url=url, model="small-judge", api_key=SecretStr("sk-of-this-test"))
    (found,) = await doctor._second_opinion(Settings(second_opinion=wanted))
    assert "sk-of-this-test" not in repr(found)
    return found.level, found.detail


async def test_an_endpoint_that_answers_is_fine_and_one_that_is_gone_a_problem():
    with serving(all_of("supported")) as endpoint:
        level, detail = await finding(endpoint.url)
        assert (level, detail.startswith("judge small-judge answers at 127.0.0.1")) == (doctor.Level.OK, True)
    level, detail = await finding(endpoint.url)
    assert (level, "connection" in detail) == (doctor.Level.PROBLEM, True)


async def test_none_is_fine():
    (found,) = await doctor._second_opinion(Settings())
    assert (found.level, found.detail) == (doctor.Level.OK, "none is configured")
