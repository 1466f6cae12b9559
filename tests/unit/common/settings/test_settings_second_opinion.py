"""Where a second opinion may be asked for, and that its settings hold and tell no secret (ADR 0119)."""

import pytest
from pydantic import SecretStr, ValidationError

from services.common.adapters.openai.second_opinion import open_second_opinion
from services.common.settings import SecondOpinionSettings, Settings
from services.common.settings.second_opinion import EndpointKind
from services.common.settings.secret_files import secret_paths

LOCAL = "http://127.0.0.1:8000/v1"


def test_nobody_is_asked_by_default():
    assert not Settings().second_opinion.configured


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"base_url": LOCAL}, "model must name"),
        ({"base_url": "http://user:secret@127.0.0.1/v1", "model": "m"}, "no user and no password"),
        ({"base_url": f"{LOCAL}?key=secret", "model": "m"}, "no query"),
        ({"base_url": "ftp://127.0.0.1/v1", "model": "m"}, "base_url"),
        ({"base_url": "http://judge.example/v1", "model": "m", "api_key": "sk-secret"}, "must be https"),
        ({"base_url": LOCAL, "model": "m", "prompt_file": "p.txt"}, "kind=spans"),
        ({"base_url": LOCAL, "model": "m", "kind": "oracle"}, "kind"),
        ({"max_calls": 0}, "max_calls"),
        ({"max_seconds": 0}, "max_seconds"),
    ],
)
def test_what_cannot_be_used_is_refused(given, told):
    with pytest.raises(ValidationError) as refused:
        Settings(second_opinion=given)
    assert told in str(refused.value)
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize(
    "given",
    [
        {"base_url": LOCAL, "api_key": "sk"},
        {"base_url": "http://judge:8000/v1"},
        {"base_url": "https://judge.example/v1", "api_key": "sk"},
    ],
)
def test_a_key_goes_out_by_tls_or_to_loopback(given):
    assert SecondOpinionSettings.model_validate({"model": "m", **given}).configured


def test_the_key_has_a_file_form_and_is_hidden():
    assert ("second_opinion", "api_key") in set(secret_paths(Settings))
    assert "sk-secret" not in repr(SecondOpinionSettings(base_url=LOCAL, model="m", api_key=SecretStr("sk-secret")))


async def test_a_prompt_file_that_holds_no_prompt_is_named(tmp_path):
    for name, data in {"gone": None, "empty": b" \n", "bytes": b"\xff\xfe", "long": b"x" * 70_000}.items():
        path = tmp_path / name
        if data is not None:
            path.write_bytes(data)
        own = SecondOpinionSettings(base_url=LOCAL, model="m", kind=EndpointKind.SPANS, prompt_file=str(path))
        with pytest.raises(ValueError, match=str(path)):
            await open_second_opinion(own)
