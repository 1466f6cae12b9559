"""compose.yaml, Dockerfile and deploy/ hold together: parsed and compared with the code, since no engine runs here."""

import ast
import importlib.util
import ipaddress
import json
import re
from graphlib import TopologicalSorter
from pathlib import Path

import pytest
import yaml

from services.common.model_repository.config import parse_model_config
from services.common.settings import Settings, known_variables
from services.common.settings.edge import EdgeSettings
from services.common.settings.environment import secret_variables
from services.common.settings.http import HttpSettings
from services.common.settings.milvus import MilvusSettings
from services.common.settings.neo4j import Neo4jSettings
from services.common.settings.triton import TritonSettings
from services.gateway.doors.http.ready_routes import READY
from tools.real_servers import milvus, neo4j

ROOT = Path(__file__).resolve().parents[3]
COMPOSE = yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))
SERVICES = COMPOSE["services"]
OURS = ("envelope", "dpe", "dag", "gateway", "ercp")
ENVOY = yaml.safe_load((ROOT / "deploy/envoy/envoy.yaml").read_text(encoding="utf-8"))
DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")
KUBERNETES = [
    document
    for path in sorted((ROOT / "deploy/kubernetes").glob("*.yaml"))
    for document in yaml.safe_load_all(path.read_text(encoding="utf-8"))
]
PINNED = re.compile(r"[a-z0-9./-]+:[A-Za-z0-9][\w.-]*\d[\w.-]*")
GRPC_PORT = Settings.model_fields["server"].default.port
TELEMETRY_PORT = 9464
HTTP_CLUSTER = "gateway_http"
KEEP_ALIVE_S = 65
"""As services/gateway/doors/http/server.py has it."""


def kind(name: str) -> list[dict]:
    return [document for document in KUBERNETES if document["kind"] == name]


@pytest.mark.parametrize("path", sorted((ROOT / "deploy").rglob("*.y*ml")), ids=lambda path: path.name)
def test_every_file_is_yaml(path):
    assert [document for document in yaml.safe_load_all(path.read_text(encoding="utf-8")) if document]


def test_compose_has_every_part_of_the_stack():
    assert set(SERVICES) >= {*OURS, "envoy", "triton", "milvus", "etcd", "minio", "neo4j"}


@pytest.mark.parametrize("name", sorted(SERVICES))
def test_service_has_a_health_check(name):
    check = SERVICES[name]["healthcheck"]
    assert check["test"][0] in {"CMD", "CMD-SHELL"}
    assert set(check) == {"test", "interval", "timeout", "start_period", "retries"}


@pytest.mark.parametrize("name", sorted(SERVICES))
def test_image_is_pinned(name):
    assert PINNED.fullmatch(SERVICES[name]["image"])
    assert not SERVICES[name]["image"].endswith(":latest")


def test_base_images_are_pinned():
    stages = set(re.findall(r" AS (\w+)", DOCKERFILE))
    images = [image for image in re.findall(r"^FROM (\S+)", DOCKERFILE, re.MULTILINE) if image not in stages]
    assert images
    assert [image for image in images if not PINNED.fullmatch(image)] == []


def test_start_order_has_no_cycle_and_waits_for_health():
    graph = {name: set(service.get("depends_on", {})) for name, service in SERVICES.items()}
    order = list(TopologicalSorter(graph).static_order())
    assert set(order) == set(SERVICES)
    assert order.index("gateway") > max(order.index(name) for name in ("envelope", "dpe", "dag"))
    conditions = {c["condition"] for s in SERVICES.values() for c in s.get("depends_on", {}).values()}
    assert conditions == {"service_healthy"}


def test_what_a_profile_hides_is_never_required():
    for service in SERVICES.values():
        for name, dependency in service.get("depends_on", {}).items():
            hidden = set(SERVICES[name].get("profiles", [])) - set(service.get("profiles", []))
            assert not hidden or dependency["required"] is False


