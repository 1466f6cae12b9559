"""Who gets in, as whom, and with which reason one does not."""

import json
from datetime import timedelta

import grpc
import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa

from services.common.context import Role, current_call
from services.common.rpc.authentication import LocalAuthenticator
from services.common.rpc.server import RpcServer, ServedService
from services.common.settings import AuthSettings, JwtSettings, Settings, SettingsError
from services.common.telemetry import open_telemetry
from tests.each import each
from tests.fakes.runtime_probe import (
    KEYS,
    NOW,
    SERVICE,
    healthy,
    key_record,
    probe,
    probe_settings,
    register,
    scratch,
)
from tests.rpc.test_runtime_errors import failure

SECRET = "0123456789abcdef0123456789abcdef"
RSA = rsa.generate_private_key(public_exponent=65537, key_size=2048)
ED = ed25519.Ed25519PrivateKey.generate()


async def whoami(request, context):
    caller = current_call().caller
    roles = ",".join(sorted(caller.roles))
    request.value = f"{caller.tenant_id} {caller.scope} {roles} {caller.subject}"
    return request


def pem(key):
    return key.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)


def claims(**changes):
    values = {"tenant": "tenant-9", "roles": ["writer"], "sub": "alice", "aud": "groundtrail"}
    values |= {"exp": NOW.timestamp() + 60} | changes
    return {key: value for key, value in values.items() if value is not None}


def signed(key=SECRET, algorithm="HS256", headers=None, **changes):
    return jwt.encode(claims(**changes), key, algorithm=algorithm, headers=headers)


def with_jwt(**jwt_settings):
    settings = probe_settings()
    auth = AuthSettings(jwt=JwtSettings(audience="groundtrail", **jwt_settings))
    return settings.model_copy(update={"auth": auth})


@pytest.mark.parametrize(
    ("key", "reason"),
    [
        ("", "CREDENTIAL_MISSING"),
        ("unknown", "CREDENTIAL_INVALID"),
        ("crp_gw_test_" + "Z" * 32, "CREDENTIAL_INVALID"),
        (KEYS["writer"][:-1] + "X", "CREDENTIAL_INVALID"),
        (KEYS["writer"] + "X", "CREDENTIAL_INVALID"),
        (KEYS["writer"][:-1], "CREDENTIAL_INVALID"),
        ("revoked", "CREDENTIAL_REVOKED"),
        ("expired", "CREDENTIAL_EXPIRED"),
        (signed(), "CREDENTIAL_INVALID"),
    ],
    ids=["none", "no key", "unknown", "wrong secret", "longer", "shorter", "revoked", "expired", "JWT not accepted"],
)
async def test_refused_api_keys(key, reason):
    async with probe() as p:
        error, details = await failure(p.call(key=key))
        assert error.code() is grpc.StatusCode.UNAUTHENTICATED
        assert details["ErrorInfo"].reason == reason
        assert key == "" or KEYS.get(key, key) not in str(details) + error.details()


@pytest.mark.parametrize(
    "value", [KEYS["writer"], "Basic dXNlcjpwYXNz", "Bearer", "Bearer ", "bearer" + KEYS["writer"]]
)
async def test_other_schemes_are_refused(value):
    async with probe() as p:
        _, details = await failure(p.call(key="", metadata=(("authorization", value),)))
        assert details["ErrorInfo"].reason == "CREDENTIAL_INVALID"


async def test_two_credentials_prove_nobody():
    async with probe() as p:
        twice = (("authorization", f"Bearer {KEYS['admin']}"),)
        _, details = await failure(p.call(key="writer", metadata=twice))
        assert details["ErrorInfo"].reason == "CREDENTIAL_INVALID"


async def test_the_scheme_is_read_in_any_case():
    async with probe() as p:
        assert (await p.call(key="", metadata=(("authorization", f"bEaReR {KEYS['writer']}"),))).value == "hi"


async def test_a_key_proves_tenant_scope_and_roles():
    async with probe({"Whoami": whoami}) as p:
        assert (await p.call("Whoami")).value == f"tenant-1 crp_gw_test_WWWWWWWW writer {key_record('writer').key_id}"
        assert (await p.call("Whoami", key="other")).value.startswith("tenant-2 crp_gw_test_OOOOOOOO writer ")


