#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Two smd whose state is copied, by TLS on loopback: lab_replica.py --smd PROGRAM. The fabric goes from one to the other by
SIGKILL of the master, `smd handover` and SIGTERM. What must hold each time: LIDs, links and forwarding tables are what they
were; groups, members, services and subscriptions are answered as before; no block of a table is written (by the pcap), and no
port is asked to register again. The SM that was killed returns as standby and copies the other. Then the same with a standby
whose own files say something else: it goes on with the master's until it is reloaded as master. An SM that returns names
what the API had made with it and the master has not got. Last, the fabric is cut in two: what the API has made in each part is
there in the whole one."""
import re
import secrets
import signal
import struct
import time

import same
from failover_pair import Sm, free_ports
from ibsim import Failure, check, wait_for
from lab import Lab
from lab_stop import discovered, masters, tables
from runner import run_scenario

SMS = {"h00000": 5, "h00021": 3}
SET = 2
# What is written in blocks: P_Key, SL to VL, VL arbitration, linear and multicast forwarding tables.
TABLES = {0x16: "P_Key", 0x17: "SL2VL", 0x18: "VLArb", 0x19: "LFT", 0x1b: "MFT"}
PORT_INFO, CLIENT_REREGISTER = 0x15, 0x80


class Replicated(Sm):
    """One of the two SMs of this test."""

    patience = 20

    def __init__(self, lab, host, ha, files=""):
        super().__init__(lab, host, f"[sm]\npriority = {SMS[host]}\n[ha]\n{ha}{files}")

    def kill(self):
        self.client.stop(signal.SIGKILL)

    def hand_over(self):
        self.ask("handover")


def written(data):
    """Of the Sets of a pcap: how many there are of each table, and of PortInfo with ClientReregister or a new M_Key."""
    at, found = 24, {}
    while at + 16 <= len(data):
        _, _, size, _ = struct.unpack_from("=IIII", data, at)
        mad = data[at + 16 + 28:at + 16 + size]
        at += 16 + size
        if len(mad) < 128 or mad[1] not in (0x01, 0x81) or mad[3] != SET:
            continue
        attribute = struct.unpack_from(">H", mad, 16)[0]
        # PortInfo's ClientReregister is the highest bit of byte 51.
        if attribute in TABLES or (attribute == PORT_INFO and mad[64 + 51] & CLIENT_REREGISTER):
            name = TABLES.get(attribute, "ClientReregister")
            found[name] = found.get(name, 0) + 1
        # A port is asked by the key that it has, and told the one that it is to have.
        if attribute == PORT_INFO and mad[64:72] != mad[24:32]:
            found["M_Key"] = found.get("M_Key", 0) + 1
    return found


def answers(asker):
    """What clients have registered, as the SA says it."""
    return {kind: sorted(asker.table(kind, same.SM_KEY)) for kind in ("MCMemberRecord", "ServiceRecord", "InformInfoRecord")}


class Fabric:
    """What two smd of a lab have in common, and what must stand when the fabric goes from one to the other. `ha`: how the state
    is copied, the keys of [ha] for each of SMS; `files`: the rest of their configuration."""

    def __init__(self, lab, ha, files=("", "")):
        self.lab, self.trace = lab, lab.folder / "trace.pcap"
        self.sms = {"h00000": Replicated(lab, "h00000", ha["h00000"], files[0])}
        wait_for(lambda: "state=up" in self.sms["h00000"].client.log(), 60, "smd up")
        self.sms["h00021"] = Replicated(lab, "h00021", ha["h00021"], files[1])
        wait_for(lambda: self.sms["h00021"].role() == "current", 60, "a current copy at the standby")
        asker = same.Asker(lab, "h00002")
        same.register(asker, sorted(same.gids_of(asker.table("NodeRecord"))))
        self.lids = {host: int(re.search(r"Base lid:\s+(\d+)", lab.output(host, "ibstat"))[1]) for host in SMS}
        self.hosts = discovered(lab, "h00009")
        switches = re.findall(r"^Switch.* lid (\d+) lmc", "\n".join(self.hosts), re.M)
        self.switches = sorted(int(lid) for lid in switches)
        self.routes = tables(lab, "h00009", self.switches)
        self.answers = answers(asker)
        check(self.answers["ServiceRecord"] and len(self.answers["MCMemberRecord"]) > 2, f"no registrations: {self.answers}")

    def goes_to(self, host, why, action):
        """After `action` the SM on `host` is master, and nothing else is another than before."""
        wait_for(lambda: self.sms[host].role() == "current" and self.sms[host].status()["replica"]["lag_transactions"] == 0,
                 30, f"a current copy on {host}")
        time.sleep(1)
        offset, began = self.trace.stat().st_size, time.monotonic()
        action()
        wait_for(lambda: masters(self.lab, {host: self.lids[host]}), 30, f"{host} master: {why}")
        took = time.monotonic() - began
        time.sleep(3)
        with open(self.trace, "rb") as file:
            head = file.read(24)
            file.seek(offset)
            sets = written(head + file.read())
        print(f"   {why}: {host} is master after {took:.1f} s; Sets of tables and ClientReregister: {sets}", flush=True)
        check(discovered(self.lab, "h00009") == self.hosts, "other nodes, links or LIDs")
        check(tables(self.lab, "h00009", self.switches) == self.routes, "forwarding tables differ")
        after = answers(same.Asker(self.lab, "h00002"))
        for kind, records in self.answers.items():
            check(after[kind] == records, f"{kind}: {len(after[kind])} records, {len(records)} before")
        check(not sets, f"written when {host} became master: {sets}")


def handed_round(fabric):
    first, second = fabric.sms["h00000"], fabric.sms["h00021"]
    fabric.goes_to("h00021", "SIGKILL", first.kill)
    first.start()
    # It outranks the master, and lets it work ([ha] quiet is 10 minutes with peers) while it copies.
    wait_for(lambda: first.role() == "current", 30, "a current copy at the SM that returns")
    check(masters(fabric.lab, fabric.lids) == ["h00021"], "the SM that returns has taken the fabric back")
    fabric.goes_to("h00000", "smd handover", second.hand_over)
    fabric.goes_to("h00021", "SIGTERM", lambda: first.client.stop(signal.SIGTERM))


def by_peers(lab):
    """The keys of [ha] of two SMs that copy from each other."""
    key = lab.folder / "ha_key"
    key.touch(0o600)
    key.write_text(secrets.token_hex(32))
    first, second = free_ports(2)
    return {host: f'listen = "127.0.0.1:{listen}"\npeers = ["127.0.0.1:{peer}"]\npsk_file = "{key}"\n'
            for host, listen, peer in (("h00000", first, second), ("h00021", second, first))}


MASTERS = """[partitions]
file = "FOLDER/masters.conf"
[keys]
m_key_file = "FOLDER/masters.key"
[lids]
first = 100
[links]
mtu = 2048
"""
OTHERS = """[partitions]
file = "FOLDER/others.conf"
[keys]
m_key_file = "FOLDER/others.key"
[lids]
lmc = 1
[routing]
engines = ["updn"]
[multicast]
consolidate_ipv6_snm = true
"""
DIFFER = {"partitions.file", "keys.m_key_file", "lids.first", "lids.lmc", "links.mtu", "multicast.consolidate_ipv6_snm",
          "routing.engines"}


def other_files(lab):
    """The standby's files differ in all that a fabric is made by."""
    for name, partition in (("masters", "red=0x10"), ("others", "blue=0x20")):
        (lab.folder / f"{name}.conf").write_text(f"Default=0x7fff, ipoib: ALL=full;\n{partition}: ALL=full;\n")
        key = lab.folder / f"{name}.key"
        key.touch(0o600)
        key.write_text(f"0x{secrets.token_hex(7)}\n")
    fabric = Fabric(lab, by_peers(lab), [files.replace("FOLDER", str(lab.folder)) for files in (MASTERS, OTHERS)])
    second = fabric.sms["h00021"]
    check(set(second.status()["config_differs"]) == DIFFER, f"config_differs: {second.status()['config_differs']}")
    fabric.goes_to("h00021", "SIGKILL, other files at the standby", fabric.sms["h00000"].kill)
    said = [line for line in second.client.log().splitlines() if "ha.config_differs" in line]
    check(len(said) == 2 and all("lids.first 100 -> 1" in line for line in said), f"said: {said}")
    second.client.stop(signal.SIGKILL)
    second.start()
    wait_for(lambda: second.status().get("state") == "up", 60, "the new master after a restart")
    check(set(second.status()["config_differs"]) == DIFFER, f"after a restart: {second.status()['config_differs']}")
    check(not re.search(r"lids_changed=[1-9]", second.client.log()), "its own LIDs after a restart")
    shown = second.ask("check", "--running", ok=(3,)).stdout
    check("lids.lmc" in shown and "routing.engines" in shown and "links.mtu" in shown, f"check --running: {shown}")
    second.client.process.send_signal(signal.SIGHUP)
    wait_for(lambda: "blue" in second.ask("partitions", "list").stdout, 20, "the standby's partitions after a reload")
    wait_for(lambda: re.search(r"sweep=heavy reason=\S*reload.*lids_changed=[1-9]", second.client.log()), 20, "LIDs by its lmc")
    check(not second.status()["config_differs"], "files that are in force differ")
    line = next(line for line in second.client.log().splitlines() if "config.reloaded" in line)
    check("lids.first 100 -> 1" in line and "partitions.file: as in the files" in line, f"of the master's before: {line}")