@pytest.mark.parametrize("name", OURS)
def test_process_is_one_that_serve_knows(name):
    verb, service = SERVICES[name]["command"]
    source = (ROOT / "services/cli/commands/serve.py").read_text(encoding="utf-8")
    keys = [
        key.value
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Dict)
        for key in node.keys
        if isinstance(key, ast.Constant)
    ]
    assert (verb, service in keys) == ("serve", True)


@pytest.mark.parametrize("name", OURS)
def test_process_runs_without_privileges(name):
    service = SERVICES[name]
    assert (service["read_only"], service["cap_drop"]) == (True, ["ALL"])
    assert service["security_opt"] == ["no-new-privileges:true"]


def used_variables() -> dict[str, str]:
    """Return every GROUNDTRAIL_* variable that a deployment file sets, with the file that names it."""
    found = {name: "compose.yaml" for service in SERVICES.values() for name in service.get("environment", {})}
    found |= dict.fromkeys(re.findall(r"^\s+(?:ENV )?(GROUNDTRAIL_\w+)=", DOCKERFILE, re.MULTILINE), "Dockerfile")
    for document in kind("ConfigMap"):
        found |= dict.fromkeys(document["data"], "ConfigMap")
    for document in kind("StatefulSet"):
        container = document["spec"]["template"]["spec"]["containers"][0]
        found |= {entry["name"]: "StatefulSet" for entry in container.get("env", [])}
    return {name: where for name, where in found.items() if name.startswith("GROUNDTRAIL_")}


def pod_specs() -> list[dict]:
    """Return every pod that the Kubernetes files make, of whatever kind its owner is."""
    return [
        document["spec"]["template"]["spec"] if "template" in document.get("spec", {}) else document["spec"]
        for document in KUBERNETES
        if "template" in document.get("spec", {}) or document["kind"] == "Pod"
    ]


def test_kubernetes_adds_no_variables_of_services_which_would_be_no_settings():
    """A Service that is called groundtrail makes GROUNDTRAIL_SERVICE_HOST, GROUNDTRAIL_PORT … of itself."""
    assert any(document["metadata"]["name"] == "groundtrail" for document in kind("Service"))
    assert pod_specs()
    assert [pod.get("enableServiceLinks") for pod in pod_specs()] == [False] * len(pod_specs())


def test_forwarded_addresses_are_believed_of_envoy_and_of_nobody_else():
    default = "".join(re.findall(r":-(.*)\}$", SERVICES["gateway"]["environment"]["GROUNDTRAIL_EDGE__TRUSTED_PROXIES"]))
    trusted = EdgeSettings(trusted_proxies=json.loads(default)).trusted_proxies
    joined = {name: where["ipv4_address"] for name, where in SERVICES["envoy"]["networks"].items()}
    assert sorted(trusted) == sorted(joined.values())
    for name, address in joined.items():
        (config,) = COMPOSE["networks"][name]["ipam"]["config"]
        assert ipaddress.ip_address(address) in ipaddress.ip_network(config["subnet"])
        assert ipaddress.ip_address(address) not in ipaddress.ip_network(config["ip_range"])  # nobody else is given it
    for name in OURS:  # all of them hear from Envoy
        assert default in SERVICES[name]["environment"]["GROUNDTRAIL_EDGE__TRUSTED_PROXIES"]


def test_who_has_a_proxy_in_front_is_asked_to_name_it():
    for environment in (SERVICES["gateway"]["environment"], *(one["data"] for one in kind("ConfigMap"))):
        assert environment["GROUNDTRAIL_HTTP__BEHIND_PROXY"] == "true"
        assert "GROUNDTRAIL_EDGE__TRUSTED_PROXIES" in environment


def test_every_variable_is_a_setting():
    known = {*known_variables(Settings), *(f"{name}_FILE" for name in secret_variables(Settings))}
    assert len(used_variables()) >= 10
    assert {name: where for name, where in used_variables().items() if name not in known} == {}


