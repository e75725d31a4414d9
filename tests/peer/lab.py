#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Unmodified tools in `smd sim`: lab.py SCENARIO --smd PROGRAM [FABRIC]."""
import argparse
import os
import pathlib
import random
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

import oracle
import same
from ibsim import Client, Failure, Ibsim, check, end_with_parent, hosts_of, wait_for
from osmtest import flows
from subject import Smd


class Lab(Ibsim):
    """`smd sim` in ibsim's place: the same calls, other programs behind them. Hosts are names of nodes. With SMD_HARDWARE
    in the environment links train for 5 to 30 s, and 1 % of the segments of smd's answers by RMPP are lost (opensm sends
    none again)."""

    def __init__(self, smd, fabric, *options):
        self.hardware = "SMD_HARDWARE" in os.environ
        if self.hardware and "--training" not in options:
            options += ("--training", "5-30")
        self.smd = str(pathlib.Path(smd).resolve())
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="smd-lab-"))
        self.socket = self.folder / "sim.sock"
        self.clients = []
        read_end, self.console = os.pipe()
        with open(self.folder / "sim.log", "wb") as log:
            self.process = subprocess.Popen([self.smd, "sim", fabric, "--socket", str(self.socket), *options],
                                            cwd=self.folder, stdin=read_end, stdout=log, stderr=subprocess.STDOUT,
                                            preexec_fn=end_with_parent)
        os.close(read_end)
        wait_for(self._ready, 60, "smd sim's 'served at'")

    def _ready(self):
        check(self.process.poll() is None, "smd sim ended: " + self.log()[-2000:])
        return "served at" in self.log()

    def log(self):
        return (self.folder / "sim.log").read_text(errors="replace")

    def command(self, text):
        """A command to the fabric; what it answers."""
        done = subprocess.run([self.smd, "sim", "ctl", "--socket", str(self.socket), text], capture_output=True,
                              text=True, timeout=60)
        check(done.returncode == 0, f"ctl {text}: exit status {done.returncode}: {done.stderr}")
        return done.stdout

    def attach(self, host, *command):
        hosts = [host] if isinstance(host, str) else host
        nodes = [word for one in hosts for word in ("--node", one)]
        return [self.smd, "attach", "--socket", str(self.socket), *nodes, "--", *map(str, command)]

    def start(self, host, *command):
        if self.hardware and command[0] in ("opensm", self.smd):
            self.command(f"loss rmpp {0 if command[0] == 'opensm' else 1}")
        folder = self.folder / f"client{len(self.clients):05}"
        folder.mkdir()
        environment = dict(os.environ, OSM_TMP_DIR=str(folder), OSM_CACHE_DIR=str(folder))
        with open(folder / "stdout", "wb") as out, open(folder / "stderr", "wb") as err:
            process = subprocess.Popen(self.attach(host, *command), cwd=folder, stdin=subprocess.DEVNULL, stdout=out,
                                       stderr=err, env=environment, preexec_fn=end_with_parent)
        client = Client(folder, process, folder / "counts")
        self.clients.append(client)
        return client


def count(text, pattern):
    return len(re.findall(pattern, text, re.M))


def tools(smd, fabric):
    """All of infiniband-diags that hardware answers, beside opensm."""
    with Lab(smd, fabric) as lab:
        host = "h00005"
        check(count(lab.output(host, "ibnetdiscover"), r"^(Switch|Ca)\s") == 44, "ibnetdiscover: not 44 nodes before an SM")
        lab.opensm("h00000")
        lid = re.search(r"Base lid:\s+(\d+)", lab.output(host, "ibstat"))[1]
        leaf = re.search(r'Switch\s.*leaf000.* lid (\d+)', lab.output(host, "ibswitches"))
        check(leaf, "ibswitches: no leaf000 with a LID")
        for command in TOOLS:
            words = [{"LID": lid, "LEAF": leaf[1]}.get(word, word) for word in command.split()]
            lab.run(host, *words)
        text = lab.output(host, "iblinkinfo", "-l")
        check(count(text, r"Active/\s+LinkUp") == 128, f"iblinkinfo: {count(text, 'Active')} ends Active, not 128")
        lab.command("counter leaf000 1 PortVLXmitWait3 17")
        waits = lab.output(host, "perfquery", "--vlxmitcounters", leaf[1], "1")
        check(re.search(r"PortVLXmitWait3:\.+17$", waits, re.M), f"perfquery --vlxmitcounters: {waits}")
        # Directed paths that begin at a LID.
        name = lab.output(host, "smpquery", "-c", "nodedesc", leaf[1], "0,1")
        check("h00000" in name, f"smpquery -c: {name}")
        guid = re.search(r"(0x[0-9a-f]+)\b.*leaf000", lab.output(host, "ibswitches"))[1]
        text = lab.output(host, "iblinkinfo", "-l", "-S", guid)
        check(count(text, r"Active/\s+LinkUp") == 8, f"iblinkinfo -S:\n{text}")


