"""``python -m services.allinone``: the whole suite as one process."""

from services.allinone.compose import build
from services.common.rpc.main import run

if __name__ == "__main__":
    run("allinone", build)