def test_ports_agree_with_the_settings():
    for name in OURS:
        environment = SERVICES[name]["environment"]
        assert int(environment["GROUNDTRAIL_SERVER__PORT"]) == GRPC_PORT
        assert int(environment["GROUNDTRAIL_TELEMETRY__HTTP_PORT"]) == TELEMETRY_PORT
        assert f"127.0.0.1:{TELEMETRY_PORT}/readyz" in SERVICES[name]["healthcheck"]["test"][-1]
    assert f"GROUNDTRAIL_SERVER__PORT={GRPC_PORT}" in DOCKERFILE
    assert f"EXPOSE {GRPC_PORT} {TELEMETRY_PORT}" in DOCKERFILE


@pytest.mark.parametrize("name", ["gateway", "ercp"])
def test_a_process_that_calls_others_finds_them(name):
    environment = SERVICES[name]["environment"]
    for peer in ("envelope", "dpe", "dag"):
        assert environment[f"GROUNDTRAIL_PEERS__{peer.upper()}"] == f"{peer}:{GRPC_PORT}"


def test_triton_serves_every_encoder_and_no_other_folder():
    command = SERVICES["triton"]["command"]
    loaded = {word.split("=")[1] for word in command if word.startswith("--load-model=")}
    configs = [
        parse_model_config(path.read_text(encoding="utf-8"))
        for path in (ROOT / "model_repository").glob("*/config.pbtxt")
    ]
    assert loaded == {config.name for config in configs if config.backend == "onnxruntime"}
    assert "--model-control-mode=explicit" in command


def test_the_processes_that_run_encoders_find_triton():
    default = TritonSettings.model_fields["target"].default.rsplit(":", 1)[1]
    for name in ("envelope", "dpe", "ercp"):
        environment = SERVICES[name]["environment"]
        assert environment["GROUNDTRAIL_INFERENCE__BACKEND"].endswith(":-onnx}")
        assert environment["GROUNDTRAIL_INFERENCE__TRITON__TARGET"].endswith(f":-triton:{default}}}")
        assert SERVICES[name]["depends_on"]["triton"] == {"condition": "service_healthy", "required": False}


@pytest.mark.parametrize(("service", "store"), [("dag", "SESSIONS"), ("envelope", "GRAPH")])
def test_a_service_finds_neo4j_and_the_image_is_the_version_that_was_tested(service, store):
    environment, settings = SERVICES[service]["environment"], Neo4jSettings.model_fields
    assert environment[f"GROUNDTRAIL_STORE__{store}"].endswith(":-sqlite}")
    assert environment["GROUNDTRAIL_NEO4J__URI"].endswith(
        f":-bolt://neo4j:{settings['uri'].default.rsplit(':', 1)[1]}}}"
    )
    password = SERVICES["neo4j"]["environment"]["NEO4J_AUTH"]
    assert password == f"{settings['user'].default}/{environment['GROUNDTRAIL_NEO4J__PASSWORD']}"
    assert SERVICES["neo4j"]["image"] == f"neo4j:{neo4j.version()}-community"


def test_envelope_finds_milvus_and_the_image_is_the_version_that_was_tested():
    environment, settings = SERVICES["envelope"]["environment"], MilvusSettings.model_fields
    assert environment["GROUNDTRAIL_STORE__FACTS"].endswith(":-sqlite}")
    port = settings["uri"].default.rsplit(":", 1)[1]
    assert environment["GROUNDTRAIL_MILVUS__URI"].endswith(f":-http://milvus:{port}}}")
    assert f"Milvus {SERVICES['milvus']['image'].rsplit(':v', 1)[1]} standalone" == milvus.NAME


def test_published_ports_are_on_loopback():
    published = [port for service in SERVICES.values() for port in service.get("ports", [])]
    assert published
    assert [port for port in published if not port.startswith("127.0.0.1:")] == []


def test_no_password_stands_in_the_file():
    for service in SERVICES.values():
        for name, value in service.get("environment", {}).items():
            if re.search("PASSWORD|SECRET|API_KEY|AUTH", name) and not name.endswith("_FILE"):
                assert re.fullmatch(r"(neo4j/)?\$\{\w+:-\}", str(value)), name


