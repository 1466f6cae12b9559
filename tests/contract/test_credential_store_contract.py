"""What every ``CredentialStore`` promises."""

import asyncio

import pytest

from services.common.errors import ConflictError, ErrorReason
from tests.contract.adapters import CREDENTIAL_STORES, durable
from tests.contract.records import HOSTILE, LATER, ai_system, api_key, policy, provider, receipt


@pytest.fixture(params=CREDENTIAL_STORES, ids=lambda adapter: adapter.name)
def adapter(request):
    return request.param


@pytest.fixture(params=durable(CREDENTIAL_STORES), ids=lambda adapter: adapter.name)
def durable_adapter(request):
    return request.param


@pytest.fixture
async def store(adapter, tmp_path):
    opened = await adapter.open(tmp_path)
    yield opened
    await opened.close()


class TestKeys:
    async def test_every_field_comes_back(self, store):
        plain, ended = api_key("k1"), api_key("k2", roles=("admin",), expires_at=LATER, revoked_at=LATER)
        await store.put_key(plain, receipt("q"))
        await store.put_key(ended)
        assert await store.get_key("tenant-a", "k1") == plain
        assert await store.find_key(ended.prefix) == ended
        assert await store.get_receipt("tenant-a", "IngestSource", "q") == receipt("q")
        assert await store.count_keys() == 2

    async def test_a_revocation_is_seen_at_once(self, store):
        for number in range(5):
            key = api_key(f"k{number}")
            await store.put_key(key)
            assert await store.find_key(key.prefix) == key
            assert await store.find_key(key.prefix) == key
            revoked = api_key(f"k{number}", revoked_at=LATER)
            await store.put_key(revoked)
            assert await store.find_key(key.prefix) == revoked

    async def test_an_unknown_prefix_is_none_until_the_key_is_there(self, store):
        assert await store.find_key("crp_gw_test_k1") is None
        await store.put_key(api_key("k1"))
        assert await store.find_key("crp_gw_test_k1") == api_key("k1")

    async def test_a_prefix_belongs_to_one_key(self, store):
        await store.put_key(api_key("k1"))
        for thief in (api_key("k2", prefix="crp_gw_test_k1"), api_key("k1", tenant_id="tenant-b")):
            with pytest.raises(ConflictError) as caught:
                await store.put_key(thief, receipt("q"))
            assert caught.value.reason is ErrorReason.COMMIT_RACE
        assert await store.find_key("crp_gw_test_k1") == api_key("k1")
        assert await store.get_receipt("tenant-a", "IngestSource", "q") is None
        assert await store.count_keys() == 1

    async def test_any_text_is_kept_and_found(self, store):
        for text in HOSTILE:
            hostile = api_key(text, tenant_id=text, prefix=text, label=text, roles=(text,))
            await store.put_key(hostile)
            await store.put_key(api_key("other"))
            assert await store.find_key(text) == hostile
            assert await store.page_keys(text, after="", limit=9) == [hostile]

    async def test_pages_follow_the_id_within_the_tenant(self, store):
        for name in ("c", "a", "b"):
            await store.put_key(api_key(name))
        await store.put_key(api_key("x", tenant_id="tenant-b"))
        assert [key.key_id for key in await store.page_keys("tenant-a", after="a", limit=9)] == ["b", "c"]
        assert [key.key_id for key in await store.page_keys("tenant-a", after="", limit=1)] == ["a"]
        assert await store.get_key("tenant-b", "a") is None

    async def test_tenants_that_have_keys_are_named_once_each(self, store):
        assert await store.key_tenants() == []
        for name, tenant in (("1", "tenant-b"), ("2", "tenant-a"), ("3", "tenant-b"), ("4", "Ω")):
            await store.put_key(api_key(name, tenant_id=tenant, prefix=name))
        await store.put_key(api_key("2", tenant_id="tenant-a", prefix="2", revoked_at=LATER))
        assert await store.key_tenants() == ["tenant-a", "tenant-b", "Ω"]


