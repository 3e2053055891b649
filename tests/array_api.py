"""scikit-learn skips its check of array API input unless SCIPY_ARRAY_API was set before SciPy was imported."""

import os
import subprocess
import sys
from pathlib import Path

NEEDS_ARRAY_API = "check_array_api_input"


def printed_with_array_api(file):
    """What a file prints as a program, in a process of its own that has the variable set; it must succeed."""
    helpers = str(Path(__file__).parent)
    path = os.pathsep.join(filter(None, [helpers, os.environ.get("PYTHONPATH")]))
    outcome = subprocess.run(
        [sys.executable, "-W", "error", file],
        env={**os.environ, "SCIPY_ARRAY_API": "1", "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert outcome.returncode == 0, outcome.stderr
    return outcome.stdout
