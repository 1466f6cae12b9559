"""AdminService over the wire: seven RPCs, idempotent, each tenant apart, and no secret kept."""

import asyncio
import contextlib
import uuid
from datetime import timedelta
from typing import Any

import grpc
import pytest
from crp.common.v1 import regulation_pb2 as regulation
from crp.gateway.v1 import admin_pb2, admin_service_pb2_grpc
from crp.gateway.v1 import admin_service_pb2 as pb
from google.protobuf.timestamp_pb2 import Timestamp

from services.common.api_key_format import hash_of, prefix_of
from services.common.ids import RandomIds
from services.common.rpc.authentication import open_authenticator
from services.common.rpc.server import RpcServer
from services.common.telemetry import open_telemetry
from services.gateway.admin.app import AdminApp, ensure_first_key
from services.gateway.doors.grpc.admin import ROLES, admin_service
from tests.fakes.runtime_probe import KEYS, NOW, FakeClock, credential_store, key_record, probe_settings
from tests.patience import patient
from tests.rpc.test_runtime_errors import failure

ADMIN = admin_pb2.API_KEY_ROLE_ADMIN
READER = admin_pb2.API_KEY_ROLE_READER


class Admin:
    """The stub of AdminService, called as somebody."""

    def __init__(self, channel, store, clock):
        self.stub = admin_service_pb2_grpc.AdminServiceStub(channel)
        self.store, self.clock = store, clock

    def __call__(self, rpc, request, key="admin"):
        metadata = (("authorization", f"Bearer {KEYS.get(key, key)}"),)
        return getattr(self.stub, rpc)(request, metadata=metadata, timeout=patient(10))


@pytest.fixture
async def admin():
    async with serving() as served:
        yield served


@contextlib.asynccontextmanager
async def serving():
    settings, clock, store = probe_settings(), FakeClock(), await credential_store()
    await store.put_key(key_record("other", tenant="tenant-2", roles=("admin",)))
    app = AdminApp(store, clock, RandomIds(), "test")
    telemetry = open_telemetry(settings.telemetry, "gateway", "0")
    authenticator = open_authenticator(settings.auth, store, clock)
    server = RpcServer([admin_service(app, clock)], settings, authenticator, telemetry)
    await server.start()
    async with grpc.aio.insecure_channel(server.address) as channel:
        yield Admin(channel, store, clock)
    await server.drain()


def new_id():
    return str(uuid.uuid4())


def timestamp(moment):
    out = Timestamp()
    out.FromDatetime(moment)
    return out


def create(**changes):
    values: dict[str, Any] = {"request_id": new_id(), "label": "ingestion", "roles": [READER]}
    return pb.CreateApiKeyRequest(**(values | changes))


@pytest.mark.parametrize("rpc", sorted(ROLES))
@pytest.mark.parametrize("key", ["reader", "writer"])
async def test_every_rpc_needs_the_role_admin(admin, rpc, key):
    request = getattr(pb, f"{rpc}Request")()
    error, details = await failure(admin(rpc, request, key=key))
    assert error.code() is grpc.StatusCode.PERMISSION_DENIED
    assert details["ErrorInfo"].metadata["role"] == "admin"


async def test_a_created_key_works_and_is_kept_as_its_hash_alone(admin):
    answer = await admin("CreateApiKey", create(roles=[ADMIN], expire_time=timestamp(NOW + timedelta(days=1))))
    secret = answer.api_key
    assert secret.startswith("crp_gw_test_")
    assert len(secret) == len("crp_gw_test_") + 32
    assert not answer.secret_withheld
    assert answer.key.prefix == secret[: len("crp_gw_test_") + 8]
    assert answer.key.state == admin_pb2.API_KEY_STATE_ACTIVE
    assert (answer.key.create_time, answer.key.label) == (timestamp(NOW), "ingestion")
    record = await admin.store.get_key("tenant-1", answer.key.key_id)
    assert record.key_hash == hash_of(secret)
    assert secret not in repr(vars(admin.store)) + repr(vars(admin.store._receipts))
    assert (await admin("GetTenantPolicy", pb.GetTenantPolicyRequest(), key=secret)).policy.version == 0
    admin.clock.advance(24 * 3600)
    _, details = await failure(admin("GetTenantPolicy", pb.GetTenantPolicyRequest(), key=secret))
    assert details["ErrorInfo"].reason == "CREDENTIAL_EXPIRED"


