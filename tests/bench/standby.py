#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a standby costs beside a master on a quiet fabric: SMPs a minute, processor time and memory of both.
standby.py [FABRIC…] (ft3:8 ft3:24), or ./dev bench standby [-- FABRIC…]
SMD_BENCH_SECONDS: how long is measured (120)."""
import os
import pathlib
import re
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
BIN = pathlib.Path(os.environ.get("SMD_BIN", HERE / "../../build/release/bin")).resolve()
os.environ.setdefault("SMD_PEER_COUNTER", str(next(iter(sorted(BIN.parent.glob("**/libpeer_counter.so"))), "")))
sys.path.insert(0, str(HERE / "../peer"))
from ibsim import wait_for  # noqa: E402
from lab import Lab  # noqa: E402
import failover_pair  # noqa: E402

SECONDS = float(os.environ.get("SMD_BENCH_SECONDS", "120"))


def sent(sm):
    """SMPs since the start; those of a standby are Gets."""
    page = subprocess.run(["curl", "-sS", "--unix-socket", sm.client.folder / "api.sock", "http://localhost/metrics"],
                          capture_output=True, text=True, check=True).stdout
    return float(re.search(r"^smd_smps_total\S* (\S+)", page, re.M)[1])


def processor(pid):
    """Seconds of all its threads."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def memory(pid):
    """(resident now, most ever) in MiB"""
    text = pathlib.Path(f"/proc/{pid}/status").read_text()
    return tuple(int(re.search(rf"^{word}:\s+(\d+)", text, re.M)[1]) // 1024 for word in ("VmRSS", "VmHWM"))


def measure(spec):
    with Lab(BIN / "smd", spec) as lab:
        began = time.monotonic()
        pair = failover_pair.Smd(lab, failover_pair.hosts_in(spec), patience=failover_pair.patience_of(spec))
        print(f"standby/{spec}: current {time.monotonic() - began:.1f} s after the master's start", flush=True)
        time.sleep(30)  # what each reads once after its start
        at = time.monotonic()
        before = [(sent(sm), processor(sm.client.process.pid)) for sm in pair.sms]
        time.sleep(SECONDS)
        minutes = (time.monotonic() - at) / 60
        for name, sm, (was, used) in zip(("master", "standby"), pair.sms, before):
            pid = sm.client.process.pid
            resident, most = memory(pid)
            print(f"standby/{spec}/{name}: {(sent(sm) - was) / minutes:.0f} SMPs a minute; processor {(processor(pid) - used) / minutes / 60:.2%}; "
                  f"resident {resident} MiB (most {most})", flush=True)


if __name__ == "__main__":
    for fabric in sys.argv[1:] or ["ft3:8", "ft3:24"]:
        measure(fabric)
