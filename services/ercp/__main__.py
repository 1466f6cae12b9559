"""``python -m services.ercp``: the ERCP service as a process."""

from services.common.rpc.main import run
from services.ercp.compose import build

if __name__ == "__main__":
    run("ercp", build)