def test_a_secret_of_compose_is_mounted_where_its_setting_looks_and_only_when_it_is_named():
    asked = {
        name: (variable, value)
        for name, service in SERVICES.items()
        for variable, value in service.get("environment", {}).items()
        if variable.startswith("GROUNDTRAIL_") and variable.endswith("_FILE")
    }
    assert set(asked) == {"gateway", "ercp", "dag"}
    for name, (variable, value) in asked.items():
        host, secret = re.fullmatch(r"\$\{(\w+):\+/run/secrets/([a-z-]+)\}", value).groups()
        assert variable.removesuffix("_FILE") in set(secret_variables(Settings))
        assert SERVICES[name]["secrets"] == [secret]
        assert COMPOSE["secrets"][secret] == {"file": f"${{{host}:-/dev/null}}"}
        assert f"#{host}=" in (ROOT / ".env.example").read_text(encoding="utf-8").splitlines()


def test_kubernetes_mounts_secrets_as_files_and_gives_none_by_the_environment():
    pod = kind("StatefulSet")[0]["spec"]["template"]["spec"]
    container = pod["containers"][0]
    assert "secretKeyRef" not in json.dumps(pod)
    (volume,) = [one for one in pod["volumes"] if "secret" in one]
    (mount,) = [one for one in container["volumeMounts"] if one["name"] == volume["name"]]
    assert mount["readOnly"] is True
    assert volume["secret"]["defaultMode"] == 0o440  # the group alone, which is the pod's fsGroup
    named = {name: value for name, value in kind("ConfigMap")[0]["data"].items() if name.endswith("_FILE")}
    assert named == {"GROUNDTRAIL_DAG__MASTER_KEY_FILE": f"{mount['mountPath']}/dag-master-key"}


def test_image_runs_as_a_user_and_checks_itself():
    runtime = DOCKERFILE.split(" AS runtime")[1]
    assert re.search(r"^USER groundtrail$", runtime, re.MULTILINE)
    assert "HEALTHCHECK" in runtime
    assert "--require-hashes -r requirements.lock" in DOCKERFILE


