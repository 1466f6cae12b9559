"""deploy/prometheus and deploy/grafana ask for metrics that exist, and alert on what operators are told to alert on."""

import json
import re
from typing import Any, cast

import yaml
from prometheus_client import CollectorRegistry

from services.common.adapters.memory.sessions import MemorySessionStore
from services.common.errors import ErrorReason
from services.common.rpc.credential_gate import RefusalMetrics
from services.common.rpc.heartbeat import Heartbeat
from services.common.telemetry.admission import AdmissionCounts
from services.common.telemetry.metrics import RpcMetrics
from services.dag.log_keeper import LogKeeper
from services.dag.master_keys import FixedMasterKeys
from services.dag.publishing import PublishingMetrics
from services.dag.retention import SweepMetrics
from services.dag.sink import SinkMetrics
from services.gateway.reports.sending import ReportSender
from tests.fakes.dag_world import MASTER
from tests.unit.house.test_deployment import OURS, ROOT, TELEMETRY_PORT


def exported_metrics() -> set[str]:
    registry = CollectorRegistry()
    RpcMetrics(registry).of_method("s", "m").end("OK", 0.1)
    registry.register(SinkMetrics())
    registry.register(PublishingMetrics())
    registry.register(SweepMetrics())
    refusals = RefusalMetrics()
    refusals.count("grpc", ErrorReason.CREDENTIAL_MISSING)
    registry.register(refusals)
    admission = AdmissionCounts(registry)
    admission.refuse("standard", ErrorReason.WORK_LIMIT.value)
    admission.waited("standard", 0.1)
    registry.register(Heartbeat())
    registry.register(LogKeeper(MemorySessionStore(), FixedMasterKeys({1: MASTER})))
    nothing = cast("Any", None)
    registry.register(ReportSender(nothing, nothing, nothing, nothing))
    return {sample.name for family in registry.collect() for sample in family.samples}


def metrics_in(text: str) -> set[str]:
    return set(re.findall(r"\bgroundtrail_[a-z_]+", text))


def test_dashboard_and_alerts_ask_for_metrics_that_exist():
    dashboard = json.loads((ROOT / "deploy/grafana/dashboards/groundtrail.json").read_text(encoding="utf-8"))
    asked = [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]
    rules = yaml.safe_load((ROOT / "deploy/prometheus/rules.yml").read_text(encoding="utf-8"))["groups"][0]["rules"]
    asked += [rule["expr"] for rule in rules]
    assert metrics_in(" ".join(asked))
    assert metrics_in(" ".join(asked)) - exported_metrics() == set()
    recorded = {rule["record"] for rule in rules if "record" in rule}
    assert set(re.findall(r"groundtrail:[\w:]+", " ".join(asked))) <= recorded


def alarms_that_operators_are_told_of() -> set[str]:
    """Return what docs/operations.md says to alert on, in its table and in its text."""
    text = (ROOT / "docs/operations.md").read_text(encoding="utf-8")
    rows = [
        row for row in text.splitlines() if row.startswith("| `groundtrail_") and re.search(r"\balert\b|alarm", row)
    ]
    told = [sentence for sentence in re.split(r"(?<=\.)\s+", text) if sentence.startswith("Alert on")]
    return {metric for row in rows for metric in metrics_in(row.split("|")[1])} | metrics_in(" ".join(told))


def test_what_operators_are_told_to_alert_on_has_an_alert():
    rules = yaml.safe_load((ROOT / "deploy/prometheus/rules.yml").read_text(encoding="utf-8"))["groups"][0]["rules"]
    asked = metrics_in(" ".join(rule["expr"] for rule in rules))
    wanted = alarms_that_operators_are_told_of() | {"groundtrail_violation_reports_dead"}
    assert wanted >= {"groundtrail_log_inconsistent_tenants", "groundtrail_admission_refused_total"}
    assert {name for name in wanted if not asked & {name, f"{name}_bucket"}} == set()


def test_prometheus_scrapes_every_process():
    config = yaml.safe_load((ROOT / "deploy/prometheus/prometheus.yml").read_text(encoding="utf-8"))
    targets = config["scrape_configs"][0]["static_configs"][0]["targets"]
    assert set(targets) == {f"{name}:{TELEMETRY_PORT}" for name in OURS}