def returns_with_changes(lab):
    """A partition that the API made while the standby was away is named when the SM that made it returns to it."""
    ha = by_peers(lab)
    first = Replicated(lab, "h00000", ha["h00000"])
    wait_for(lambda: "state=up" in first.client.log(), 60, "smd up")
    second = Replicated(lab, "h00021", ha["h00021"])
    wait_for(lambda: second.role() == "current", 60, "a current copy at the standby")
    second.kill()
    first.ask("partitions", "create", "vital", "--pkey", "0x55", "--full", "h00001,h00002")
    first.kill()
    second.start()
    wait_for(lambda: second.status().get("state") == "up", 60, "the standby as master")
    first.start()
    wait_for(lambda: re.search(r"ha\.partitions_left .*partitions=vital ", first.client.log()), 30, "the partition is named")
    check("vital" not in first.ask("partitions", "list").stdout, "the master's partitions count")


def parts_are_joined(lab):
    """Partitions of the API in both parts of a fabric that is cut; one that both have changed is the master's, and named."""
    ha = by_peers(lab)
    first = Replicated(lab, "h00000", ha["h00000"])
    wait_for(lambda: "state=up" in first.client.log(), 60, "smd up")
    second = Replicated(lab, "h00021", ha["h00021"])
    wait_for(lambda: second.role() == "current", 60, "a current copy at the standby")
    for name, pkey in (("shared", "0x50"), ("grown", "0x51"), ("ended", "0x52")):
        first.ask("partitions", "create", name, "--pkey", pkey, "--full", "h00009")
    wait_for(lambda: "ended" in second.ask("partitions", "list").stdout, 20, "the partitions at the standby")
    for port in range(5, 9):
        lab.command(f"link down leaf000 {port}")
    wait_for(lambda: second.role() == "source" and second.status().get("state") in ("up", "reduced", "degraded"), 60,
             "a master in the other part")
    first.ask("partitions", "create", "small", "--pkey", "0x66", "--full", "h00001")
    first.ask("partitions", "add", "shared", "h00001", "--membership", "full")
    second.ask("partitions", "create", "large", "--pkey", "0x55", "--full", "h00010")
    second.ask("partitions", "create", "clash", "--pkey", "0x66", "--full", "h00010")
    second.ask("partitions", "add", "shared", "h00010", "--membership", "full")
    second.ask("partitions", "add", "grown", "h00010", "--membership", "full")
    second.ask("partitions", "delete", "ended")
    for port in range(5, 9):
        lab.command(f"link up leaf000 {port}")
    wait_for(lambda: re.search(r"ha\.partitions_inherited .*partitions=grown,large\b", first.client.log()), 60,
             "partitions of the other part")
    wait_for(lambda: "ha.partitions_not_inherited" in first.client.log(), 20, "those that are not taken")
    refused = next(line for line in first.client.log().splitlines() if "ha.partitions_not_inherited" in line)
    check("clash (P_Key 0x0066 is that of partition small), ended (deleted there), shared (changed here, too)" in refused, refused)
    wait_for(lambda: second.role() == "current", 30, "a current copy at the SM that has given way")
    shown = second.ask("partitions", "list").stdout
    check(all(name in shown for name in ("small", "large", "shared", "grown", "ended")) and "clash" not in shown, shown)
    check("h00010" in second.ask("partitions", "show", "grown").stdout, "the member of the other part")
    wait_for(lambda: re.search(r"ha\.partitions_left .*partitions=clash,shared ", second.client.log()), 90,
             "what does not count is named where it was made")


def scenario(given):
    with Lab(given.smd, "ft2:8", "--pcap", "trace.pcap") as lab:
        fabric = Fabric(lab, by_peers(lab))
        try:
            handed_round(fabric)
        except Failure:
            print(*(sm.client.log()[-6000:] for sm in fabric.sms.values()), sep="\n----\n")
            raise
    with Lab(given.smd, "ft2:8", "--pcap", "trace.pcap") as lab:
        other_files(lab)
    with Lab(given.smd, "ft2:8") as lab:
        returns_with_changes(lab)
    with Lab(given.smd, "ft2:8") as lab:
        parts_are_joined(lab)


if __name__ == "__main__":
    run_scenario(scenario, __doc__)
