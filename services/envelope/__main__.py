"""``python -m services.envelope``: the envelope service as a process."""

from services.common.rpc.main import run
from services.envelope.compose import build

if __name__ == "__main__":
    run("envelope", build)