# LID is the tool's own, LEAF that of a switch.
TOOLS = """ibstat
ibstat -l
ibstat -p
ibstatus
ibaddr
sminfo
ibnetdiscover -p
ibnetdiscover -l
ibhosts
ibswitches
ibnodes
ibrouters
smpquery nodeinfo LID
smpquery nodedesc LID
smpquery portinfo LID 1
smpquery -D nodeinfo 0,1
smpquery -D switchinfo 0,1
smpquery -D portinfo 0,1 1
smpquery pkeys LID
smpquery -D pkeys 0,1 1
smpquery sl2vl LID
smpquery vlarb LID
smpquery guidinfo LID
smpquery MEPI LID 1
smpdump LID 0x11
perfquery LID 1
perfquery -x LID 1
perfquery -X LID 1
perfquery -S LID 1
perfquery -T LID 1
perfquery -x -r LID 1
perfquery -a LID
perfquery -c LID 1
perfquery -D LID 1
perfquery -E LID 1
perfquery --oprcvcounters LID 1
perfquery --flowctlcounters LID 1
perfquery --vloppackets LID 1
perfquery --vlopdata LID 1
perfquery --vlxmitflowctlerrors LID 1
perfquery --vlxmitcounters LID 1
perfquery --swportvlcong LEAF 1
perfquery --rcvcc LID 1
perfquery --slrcvfecn LID 1
perfquery --slrcvbecn LID 1
perfquery --xmitcc LID 1
perfquery --vlxmittimecc LID 1
ibqueryerrors --details
iblinkinfo
ibqueryerrors
ibtracert LID 1""".split("\n")

# Records of ft2:8 with 44 nodes, 128 linked ports, and what opensm says of each kind.
RECORDS = {"NR": 44, "PR": 44 * 44, "LR": 128, "PIR": 140, "SWIR": 12, "LFTR": 12, "GIR": None, "VLAR": 12 * 9 * 4 + 32 * 4,
           "SL2VL": 12 * 9 * 9 + 32, "SMIR": None, "MCMR": 1, "IIR": None, "SR": None, "CPI": None}


def sa(smd, fabric):
    """Tables of any length from opensm's SA, whole."""
    with Lab(smd, fabric) as lab:
        lab.opensm("h00000")
        for record, number in RECORDS.items():
            found = count(lab.output("h00005", "saquery", record), "Record dump:")
            check(number is None or found == number, f"saquery {record}: {found} records, not {number}")
        pkeys = count(lab.output("h00005", "saquery", "--smkey", "1", "PKTR"), "Record dump:")
        check(pkeys >= 44, f"saquery PKTR: {pkeys} records, not one a node at least")
        name = lab.output("h00005", "saquery", "-O", "1")
        check(name.startswith("h0") or name.startswith("leaf") or name.startswith("spine"), f"saquery -O 1: {name}")
        path = lab.output("h00005", "saquery", "--src-to-dst", "h00003:h00009")
        check(count(path, "PathRecord") == 1, f"saquery --src-to-dst: {path}")


