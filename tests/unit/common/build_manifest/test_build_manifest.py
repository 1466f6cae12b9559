"""SPEC-005 §21.1: installed code and weights are those that were released, or the process does not start (ADR 0043)."""

import asyncio
import json
import time
import zipfile
from dataclasses import replace

import pytest
from crp.dpe.v1 import report_pb2

from services.common.build_manifest import (
    BuildError,
    BuildIdentity,
    BuildManifest,
    BuildTrust,
    SigningKey,
    check_build,
    code_digest,
    installed_build,
    installed_roots,
    is_code,
    new_signing_key,
    read_manifest,
    sign,
    signature_holds,
    tree_digests,
)
from services.common.composition import Adapters
from services.common.errors import StartupError
from services.common.rpc.main import running_server
from services.common.settings import IntegritySettings, ServerSettings, Settings, SettingsError, load_settings
from services.dpe.convert.report import report_message
from tests.fakes import dpe_world
from tests.speed import slowness
from tools import build_manifest as tool

KEY = SigningKey(bytes(range(32)))
PUBLIC_KEY = "03a107bff3ce10be1d70dd18e74bc09967e4d6309ba50d5f1ddc8664125531b8"
KEY_ID = "56475aa75463474c"
WEIGHTS = "b" * 64
TRUSTING = IntegritySettings(public_key=PUBLIC_KEY)


@pytest.fixture
def tree(tmp_path):
    """Lay out three small packages as an installation has them."""
    files = {
        "services/__init__.py": "",
        "services/dpe/app.py": "SAFE = True\n",
        "services/dpe/data/gazetteer.json": "{}",
        "crp/__init__.py": "",
        "ercp/__init__.py": "",
    }
    for name, text in files.items():
        place = tmp_path / "site" / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
    return tmp_path / "site"


def digests(tree):
    return tree_digests({name: tree / name for name in ("services", "crp", "ercp")})


def manifest_file(tree, key=KEY, weights=WEIGHTS):
    made = sign(BuildManifest(schema_version=1, version="1", files=digests(tree), weights_digest=weights), key)
    place = tree.parent / "BUILD.json"
    place.write_text(made.model_dump_json())
    return place


class TestTree:
    def test_code_is_every_file_but_caches_and_resources(self):
        assert [
            is_code(path)
            for path in (
                "services/dpe/app.py",
                "services/dpe/app.so",
                "crp/dpe/v1/report_pb2.py",
                "services/dpe/__pycache__/app.cpython-311.pyc",
                "services/_resources/model_repository/MANIFEST.json",
                "numpy/__init__.py",
                "services",
            )
        ] == [True, True, True, False, False, False, False]

    def test_the_digest_is_over_paths_and_bytes(self, tree):
        found = digests(tree)
        assert list(found) == sorted(found)
        assert found["crp/__init__.py"] == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
        assert len(found) == 5
        (tree / "services" / "__pycache__").mkdir()
        (tree / "services" / "__pycache__" / "x.pyc").write_bytes(b"1")
        assert digests(tree) == found

    @pytest.mark.timed
    def test_reading_the_installation_costs_little(self):
        roots = installed_roots()
        tree_digests(roots)
        costs = []
        for _ in range(3):
            before = time.thread_time()
            assert len(tree_digests(roots)) > 300
            costs.append(time.thread_time() - before)
        assert min(costs) < 0.15 * slowness()


class TestSignature:
    def test_key_and_signature_have_fixed_values(self):
        # RFC 8032: Ed25519 is deterministic.
        assert KEY.public_key == PUBLIC_KEY
        manifest = BuildManifest(
            schema_version=1, version="1", files={"services/a.py": "a" * 64}, weights_digest=WEIGHTS
        )
        assert sign(manifest, KEY) == sign(manifest, KEY)
        assert signature_holds(sign(manifest, KEY), PUBLIC_KEY)

    @pytest.mark.parametrize("field", ["version", "files", "weights_digest"])
    def test_every_field_is_signed(self, field):
        manifest = BuildManifest(
            schema_version=1, version="1", files={"services/a.py": "a" * 64}, weights_digest=WEIGHTS
        )
        signed = sign(manifest, KEY)
        other = {"version": "2", "files": {"services/a.py": "c" * 64}, "weights_digest": "d" * 64}[field]
        forged = signed.model_copy(update={"manifest": manifest.model_copy(update={field: other})})
        assert not signature_holds(forged, PUBLIC_KEY)

    def test_the_key_that_the_file_names_is_not_believed(self):
        manifest = BuildManifest(
            schema_version=1, version="1", files={"services/a.py": "a" * 64}, weights_digest=WEIGHTS
        )
        attacker = new_signing_key()
        assert signature_holds(sign(manifest, attacker), attacker.public_key)
        assert not signature_holds(sign(manifest, attacker), PUBLIC_KEY)

    def test_a_key_never_shows(self):
        assert bytes(range(32)).hex() not in repr(KEY)
        with pytest.raises(ValueError, match="64 hex digits") as caught:
            SigningKey.parse("secret stuff")
        assert "secret" not in str(caught.value)


