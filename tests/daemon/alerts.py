#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The alerts of docs/prometheus, with series of the test, where promtool is installed: alerts.py SOURCE."""
import pathlib
import shutil
import subprocess
import sys

if shutil.which("promtool") is None:
    print("promtool is not installed (Debian's prometheus): not checked")
    sys.exit(77)  # ctest says that it was skipped
sys.exit(subprocess.run(["promtool", "test", "rules", pathlib.Path(sys.argv[1]) / "tests/daemon/alerts.yml"]).returncode)