def ping(smd, fabric):
    """ibping both ways, ibsysstat, vendor MADs between programs."""
    with Lab(smd, fabric) as lab:
        lab.opensm("h00000")
        lids = {h: re.search(r"Base lid:\s+(\d+)", lab.output(h, "ibstat"))[1] for h in ("h00003", "h00030")}
        for server, client in (("h00003", "h00030"), ("h00030", "h00003")):
            served = lab.start(server, "ibping", "-S")
            wait_for(lambda: count(lab.command("clients"), server) > 0, 10, "ibping -S")
            text = lab.output(client, "ibping", "-c", "3", lids[server])
            check(" 0% packet loss" in text, f"ibping {client} to {server}: {text}")
            served.stop()
        lost = lab.output("h00003", "ibping", "-c", "1", lids["h00030"], ok=(0, 1, 255))
        check("100% packet loss" in lost, f"ibping without a server: {lost}")


def standby(smd, fabric):
    """Two opensm: one is master, the other stands by and takes over when it dies."""
    with Lab(smd, fabric) as lab:
        quick = lab.folder / "quick.conf"
        quick.write_text("sminfo_polling_timeout 200\npolling_retry_number 2\n")
        master = lab.opensm("h00000", "-p", "10", "-F", str(quick))
        other = lab.start("h00031", "opensm", "-d", "2", "-f", "osm.log", "-p", "5", "-F", str(quick))
        log = other.folder / "osm.log"
        wait_for(lambda: log.exists() and "Entering STANDBY" in log.read_text(), 30, "opensm's standby")
        master.stop(signal.SIGKILL)
        wait_for(lambda: "SUBNET UP" in log.read_text(), 30, "the standby's SUBNET UP")
        text = lab.output("h00005", "sminfo")
        check("SMINFO_MASTER" in text, f"sminfo: {text}")


def master(smd, fabric):
    """smd itself, attached, is master; the tools see an Active fabric."""
    with Lab(smd, fabric) as lab:
        lab.run("h00000", lab.smd, "run", "--once", "--state-dir", "state")
        text = lab.output("h00005", "ibnetdiscover")
        check(count(text, r"^(Switch|Ca)\s") == 44, "ibnetdiscover: not 44 nodes")
        links = lab.output("h00005", "iblinkinfo", "-l")
        check(count(links, r"Active/\s+LinkUp") == 128,
              f"iblinkinfo: {count(links, 'Active')} lines are Active")


def clients(smd, fabric):
    """200 programs at once."""
    with Lab(smd, fabric) as lab:
        lab.opensm("h00000")
        started = [lab.start(f"h{n % 32:05}", "ibnetdiscover") for n in range(200)]
        for client in started:
            lab.finish(client, ["ibnetdiscover"])
            check(count((client.folder / "stdout").read_text(), r"^(Switch|Ca)\s") == 44, "ibnetdiscover: not 44 nodes")


OSMTEST = {"c": "PASS", "v": "PASS", "q": "PASS", "m -M 1": "PASS", "m -M 2": "PASS", "s": "PASS", "e": "PASS",
           "t": "PASS", "f -s 2": "PASS", "a": None}


def osmtest(smd, fabric):
    """Every flow of osmtest against opensm: each ends. The table is printed."""
    with Lab(smd, fabric) as lab:
        lab.opensm("h00000")
        wrong = flows(lab, "h00005", OSMTEST)
        check(not wrong, "\n".join(wrong))


# What smd passes of osmtest's flows against itself.
OSMTEST_SMD = dict.fromkeys(("c", "v", "q", "m -M 1", "m -M 2", "s", "e", "t", "a", "f -s 2", "f -s 3"), "PASS")
# These take one to two minutes: each join and leave is on the disk before it is answered.
OSMTEST_LONG = dict.fromkeys(("m -M 3", "f -s 1", "f -s 4"), "PASS")