def test_image_copies_only_what_exists_and_travels():
    ignore = {
        line[1:] for line in (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines() if line.startswith("!")
    }
    sources = [
        source
        for line in re.findall(r"^COPY (?!--from)(.+)$", DOCKERFILE, re.MULTILINE)
        for source in line.split()[:-1]
    ]
    assert sources
    for source in sources:
        assert (ROOT / source).exists(), source
        assert any(source == kept or source.startswith(f"{kept}/") for kept in ignore), source


def manager() -> dict:
    return ENVOY["static_resources"]["listeners"][0]["filter_chains"][0]["filters"][0]["typed_config"]


def test_envoy_filters_stand_in_the_order_that_transcoding_needs():
    names = [item["name"].rsplit(".", 1)[-1] for item in manager()["http_filters"]]
    assert names == ["local_ratelimit", "cors", "grpc_web", "grpc_json_transcoder", "router"]


def test_envoy_reaches_every_service_on_its_port():
    clusters = {cluster["name"]: cluster for cluster in ENVOY["static_resources"]["clusters"]}
    assert set(clusters) == {*OURS, HTTP_CLUSTER}
    for name in OURS:
        cluster = clusters[name]
        endpoint = cluster["load_assignment"]["endpoints"][0]["lb_endpoints"][0]["endpoint"]["address"]
        assert endpoint["socket_address"] == {"address": name, "port_value": GRPC_PORT}
        assert "grpc_health_check" in cluster["health_checks"][0]
    routes = manager()["route_config"]["virtual_hosts"][0]["routes"]
    assert {route["route"]["cluster"] for route in routes} == set(clusters)
    assert routes[-1]["match"] == {"prefix": "/"}


def test_envoy_reaches_http_where_the_gateway_serves_it():
    environment = SERVICES["gateway"]["environment"]
    port = int(environment["GROUNDTRAIL_HTTP__PORT"])
    assert (environment["GROUNDTRAIL_HTTP__HOST"], environment["GROUNDTRAIL_HTTP__BEHIND_PROXY"]) == ("0.0.0.0", "true")
    assert environment["GROUNDTRAIL_PEERS__ERCP"] == f"ercp:{GRPC_PORT}"
    (cluster,) = [one for one in ENVOY["static_resources"]["clusters"] if one["name"] == HTTP_CLUSTER]
    endpoint = cluster["load_assignment"]["endpoints"][0]["lb_endpoints"][0]["endpoint"]["address"]
    assert endpoint["socket_address"] == {"address": "gateway", "port_value": port}
    assert cluster["health_checks"][0]["http_health_check"] == {"path": READY}
    routes = [
        route
        for route in manager()["route_config"]["virtual_hosts"][0]["routes"]
        if route["route"]["cluster"] == HTTP_CLUSTER
    ]
    assert routes[0]["match"] == {"path_separated_prefix": "/ercp/v1"}
    assert len(routes) == 3  # tests/unit/house/test_envoy_routes.py holds them to what is served
    longest = HttpSettings.model_fields["run_timeout_s"].default
    for route in routes:
        assert seconds(route["route"]["timeout"]) > longest
        assert seconds(route["route"]["idle_timeout"]) > longest
        assert "unavailable" not in route["route"]["retry_policy"]["retry_on"]
    keep_alive = cluster["typed_extension_protocol_options"]["envoy.extensions.upstreams.http.v3.HttpProtocolOptions"]
    assert seconds(keep_alive["common_http_protocol_options"]["idle_timeout"]) < KEEP_ALIVE_S
    assert not any(service.get("ports") for name, service in SERVICES.items() if name in OURS)


def seconds(duration: str) -> float:
    return float(duration.removesuffix("s"))


def test_kubernetes_opens_the_port_of_http_as_the_settings_say():
    (config,) = kind("ConfigMap")
    port = int(config["data"]["GROUNDTRAIL_HTTP__PORT"])
    (service,) = kind("Service")
    (policy,) = kind("NetworkPolicy")
    (suite,) = kind("StatefulSet")
    container = suite["spec"]["template"]["spec"]["containers"][0]
    assert {"name": "http", "containerPort": port} in container["ports"]
    assert [each["port"] for each in service["spec"]["ports"] if each["name"] == "http"] == [port]
    callers = policy["spec"]["ingress"][0]["ports"]
    assert {each["port"] for each in callers} == {GRPC_PORT, port}


def test_the_network_policy_lets_out_what_the_suite_talks_to():
    (policy,) = kind("NetworkPolicy")
    rules = policy["spec"]["egress"]
    ports = [{(one["protocol"], one["port"]) for one in rule["ports"]} for rule in rules]
    assert ports[0] == {("UDP", 53), ("TCP", 53)}
    assert ("to" not in rules[1], ports[1]) == (True, {("TCP", 443)})  # the LLM provider and the event sink, anywhere
    defaults = (
        TritonSettings.model_fields["target"].default,
        Neo4jSettings.model_fields["uri"].default,
        MilvusSettings.model_fields["uri"].default,
    )
    backends = {("TCP", int(address.rsplit(":", 1)[1])) for address in defaults}
    assert backends == {("TCP", 8001), ("TCP", 7687), ("TCP", 19530)}
    assert ports[2] >= {*backends, ("TCP", 4317), ("TCP", 4318)}  # and OTLP's two, which IANA registers
    assert ports[2] - backends == {("TCP", port) for port in (4317, 4318, 8000, 11434)}
    (peer,) = rules[2]["to"]
    assert peer["namespaceSelector"]["matchLabels"] == {"groundtrail.io/backend": "true"}
    assert len(rules) == 3


def test_envoy_transcodes_every_service_of_the_contract():
    declared = {
        f"{re.search(r'^package (.+);', text, re.MULTILINE).group(1)}.{name}"
        for path in (ROOT / "proto").rglob("*_service.proto")
        for text in [path.read_text(encoding="utf-8")]
        for name in re.findall(r"^service (\w+)", text, re.MULTILINE)
    }
    transcoder = next(item for item in manager()["http_filters"] if item["name"].endswith("grpc_json_transcoder"))
    assert set(transcoder["typed_config"]["services"]) == declared - {"ercp.v1.ErcpService"}, (
        "its JSON is the document's"
    )
    assert transcoder["typed_config"]["convert_grpc_status"] is True


def test_descriptor_set_has_every_service_and_the_details_of_errors():
    specification = importlib.util.spec_from_file_location("descriptor_set", ROOT / "tools/descriptor_set.py")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    files = module.descriptor_set().file
    names = [file.name for file in files]
    assert "google/rpc/error_details.proto" in names
    declared = {f"{file.package}.{service.name}" for file in files for service in file.service}
    transcoder = next(item for item in manager()["http_filters"] if item["name"].endswith("grpc_json_transcoder"))
    assert set(transcoder["typed_config"]["services"]) <= declared
    for position, file in enumerate(files):
        assert set(file.dependency) <= set(names[:position]), file.name


def test_kustomization_lists_every_manifest():
    listed = kind("Kustomization")[0]["resources"]
    assert sorted([*listed, "kustomization.yaml"]) == sorted(
        p.name for p in (ROOT / "deploy/kubernetes").glob("*.yaml")
    )


def test_kubernetes_probes_and_ports():
    pod = kind("StatefulSet")[0]["spec"]["template"]["spec"]
    container = pod["containers"][0]
    assert {port["name"]: port["containerPort"] for port in container["ports"]} == {
        "grpc": GRPC_PORT,
        "http": int(kind("ConfigMap")[0]["data"]["GROUNDTRAIL_HTTP__PORT"]),
        "telemetry": TELEMETRY_PORT,
    }
    assert container["readinessProbe"]["httpGet"]["path"] == "/readyz"
    assert container["livenessProbe"]["httpGet"]["path"] == "/healthz"
    assert pod["securityContext"]["runAsNonRoot"] is True
    drain = float(kind("ConfigMap")[0]["data"]["GROUNDTRAIL_SERVER__DRAIN_GRACE_S"])
    assert pod["terminationGracePeriodSeconds"] > drain
    # The embedded stores have one writer.
    assert kind("StatefulSet")[0]["spec"]["replicas"] == 1


def test_http_paths_of_the_probes_are_served():
    source = (ROOT / "services/common/rpc/http_endpoint.py").read_text(encoding="utf-8")
    served = {node.value for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Constant)}
    assert {"/readyz", "/healthz", "/metrics"} <= served