@pytest.mark.parametrize(
    ("key", "needed", "allowed"),
    [
        ("reader", Role.READER, True),
        ("reader", Role.WRITER, False),
        ("writer", Role.READER, True),
        ("writer", Role.WRITER, True),
        ("writer", Role.ADMIN, False),
        ("admin", Role.READER, True),
        ("admin", Role.ADMIN, True),
    ],
)
async def test_roles_include_the_ones_below(key, needed, allowed):
    async with probe(roles={"Echo": needed}) as p:
        if allowed:
            assert (await p.call(key=key)).value == "hi"
            return
        error, details = await failure(p.call(key=key))
        assert error.code() is grpc.StatusCode.PERMISSION_DENIED
        info = details["ErrorInfo"]
        assert (info.reason, info.metadata["role"]) == ("ROLE_MISSING", needed.value)
        assert info.metadata["rpc"] == f"/{SERVICE}/Echo"


async def test_a_revocation_bites_when_the_cache_has_run_out():
    async with probe() as p:
        await p.call()
        await p.store.put_key(key_record("writer", revoked_at=NOW))
        p.clock.advance(4.9)
        assert (await p.call()).value == "hi"
        p.clock.advance(0.2)
        _, details = await failure(p.call())
        assert details["ErrorInfo"].reason == "CREDENTIAL_REVOKED"


async def test_an_expiry_bites_at_once_even_when_remembered():
    async with probe() as p:
        await p.store.put_key(key_record("writer", expires_at=NOW + timedelta(seconds=1)))
        await p.call()
        p.clock.advance(1)
        _, details = await failure(p.call())
        assert details["ErrorInfo"].reason == "CREDENTIAL_EXPIRED"


async def test_refusals_are_not_remembered():
    async with probe() as p:
        fresh = "crp_gw_test_" + "N" * 32
        await failure(p.call(key=fresh))
        KEYS["fresh"] = fresh
        try:
            await p.store.put_key(key_record("fresh"))
            assert (await p.call(key="fresh")).value == "hi"
        finally:
            del KEYS["fresh"]


async def test_the_cache_is_bounded_and_spares_the_store():
    settings = probe_settings().model_copy(update={"auth": AuthSettings(cache_entries=2)})
    async with probe(roles={"Echo": Role.READER}, settings=settings) as p:
        asked = []
        find = p.store.find_key

        async def counted(prefix):
            asked.append(prefix[-1])
            return await find(prefix)

        p.store.find_key = counted
        for key in ("writer", "writer", "reader", "writer", "admin", "writer", "reader", "writer"):
            await p.call(key=key)
        assert "".join(asked) == "WRAWR"
        assert len(p.server._pipeline._gate._authenticator._verified) == 2


@each(
    ("changes", "reason"),
    [
        ({}, ""),
        ({"exp": NOW.timestamp() - 6}, "CREDENTIAL_EXPIRED"),
        ({"exp": NOW.timestamp() - 4}, ""),
        ({"exp": None}, "CREDENTIAL_INVALID"),
        ({"exp": True}, "CREDENTIAL_INVALID"),
        ({"nbf": NOW.timestamp() + 10}, "CREDENTIAL_INVALID"),
        ({"aud": "elsewhere"}, "CREDENTIAL_INVALID"),
        ({"aud": None}, "CREDENTIAL_INVALID"),
        ({"sub": None}, "CREDENTIAL_INVALID"),
        ({"tenant": None}, "CREDENTIAL_INVALID"),
        ({"tenant": ""}, "CREDENTIAL_INVALID"),
        ({"tenant": 7}, "CREDENTIAL_INVALID"),
        ({"tenant": "a\nb"}, "CREDENTIAL_INVALID"),
        ({"roles": "writer"}, "CREDENTIAL_INVALID"),
        ({"roles": ["reader"]}, "ROLE_MISSING"),
        ({"roles": []}, "ROLE_MISSING"),
        ({"roles": None}, "ROLE_MISSING"),
        ({"roles": ["emperor"]}, "ROLE_MISSING"),
    ],
)
async def test_jwt_claims(changes, reason):
    async with probe({"Whoami": whoami}, settings=with_jwt(secret=SECRET)) as p:
        call = p.call("Whoami", key=signed(**changes))
        if not reason:
            assert (await call).value == "tenant-9 jwt:alice writer alice"
            return
        _, details = await failure(call)
        assert details["ErrorInfo"].reason == reason


