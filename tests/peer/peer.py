#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""smd as subnet manager of fabrics in ibsim, judged by unmodified tools: peer.py SCENARIO FABRIC --smd PROGRAM.

FABRIC is a fabric file or a specification that smd knows. Exit status 0: as it should be.
"""
import argparse
import collections
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

import live
import network
import osmtest
import records
import survive
import tools
from dumps import dumps
from ibsim import Failure, Ibsim, check, hosts_of, wait_for
from subject import Opensm, Smd, fields_named

GET, SET = 0x01, 0x02
# Of what smd sets, the fields that ibsim's nodes answer well and do not keep (names of mad/wire).
NOT_KEPT = {"M_Key", "M_KeyLeasePeriod", "M_KeyProtectBits", "NeighborMTU", "MasterSMSL", "VLHighLimit",
            "SubnetTimeOut", "ClientReregister", "LocalPhyErrors", "OverrunErrors", "PartitionEnforcementInbound",
            "PartitionEnforcementOutbound", "MulticastFDBTop", "OptimizedSLtoVLMappingProgramming"}
LONG = bool(os.environ.get("SMD_LONG"))


def say(text):
    print(f"   {text}", flush=True)


def port_guid(host):
    """The GUID of port 1 of a host, as the fabric files of these tests have it."""
    return int(host.split("-")[1], 16) + 1


def by_attribute(client, method):
    """{attribute: SMPs} that a client sent with this method."""
    counts = collections.Counter()
    for (mgmt_class, sent, attribute), number in client.counts().items():
        if mgmt_class in (0x01, 0x81) and sent == method:
            counts[f"0x{attribute:02X}"] += number
    return dict(sorted(counts.items()))


def bringup(smd, sim, text, hosts):
    """A fabric from power on; then ibnetdiscover, iblinkinfo, ibtracert, ibdmchk and ibroute must agree."""
    client, summary, dumps = smd.once(sim, hosts[0])
    say(f"smps_get={summary['smps_get']} smps_set={summary['smps_set']} Gets {by_attribute(client, GET)} "
        f"Sets {by_attribute(client, SET)}")
    check(summary["state"] == "up", f"state {summary['state']}, must be up")
    check(summary["ports_not_active"] == 0, f"{summary['ports_not_active']} ports not active")
    ports, nodes = network.lid_of_guid((dumps / "opensm-subnet.lst").read_text())
    switches = {guid: lid for guid, (kind, lid) in nodes.items() if kind == "SW"}
    host_lids = sorted(set(ports.values()) - set(switches.values()))
    viewer = hosts[-1]
    say(tools.same_network(sim, viewer, text))
    say(tools.all_active(sim, viewer, text))
    say(tools.ibdmchk(dumps, len(host_lids) * (len(host_lids) - 1)))
    say(tools.tracert(sim, viewer, host_lids, 2000 if LONG else 200))
    say(tools.ibroute(sim, viewer, dumps, switches))


def again(smd, sim, text, hosts):
    """A second run with empty state over the same switches: Sets only of what ibsim does not keep, each named."""
    smd.once(sim, hosts[0])
    client, summary, _ = smd.once(sim, hosts[0])
    sets = by_attribute(client, SET)
    named = fields_named(client.log())
    say(f"Sets {sets}, fields not kept and the ports they were named for: {dict(sorted(named.items()))}")
    check(summary["state"] == "up", f"state {summary['state']}, must be up")
    # LFT, MFT, P_Key, SL2VL and VLArb tables are kept by ibsim; only PortInfo and SwitchInfo have fields that are not.
    check(set(sets) <= {"0x12", "0x15"}, f"Sets of other attributes than SwitchInfo and PortInfo: {sets}")
    check(named.keys() <= NOT_KEPT, f"fields that ibsim keeps were Set: {sorted(named.keys() - NOT_KEPT)}")
    check(sum(sets.values()) <= sum(named.values()), "more Sets than ports whose fields are named as not kept")
    check(client.sent(SET) == summary["smps_set"], f"{client.sent(SET)} Sets counted, {summary['smps_set']} reported")
    state = client.folder / "state"
    nothing_to_do(smd, sim, hosts[0], state)


def nothing_to_do(smd, sim, host, state):
    """A new process with the state of one that was done: it reads, and Sets nothing."""
    client, summary, _ = smd.once(sim, host, state=state)
    check(summary["state"] == "up", f"state {summary['state']}, must be up")
    check(client.sent(SET) == 0, f"{client.sent(SET)} Sets with the state of the run before: "
          f"{by_attribute(client, SET)}")
    check(summary["lids_changed"] == 0, f"{summary['lids_changed']} LIDs changed")
    say(f"with the state of the run before: {client.sent(GET)} Gets, 0 Sets")


def standby(smd, sim, text, hosts):
    """While opensm is master smd sends no Set and names it; when opensm is gone smd takes the fabric."""
    opensm = sim.opensm(hosts[1], "-p", "5")
    client = smd.start(sim, hosts[0])
    master = f"0x{port_guid(hosts[1]):016x}"
    wait_for(lambda: any(master in l for l in client.log().splitlines()), 20, f"a line that names the master {master}")
    time.sleep(2)
    check(client.process.poll() is None, "smd ended beside a master: " + client.log()[-2000:])
    check(client.sent(SET) == 0, f"{client.sent(SET)} Sets beside a master: {by_attribute(client, SET)}")
    say("no Set beside a master: " + next(l for l in client.log().splitlines() if master in l))
    opensm.stop(signal.SIGKILL)
    wait_for(lambda: "state=up" in client.log(), 90, "smd's state=up after opensm is gone")
    said = sim.output(hosts[2], "sminfo").strip()
    check(f"sm guid 0x{port_guid(hosts[0]):x}" in said and "SMINFO_MASTER" in said, "sminfo: " + said)
    say("after opensm: " + said)
    check(client.stop() == 0, f"exit status {client.process.returncode} after SIGTERM")


def newcomer(smd, sim, text, hosts):
    """smd is master; an opensm that starts beside it sees that and stands by, whatever its priority is below ours."""
    client = smd.start(sim, hosts[0], "--set", "sm.priority=14")
    wait_for(lambda: "state=up" in client.log(), 60, "smd's state=up")
    opensm = sim.start(hosts[1], "opensm", "-d", "2", "-f", "osm.log", "-p", "0")
    log = opensm.folder / "osm.log"
    wait_for(lambda: log.exists() and "Entering STANDBY" in log.read_text(errors="replace"), 20,
             "opensm's 'Entering STANDBY'")
    time.sleep(1)
    check(opensm.sent(SET) == 0, f"opensm sent {opensm.sent(SET)} Sets beside a master")
    said = sim.output(hosts[2], "sminfo").strip()
    check(f"sm guid 0x{port_guid(hosts[0]):x}" in said and "SMINFO_MASTER" in said, "sminfo: " + said)
    say("opensm stands by: " + said)
    check(client.stop() == 0, f"exit status {client.process.returncode} after SIGTERM")


def dry_run(smd, sim, text, hosts):
    """A dry run on a live fabric sends Get and nothing else, and leaves the fabric as it was."""
    opensm = sim.opensm(hosts[1])
    client = sim.run(hosts[0], smd.program, "run", "--dry-run", "--state-dir", "state")
    methods = sorted({m for (_, m, _) in client.counts()})
    check(methods == [GET], f"methods sent: {[hex(m) for m in methods]}, must be Get alone")
    say(f"{client.sent(GET)} Gets and nothing else; " + ((client.folder / 'stdout').read_text().strip() or '-')
        .splitlines()[-1])
    check(opensm.process.poll() is None, "opensm ended")


def asked(smd, sim, text, hosts):
    """`smd status` is that of a standby and names the master; then its own cable, pulled and put back."""
    opensm = sim.opensm(hosts[1], "-p", "5")
    socket = sim.folder / "smd.sock"
    client = smd.start(sim, hosts[0], "--socket", socket, "--set", "sweep.interval=1s", "--set", "ha.poll=200ms")

    def status():
        done = subprocess.run([smd.program, "status", "--json", "--socket", socket], capture_output=True, text=True)
        subnets = json.loads(done.stdout)["subnets"] if done.returncode == 0 else []
        return subnets[0] if subnets else None

    def waits_for(what):
        return lambda: (s := status()) and s["waiting"] and s["waiting"]["for"] == what and s

    wait_for(lambda: (s := status()) and s["state"] == "standby", 60, "standby in smd status")
    found = status()
    check(found["waiting"] is None, f"a standby that is as it should be waits for nothing: {found['waiting']}")
    check(found["master"]["guid"] == f"0x{port_guid(hosts[1]):016x}", f"master: {found['master']}")
    check(found["sm"]["state"] == "standby" and len(found["other_sms"]) == 1, f"sm: {found['sm']}")
    opensm.stop(signal.SIGKILL)
    wait_for(lambda: (s := status()) and s["sm"]["state"] == "master" and s["last_sweep"]["state"] in ("up", "reduced"), 90, "up")
    sim.command(f'Unlink "{hosts[0]}"')
    wait_for(waits_for("link"), 60, "waiting for the link in smd status")
    check(client.log().count("has no link") == 1, "the pulled cable is said once: " + client.log()[-2000:])
    sim.command(f'ReLink "{hosts[0]}"')
    wait_for(lambda: (s := status()) and s["waiting"] is None and s["last_sweep"]["state"] in ("up", "reduced"), 30, "up again")
    say("master, pulled cable and its return were all in smd status")
    begun = time.monotonic()
    check(client.stop() == 0, f"exit status {client.process.returncode} after SIGTERM")
    check(time.monotonic() - begun < 2, f"SIGTERM took {time.monotonic() - begun:.1f} s")


def kills(smd, sim, text, hosts):
    """kill -9 at random moments of bring-up and of repair."""
    survive.kills(smd, sim, text, hosts, times=200 if LONG else 10)


def loss(smd, sim, text, hosts):
    """40 % loss."""
    live.loss(smd, sim, text, hosts, times=10 if LONG else 1)


SCENARIOS = {f.__name__.replace("_", "-"): f
             for f in (bringup, again, standby, newcomer, dry_run, asked, dumps, kills, loss, live.console, live.storm,
                       live.takeover, survive.back_to_opensm, survive.stopped, records.records,
                       osmtest.osmtest)}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("scenario", choices=SCENARIOS)
    parser.add_argument("fabric")
    parser.add_argument("--smd")
    parser.add_argument("--opensm", action="store_true", help="opensm in smd's place")
    options = parser.parse_args()
    subject = Opensm("/usr/sbin/opensm") if options.opensm else Smd(options.smd)
    with tempfile.TemporaryDirectory(prefix="smd-peer-") as folder:
        try:
            text = subject.fabric(options.fabric, folder)
            with Ibsim(pathlib.Path(folder) / "net") as sim:
                SCENARIOS[options.scenario](subject, sim, text, hosts_of(text))
        except Failure as failure:
            sys.exit(f"{options.scenario} {options.fabric}: {failure}")


if __name__ == "__main__":
    main()