async def test_a_replay_describes_the_key_without_its_secret(admin):
    request = create(expire_time=timestamp(NOW + timedelta(hours=1)))
    first = await admin("CreateApiKey", request)
    admin.clock.advance(2 * 3600)  # a replay counts even after the key's own expiry
    again = await admin("CreateApiKey", request)
    assert (again.api_key, again.secret_withheld) == ("", True)
    assert again.key == first.key
    keys = (await admin("ListApiKeys", pb.ListApiKeysRequest(page_size=1000))).keys
    assert [key.key_id for key in keys].count(first.key.key_id) == 1


async def test_the_same_request_id_with_another_body_is_refused(admin):
    request = create()
    await admin("CreateApiKey", request)
    request.label = "other"
    error, details = await failure(admin("CreateApiKey", request))
    assert error.code() is grpc.StatusCode.FAILED_PRECONDITION
    assert details["ErrorInfo"].reason == "REQUEST_ID_REUSED"


async def test_request_ids_are_the_tenants_own(admin):
    request = create()
    first = await admin("CreateApiKey", request)
    second = await admin("CreateApiKey", request, key="other")
    assert second.api_key
    assert second.key.key_id != first.key.key_id


@pytest.mark.parametrize(
    ("changes", "fields"),
    [
        ({"request_id": "", "label": "", "roles": []}, ["request_id", "label", "roles"]),
        ({"label": "x" * 101}, ["label"]),
        ({"label": "a\nb"}, ["label"]),
        ({"roles": [0]}, ["roles"]),
        ({"roles": [READER, READER]}, ["roles"]),
        ({"roles": [99]}, ["roles"]),
        ({"expire_time": timestamp(NOW)}, ["expire_time"]),
        ({"expire_time": Timestamp(nanos=-1)}, ["expire_time"]),
        ({"expire_time": Timestamp(seconds=10**15)}, ["expire_time"]),
    ],
)
async def test_malformed_keys(admin, changes, fields):
    error, details = await failure(admin("CreateApiKey", create(**changes)))
    assert error.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert [violation.field for violation in details["BadRequest"].field_violations] == fields


async def test_revocation(admin):
    made = await admin("CreateApiKey", create(roles=[ADMIN]))
    await admin("GetTenantPolicy", pb.GetTenantPolicyRequest(), key=made.api_key)
    request = pb.RevokeApiKeyRequest(request_id=new_id(), key_id=made.key.key_id)
    revoked = await admin("RevokeApiKey", request)
    assert revoked.key.state == admin_pb2.API_KEY_STATE_REVOKED
    assert revoked.key.revoke_time == timestamp(NOW)
    admin.clock.advance(10)
    assert await admin("RevokeApiKey", request) == revoked
    later = await admin("RevokeApiKey", pb.RevokeApiKeyRequest(request_id=new_id(), key_id=made.key.key_id))
    assert later.key.revoke_time == timestamp(NOW)
    _, details = await failure(admin("GetTenantPolicy", pb.GetTenantPolicyRequest(), key=made.api_key))
    assert details["ErrorInfo"].reason == "CREDENTIAL_REVOKED"


async def test_another_tenants_key_is_not_found(admin):
    made = await admin("CreateApiKey", create())
    request = pb.RevokeApiKeyRequest(request_id=new_id(), key_id=made.key.key_id)
    error, details = await failure(admin("RevokeApiKey", request, key="other"))
    assert error.code() is grpc.StatusCode.NOT_FOUND
    assert details["ErrorInfo"].reason == "API_KEY_NOT_FOUND"
    listed = await admin("ListApiKeys", pb.ListApiKeysRequest(), key="other")
    assert [key.prefix for key in listed.keys] == [prefix_of(KEYS["other"])]