def documented_memory():
    """Return MiB by service as docs/operations.md tells them: with models loaded, and the most that was seen."""
    rows = re.findall(
        r"^\| `?([a-z ]+)`? \| [\d,]+ \| ([\d,]+) \| ([\d,]+) \|$",
        (ROOT / "docs/operations.md").read_text(encoding="utf-8"),
        re.MULTILINE,
    )
    return {name: (int(loaded.replace(",", "")), int(most.replace(",", ""))) for name, loaded, most in rows}


@pytest.mark.parametrize("name", OURS)
def test_a_container_may_take_half_as_much_again_as_its_service_was_seen_to(name):
    limit = SERVICES[name]["mem_limit"]
    mib = int(limit[:-1]) * {"m": 1, "g": 1024}[limit[-1]]
    assert mib >= 1.5 * max(documented_memory()[name])


def test_kubernetes_requests_what_the_suite_takes_and_limits_it_above_its_peak():
    loaded, most = documented_memory()["whole suite"]
    resources = kind("StatefulSet")[0]["spec"]["template"]["spec"]["containers"][0]["resources"]
    sizes = {"Mi": 1, "Gi": 1024}
    requested, limit = (
        int(resources[key]["memory"][:-2]) * sizes[resources[key]["memory"][-2:]] for key in ("requests", "limits")
    )
    assert loaded < most <= requested
    assert limit >= 1.5 * most


def test_what_serves_behind_readiness_loads_its_encoders_before_it_is_ready():
    (settings,) = kind("ConfigMap")
    assert settings["data"]["GROUNDTRAIL_INFERENCE__LOAD"] == "start"
    for name in ("envelope", "dpe", "gateway", "ercp"):
        assert SERVICES[name]["environment"]["GROUNDTRAIL_INFERENCE__LOAD"] == "start"
