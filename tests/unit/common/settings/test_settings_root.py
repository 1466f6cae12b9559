import json

import pytest

from services.common.settings import (
    AuthSettings,
    EdgeSettings,
    JwtSettings,
    PeerTlsSettings,
    ServerSettings,
    Settings,
    SettingsError,
    TelemetrySettings,
    TlsSettings,
    changed_configuration,
    effective_configuration,
    known_variables,
    load_settings,
)
from services.common.settings.environment import secret_variables


@pytest.fixture(autouse=True)
def clean(monkeypatch):
    import os

    for name in [name for name in os.environ if name.upper().startswith("GROUNDTRAIL_")]:
        monkeypatch.delenv(name)


def problems(**environment):
    with pytest.raises(SettingsError) as caught:
        load_settings(**environment)
    return caught.value.problems


def test_defaults_are_safe():
    settings = load_settings()
    assert settings.server.host == "127.0.0.1"
    assert not settings.server.insecure_local
    assert not settings.telemetry.log_content
    assert settings.telemetry.otlp_endpoint == ""
    assert settings.telemetry.http_port is None


def test_environment_is_read_by_section_and_field(monkeypatch):
    monkeypatch.setenv("GROUNDTRAIL_SERVER__PORT", "6000")
    monkeypatch.setenv("GROUNDTRAIL_AUTH__JWT__LEEWAY_S", "7")
    settings = load_settings()
    assert settings.server.port == 6000
    assert settings.auth.jwt.leeway_s == 7


def test_arguments_win_over_the_environment(monkeypatch):
    monkeypatch.setenv("GROUNDTRAIL_SERVER__PORT", "6000")
    assert load_settings(server=ServerSettings(port=1)).server.port == 1


@pytest.mark.parametrize(
    ("variable", "nearest"),
    [
        ("GROUNDTRAIL_SERVER__PROT", "GROUNDTRAIL_SERVER__PORT"),
        ("GROUNDTRAIL_SERVER_PORT", "GROUNDTRAIL_SERVER__PORT"),
        ("GROUNDTRAIL_LLM__BASEURL", "GROUNDTRAIL_LLM__BASE_URL"),
        ("groundtrail_server__hots", "GROUNDTRAIL_SERVER__HOST"),
    ],
)
def test_unknown_variable_names_the_nearest_known_one(monkeypatch, variable, nearest):
    monkeypatch.setenv(variable, "hunter2")
    assert problems() == (f"{variable} is not a setting; did you mean {nearest}?",)


def test_unknown_variable_far_from_all(monkeypatch):
    monkeypatch.setenv("GROUNDTRAIL_Q", "1")
    assert problems() == ("GROUNDTRAIL_Q is not a setting, and none is like it",)


def test_a_wrong_value_is_told_along_with_an_unknown_variable(monkeypatch, tmp_path):
    monkeypatch.setenv("GROUNDTRAIL_FOO", "1")
    monkeypatch.setenv("GROUNDTRAIL_DAG__MAX_WINDOWS", "hunter2")
    monkeypatch.setenv("GROUNDTRAIL_CHECKPOINTS__WITNESSES", "hunter2")
    monkeypatch.setenv("GROUNDTRAIL_LLM__API_KEY_FILE", str(tmp_path / "absent"))
    told = problems()
    assert [line.split(" ", 1)[0].rstrip(":") for line in told] == [
        "GROUNDTRAIL_FOO",
        "GROUNDTRAIL_LLM__API_KEY_FILE",
        "GROUNDTRAIL_DAG__MAX_WINDOWS",
        "GROUNDTRAIL_CHECKPOINTS__WITNESSES",
    ]
    assert told[-1].endswith("must be a list, written as JSON")
    assert "hunter2" not in "".join(told)


def test_test_variables_are_no_settings(monkeypatch):
    monkeypatch.setenv("GROUNDTRAIL_TEST_TRITON_URL", "x")
    monkeypatch.setenv("GROUNDTRAIL_EVAL_DATA", "x")
    load_settings()


def test_every_problem_is_listed_and_no_value_is_shown(monkeypatch):
    monkeypatch.setenv("GROUNDTRAIL_SERVER__PORT", "hunter2")
    monkeypatch.setenv("GROUNDTRAIL_AUTH__JWT__SECRET", "hunter2")
    found = problems()
    assert [line.split(":")[0] for line in found] == ["GROUNDTRAIL_SERVER__PORT", "GROUNDTRAIL_AUTH__JWT"]
    assert "audience is required" in found[1]
    assert "secret is shorter than 32 bytes" in found[1]
    assert "hunter2" not in "".join(found)