class TestCheck:
    def test_signed(self, tree):
        found = check_build(digests(tree), WEIGHTS, TRUSTING, manifest_file(tree))
        assert found == BuildIdentity(code_digest(digests(tree)), WEIGHTS, BuildTrust.SIGNED, KEY_ID)

    def test_without_a_key_nobody_vouches(self, tree):
        assert (
            check_build(digests(tree), WEIGHTS, IntegritySettings(), manifest_file(tree)).trust is BuildTrust.UNVERIFIED
        )

    def test_a_checkout_is_unsigned(self, tree):
        assert check_build(digests(tree), WEIGHTS, IntegritySettings(), None).trust is BuildTrust.UNSIGNED

    def test_deleting_the_manifest_does_not_turn_the_check_off(self, tree):
        with pytest.raises(BuildError, match="no build manifest"):
            check_build(digests(tree), WEIGHTS, TRUSTING, None)

    @pytest.mark.parametrize("integrity", [TRUSTING, IntegritySettings()], ids=["key", "no key"])
    @pytest.mark.parametrize(
        ("change", "message"),
        [
            (lambda t: (t / "services/dpe/app.py").write_text("SAFE = False\n"), "services/dpe/app.py was changed"),
            (lambda t: (t / "crp/__init__.py").unlink(), "crp/__init__.py is missing"),
            (lambda t: (t / "services/dpe/app.so").write_text(""), "services/dpe/app.so is not part of the build"),
            (lambda t: (t / "services/dpe/data/gazetteer.json").write_text("[]"), "gazetteer.json was changed"),
        ],
        ids=["changed", "lost", "added", "data"],
    )
    def test_a_difference_is_named_by_file(self, tree, integrity, change, message):
        manifest = manifest_file(tree)
        change(tree)
        with pytest.raises(BuildError, match=message):
            check_build(digests(tree), WEIGHTS, integrity, manifest)

    def test_other_weights_are_named(self, tree):
        with pytest.raises(BuildError, match="is not that of the build"):
            check_build(digests(tree), "c" * 64, TRUSTING, manifest_file(tree))

    def test_another_key_is_refused(self, tree):
        with pytest.raises(BuildError, match=f"not one of the key {KEY_ID}"):
            check_build(digests(tree), WEIGHTS, TRUSTING, manifest_file(tree, new_signing_key()))

    @pytest.mark.parametrize("text", ["", "{}", "[]", '{"manifest": 1}', "\x00"])
    def test_what_is_no_manifest_says_so(self, tree, text):
        place = tree.parent / "BUILD.json"
        place.write_text(text)
        with pytest.raises(StartupError, match="no build manifest"):
            check_build(digests(tree), WEIGHTS, TRUSTING, place)

    def test_a_signature_cannot_be_demanded_without_a_key(self):
        with pytest.raises(ValueError, match="require_signature needs public_key"):
            IntegritySettings(require_signature=True)

    def test_from_the_environment(self, monkeypatch):
        monkeypatch.setenv("GROUNDTRAIL_INTEGRITY__PUBLIC_KEY", "no key")
        with pytest.raises(SettingsError, match="GROUNDTRAIL_INTEGRITY__PUBLIC_KEY"):
            load_settings()


async def nothing(_settings, _adapters):
    raise AssertionError("a service was built")


class TestStart:
    async def test_a_demanded_manifest_that_is_missing_stops_every_service_before_it_is_built(self, tmp_path):
        settings = Settings(integrity=TRUSTING, server=ServerSettings(port=0))
        with pytest.raises(BuildError, match="no build manifest"):
            async with running_server("dpe", nothing, settings):
                pass

    async def test_this_checkout_says_what_it_is(self):
        settings = Settings()
        async with Adapters(settings) as adapters:
            found = await adapters.build_identity()
        assert found == await asyncio.to_thread(installed_build, settings.integrity, settings.inference)
        assert found.trust is BuildTrust.UNSIGNED


