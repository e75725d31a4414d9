#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""smd and unmodified opensm as a pair, the fabric going from one to the other: lab_pair.py --smd PROGRAM. By rank, by
`smd priority` (trap 144), by `smd handover`, by SIGTERM, and back. In between there is one master, and no LID changes."""
import json
import signal
import subprocess
import time

from ibsim import check, wait_for
from lab import Lab
from lab_stop import Sm, discovered, masters, state_of
from runner import run_scenario

SMD, OPENSM = "h00000", "h00021"


class Pair:
    """smd on h00000, opensm on h00021, which polls once a second and sweeps every two."""

    def __init__(self, lab):
        self.lab, self.lids = lab, {}
        self.smd = Sm(lab, "smd", SMD, 3)
        self.smd.wait_up()
        self.hosts = discovered(lab, "h00009")
        for host in (SMD, OPENSM):
            base = lab.output(host, "ibstat").split("Base lid:")[1].split()[0]
            self.lids[host] = int(base)

    def start_opensm(self, priority):
        conf = self.lab.folder / "osm.conf"
        conf.write_text("sminfo_polling_timeout 1000\npolling_retry_number 2\nsweep_interval 2\n")
        self.opensm = self.lab.start(OPENSM, "opensm", "-d", "2", "-f", "osm.log", "-p", str(priority), "-F", str(conf))

    def opensm_log(self):
        log = self.opensm.folder / "osm.log"
        return log.read_text(errors="replace") if log.exists() else ""

    def ask(self, *words):
        done = subprocess.run([self.lab.smd, *words, "--socket", self.smd.client.folder / "api.sock"],
                              capture_output=True, text=True, timeout=20, check=False)
        check(done.returncode == 0, f"smd {words}: {done.returncode} {done.stderr}")
        return done.stdout

    def wait_master(self, host, why):
        began = time.monotonic()
        wait_for(lambda: masters(self.lab, self.lids) == [host], 30, f"{host} master: {why}")
        print(f"   {why}: {host} is the only master after {time.monotonic() - began:.1f} s", flush=True)

    def stays_master(self, host, seconds):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            found = masters(self.lab, self.lids)
            check(found == [host], f"master is {found}, not {host}")
            time.sleep(0.3)

    def check_lids(self):
        after = discovered(self.lab, "h00009")
        check(after == self.hosts, f"other nodes, links or LIDs: {set(after) ^ set(self.hosts)}")


def pair(smd):
    with Lab(smd, "ft2:8") as lab:
        both = Pair(lab)
        both.start_opensm(9)
        both.wait_master(OPENSM, "opensm of a higher priority starts")
        wait_for(lambda: "SUBNET UP" in both.opensm_log(), 20, "opensm's SUBNET UP")
        both.check_lids()
        both.ask("priority", "12")
        both.wait_master(SMD, "smd priority 12")
        wait_for(lambda: '"state":"up"' in both.ask("status", "--json").replace(" ", ""), 20, "smd up")
        both.check_lids()
        sms = json.loads(both.ask("sms", "--json"))["sms"]
        check([sm["state"] for sm in sms] == ["master", "standby"], f"smd sms: {sms}")
        both.ask("handover", sms[1]["guid"])
        both.wait_master(OPENSM, "smd handover")
        both.stays_master(OPENSM, 5)  # smd ranks higher, and does not show it
        both.check_lids()
        both.ask("priority", "12")
        both.wait_master(SMD, "smd priority 12 once more")
        wait_for(lambda: state_of(lab, "h00009", both.lids[OPENSM]) == "STANDBY", 10, "opensm in standby")
        both.smd.signal(signal.SIGTERM)
        both.wait_master(OPENSM, "SIGTERM of smd")
        both.check_lids()


def killed(smd):
    """opensm as master is killed, smd takes the fabric; an opensm that returns with a lower priority gets nothing."""
    with Lab(smd, "ft2:8") as lab:
        both = Pair(lab)
        both.start_opensm(9)
        both.wait_master(OPENSM, "opensm of a higher priority starts")
        wait_for(lambda: "SUBNET UP" in both.opensm_log(), 20, "opensm's SUBNET UP")
        both.opensm.stop(signal.SIGKILL)
        wait_for(lambda: masters(lab, {SMD: both.lids[SMD]}) == [SMD], 20, "smd's takeover")
        both.start_opensm(1)
        wait_for(lambda: "Entering STANDBY" in both.opensm_log(), 20, "opensm in standby")
        both.stays_master(SMD, 3)
        both.check_lids()


def scenario(given):
    pair(given.smd)
    killed(given.smd)


if __name__ == "__main__":
    run_scenario(scenario, __doc__)