def test_a_master_key_that_is_none_is_told_by_its_variable(monkeypatch):
    monkeypatch.setenv("GROUNDTRAIL_DAG__MASTER_KEY", "hunter2")
    previous = json.dumps({"1": "ab" * 32, "2": "hunter2", "3": "g" * 64})
    monkeypatch.setenv("GROUNDTRAIL_DAG__PREVIOUS_MASTER_KEYS", previous)
    monkeypatch.setenv("GROUNDTRAIL_SERVER__PORT", "hunter2")
    assert problems() == (
        "GROUNDTRAIL_SERVER__PORT: Input should be a valid integer, unable to parse string as an integer",
        "GROUNDTRAIL_DAG__MASTER_KEY: must hold 64 hex digits",
        "GROUNDTRAIL_DAG__PREVIOUS_MASTER_KEYS: must hold 64 hex digits; those of version 2, 3 do not",
    )


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: ServerSettings(insecure_local=True, host="0.0.0.0"), "loopback"),
        (lambda: ServerSettings(insecure_local=True, host="example.com"), "loopback"),
        (lambda: ServerSettings(max_concurrent_calls=1, max_concurrent_calls_per_tenant=2), "larger"),
        (lambda: ServerSettings(unix_socket="/" + "x" * 100), "100 bytes"),
        (lambda: TlsSettings(cert_file="c"), "go together"),
        (lambda: TlsSettings(key_file="k"), "go together"),
        (lambda: TlsSettings(client_ca_file="a"), "needs cert_file"),
        (lambda: PeerTlsSettings(cert_file="c", key_file="k"), "needs ca_file"),
        (lambda: JwtSettings(secret="s" * 32), "audience"),
        (lambda: JwtSettings(secret="s" * 31, audience="a"), "shorter"),
        (lambda: JwtSettings(secret="s" * 32, public_key_file="k", audience="a"), "set one of"),
        (lambda: JwtSettings(jwks_file="j", public_key_file="k", audience="a"), "set one of"),
        (lambda: TelemetrySettings(otlp_insecure=True), "otlp_endpoint"),
        (lambda: TelemetrySettings(otlp_headers="a=b"), "otlp_headers: no meaning without otlp_endpoint"),
        (lambda: TelemetrySettings(otlp_endpoint="https://c/v1/traces"), "set otlp_protocol=http/protobuf"),
        (lambda: _over_http("c:4318"), "must be http"),
        (lambda: _over_http("https://u:p@c"), "put them into otlp_headers"),
        (lambda: _over_http("https://c", otlp_insecure=True), "otlp_insecure is for gRPC"),
        (lambda: _over_http("http://c", otlp_headers="a=b"), "in the open"),
        (lambda: _over_http("http://c", otlp_ca_file="f"), "otlp_ca_file has no meaning"),
        (lambda: _over_http("https://c", otlp_headers="a"), "part 1 is not name=value"),
        (lambda: _over_http("https://c", otlp_headers="a=b,A=c"), "part 2 is not name=value"),
        (lambda: _over_http("https://c", otlp_headers="a=b%0d%0ac"), "part 1 is not name=value"),
        (lambda: Settings(edge=EdgeSettings(max_streams_per_connection=511)), "less than twice"),
        (lambda: EdgeSettings(trusted_proxies=["10.0.0.1/8"]), "no address and no network"),
        (lambda: AuthSettings(environment="Prod"), "environment"),
        (lambda: ServerSettings(port=65536), "65535"),
        (lambda: ServerSettings(prot=1), "prot"),
    ],
)
def test_impossible_combinations_are_refused(make, said):
    with pytest.raises(ValueError, match=said):
        make()


def _over_http(endpoint, **more):
    return TelemetrySettings(otlp_protocol="http/protobuf", otlp_endpoint=endpoint, **more)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1", "[::1]", "127.8.8.8"])
def test_insecure_local_is_allowed_on_loopback(host):
    assert ServerSettings(insecure_local=True, host=host).insecure_local


def test_effective_configuration_hides_secrets(monkeypatch):
    monkeypatch.setenv("GROUNDTRAIL_LLM__API_KEY", "sk-verysecret")
    monkeypatch.setenv("GROUNDTRAIL_AUTH__JWT__SECRET", "0123456789abcdef0123456789abcdef")
    monkeypatch.setenv("GROUNDTRAIL_AUTH__JWT__AUDIENCE", "groundtrail")
    shown = effective_configuration(load_settings())
    assert shown["llm.api_key"] == "**********"
    assert shown["auth.jwt.secret"] == "**********"
    assert shown["auth.jwt.audience"] == "groundtrail"
    assert "verysecret" not in str(shown)
    assert "0123456789abcdef" not in str(shown)


