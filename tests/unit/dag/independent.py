"""The chain's formulas written a second time, in a few lines of hashlib and hmac, from the specification alone."""

import base64
import hashlib
import hmac
import json


def hkdf(master, salt, info):
    """RFC 5869 with SHA-256 for one block of 32 bytes."""
    extracted = hmac.new(salt, master, hashlib.sha256).digest()
    return hmac.new(extracted, info + b"\x01", hashlib.sha256).digest()


def session_key(master_hex, session_id, purpose):
    return hkdf(bytes.fromhex(master_hex), session_id.encode(), f"crp-session-{purpose}-v3".encode())


def mac(key, text):
    return hmac.new(key, text.encode("utf-8"), hashlib.sha256).hexdigest()


def window(key, fields, parents):
    text = fields["session_id"] + str(fields["window_number"]) + fields["timestamp"]
    text += hashlib.sha256(fields["response_text"].encode()).hexdigest() + fields["report_hash"]
    return mac(key, text + "|".join(sorted(parents)))


def event(key, fields, previous):
    digest = hashlib.sha256(fields["data"].encode()).hexdigest()
    return mac(key, fields["event_type"] + fields["timestamp"] + digest + fields["window_id"] + previous)


def b64(data):
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def token(key, payload):
    """The payload's keys are ASCII and its numbers whole or short decimals, so sorted compact JSON is RFC 8785."""
    body = b64(json.dumps(payload, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode())
    header = b64(b'{"alg":"HS256","typ":"CRP"}')
    return body + "." + b64(hmac.new(key, f"{header}.{body}".encode(), hashlib.sha256).digest())


def nonce(key, session_id, policy_hash):
    text = b"crp-policy-nonce-v3" + f"{session_id}.{policy_hash}".encode()
    return b64(hmac.new(key, text, hashlib.sha256).digest()[:16])


def trail(key, version, events, last_hmac):
    return mac(key, f"crp-trail-v1|{version}|{events}|{last_hmac}")
