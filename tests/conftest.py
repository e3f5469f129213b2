"""Makes the helper modules beside the tests importable, here and in the processes that tests start."""

import os
import sys
from pathlib import Path

HERE = str(Path(__file__).parent)
sys.path.insert(0, HERE)
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [HERE, os.environ.get("PYTHONPATH")]))

try:
    from hypothesis import HealthCheck, settings
except ImportError:  # the tests of the bare library run without it
    pass
else:  # neither how fast the machine is at the moment nor luck says anything about the code
    settings.register_profile("manyarms", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
    settings.load_profile("manyarms")