def test_what_a_server_logs_of_its_settings_is_what_was_set(monkeypatch):
    own_models = {"inference.own_models": ".groundtrail/models"}
    assert changed_configuration(load_settings()) == own_models
    monkeypatch.setenv("GROUNDTRAIL_SERVER__PORT", "6000")
    monkeypatch.setenv("GROUNDTRAIL_LLM__API_KEY", "hunter2")
    assert changed_configuration(load_settings()) == own_models | {
        "server.port": "6000",
        "llm.api_key": "**********",
    }


def test_every_secret_looking_setting_is_hidden_by_its_type():
    from pydantic import SecretStr

    def fields(model, path=""):
        for name, field in model.model_fields.items():
            if hasattr(field.annotation, "model_fields"):
                yield from fields(field.annotation, f"{path}{name}.")
            else:
                yield f"{path}{name}", field.annotation

    telling = [
        (name, kind)
        for name, kind in fields(Settings)
        if name.endswith(("secret", "api_key", "password", "master_key")) and kind is not bool
    ]
    assert telling
    assert [name for name, kind in telling if kind not in (SecretStr, SecretStr | None)] == []


def test_sections_are_frozen():
    settings = load_settings()
    with pytest.raises(ValueError, match="frozen"):
        settings.server.port = 1
    with pytest.raises(ValueError, match="frozen"):
        settings.server = ServerSettings()


def test_known_variables_are_listed_once():
    names = list(known_variables(Settings))
    assert len(names) == len(set(names))
    assert "GROUNDTRAIL_SERVER__TLS__CLIENT_CA_FILE" in names
    assert "GROUNDTRAIL_AUTH__JWT__SECRET" in names


ADDRESSES = [
    ("GROUNDTRAIL_LLM__BASE_URL", "http://user:topsecret@llm.internal:8000/v1", "GROUNDTRAIL_LLM__API_KEY"),
    ("GROUNDTRAIL_LLM__BASE_URL", "https://topsecret@llm.internal/v1", "GROUNDTRAIL_LLM__API_KEY"),
    ("GROUNDTRAIL_LLM__BASE_URL", "https://llm.internal/v1?key=topsecret", "query"),
    ("GROUNDTRAIL_NEO4J__URI", "bolt://neo4j:topsecret@graph:7687", "pattern"),
    ("GROUNDTRAIL_MILVUS__URI", "http://root:topsecret@milvus:19530", "pattern"),
    ("GROUNDTRAIL_INFERENCE__TRITON__TARGET", "user:topsecret@triton:8001", "host:port"),
    ("GROUNDTRAIL_TELEMETRY__OTLP_ENDPOINT", "user:topsecret@collector:4317", "host:port"),
    ("GROUNDTRAIL_PEERS__DAG", "dns:///user:topsecret@dag:50051", "credential"),
    ("GROUNDTRAIL_PEERS__DAG", "user:topsecret@dag:50051", "credential"),
    ("GROUNDTRAIL_CLIENT__SERVER", "user:topsecret@gateway:50051", "GROUNDTRAIL_CLIENT__API_KEY"),
]


@pytest.mark.parametrize(("variable", "address", "said"), ADDRESSES)
def test_an_address_with_a_user_or_password_is_refused_and_not_repeated(monkeypatch, variable, address, said):
    monkeypatch.setenv(variable, address)
    (problem,) = problems()
    assert variable.rpartition("__")[0] in problem
    assert said in problem
    assert "topsecret" not in problem


@pytest.mark.parametrize(
    "address", ["http://127.0.0.1:19011", "foo", "foo:", "foo:x", "foo:0", "foo:70000", ":1", "::1", "h:1/v1", "a b:1"]
)
def test_a_server_that_is_no_host_and_port_is_refused(monkeypatch, address):
    monkeypatch.setenv("GROUNDTRAIL_CLIENT__SERVER", address)
    (problem,) = problems()
    assert problem.startswith("GROUNDTRAIL_CLIENT__SERVER: must be HOST:PORT")


@pytest.mark.parametrize(
    "address", ["127.0.0.1:50051", "gateway.internal:65535", "[::1]:50051", "dns:///gateway:50051", "unix:/run/g.sock"]
)
def test_other_addresses_of_a_server_are_taken(monkeypatch, address):
    monkeypatch.setenv("GROUNDTRAIL_CLIENT__SERVER", address)
    assert load_settings().client.server == address


@pytest.mark.parametrize("address", ["https://api.openai.com/v1", "http://10.0.0.7:8000/v1/users/@me", ""])
def test_other_addresses_of_the_model_are_taken(monkeypatch, address):
    monkeypatch.setenv("GROUNDTRAIL_LLM__BASE_URL", address)
    assert load_settings().llm.base_url == address


