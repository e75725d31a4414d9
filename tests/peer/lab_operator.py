#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What an operator sees of a cut cable, a dead leaf and a rebooted host: lab_operator.py --smd PROGRAM."""
import json
import subprocess

from ibsim import check, wait_for
from lab import Lab
from runner import run_scenario
from subject import Smd


def scenario(given):
    def say(*words, ok=(0,)):
        done = subprocess.run([given.smd, *words, "--socket", str(socket)], capture_output=True, text=True, timeout=60)
        check(done.returncode in ok, f"smd {' '.join(words)}: exit status {done.returncode}: {done.stdout}{done.stderr}")
        return done.stdout

    def state():
        return json.loads(say("status", "--json"))["subnets"][0]["state"]

    with Lab(given.smd, "ft2:8") as lab:
        socket = lab.folder / "smd.sock"
        say("status", "--check", ok=(1,))
        client = Smd(given.smd).start(lab, "h00000", "--socket", socket)
        wait_for(lambda: " subnet.up " in client.log(), 60, "subnet.up")
        check(": up" in say("status", "--check"), "status --check of a fabric that is up")

        lab.command("link down leaf000 5")
        wait_for(lambda: state() == "reduced", 30, "reduced after a cut")
        line = next(line for line in client.log().splitlines() if " link.down " in line)
        for part in ("name=leaf000 port=5", "peer_name=spine000", 'rate="4x HDR"'):
            check(part in line, f"{part} is not in: {line}")
        check("reduced" in say("status", "--check", ok=(3,)), "status --check of a reduced fabric")
        for words in (("ports", "--lost"), ("ports", "--not-active"), ("status",)):
            text = say(*words)
            check("leaf000" in text or "1 link" in text, f"smd {' '.join(words)}: {text}")
            print(f"   smd {' '.join(words)}\n      " + "\n      ".join(text.strip().splitlines()[:12]), flush=True)
        say("accept", "--lost", "h00009", ok=(1,))
        say("accept", "--lost", "leaf000")
        wait_for(lambda: state() == "up", 30, "up after accept")
        lab.command("link up leaf000 5")
        wait_for(lambda: " link.up " in client.log(), 30, "link.up")

        lab.command("node remove leaf003")
        wait_for(lambda: state() == "reduced", 30, "reduced without a leaf")
        line = next(line for line in client.log().splitlines() if " node.gone " in line)
        check("name=leaf003" in line and "h00012" in line, f"node.gone without its hosts: {line}")
        lab.command("node restore leaf003")
        wait_for(lambda: state() == "up", 60, "up with the leaf")

        lab.command("node reboot h00009 1")
        wait_for(lambda: any(" node.rebooted " in text and "name=h00009" in text
                             for text in client.log().splitlines()), 30, "node.rebooted")
        wait_for(lambda: state() == "up", 30, "up with the host")
        check("duplicate" not in client.log(), "no key twice")


if __name__ == "__main__":
    run_scenario(scenario, __doc__)