class TestAiSystems:
    async def test_they_are_kept_and_paged_in_their_last_version(self, store):
        for name in ("c", "a", "b"):
            await store.put_ai_system(ai_system(name))
        renamed = ai_system("b", name="renamed", iso_42001_evidence=(), version=2, updated_at=LATER)
        await store.put_ai_system(renamed, receipt("q"))
        await store.put_ai_system(ai_system("b", tenant_id="tenant-b"))
        assert await store.get_ai_system("tenant-a", "a") == ai_system("a")
        assert await store.get_ai_system("tenant-a", "b") == renamed
        assert [one.name for one in await store.page_ai_systems("tenant-a", after="a", limit=1)] == ["renamed"]
        assert len(await store.page_ai_systems("tenant-a", after="", limit=9)) == 3
        assert await store.get_ai_system("tenant-b", "a") is None
        assert await store.get_receipt("tenant-a", "IngestSource", "q") == receipt("q")

    async def test_every_version_is_kept_and_paged(self, store):
        versions = [ai_system("a", name=f"name {number}", version=number, updated_at=LATER) for number in (1, 2, 3)]
        for each in versions:
            await store.put_ai_system(each)
        await store.put_ai_system(ai_system("a", tenant_id="tenant-b"))
        assert await store.page_ai_system_versions("tenant-a", "a", after=0, limit=9) == versions
        assert await store.page_ai_system_versions("tenant-a", "a", after=1, limit=1) == versions[1:2]
        assert await store.page_ai_system_versions("tenant-a", "b", after=0, limit=9) == []

    @pytest.mark.parametrize("version", [0, 1, 3])
    async def test_another_version_than_the_next_is_stale(self, store, version):
        await store.put_ai_system(ai_system("a"))
        with pytest.raises(ConflictError) as caught:
            await store.put_ai_system(ai_system("a", version=version, name="x"), receipt("q"))
        assert caught.value.reason is ErrorReason.ETAG_STALE
        assert await store.get_ai_system("tenant-a", "a") == ai_system("a")
        assert await store.get_receipt("tenant-a", "IngestSource", "q") is None

    async def test_a_first_version_is_1(self, store):
        with pytest.raises(ConflictError):
            await store.put_ai_system(ai_system("a", version=2))
        assert await store.page_ai_systems("tenant-a", after="", limit=9) == []


class TestPolicies:
    async def test_versions_follow_each_other(self, store):
        assert await store.get_policy("tenant-a") is None
        await store.put_policy(policy(1))
        await store.put_policy(policy(2, allowed_sink_hosts=()), receipt("q"))
        assert await store.get_policy("tenant-a") == policy(2, allowed_sink_hosts=())
        assert await store.get_policy("tenant-b") is None

    @pytest.mark.parametrize("version", [0, 1, 3])
    async def test_another_version_is_stale(self, store, version):
        await store.put_policy(policy(1))
        with pytest.raises(ConflictError) as caught:
            await store.put_policy(policy(version, data_residency="us"), receipt("q"))
        assert caught.value.reason is ErrorReason.ETAG_STALE
        assert await store.get_policy("tenant-a") == policy(1)
        assert await store.get_receipt("tenant-a", "IngestSource", "q") is None

    async def test_of_many_writers_one_wins(self, store):
        writers = (store.put_policy(policy(1, data_residency=str(number))) for number in range(20))
        outcomes = await asyncio.gather(*writers, return_exceptions=True)
        assert outcomes.count(None) == 1
        assert (await store.get_policy("tenant-a")).data_residency == str(outcomes.index(None))


class TestLife:
    async def test_another_process_sees_a_revocation_at_once(self, durable_adapter, tmp_path):
        gateway, reader = await durable_adapter.open(tmp_path), await durable_adapter.open(tmp_path)
        for number in range(5):
            key = api_key(f"k{number}")
            await gateway.put_key(key)
            assert await reader.find_key(key.prefix) == key
            await gateway.put_key(api_key(f"k{number}", revoked_at=LATER))
            assert (await reader.find_key(key.prefix)).revoked_at == LATER
        await gateway.close()
        assert await reader.count_keys() == 5
        await reader.close()

    async def test_check_and_close_can_be_repeated(self, store):
        await store.check()
        await store.close()
        await store.close()


class TestProviders:
    async def test_they_are_kept_by_tenant_and_name_and_go_with_their_key(self, store):
        await store.put_provider(provider("b"), receipt("q"))
        await store.put_provider(provider("a", sealed_key=b"", key_version=0))
        await store.put_provider(provider("b", tenant_id="tenant-b"))
        await store.put_provider(provider("b", base_url="https://other.example/v1", updated_at=LATER))
        assert await store.list_providers("tenant-a") == [
            provider("a", sealed_key=b"", key_version=0),
            provider("b", base_url="https://other.example/v1", updated_at=LATER),
        ]
        assert await store.get_receipt("tenant-a", "IngestSource", "q") == receipt("q")
        await store.remove_provider("tenant-a", "b", receipt("r"))
        await store.remove_provider("tenant-a", "b")
        assert [one.name for one in await store.list_providers("tenant-a")] == ["a"]
        assert await store.list_providers("tenant-b") == [provider("b", tenant_id="tenant-b")]
        with pytest.raises(ConflictError):
            await store.put_provider(provider("c"), receipt("r", response=b"other"))
        assert len(await store.list_providers("tenant-a")) == 1
