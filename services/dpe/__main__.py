"""``python -m services.dpe``: the provenance service as a process."""

from services.common.rpc.main import run
from services.dpe.compose import build

if __name__ == "__main__":
    run("dpe", build)