async def test_keys_are_listed_page_by_page_with_their_states(admin):
    keys, token, pages = [], "", 0
    while True:
        answer = await admin("ListApiKeys", pb.ListApiKeysRequest(page_size=2, page_token=token))
        keys, token, pages = [*keys, *answer.keys], answer.next_page_token, pages + 1
        if not token:
            break
    assert pages == 3
    assert [key.key_id for key in keys] == sorted({key.key_id for key in keys})
    states = {key.label: admin_pb2.ApiKeyState.Name(key.state) for key in keys}
    assert states == {
        "reader": "API_KEY_STATE_ACTIVE",
        "writer": "API_KEY_STATE_ACTIVE",
        "admin": "API_KEY_STATE_ACTIVE",
        "revoked": "API_KEY_STATE_REVOKED",
        "expired": "API_KEY_STATE_EXPIRED",
    }


async def test_a_page_token_of_another_tenant_or_list_is_refused(admin):
    token = (await admin("ListApiKeys", pb.ListApiKeysRequest(page_size=1))).next_page_token
    for rpc, request, key in (
        ("ListApiKeys", pb.ListApiKeysRequest(page_token=token), "other"),
        ("ListAiSystems", pb.ListAiSystemsRequest(page_token=token), "admin"),
    ):
        _, details = await failure(admin(rpc, request, key=key))
        assert details["ErrorInfo"].reason == "PAGE_TOKEN_INVALID"


def system(**changes):
    values: dict[str, Any] = {
        "ai_system_id": "claims-bot",
        "name": "Claims assistant",
        "domain": admin_pb2.AI_SYSTEM_DOMAIN_GENERAL_INFORMATION,
        "sector": "insurance",
        "iso_42001_evidence": {"A.6.1.2": "https://wiki.example/roles", "A.9.4": "binder 7"},
    }
    return admin_pb2.AiSystem(**(values | changes))


def register(**changes):
    return pb.RegisterAiSystemRequest(request_id=new_id(), ai_system=system(**changes))


async def test_ai_systems_are_registered_described_anew_and_listed(admin):
    first = (await admin("RegisterAiSystem", register())).ai_system
    expected = system(version=1, regulated_sector="REGULATED_SECTOR_FINANCIAL")
    expected.register_time.FromDatetime(NOW)
    expected.update_time.FromDatetime(NOW)
    assert first == expected
    admin.clock.advance(60)
    again = (await admin("RegisterAiSystem", register(name="Claims bot"))).ai_system
    assert (again.name, again.register_time, again.version) == ("Claims bot", first.register_time, 2)
    assert again.update_time.seconds == first.update_time.seconds + 60
    await admin("RegisterAiSystem", register(ai_system_id="a"))
    page = await admin("ListAiSystems", pb.ListAiSystemsRequest(page_size=1))
    rest = await admin("ListAiSystems", pb.ListAiSystemsRequest(page_size=1, page_token=page.next_page_token))
    assert [item.ai_system_id for item in (*page.ai_systems, *rest.ai_systems)] == ["a", "claims-bot"]
    assert rest.next_page_token == ""
    assert not (await admin("ListAiSystems", pb.ListAiSystemsRequest(), key="other")).ai_systems


async def test_registration_is_idempotent(admin):
    request = register()
    first = await admin("RegisterAiSystem", request)
    await admin("RegisterAiSystem", register(name="Newer"))
    assert await admin("RegisterAiSystem", request) == first
    listed = (await admin("ListAiSystems", pb.ListAiSystemsRequest())).ai_systems
    assert [item.name for item in listed] == ["Newer"]


async def test_every_version_of_a_system_is_kept_and_paged(admin):
    for name in ("one", "two", "three"):
        await admin("RegisterAiSystem", register(name=name))
    await admin("RegisterAiSystem", register(ai_system_id="other"))
    first = await admin("ListAiSystems", pb.ListAiSystemsRequest(versions_of="claims-bot", page_size=2))
    assert [(item.version, item.name) for item in first.ai_systems] == [(1, "one"), (2, "two")]
    rest = pb.ListAiSystemsRequest(versions_of="claims-bot", page_size=2, page_token=first.next_page_token)
    last = await admin("ListAiSystems", rest)
    assert [(item.version, item.name, last.next_page_token) for item in last.ai_systems] == [(3, "three", "")]
    elsewhere = pb.ListAiSystemsRequest(versions_of="other", page_token=first.next_page_token)
    _, details = await failure(admin("ListAiSystems", elsewhere))
    assert details["ErrorInfo"].reason == "PAGE_TOKEN_INVALID"