SECRETS = {
    "GROUNDTRAIL_LLM__API_KEY": "sk-1",
    "GROUNDTRAIL_SECOND_OPINION__API_KEY": "sk-2",
    "GROUNDTRAIL_VECTORS__API_KEY": "vec-1",
    "GROUNDTRAIL_CLIENT__API_KEY": "crp_gw_dev_x",
    "GROUNDTRAIL_ANTHROPIC__API_KEY": "ant-1",
    "GROUNDTRAIL_PROVIDERS__API_KEYS": '{"local": "sk-3"}',
    "GROUNDTRAIL_NEO4J__PASSWORD": "graph",
    "GROUNDTRAIL_MILVUS__TOKEN": "root:Milvus",
    "GROUNDTRAIL_TELEMETRY__OTLP_HEADERS": "authorization=Basic%20x",
    "GROUNDTRAIL_AUTH__JWT__SECRET": "0123456789abcdef0123456789abcdef",
    "GROUNDTRAIL_DAG__MASTER_KEY": "ab" * 32,
    "GROUNDTRAIL_DAG__PREVIOUS_MASTER_KEYS": '{"1": "%s"}' % ("cd" * 32),
    "GROUNDTRAIL_ERCP__PREVIOUS_NODE_KEYS": '["' + "ef" * 32 + '"]',
}
BESIDE = {
    "GROUNDTRAIL_PROVIDERS__API_KEYS": {
        "GROUNDTRAIL_LLM__BASE_URL": "https://llm.example/v1",
        "GROUNDTRAIL_PROVIDERS__ENDPOINTS": '{"local": {"base_url": "https://local.example/v1", "models": ["l-*"]}}',
    },
    "GROUNDTRAIL_TELEMETRY__OTLP_HEADERS": {"GROUNDTRAIL_TELEMETRY__OTLP_ENDPOINT": "collector:4317"},
    "GROUNDTRAIL_AUTH__JWT__SECRET": {"GROUNDTRAIL_AUTH__JWT__AUDIENCE": "groundtrail"},
    "GROUNDTRAIL_DAG__PREVIOUS_MASTER_KEYS": {
        "GROUNDTRAIL_DAG__MASTER_KEY": "ab" * 32,
        "GROUNDTRAIL_DAG__MASTER_KEY_VERSION": "2",
        "GROUNDTRAIL_DAG__MASTER_KEY_ROTATED_AT": "2026-01-01T00:00:00Z",
    },
}


def test_the_secrets_above_are_all_that_there_are():
    assert set(secret_variables(Settings)) == set(SECRETS)


@pytest.mark.parametrize(("variable", "secret"), SECRETS.items())
@pytest.mark.parametrize("ending", ["", "\n", "\r\n"])
def test_every_secret_can_be_given_as_a_file(monkeypatch, tmp_path, variable, secret, ending):
    for name, value in BESIDE.get(variable, {}).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv(variable, secret)
    given = load_settings()
    monkeypatch.setenv(variable, "")  # as compose passes on what is not set
    file = tmp_path / "secret"
    file.write_bytes((secret + ending).encode())
    monkeypatch.setenv(f"{variable}_FILE", str(file))
    assert load_settings() == given
    assert given != Settings.model_construct()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "cannot be read: No such file"),
        (b"\n", "is empty"),
        (b"", "is empty"),
        (b"\xff\xfe", "no text in UTF-8"),
        (b"x" * 70_000, "larger than"),
    ],
    ids=["missing", "blank", "empty", "no text", "large"],
)
def test_a_file_that_holds_no_secret_is_a_problem_by_its_variable(monkeypatch, tmp_path, content, said):
    file = tmp_path / "secret"
    if content is not None:
        file.write_bytes(content)
    monkeypatch.setenv("GROUNDTRAIL_LLM__API_KEY_FILE", str(file))
    (problem,) = problems()
    assert problem.startswith(f"GROUNDTRAIL_LLM__API_KEY_FILE: {file} ")
    assert said in problem


def test_a_secret_and_its_file_together_are_refused(monkeypatch, tmp_path):
    file = tmp_path / "secret"
    file.write_text("sk-2")
    monkeypatch.setenv("GROUNDTRAIL_LLM__API_KEY", "sk-1")
    monkeypatch.setenv("GROUNDTRAIL_LLM__API_KEY_FILE", str(file))
    assert problems() == ("GROUNDTRAIL_LLM__API_KEY and GROUNDTRAIL_LLM__API_KEY_FILE are both set: set one",)


def test_only_secrets_have_a_file_form(monkeypatch):
    monkeypatch.setenv("GROUNDTRAIL_LLM__MODEL_FILE", "/run/model")
    (problem,) = problems()
    assert "GROUNDTRAIL_LLM__MODEL_FILE is not a setting" in problem
