"""The ERCP service over a real provenance service: what a run's report says of its candidates, constraints included."""

import json
from dataclasses import dataclass, field

from services.common.ids import RandomIds
from services.common.settings.dpe import DpeSettings
from services.dpe.compose import PROVENANCE_SERVICE, provenance_service
from services.dpe.ports import AnalysisModels
from tests.fakes.documents import ThreadReader
from tests.fakes.dpe_world import StandingClock, models
from tests.fakes.ercp_world import ErcpWorld


@dataclass
class JudgedErcpWorld(ErcpWorld):
    """``ErcpWorld`` with the dpe service itself in place of the scripted one; its models are in memory."""

    dpe_models: AnalysisModels = field(default_factory=models)

    def _services(self, servicer, channels):
        dpe = provenance_service(self.dpe_models, DpeSettings(), StandingClock(), RandomIds(), ThreadReader())
        others = [each for each in super()._services(servicer, channels) if each.name != PROVENANCE_SERVICE]
        return [*others, dpe]

    def reports(self):
        """Return the stored reports as JSON, in the order of their windows."""
        stored = [
            json.loads(report.body) for held in self.dag.store._sessions.values() for report in held.reports.values()
        ]
        return sorted(stored, key=lambda report: report["window_number"])
