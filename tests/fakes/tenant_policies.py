"""Safety policies of tenants, as checks meet them."""

import time
from dataclasses import dataclass

from services.common.rpc.rate_limits import RateLimits
from services.common.settings import GatewaySettings
from services.common.settings.limits import LimitSettings
from services.gateway.check_policy import CheckPolicies
from services.gateway.doors.http.check_routes import CheckTerms


@dataclass(frozen=True)
class Registered:
    """A registry that knows policies alone."""

    policies: dict[str, str]

    async def safety_policy(self, tenant_id):
        return self.policies.get(tenant_id, "")

    async def sink_hosts(self, tenant_id):
        return ()

    async def ai_system(self, tenant_id, ai_system_id):
        return None


def check_policies(gateway: GatewaySettings, **of_tenants: str) -> CheckPolicies:
    """Return what checks are held against; ``tenant_a`` names ``tenant-a``."""
    named = {name.replace("_", "-"): text for name, text in of_tenants.items()}
    return CheckPolicies(Registered(named), gateway.default_safety_policy)


def check_terms(gateway: GatewaySettings, limits: LimitSettings | None = None, **of_tenants: str) -> CheckTerms:
    """Return by what answers are checked."""
    policies = check_policies(gateway, **of_tenants)
    return CheckTerms(gateway, policies, RateLimits(limits or LimitSettings(), time.monotonic))