@pytest.mark.parametrize(("versions_of", "reason"), [("nobody", "AI_SYSTEM_NOT_FOUND"), ("a b", "INVALID_FIELD")])
async def test_versions_of_a_system_that_is_not_there(admin, versions_of, reason):
    _, details = await failure(admin("ListAiSystems", pb.ListAiSystemsRequest(versions_of=versions_of)))
    assert details["ErrorInfo"].reason == reason


async def test_the_description_that_stands_makes_no_version(admin):
    first = await admin("RegisterAiSystem", register())
    admin.clock.advance(60)
    assert await admin("RegisterAiSystem", register()) == first


async def test_a_description_can_be_guarded_against_races(admin):
    request = pb.RegisterAiSystemRequest(request_id=new_id(), ai_system=system(), expected_version=0)
    assert (await admin("RegisterAiSystem", request)).ai_system.version == 1
    assert (await admin("RegisterAiSystem", request)).ai_system.version == 1  # a replay
    stale = pb.RegisterAiSystemRequest(request_id=new_id(), ai_system=system(name="x"), expected_version=0)
    error, details = await failure(admin("RegisterAiSystem", stale))
    assert (error.code(), details["ErrorInfo"].reason) == (grpc.StatusCode.ABORTED, "ETAG_STALE")
    assert details["ErrorInfo"].metadata["present_version"] == "1"


async def test_descriptions_at_the_same_time_become_versions_after_each_other(admin):
    made = await asyncio.gather(*(admin("RegisterAiSystem", register(name=f"n{number}")) for number in range(4)))
    assert sorted(answer.ai_system.version for answer in made) == [1, 2, 3, 4]


@pytest.mark.parametrize(
    ("sector", "stated", "expected"),
    [
        ("", 0, 0),
        ("Insurance", 0, regulation.REGULATED_SECTOR_FINANCIAL),
        (" health  care ", 0, regulation.REGULATED_SECTOR_MEDICAL),
        ("insurance software for non-banks", 0, regulation.REGULATED_SECTOR_OTHER),
        ("insurance", regulation.REGULATED_SECTOR_OTHER, regulation.REGULATED_SECTOR_OTHER),
        ("", regulation.REGULATED_SECTOR_MEDICAL, regulation.REGULATED_SECTOR_MEDICAL),
    ],
)
async def test_a_sector_is_stated_or_looked_up_never_interpreted(admin, sector, stated, expected):
    made = (await admin("RegisterAiSystem", register(sector=sector, regulated_sector=stated))).ai_system
    assert made.regulated_sector == expected


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"ai_system_id": ""}, "ai_system_id"),
        ({"intended_purpose": "x" * 2001}, "intended_purpose"),
        ({"intended_purpose": "a\x00b"}, "intended_purpose"),
        ({"annex_iii_areas": [0]}, "annex_iii_areas"),
        ({"annex_iii_areas": [9]}, "annex_iii_areas"),
        ({"annex_iii_areas": [4, 4]}, "annex_iii_areas"),
        ({"prohibited_practices": [77]}, "prohibited_practices"),
        ({"role": 4}, "role"),
        ({"regulated_sector": 4}, "regulated_sector"),
        ({"iso_42001_evidence": {"A.6": "x"}}, "iso_42001_evidence"),
        ({"iso_42001_evidence": {"A.2.5": "x"}}, "iso_42001_evidence"),
        ({"ai_system_id": "-a"}, "ai_system_id"),
        ({"ai_system_id": "a" * 65}, "ai_system_id"),
        ({"name": ""}, "name"),
        ({"domain": 0}, "domain"),
        ({"domain": 77}, "domain"),
        ({"sector": "x" * 101}, "sector"),
        ({"iso_42001_evidence": {"nonsense": "x"}}, "iso_42001_evidence"),
        ({"iso_42001_evidence": {"A.2.2": ""}}, "iso_42001_evidence"),
        ({"iso_42001_evidence": {"A.2.2": "x" * 501}}, "iso_42001_evidence"),
    ],
)
async def test_malformed_ai_systems(admin, changes, field):
    _, details = await failure(admin("RegisterAiSystem", register(**changes)))
    assert [violation.field for violation in details["BadRequest"].field_violations] == [f"ai_system.{field}"]


