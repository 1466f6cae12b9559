"""Settings of the guard: coherence, oversight of streams, injection, verified claims."""

from pydantic import BaseModel, ConfigDict

from services.common.settings.guard.coherence import CoherenceSettings
from services.common.settings.guard.injection import InjectionSettings
from services.common.settings.guard.oversight import OversightSettings
from services.common.settings.guard.verification import VerificationSettings


class GuardSettings(BaseModel):
    """The guard's section (``GROUNDTRAIL_GUARD__…``)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    coherence: CoherenceSettings = CoherenceSettings()
    """Coherence scores."""
    oversight: OversightSettings = OversightSettings()
    """Oversight of token streams."""
    injection: InjectionSettings = InjectionSettings()
    """The search for injection."""
    verification: VerificationSettings = VerificationSettings()
    """Verified claims."""