def registry(smd, fabric):
    """smd as master: every record type by saquery, groups, and osmtest's flows."""
    with Lab(smd, fabric) as lab:
        server = lab.start("h00000", lab.smd, "run", "--state-dir", "state", "--socket", "api.sock")
        wait_for(lambda: "state=up" in server.log(), 60, "smd's state=up")
        asker = same.Asker(lab, "h00005")
        nodes = asker.table("NodeRecord")
        wait_for(lambda: same.lanes_are_read(asker, nodes), 60, "SL to VL tables that smd has read")
        for record in RECORDS:
            found = count(lab.output("h00005", "saquery", record), "Record dump:")
            number = 44 * 44 - 4 * 3 if record == "PR" else RECORDS[record]  # there is no path from spine to spine
            check(number is None or found == number, f"saquery {record}: {found} records, not {number}")
            print(f"   saquery {record}: {found}", flush=True)
        groups = lab.output("h00005", "saquery", "-g")
        check("ff12:401b:ffff::ffff:ffff" in groups, f"saquery -g: no broadcast group:\n{groups}")
        lab.output("h00005", "saquery", "MFTR")
        wrong = flows(lab, "h00005", OSMTEST_SMD | (OSMTEST_LONG if os.environ.get("SMD_LONG") else {}))
        check(not wrong, "\n".join(wrong) + server.log()[-4000:])
        check(server.stop() == 0, "smd did not end well")


def routes(smd, fabric):
    """opensm brings a larger fabric up: ibtracert between random pairs, ibdmchk clean."""
    with Lab(smd, fabric) as lab:
        first, *_ = re.findall(r'^Ca.*"(\S+)"$', lab.output(any_host(fabric), "ibhosts"), re.M)
        began = time.monotonic()
        client = lab.opensm(first, "-D", "0x43", seconds=900)
        print(f"   {fabric}: opensm up after {time.monotonic() - began:.2f} s", flush=True)
        dumps = copied_dumps(client.folder, ("opensm-subnet.lst", "opensm.fdbs", "opensm.mcfdbs"))
        lids = [line.split()[1] for line in (client.folder / "guid2lid").read_text().splitlines() if line]
        chance = random.Random(7)
        for _ in range(10):
            pair = chance.sample(lids, 2)
            text = lab.output(first, "ibtracert", *(str(int(lid, 16)) for lid in pair))
            check("To " in text, f"ibtracert {pair}: {text}")
        done = subprocess.run(["ibdmchk", "-s", "opensm-subnet.lst", "-f", "opensm.fdbs", "-m", "opensm.mcfdbs"],
                              cwd=dumps, capture_output=True, text=True, timeout=3000)
        check("no credit loops found" in done.stdout, f"ibdmchk: {done.stdout[-2000:]}")
        check("-E-" not in done.stdout, f"ibdmchk: {done.stdout[-2000:]}")


def differ(smd, fabric):
    """The same fabric by opensm and by smd: each field that differs has its reason in docs/differences.md."""
    with Lab(smd, fabric) as lab:
        lab.run("h00000", "opensm", "-d", "2", "-f", "osm.log", "-o")
        theirs = oracle.read(lab, "h00000")
    with Lab(smd, fabric) as lab:
        lab.run("h00000", lab.smd, "run", "--once", "--state-dir", "state")
        ours = oracle.read(lab, "h00000")
    print(f"   {len(theirs)} fields by opensm, {len(ours)} by smd", flush=True)
    oracle.judge(oracle.differences(theirs, ours))


def queries(smd, fabric):
    """Random queries of each kind of record: opensm and, after it, smd give the same answers."""
    with Lab(smd, fabric) as lab:
        same.same(Smd(smd), lab, 1000 if os.environ.get("SMD_LONG") else 200)


def joins(smd, fabric):
    """kill -9 under joining clients: who was answered is a member afterwards."""
    with Lab(smd, fabric) as lab:
        same.kills(Smd(smd), lab, 100 if os.environ.get("SMD_LONG") else 5)


