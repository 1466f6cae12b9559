"""The contract names its packages for other languages; googleapis lies in the tree as it is installed (ADR 0137)."""

import re
from pathlib import Path

import google.api
from crp.ckf.v1 import knowledge_service_pb2
from crp.dag.v1 import retention_service_pb2, session_service_pb2
from google.protobuf.json_format import MessageToDict

from tests.each import each

ROOT = Path(__file__).resolve().parents[3]
PROTOS = sorted((ROOT / "proto").rglob("*.proto"))
VENDORED = sorted((ROOT / "third_party" / "googleapis").rglob("*.proto"))


def expected(package: str) -> dict[str, str]:
    parts = package.split(".")
    return {
        "csharp_namespace": f'"Groundtrail.{".".join(part.capitalize() for part in parts)}"',
        "go_package": f'"groundtrail/{"/".join(parts)};{"".join(parts[-2:])}"',
        "java_multiple_files": "true",
        "java_package": f'"groundtrail.{package}"',
    }


@each("path", PROTOS, ids=lambda path: path.relative_to(ROOT / "proto").as_posix())
def test_every_proto_names_its_package(path):
    text = path.read_text(encoding="utf-8")
    (package,) = re.findall(r"^package ([\w.]+);", text, re.MULTILINE)
    assert dict(re.findall(r"^option (\w+) = (.+);$", text, re.MULTILINE)) == expected(package)


def test_googleapis_is_that_of_the_installed_package():
    installed = Path(next(iter(google.api.__path__))).parent.parent
    root = ROOT / "third_party" / "googleapis"
    assert len(VENDORED) == 4
    for path in VENDORED:
        assert path.read_bytes() == (installed / path.relative_to(root)).read_bytes(), path


def test_what_protos_import_of_google_is_there():
    wanted = {
        name
        for path in PROTOS
        for name in re.findall(r'^import "(google/(?!protobuf).+)";', path.read_text(), re.MULTILINE)
    }
    assert wanted
    assert wanted <= {path.relative_to(ROOT / "third_party" / "googleapis").as_posix() for path in VENDORED}


def test_narrowed_counters_keep_their_bytes_and_are_numbers_in_json():
    verdict = session_service_pb2.VerifyChainResponse(events_verified=54, events_total=2**32 - 1)
    assert verdict.SerializeToString().hex() == "203628ffffffff0f"
    assert MessageToDict(verdict)["eventsVerified"] == 54
    assert MessageToDict(session_service_pb2.EraseSessionResponse(events_erased=3)) == {"eventsErased": 3}
    assert MessageToDict(retention_service_pb2.RetentionRules(idle_expiry_s=315_360_000)) == {"idleExpiryS": 315360000}
    state = knowledge_service_pb2.GetStateResponse(active_fact_count=8, stale_fact_count=1)
    assert MessageToDict(state) == {"activeFactCount": 8, "staleFactCount": 1}
