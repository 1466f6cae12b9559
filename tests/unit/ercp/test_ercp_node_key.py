"""Node signatures: HMAC-SHA256 over RFC 8785 JSON under a key for each trace (ERCP 1.0 §2, §5; ADR 0073)."""

import hashlib
import hmac
import json
import stat
from pathlib import Path

import pytest
from pydantic import SecretStr

from services.common.ids import is_trace_session, trace_session_id
from services.common.settings import ErcpSettings, SettingsError
from services.ercp.node_key import HmacNodeSigner, open_node_signer, read_key_file, signature, trace_key

VECTOR = json.loads((Path(__file__).resolve().parents[2] / "vectors/ercp/signature.json").read_text(encoding="utf-8"))
KEY = bytes.fromhex(VECTOR["node_key_hex"])
SESSION, DOCUMENT = VECTOR["session_id"], VECTOR["document"]


def test_the_session_follows_from_tenant_and_trace():
    assert trace_session_id(VECTOR["tenant_id"], VECTOR["trace_id"]) == SESSION
    assert trace_session_id("tenant-b", VECTOR["trace_id"]) != SESSION
    assert is_trace_session(SESSION)


def test_the_trace_key_is_an_hkdf_by_hand():
    extracted = hmac.new(SESSION.encode(), KEY, hashlib.sha256).digest()
    expanded = hmac.new(extracted, b"groundtrail-ercp-node-v1\x01", hashlib.sha256).digest()
    assert trace_key(KEY, SESSION) == expanded == bytes.fromhex(VECTOR["trace_key_hex"])


def test_the_signature_is_an_hmac_over_canonical_json_by_hand():
    own = hmac.new(bytes.fromhex(VECTOR["trace_key_hex"]), VECTOR["canonical"].encode(), hashlib.sha256).hexdigest()
    assert VECTOR["node_signature"] == f"hmac:{own}" == HmacNodeSigner([KEY]).sign(SESSION, DOCUMENT)


def test_any_field_that_is_changed_breaks_it():
    signer = HmacNodeSigner([KEY])
    signed = DOCUMENT | {"node_signature": VECTOR["node_signature"]}
    assert signer.holds(SESSION, signed)
    for name in DOCUMENT:
        assert not signer.holds(SESSION, signed | {name: "changed"})
        assert not signer.holds(SESSION, {key: value for key, value in signed.items() if key != name})
    assert not signer.holds(trace_session_id("tenant-b", VECTOR["trace_id"]), signed)


def test_keys_of_before_still_verify_and_do_not_sign():
    old, new = HmacNodeSigner([KEY]), HmacNodeSigner([bytes(32), KEY])
    signed = DOCUMENT | {"node_signature": old.sign(SESSION, DOCUMENT)}
    assert new.holds(SESSION, signed)
    assert new.sign(SESSION, DOCUMENT) == signature(trace_key(bytes(32), SESSION), DOCUMENT) != signed["node_signature"]


class TestFile:
    def test_the_first_start_makes_it_and_the_next_reads_it(self, tmp_path):
        first = open_node_signer(ErcpSettings(), tmp_path)
        path = tmp_path / "keys" / "ercp-node.key"
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert open_node_signer(ErcpSettings(), tmp_path).sign(SESSION, DOCUMENT) == first.sign(SESSION, DOCUMENT)
        assert [each.name for each in path.parent.iterdir()] == ["ercp-node.key"]

    def test_one_that_others_can_read_is_refused(self, tmp_path):
        open_node_signer(ErcpSettings(), tmp_path)
        path = tmp_path / "keys" / "ercp-node.key"
        path.chmod(0o644)
        with pytest.raises(SettingsError, match="chmod 600"):
            read_key_file(path)

    def test_one_that_is_not_there_and_may_not_be_made(self, tmp_path):
        with pytest.raises(SettingsError, match="NODE_KEY_FILE"):
            open_node_signer(ErcpSettings(create_node_key=False), tmp_path)

    @pytest.mark.parametrize("text", ["", "ab", "Z" * 64, "A" * 64])
    def test_a_malformed_key(self, text, tmp_path):
        with pytest.raises(SettingsError, match="64 lower-case hex digits"):
            open_node_signer(ErcpSettings(node_key=SecretStr(text)), tmp_path)

    def test_the_setting_wins_over_no_file(self, tmp_path):
        settings = ErcpSettings(node_key=SecretStr(KEY.hex()), previous_node_keys=(SecretStr("0" * 64),))
        assert open_node_signer(settings, tmp_path).sign(SESSION, DOCUMENT) == VECTOR["node_signature"]
        assert list(tmp_path.iterdir()) == []