def barrage(smd, fabric):
    """Random and changed MADs of every class to the SM's LID: it lives on, answers, and keeps nothing of them."""
    number = 10_000_000 if os.environ.get("SMD_LONG") else 100_000
    with Lab(smd, fabric) as lab:
        server = lab.start("h00000", lab.smd, "run", "--state-dir", "state", "--socket", "api.sock")
        wait_for(lambda: "state=up" in server.log(), 60, "smd's state=up")
        lid = re.search(r"sm lid (\d+)", lab.output("h00005", "sminfo")).group(1)
        lab.output("h00005", "perfquery", "-c", lid, "1")  # is the end of opensm 3.3.23
        sizes = []
        for seed in range(1, 3):
            print("  ", lab.output("h00005", BARRAGE, str(number // 2), str(seed), seconds=3600).strip(), flush=True)
            check(server.process.poll() is None, f"smd ended:\n{server.log()[-4000:]}")
            sizes.append(resident(server.process.pid))
        print(f"   resident: {sizes[0]} kB after half of them, {sizes[1]} kB after all", flush=True)
        check(sizes[1] < sizes[0] + 32768, "it grows")
        found = count(lab.output("h00006", "saquery", "NR"), "Record dump:")
        check(found == 44, f"saquery NR: {found} records, not 44")
        check(server.stop() == 0, "smd did not end well")


def resident(process):
    """Of a process, in kB."""
    return int(re.search(r"^VmRSS:\s+(\d+)", pathlib.Path(f"/proc/{process}/status").read_text(), re.M).group(1))


def trace(smd, fabric):
    """--pcap: every MAD of a bring-up and of SA tables, as InfiniBand packets (tests/conformance/pcap_test decodes them)."""
    with Lab(smd, fabric, "--pcap", "trace.pcap") as lab:
        lab.opensm("h00000")
        lab.output("h00005", "saquery", "NR")
        lab.process.send_signal(signal.SIGTERM)
        lab.process.wait(10)
        data = (lab.folder / "trace.pcap").read_bytes()
        check(struct.unpack_from("=IHH", data) == (0xA1B23C4D, 2, 4), "trace.pcap: another header")
        check(struct.unpack_from("=I", data, 20)[0] == 247, "trace.pcap: another link type")
        at, classes, segments = 24, {}, []
        while at < len(data):
            size, = struct.unpack_from("=I", data, at + 8)
            packet = data[at + 16:at + 16 + size]
            check(len(packet) == size, "trace.pcap: cut short")
            check(struct.unpack_from(">H", packet, 4)[0] & 0x7FF == ((size - 2) // 4) & 0x7FF, "trace.pcap: wrong length")
            check(packet[8] == 0x64 and packet[28] == 1, "trace.pcap: not a MAD in a datagram")
            check(size == 28 + 256 + 6, f"trace.pcap: a packet of {size} bytes")
            classes[packet[29]] = classes.get(packet[29], 0) + 1
            if packet[29] == 0x03 and packet[28 + 26] & 1:
                segments.append(struct.unpack_from(">I", packet, 28 + 28)[0])
            at += 16 + size
        check(set(classes) >= {0x81, 0x01, 0x03}, f"trace.pcap: classes {classes}")
        check(segments[-25:] == list(range(1, 26)), f"trace.pcap: segments {segments}")  # 44 records of 112 bytes


def script(smd, fabric):
    """A wrong script starts nothing and is told whole; a good one does what it says."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="smd-lab-"))
    (folder / "wrong").write_text("0 link down nosuch 1\n1 lonk\nx join\n2 node name h00000 new\n3 show new\n4 loss 200\n")
    done = subprocess.run([smd, "sim", fabric, "--socket", str(folder / "socket"), "--pcap", str(folder / "pcap"),
                           "--script", str(folder / "wrong")], capture_output=True, text=True, timeout=60)
    lines = done.stderr.splitlines()
    check(done.returncode == 2 and not done.stdout, f"exit status {done.returncode}: {done.stdout}")
    check([line.split(": ")[0] for line in lines] == [f"{folder}/wrong:{n}" for n in (1, 2, 3, 6)], done.stderr)
    check(all("found " in line and ", allowed " in line for line in lines), done.stderr)
    check(sorted(path.name for path in folder.iterdir()) == ["wrong"], "a wrong script has started something")
    (folder / "good").write_text("0 node silent h00001\n0.2 node name h00001 new\n")
    with Lab(smd, fabric, "--script", str(folder / "good")) as lab:
        wait_for(lambda: " new: [silent]" in lab.command("show"), 10, "the script's end")
    shutil.rmtree(folder)


def files(smd, fabric):
    """Files and descriptors of an attached program, as coreutils, shells and Python use them."""
    with Lab(smd, fabric) as lab:
        lab.run("h00005", sys.executable, pathlib.Path(__file__).parent / "lab_files.py")


def fuzz(smd, fabric):
    """Random bytes through attached devices: the server lives, others notice nothing."""
    with Lab(smd, fabric) as lab:
        lab.opensm("h00000")
        started = [lab.start(f"h{n:05}", sys.executable, pathlib.Path(__file__).parent / "lab_fuzz.py", n, 20)
                   for n in range(1, 6)]
        check(count(lab.output("h00020", "ibnetdiscover"), r"^(Switch|Ca)\s") == 44, "ibnetdiscover: not 44 nodes")
        for client in started:
            lab.finish(client, ["lab_fuzz.py"])
            errors = int((client.folder / "stdout").read_text().split()[0])
            check(errors > 0, "lab_fuzz.py: nothing was refused")
        check(count(lab.output("h00020", "ibnetdiscover"), r"^(Switch|Ca)\s") == 44, "ibnetdiscover: not 44 nodes")
        lab.output("h00020", "sminfo")


def speed(smd, fabric):
    """Beside ibsim in the same run: a pipelined client, ibnetdiscover, opensm's bring-up. Prints; judges the first."""
    rates = {}
    with tempfile.TemporaryDirectory(prefix="smd-lab-") as folder:
        text = Smd(smd).fabric(fabric, folder)
        net = pathlib.Path(folder) / "net"
        subjects = {"ibsim": lambda: Ibsim(net), "smd sim": lambda: Lab(smd, str(net))}
        for _ in range(3):
            for name, start in subjects.items():
                with start() as sim:
                    hosts = hosts_of(text)
                    row = rates.setdefault(name, {"flood": [], "ibnetdiscover": [], "opensm": []})
                    row["flood"].append(float(sim.output(hosts[5], FLOOD, "20000", "64").split()[0]))
                    row["ibnetdiscover"].append(timed(lambda: sim.run(hosts[5], "ibnetdiscover")))
                    row["opensm"].append(timed(lambda: sim.run(hosts[0], "opensm", "-d", "2", "-f", "osm.log", "-o")))
    for name, row in rates.items():
        print(f"   {name:8} flood {max(row['flood']):9.0f} SMPs/s   ibnetdiscover {min(row['ibnetdiscover']):.3f} s   "
              f"opensm {min(row['opensm']):.3f} s", flush=True)
    ratio = max(rates["smd sim"]["flood"]) / max(rates["ibsim"]["flood"])
    print(f"   smd sim answers {ratio:.2f} times as many SMPs a second", flush=True)


FLOOD = os.environ.get("SMD_LAB_FLOOD")
BARRAGE = os.environ.get("SMD_LAB_BARRAGE")


def timed(run):
    began = time.monotonic()
    run()
    return time.monotonic() - began


def still(file, seconds=1):
    """Nobody has written to it for so long."""
    return file.exists() and time.time() - file.stat().st_mtime > seconds


def copied_dumps(folder, names):
    """opensm writes its dumps anew after each heavy sweep: a copy of whole ones."""
    to = folder / "dumps"
    to.mkdir()
    for _ in range(30):
        wait_for(lambda: all(still(folder / name) for name in names), 60, "opensm's dumps")
        stamps = [(folder / name).stat().st_mtime_ns for name in names]
        for name in names:
            shutil.copy(folder / name, to / name)
        if stamps == [(folder / name).stat().st_mtime_ns for name in names]:
            return to
    raise Failure("opensm's dumps never stood still")


def any_host(fabric):
    return "h00000" if fabric.startswith("ft2") else "h00-00-00"


SCENARIOS = {f.__name__: f for f in (tools, sa, ping, standby, master, clients, osmtest, registry, routes, fuzz, speed, differ, trace,
                                         queries, joins, barrage, script, files)}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("scenario", choices=SCENARIOS)
    parser.add_argument("fabric", nargs="?", default="ft2:8")
    parser.add_argument("--smd", required=True)
    given = parser.parse_args()
    try:
        SCENARIOS[given.scenario](given.smd, given.fabric)
    except Failure as failure:
        sys.exit(str(failure))


if __name__ == "__main__":
    main()