@pytest.mark.parametrize("tenant", ["shared:regulations", "shared:", "shared:never-granted"])
async def test_a_jwt_is_of_a_shared_namespace_only_where_the_settings_say_so(tenant):
    token = signed(tenant=tenant)
    async with probe({"Whoami": whoami}, settings=with_jwt(secret=SECRET)) as p:
        error, details = await failure(p.call("Whoami", key=token))
        assert error.code() is grpc.StatusCode.UNAUTHENTICATED
        assert details["ErrorInfo"].reason == "CREDENTIAL_INVALID"
        assert "names a shared namespace as its tenant" in error.details()
        assert (await p.call("Whoami", key=signed(tenant="sharedness"))).value.startswith("sharedness ")
    async with probe({"Whoami": whoami}, settings=with_jwt(secret=SECRET, shared_namespaces=True)) as p:
        assert (await p.call("Whoami", key=token)).value == f"{tenant} jwt:alice writer alice"


@pytest.mark.parametrize(
    ("changes", "claim", "told"),
    [
        ({"sub": None}, "sub", "the id of who calls"),
        ({"sub": ""}, "sub", "the id of who calls"),
        ({"tenant": None}, "tenant", "the id of the tenant"),
        ({"tenant": ""}, "tenant", "the id of the tenant"),
        ({"exp": None}, "exp", "in seconds since 1970"),
        ({"aud": None}, "aud", "for this server 'groundtrail'"),
    ],
)
async def test_a_jwt_is_told_which_claim_it_lacks(changes, claim, told):
    async with probe(settings=with_jwt(secret=SECRET)) as p:
        error, details = await failure(p.call(key=signed(**changes)))
        assert error.details().startswith(f"the token has no claim {claim}, or an empty one: have its issuer add it (")
        assert told in error.details()
        assert details["ErrorInfo"].metadata["claim"] == claim
        _, details = await failure(p.call(key=signed(SECRET[::-1], **changes)))  # told to who holds the key alone
        assert "claim" not in details["ErrorInfo"].metadata


async def test_a_jwt_whose_subject_is_no_text_is_told_of_it():
    async with probe(settings=with_jwt(secret=SECRET)) as p:
        token = hand_signed(claims(sub=["alice"]), SECRET.encode())
        error, _ = await failure(p.call(key=token))
        assert "claim sub" in error.details()


async def test_a_remembered_jwt_expires_in_time():
    async with probe(settings=with_jwt(secret=SECRET, leeway_s=0)) as p:
        token = signed(exp=NOW.timestamp() + 2)
        await p.call(key=token)
        p.clock.advance(2)
        _, details = await failure(p.call(key=token))
        assert details["ErrorInfo"].reason == "CREDENTIAL_EXPIRED"


async def test_the_issuer_is_checked_when_set():
    async with probe(settings=with_jwt(secret=SECRET, issuer="idp")) as p:
        assert (await p.call(key=signed(iss="idp"))).value == "hi"
        await failure(p.call(key=signed(iss="other")))


@pytest.mark.parametrize(("key", "algorithm"), [(RSA, "RS256"), (ED, "EdDSA")])
async def test_public_keys(tmp_path, key, algorithm):
    path = scratch(tmp_path, "key.pem", pem(key))
    async with probe(settings=with_jwt(public_key_file=path)) as p:
        assert (await p.call(key=signed(key, algorithm))).value == "hi"
        forged = ED if key is RSA else RSA
        await failure(p.call(key=signed(forged, "EdDSA" if forged is ED else "RS256")))


def unsigned(header, body, signature=""):
    def part(value):
        return jwt.utils.base64url_encode(json.dumps(value).encode()).decode()

    return f"{part(header)}.{part(body)}.{signature}"


def hand_signed(body, key):
    import hashlib
    import hmac

    head = unsigned({"alg": "HS256", "typ": "JWT"}, body).rstrip(".")
    mac = hmac.new(key, head.encode(), hashlib.sha256).digest()
    return head + "." + jwt.utils.base64url_encode(mac).decode()


def hmac_with_public_key(key):
    return hand_signed(claims(), pem(key))


@pytest.mark.parametrize(
    "token",
    [
        unsigned({"alg": "none", "typ": "JWT"}, claims()),
        unsigned({"alg": "None", "typ": "JWT"}, claims()),
        hmac_with_public_key(RSA),
        signed(RSA, "RS512"),
        signed(RSA, "PS256"),
        signed(),
        signed(RSA, "RS256")[:-4] + "AAAA",
        "a.b.c",
        "eyJ.." + "x" * 9000,
    ],
    ids=["none", "None", "HMAC keyed with the public key", "RS512", "PS256", "HS256", "signature", "junk", "long"],
)
async def test_the_token_does_not_choose_its_algorithm(tmp_path, token):
    path = scratch(tmp_path, "key.pem", pem(RSA))
    async with probe(settings=with_jwt(public_key_file=path)) as p:
        error, details = await failure(p.call(key=token))
        assert error.code() is grpc.StatusCode.UNAUTHENTICATED
        assert details["ErrorInfo"].reason == "CREDENTIAL_INVALID"


