#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How long clients are without an answer when the fabric goes from one SM to the other: from the signal to the sending
of the first request that is answered. A raw client asks for a PathRecord every 10 ms with a time-out of 100 ms; `fresh`
reads the SM's LID for each request, `keep` keeps it until three time-outs.

failover.py [FABRIC…] (ft3:8), or ./dev bench failover
SMD_BENCH_RUNS: of each row (5); SMD_BENCH_ROWS: some of smd, fast, term, opensm, quick (opensm with smd's poll)
"""
import os
import pathlib
import secrets
import signal
import statistics
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
BIN = pathlib.Path(os.environ.get("SMD_BIN", HERE / "../../build/release/bin")).resolve()
os.environ.setdefault("SMD_PEER_COUNTER", str(next(iter(sorted(BIN.parent.glob("**/libpeer_counter.so"))), "")))
sys.path.insert(0, str(HERE / "../peer"))
from ibsim import check, wait_for  # noqa: E402
from lab import Lab  # noqa: E402
import failover_pair  # noqa: E402

RUNS = int(os.environ.get("SMD_BENCH_RUNS", "5"))
ROWS = os.environ.get("SMD_BENCH_ROWS", "smd fast term opensm quick").split()


class Opensm:
    """A pair of opensm; `poll` is in milliseconds."""

    def __init__(self, lab, hosts, poll, losses, patience):
        conf = lab.folder / "osm.conf"
        conf.write_text(f"sminfo_polling_timeout {poll}\npolling_retry_number {losses}\n")
        self.sms = []
        for host, priority in zip(hosts, (10, 5)):
            client = lab.start(host, "opensm", "-d", "2", "-f", "osm.log", "-p", str(priority), "-F", str(conf))
            self.sms.append(client)
            word = "Entering STANDBY" if len(self.sms) > 1 else "SUBNET UP"
            log = client.folder / "osm.log"
            wait_for(lambda: log.exists() and word in log.read_text(errors="replace"), patience, f"opensm's {word}")

    def stop(self, how):
        self.sms[0].process.send_signal(how)


def gap(spec, row):
    """Milliseconds without an answer: of the client that reads the LID anew, and of the one that keeps it."""
    with Lab(BIN / "smd", spec) as lab:
        hosts, patience = failover_pair.hosts_in(spec), failover_pair.patience_of(spec)
        if row in ("opensm", "quick"):
            pair = Opensm(lab, hosts, *((10000, 4) if row == "opensm" else (300, 4)), patience)
        else:
            pair = failover_pair.Smd(lab, hosts, profile="fast" if row == "fast" else "normal", patience=patience)
        clients = [failover_pair.Client(lab, hosts[2], BIN / "failover_client"),
                   failover_pair.Client(lab, hosts[3], BIN / "failover_client", "keep")]
        for client in clients:
            wait_for(lambda: len(client.answers()) > 20, 20, "answers to the client")
        time.sleep(1 + secrets.randbelow(1000) / 1000)
        began = time.monotonic_ns()
        pair.stop(signal.SIGTERM if row == "term" else signal.SIGKILL)
        if row == "term":  # the old master answers until it has handed over
            time.sleep(3)
            return [client.longest_gap(began) for client in clients]
        wait_for(lambda: all(client.first_sent_after(began + 10**6) for client in clients), 90, f"{row}: answers")
        return [(client.first_sent_after(began + 10**6) - began) / 1e6 for client in clients]


def main():
    for spec in sys.argv[1:] or ["ft3:8"]:
        found = {row: [] for row in ROWS}
        for run in range(RUNS):
            for row in ROWS:
                if row == "opensm" and run >= max(1, RUNS // 5):
                    continue  # a minute each
                found[row].append(gap(spec, row))
                print(f"   {row}: {' '.join(f'{one:.0f}' for one in found[row][-1])} ms", flush=True)
        for row, runs in found.items():
            for name, values in zip(("fresh", "keep"), zip(*runs)):
                print(f"failover/{spec}/{row}/{name}: median {statistics.median(values):.0f} ms, "
                      f"worst {max(values):.0f} ms of {len(values)}", flush=True)


if __name__ == "__main__":
    main()
