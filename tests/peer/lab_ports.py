#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Ports that an operator disables: lab_ports.py --smd PROGRAM. What unmodified tools see of a disabled port, that it stays so when
its switch restarts, when a tool enables it and when the master dies, until it is enabled at the SM that is master then."""
import json
import re
import signal

from failover_pair import Smd, hosts_in
from ibsim import check, wait_for
from lab import Lab
from runner import run_scenario

LEAF, HOST = "leaf001", "h00009"


def disabled(args):
    spec = "ft2:8"
    with Lab(args.smd, spec) as lab:
        pair = Smd(lab, hosts_in(spec), profile="fast")
        master, standby = pair.sms
        asker = hosts_in(spec)[3]
        node = json.loads(master.ask("node", LEAF, "--json").stdout)
        number = [str(one["port"]) for one in node["port_list"] if one["peer"] and one["peer"]["name"].startswith("spine")][-1]
        lid = str(node["lid"])
        port = f"{LEAF}:{number}"

        def seen():
            info = lab.output(asker, "smpquery", "portinfo", lid, number)
            return re.search(r"PhysLinkState:\.*(\w+)", info)[1], re.search(r"LinkState:\.*(\w+)", info)[1]
        check(seen() == ("LinkUp", "Active"), f"before: {seen()}")
        dry = json.loads(master.ask("port", "disable", port, "--dry-run", "--json").stdout)
        check(dry["cut_off_count"] == 0 and dry["dry_run"], f"dry run: {dry}")
        check(seen() == ("LinkUp", "Active"), "a dry run changes nothing")
        told = standby.ask("port", "disable", port).stdout  # which hands it on
        wait_for(lambda: seen() == ("Disabled", "Down"), 10, f"{port} Disabled: {seen()}, {told}")
        state = lab.output(asker, "ibportstate", lid, number, "query")
        check("Disabled" in state, f"ibportstate: {state}")
        check("port.disabled" in master.client.log(), "the event")
        check(f'"{LEAF}" port {number}' in master.ask("status", ok=None).stdout, "status of the master")

        lab.output(asker, "ibportstate", lid, number, "enable")
        wait_for(lambda: seen()[0] == "Disabled", 20, f"disabled again after ibportstate: {seen()}")
        master.client.stop(signal.SIGKILL)
        wait_for(lambda: (standby.status().get("sm") or {}).get("state") == "master", 20, "the standby is master")
        lab.command(f"node reboot {LEAF}")
        wait_for(lambda: "node.rebooted" in standby.client.log(), 60, "the switch is back")
        wait_for(lambda: seen()[0] == "Disabled", 30, f"disabled again after a restart: {seen()}")
        print(f"   {port}: {seen()} after a takeover and a restart of the switch", flush=True)
        standby.ask("port", "enable", port)
        wait_for(lambda: seen() == ("LinkUp", "Active"), 30, f"enabled: {seen()}")

        refused = standby.ask("port", "disable", f"{HOST}:1", ok=(1,)).stderr
        check("cuts off" in refused, f"a host's last port: {refused}")
        confirm = json.loads(standby.ask("port", "disable", f"{HOST}:1", "--dry-run", "--json").stdout)["confirm"]
        standby.ask("port", "disable", f"{HOST}:1", "--confirm", confirm)
        wait_for(lambda: "node.gone" in standby.client.log(), 20, "the host is gone")
        standby.ask("port", "enable", f"{HOST}:1")
        wait_for(lambda: standby.ask("node", HOST, ok=None).returncode == 0, 30, "the host is back")
        standby.ask("port", "reset", port)
        wait_for(lambda: "port.reset" in standby.client.log() and seen() == ("LinkUp", "Active"), 30, f"reset: {seen()}")


if __name__ == "__main__":
    run_scenario(disabled, __doc__)
