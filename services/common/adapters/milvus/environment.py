"""Keeps pymilvus from reading a ``.env`` file into this process's environment when it is imported.

Settings are read once and by us (``services.common.settings``); what a file holds must not reach child processes by the
way. Imported by the package before anything that imports pymilvus.
"""

import os

os.environ.setdefault("PYTHON_DOTENV_DISABLED", "1")
