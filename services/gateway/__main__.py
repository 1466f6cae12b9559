"""``python -m services.gateway``: the gateway as a process."""

from services.common.rpc.main import run
from services.gateway.compose import build_alone

if __name__ == "__main__":
    run("gateway", build_alone)