def jwk(key, kid):
    make = jwt.algorithms.RSAAlgorithm if isinstance(key, rsa.RSAPrivateKey) else jwt.algorithms.OKPAlgorithm
    return json.loads(make.to_jwk(key.public_key())) | {"kid": kid}


async def test_a_key_set_is_chosen_from_by_kid(tmp_path):
    path = scratch(tmp_path, "jwks.json", json.dumps({"keys": [jwk(RSA, "r"), jwk(ED, "e")]}).encode())
    async with probe(settings=with_jwt(jwks_file=path)) as p:
        assert (await p.call(key=signed(RSA, "RS256", {"kid": "r"}))).value == "hi"
        assert (await p.call(key=signed(ED, "EdDSA", {"kid": "e"}))).value == "hi"
        for token in (
            signed(ED, "EdDSA", {"kid": "r"}),
            signed(ED, "EdDSA", {"kid": "x"}),
            signed(ED, "EdDSA"),
            signed(SECRET, "HS256", {"kid": "r"}),
        ):
            _, details = await failure(p.call(key=token))
            assert details["ErrorInfo"].reason == "CREDENTIAL_INVALID"


@pytest.mark.parametrize(
    "data",
    [
        b"no json",
        b"[]",
        b'{"keys": []}',
        json.dumps({"keys": [{"kty": "oct", "k": "c2VjcmV0", "kid": "s"}]}).encode(),
        json.dumps({"keys": [{key: value for key, value in jwk(RSA, "r").items() if key != "kid"}]}).encode(),
        b'{"keys": [{"kty": "RSA", "kid": "r"}]}',
    ],
    ids=["no json", "no object", "no key", "symmetric", "no kid", "no modulus"],
)
async def test_key_sets_that_cannot_be_used_stop_the_start(tmp_path, data):
    path = scratch(tmp_path, "jwks.json", data)
    with pytest.raises(SettingsError):
        async with probe(settings=with_jwt(jwks_file=path)):
            pass


@pytest.mark.parametrize(
    "data",
    [
        b"no pem",
        pem(ec.generate_private_key(ec.SECP256R1())),
        pem(rsa.generate_private_key(public_exponent=65537, key_size=1024)),
    ],
    ids=["junk", "elliptic curve", "short RSA"],
)
async def test_public_keys_that_cannot_be_used_stop_the_start(tmp_path, data):
    path = scratch(tmp_path, "key.pem", data)
    with pytest.raises(SettingsError):
        async with probe(settings=with_jwt(public_key_file=path)):
            pass


async def test_a_missing_key_file_stops_the_start(tmp_path):
    with pytest.raises(SettingsError, match="cannot be read"):
        async with probe(settings=with_jwt(public_key_file=tmp_path / "none.pem")):
            pass


async def test_insecure_local_serves_everyone_as_the_local_administrator():
    settings = Settings(server=probe_settings(insecure_local=True).server)
    telemetry = open_telemetry(settings.telemetry, "probe", "0")
    served = ServedService(SERVICE, register({"Whoami": whoami}), {"Whoami": Role.ADMIN}, healthy)
    server = RpcServer([served], settings, LocalAuthenticator(), telemetry)
    await server.start()
    async with grpc.aio.insecure_channel(server.address) as channel:
        from google.protobuf.wrappers_pb2 import StringValue

        rpc = channel.unary_unary(f"/{SERVICE}/Whoami", StringValue.SerializeToString, StringValue.FromString)
        assert (await rpc(StringValue())).value == "default local admin local"
    await server.drain()


async def test_the_store_of_keys_being_down_is_not_a_wrong_key():
    from services.common.errors import ErrorReason, UnavailableError

    async with probe() as p:

        async def down(prefix):
            raise UnavailableError(ErrorReason.STORE_UNAVAILABLE, "the store of keys does not answer")

        p.store.find_key = down
        error, details = await failure(p.call())
        assert error.code() is grpc.StatusCode.UNAVAILABLE
        assert details["ErrorInfo"].reason == "STORE_UNAVAILABLE"