class TestReport:
    async def test_both_digests_stand_in_the_report_under_its_hash(self):
        finished, hashes = await dpe_world.analyse("NIST was founded in 1901.", "NIST was founded in 1901."), set()
        for code in ("a" * 64, "c" * 64):
            build = BuildIdentity(code, WEIGHTS, BuildTrust.UNSIGNED)
            message = report_message(replace(finished, build=build))
            assert (message.build.code_digest, message.build.weights_digest) == (code, WEIGHTS)
            assert message.build.trust == report_pb2.BUILD_TRUST_UNSIGNED
            hashes.add(message.report_hash)
        assert len(hashes) == 2


class TestTool:
    @pytest.fixture
    def key_file(self, tmp_path):
        assert tool.main(["--new-key", str(tmp_path / "key")]) == 0
        return tmp_path / "key"

    @pytest.fixture
    def wheel(self, tmp_path):
        place = tmp_path / "groundtrail_server-9.9.9-py3-none-any.whl"
        names = ["groundtrail_server/a.py", "groundtrail/b.py", "groundtrail_models/model_repository/MANIFEST.json"]
        with zipfile.ZipFile(place, "w") as made:
            for name in names:
                made.writestr(name, name)
            made.writestr("groundtrail_server-9.9.9.dist-info/RECORD", "groundtrail_server/a.py,,\n")
        return place

    def test_a_key_is_for_its_owner_and_not_overwritten(self, key_file, capsys):
        assert key_file.stat().st_mode & 0o777 == 0o600
        assert tool.main(["--new-key", str(key_file)]) == 1
        assert SigningKey.parse(key_file.read_text()).public_key not in capsys.readouterr().err

    def test_a_signed_wheel_verifies_from_outside(self, wheel, key_file, capsys):
        public = SigningKey.parse(key_file.read_text()).public_key
        assert tool.main([str(wheel), "--sign-with", str(key_file)]) == 0
        first = wheel.read_bytes()
        assert tool.main([str(wheel), "--sign-with", str(key_file)]) == 0
        assert wheel.read_bytes() == first
        assert tool.main([str(wheel), "--verify", public]) == 0
        with zipfile.ZipFile(wheel) as held:
            signed = json.loads(held.read("groundtrail_server/_resources/BUILD.json"))
            record = held.read("groundtrail_server-9.9.9.dist-info/RECORD").decode()
        assert list(signed["manifest"]["files"]) == ["groundtrail/b.py", "groundtrail_server/a.py"]
        assert signed["manifest"]["version"] == "9.9.9"
        assert record.startswith("groundtrail_server/_resources/BUILD.json,sha256=")
        capsys.readouterr()

    def test_an_altered_wheel_is_refused_by_file(self, wheel, key_file, capsys):
        public = SigningKey.parse(key_file.read_text()).public_key
        tool.main([str(wheel), "--sign-with", str(key_file)])
        with zipfile.ZipFile(wheel, "a") as held:
            held.writestr("groundtrail_server/evil.py", "x")
        assert tool.main([str(wheel), "--verify", public]) == 3
        assert "groundtrail_server/evil.py is not part of the build" in capsys.readouterr().err

    def test_every_wheel_of_a_build_counts(self, wheel, key_file, tmp_path, capsys):
        client = tmp_path / "groundtrail-9.9.9-py3-none-any.whl"
        with zipfile.ZipFile(client, "w") as made:
            made.writestr("groundtrail/proto/crp/c_pb2.py", "1")
        public = SigningKey.parse(key_file.read_text()).public_key
        assert tool.main([str(client), str(wheel), "--sign-with", str(key_file)]) == 0
        assert tool.main([str(wheel), str(client), "--verify", public]) == 0
        assert tool.main([str(wheel), "--verify", public]) == 3
        assert "groundtrail/proto/crp/c_pb2.py is missing" in capsys.readouterr().err
        assert tool.main([str(client), "--sign-with", str(key_file)]) == 1
        assert "none of the wheels is that of groundtrail-server" in capsys.readouterr().err

    def test_an_unsigned_wheel_does_not_verify(self, wheel, capsys):
        assert tool.main([str(wheel), "--verify", PUBLIC_KEY]) == 3
        assert "no build manifest" in capsys.readouterr().err

    def test_an_installation_of_ones_own_can_be_signed(self, key_file, tmp_path, capsys):
        place = tmp_path / "BUILD.json"
        assert tool.main(["--installed", "--sign-with", str(key_file), "-o", str(place)]) == 0
        public = SigningKey.parse(key_file.read_text()).public_key
        assert signature_holds(read_manifest(place), public)
        capsys.readouterr()
