import pytest

from services.common.errors import UnavailableError
from services.common.rpc.peers import PEERS, OwnChannel, PeerChannels
from services.common.settings import PeerSettings, ServerSettings, Settings, SettingsError, TlsSettings

ALL = frozenset(PEERS.values())


def settings(**peers):
    return Settings(peers=PeerSettings(**peers))


async def test_a_peer_that_is_neither_here_nor_named_stops_the_start():
    channels = PeerChannels(settings(dpe="127.0.0.1:1"))
    with pytest.raises(SettingsError) as caught:
        channels.listening("127.0.0.1:50051", frozenset({"crp.envelope.v1.EnvelopeService"}))
    assert list(caught.value.problems) == [
        "GROUNDTRAIL_PEERS__DAG: not set, and this process does not serve crp.dag.v1.SessionService"
    ]


async def test_peers_of_this_process_are_dialled_once_it_listens():
    channels = PeerChannels(settings())
    channel = channels.to("dag")
    assert isinstance(channel, OwnChannel)
    call = channel.unary_unary("/x.Y/Z", request_serializer=bytes, response_deserializer=bytes)
    with pytest.raises(UnavailableError):
        call(b"")
    channels.listening("127.0.0.1:50051", ALL)
    assert channel.get_state() is not None
    await channels.close()
    await channels.close()


async def test_a_named_peer_is_dialled_there():
    channels = PeerChannels(settings(dag="127.0.0.1:1"))
    assert not isinstance(channels.to("dag"), OwnChannel)
    await channels.close()


async def test_tls_without_a_way_to_dial_itself_stops_the_start(tmp_path):
    pem = tmp_path / "x.pem"
    server = ServerSettings(tls=TlsSettings(cert_file=pem, key_file=pem))
    channels = PeerChannels(Settings(server=server))
    with pytest.raises(SettingsError) as caught:
        channels.listening("127.0.0.1:50051", ALL)
    assert "GROUNDTRAIL_SERVER__UNIX_SOCKET" in caught.value.problems[0]
    channels.listening(f"unix:{tmp_path}/s", ALL)
    await channels.close()