def policy(version=0, **changes):
    values: dict[str, Any] = {
        "safety_policy": "halt-on CRITICAL",
        "allowed_sink_hosts": ["sink.example"],
        "data_residency": "eu",
    }
    return pb.SetTenantPolicyRequest(
        request_id=new_id(), policy=admin_pb2.TenantPolicy(**(values | changes)), expected_version=version
    )


async def test_the_policy_is_set_read_and_guarded_against_races(admin):
    assert (await admin("GetTenantPolicy", pb.GetTenantPolicyRequest())).policy == admin_pb2.TenantPolicy()
    request = policy()
    answer = await admin("SetTenantPolicy", request)
    assert (answer.policy.version, answer.policy.update_time) == (1, timestamp(NOW))
    assert await admin("SetTenantPolicy", request) == answer
    assert (await admin("GetTenantPolicy", pb.GetTenantPolicyRequest())).policy == answer.policy
    error, details = await failure(admin("SetTenantPolicy", policy(version=0)))
    assert (error.code(), details["ErrorInfo"].reason) == (grpc.StatusCode.ABORTED, "ETAG_STALE")
    assert (await admin("SetTenantPolicy", policy(version=1))).policy.version == 2
    assert (await admin("GetTenantPolicy", pb.GetTenantPolicyRequest(), key="other")).policy.version == 0


@pytest.mark.parametrize(
    ("changes", "reason", "field"),
    [
        ({"safety_policy": "halt-upon CRITICAL"}, "UNKNOWN_DIRECTIVE", "policy.safety_policy"),
        ({"safety_policy": "halt-on SOMETIMES"}, "INVALID_FIELD", "policy.safety_policy"),
        ({"safety_policy": "x" * 4097}, "INVALID_FIELD", "policy.safety_policy"),
        ({"allowed_sink_hosts": ["ok.example", "https://x.example/"]}, "INVALID_FIELD", "policy.allowed_sink_hosts[1]"),
        ({"allowed_sink_hosts": ["localhost"]}, "INVALID_FIELD", "policy.allowed_sink_hosts[0]"),
        ({"allowed_sink_hosts": ["x.example:80"]}, "INVALID_FIELD", "policy.allowed_sink_hosts[0]"),
        ({"allowed_sink_hosts": [f"h{n}.example" for n in range(101)]}, "INVALID_FIELD", "policy.allowed_sink_hosts"),
        ({"data_residency": "e u"}, "INVALID_FIELD", "policy.data_residency"),
    ],
)
async def test_malformed_policies(admin, changes, reason, field):
    _, details = await failure(admin("SetTenantPolicy", policy(**changes)))
    assert details["ErrorInfo"].reason == reason
    assert [violation.field for violation in details["BadRequest"].field_violations] == [field]
    assert (await admin("GetTenantPolicy", pb.GetTenantPolicyRequest())).policy.version == 0


async def test_a_policy_must_be_given(admin):
    _, details = await failure(admin("SetTenantPolicy", pb.SetTenantPolicyRequest(request_id=new_id())))
    assert [violation.field for violation in details["BadRequest"].field_violations] == ["policy"]


async def test_the_first_key_is_made_once_and_is_an_administrators():
    from services.common.adapters.memory.credentials import MemoryCredentialStore

    store, clock, ids = MemoryCredentialStore(), FakeClock(), RandomIds()
    key = await ensure_first_key(store, clock, ids, "dev")
    assert key.startswith("crp_gw_dev_")
    assert await ensure_first_key(store, clock, ids, "dev") is None
    record = await store.find_key(prefix_of(key))
    assert (record.tenant_id, record.roles, record.key_hash) == ("default", ("admin",), hash_of(key))


async def test_two_racing_replays_make_one_key(admin):
    import asyncio

    request = create()
    answers = await asyncio.gather(*(admin("CreateApiKey", request) for _ in range(5)))
    assert len({answer.key.key_id for answer in answers}) == 1
    assert sum(bool(answer.api_key) for answer in answers) == 1
