"""``groundtrail doctor`` tells the operator where the language model was looked for; errors to callers do not."""

from services.cli.commands import doctor
from services.common.settings import LlmSettings, Settings


async def test_doctor_names_the_host_of_a_model_that_does_not_answer():
    settings = Settings(llm=LlmSettings(base_url="http://127.0.0.1:1/v1", max_attempts=1))
    (found,) = await doctor._language_model(settings)
    assert found.level is doctor.Level.PROBLEM
    assert found.detail.startswith("127.0.0.1:1: The language model is not available (connection)")
