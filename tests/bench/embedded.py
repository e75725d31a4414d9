#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Cold bring-up of large embedded fabrics: the sweep's own figures, processor time and peak memory of the process.

embedded.py [SPEC…], or ./dev bench embedded
"""
import json
import os
import resource
import subprocess
import sys
import time

SMD = os.environ.get("SMD", os.path.join(os.path.dirname(__file__), "../../build/release/bin/smd"))


def measure(spec):
    began = time.monotonic()
    process = subprocess.Popen([SMD, "run", "--sim", spec, "--once", "--json"], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
    out, err = process.communicate()
    seconds = time.monotonic() - began
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    if process.returncode != 0:
        sys.exit(f"{spec}: exit status {process.returncode}\n{err[-2000:]}")
    summary = json.loads(out.splitlines()[-1])
    print(f"embedded/{spec}: {seconds:.2f} s, processor {usage.ru_utime:.2f} s user + {usage.ru_stime:.2f} s system, "
          f"peak memory {usage.ru_maxrss / 1024:.0f} MiB")
    print("  " + " ".join(f"{key}={value}" for key, value in summary.items()))
    print("  " + "\n  ".join(line for line in err.splitlines() if "cpu" in line), flush=True)


def main():
    for spec in sys.argv[1:] or ["ft3:24", "ft3:36"]:
        if os.fork() == 0:  # a child each, as RUSAGE_CHILDREN keeps the largest of all
            measure(spec)
            sys.exit(0)
        status = os.wait()[1]
        if status:
            sys.exit(os.waitstatus_to_exitcode(status))


if __name__ == "__main__":
    main()
