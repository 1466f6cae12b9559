"""``python -m services.dag``: the dag service as a process."""

from services.common.rpc.main import run
from services.dag.compose import build

if __name__ == "__main__":
    run("dag", build)
