"""``groundtrail systems``: descriptions as files, and what the command says about them."""

import json
import re
from pathlib import Path

import pytest
from crp.common.v1 import regulation_pb2 as regulation
from crp.gateway.v1 import admin_pb2

from services.cli.commands.systems import read_description
from services.common.errors import InvalidRequestError

PAGE = Path(__file__).resolve().parents[3] / "docs/how-to/register-an-ai-system.md"


def written(folder, text):
    path = folder / "system.json"
    path.write_text(text, encoding="utf-8")
    return path


def test_the_how_to_describes_a_system(tmp_path):
    (block,) = re.findall(r"^```json\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    system = read_description(written(tmp_path, block))
    assert (system.ai_system_id, system.domain) == ("claims-desk", admin_pb2.AI_SYSTEM_DOMAIN_GENERAL_INFORMATION)
    assert (system.role, system.interacts_with_people) == (regulation.AI_ACT_ROLE_DEPLOYER, True)
    assert dict(system.iso_42001_evidence)["A.5.2"] == "impact assessment process, binder 3"


def test_the_how_to_names_every_value():
    page = PAGE.read_text(encoding="utf-8")
    prefixes = {
        "AI_SYSTEM_DOMAIN_": admin_pb2.AiSystemDomain,
        "ANNEX_III_AREA_": regulation.AnnexIiiArea,
        "PROHIBITED_PRACTICE_": regulation.ProhibitedPractice,
        "AI_ACT_ROLE_": regulation.AiActRole,
    }
    names = [name.removeprefix(prefix) for prefix, enum in prefixes.items() for name, value in enum.items() if value]
    assert [name for name in names if not re.search(rf"\b{name}\b", page)] == []


@pytest.mark.parametrize("area", ["EMPLOYMENT", "ANNEX_III_AREA_EMPLOYMENT", 4])
def test_enum_values_may_be_written_in_full_in_short_or_as_numbers(tmp_path, area):
    described = {"ai_system_id": "a", "domain": "CREATIVE", "annex_iii_areas": [area]}
    system = read_description(written(tmp_path, json.dumps(described)))
    assert list(system.annex_iii_areas) == [regulation.ANNEX_III_AREA_EMPLOYMENT]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "must be JSON in UTF-8"),
        ("[]", "must hold one JSON object"),
        ('{"domain": "HR"}', "domain: HR is none of BIOMETRIC_IDENTIFICATION, EMPLOYMENT"),
        ('{"colour": "red"}', "colour is no field; there are ai_system_id, name, domain"),
        ('{"role": "AI_ACT_ROLE_COOK"}', "role: AI_ACT_ROLE_COOK is none of PROVIDER, DEPLOYER"),
        ('{"annex_iii_areas": ["EMPLOYMENT", "X"]}', "annex_iii_areas: X is none of"),
        ('{"makes_decisions": "perhaps"}', "makes_decisions"),
    ],
)
def test_a_file_that_describes_no_system_is_refused_by_name(tmp_path, text, said):
    path = written(tmp_path, text)
    with pytest.raises(InvalidRequestError) as caught:
        read_description(path)
    (violation,) = caught.value.violations
    assert violation.field == str(path)
    assert said in violation.description
