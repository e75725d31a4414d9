#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The program as operators have it: daemon.py SCENARIO --smd PROGRAM --source FOLDER. Exit 1 with what is wrong."""
import argparse
import fcntl
import json
import os
import pathlib
import random
import re
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import termios
import time

from subject import LIMIT, Daemon, Failed, expect, until


def ask(args):
    """Every command, as text and as JSON."""
    with Daemon(args.smd, "--sim", "ft2:8") as smd:
        subnet = smd.swept()
        expect(subnet["last_sweep"]["state"] == "up", subnet["last_sweep"])
        expect(subnet["sm"]["state"] == "master" and subnet["master"] == subnet["sm"], subnet["sm"])
        text = smd.tell("status")
        for part in ("subnet ft2:8: up", "12 switches, 32 CAs", "master, 0x"):
            expect(part in text, f"{part!r} is not in: {text}")
        expect(smd.tell("ports").count("Active 4x") == 128, "128 Active ports")
        expect(smd.tell("ports", "leaf000", "--state", "active").count("Active 4x") == 8, "ports of a leaf")
        expect(smd.tell("links", "--type", "ca").count("h000") >= 32, "cables of hosts")
        expect("Active" not in smd.tell("ports", "--not-active"), "no other port has a link")
        expect("heavy sweep asked for" in smd.tell("resweep", "heavy"), "resweep heavy")
        smd.logged('reason="asked for"')
        smd.tell("resweep")
        expect("up" in smd.tell("wait", "up", "--timeout", "20"), "wait up")
        expect(smd.tell("status", "--nagios").startswith("SMD OK - subnet ft2:8: up"), "status --nagios")
        expect("needs --for" in smd.tell("sweep", "off", status=2), "sweep off without a time")
        expect("ft2:8: sweeps off until 20" in smd.tell("sweep", "off", "--for", "2s"), "sweep off")
        smd.logged("sweep.off")
        expect("OFF until" in smd.tell("status"), "status shows that sweeps are off")
        smd.logged('reason="the time is over"')
        expect("OFF until" not in smd.tell("status"), "sweeps are on by themselves")
        smd.tell("sweep", "off", "--for", "1h")
        expect(smd.tell("status", "--nagios", status=1).startswith("SMD WARNING - subnet ft2:8: up: sweeps off"), "warning")
        expect("sweeps off until 20" in smd.tell("status", "--check", status=3), "status --check without sweeps")
        expect("what is shown may be old" in smd.tell("why", "leaf000"), "why without sweeps")
        expect(smd.tell("sweep", "on") == "ft2:8: sweeps on\n", "sweep on")
        way = smd.tell("path", "h00000", "h00001")
        expect("SL 0" in way and "VL" in way and "leaf000" in way, way)
        expect(smd.tell("switches").count("leaf0") >= 2 and "spine" in smd.tell("switches"), "switches")
        expect("NAME" in smd.tell("services"), "services")
        expect("leaf000" in smd.tell("why", "leaf000"), "why")
        balance = smd.tell("balance", "leaf000")
        expect("leaf000" in balance and "HOST LIDS" in balance, balance)
        expect(smd.tell("log", "debug", "sweep") == "level info\nsweep debug\n", "log debug sweep")
        expect(smd.tell("log", "default") == "level info\n", "log default")
        expect("LEVEL" in smd.tell("log", "loud", status=2), "an unknown level")
        expect("neither a GUID" in smd.tell("log", "info", "x y", status=2), "an unknown module")
        folder = smd.folder / "dumps"
        smd.tell("dump", folder)
        with Daemon(args.smd, "--sim", "ft2:8", "--once", "--dump-dir", smd.folder / "same", socket=False) as once:
            expect(once.process.wait(60) == 0, "--once")
        for path in (smd.folder / "same").iterdir():
            expect((folder / path.name).read_bytes() == path.read_bytes(), f"{path.name} differs from --dump-dir's")
        smd.tell("dump", folder, "--dump", "nothing", status=2)
        victim = smd.folder / "victim"
        victim.write_text("mine")
        (smd.folder / "link").symlink_to(folder)
        refused = smd.tell("dump", smd.folder / "link", status=1)
        expect("is a symbolic link" in refused, refused)
        (folder / "guid2lid").unlink()
        (folder / "guid2lid").symlink_to(victim)
        (folder / "guid2lid.new").symlink_to(victim)  # the name that it was written under once
        smd.tell("dump", folder, "--dump", "guid2lid")
        expect(victim.read_text() == "mine", "smd dump has written through a symbolic link")
        expect((folder / "guid2lid").is_file() and not (folder / "guid2lid").is_symlink(), "guid2lid is no file")
        expect("no subnet x; there are: ft2:8" in smd.tell("status", "--subnet", "x", status=1), "--subnet x")
        smd.end()
        nobody = smd.tell("status", status=1)
        expect(nobody == f"smd status: no daemon at {smd.socket}\n", nobody)
    wrong = subprocess.run([args.smd, "frobnicate"], capture_output=True, text=True)
    expect(wrong.returncode == 2 and wrong.stderr.startswith('smd: found "frobnicate", allowed are the commands run, '),
           wrong.stderr)
    for command in ("links", "route --topology ft2:4", "sweep off", "token add x", "api cert --self-signed"):
        wrong = subprocess.run([args.smd, *command.split(), "--nosuch"], capture_output=True, text=True)
        name = "api cert" if command.startswith("api") else command.split()[0]
        expect(wrong.returncode == 2 and wrong.stderr.count("\n") == 1 and wrong.stderr.startswith(f"smd {name}: ")
               and "--nosuch" in wrong.stderr, f"{command}: {wrong.stderr}")


def sockets(args):
    """A live socket is refused, a stale one replaced, a file left alone."""
    with Daemon(args.smd, "--sim", "ft2:4") as first:
        first.swept()
        expect(first.socket.stat().st_mode & 0o777 == 0o660, "mode 0660")
        second = subprocess.run([args.smd, "run", "--sim", "ft2:4", "--socket", first.socket], capture_output=True,
                                text=True, timeout=60)
        expect(second.returncode == 1 and second.stderr.count("\n") == 1, second.stderr)
        expect("another smd answers there" in second.stderr, second.stderr)
        first.status()
        first.process.kill()
        first.process.wait()
        expect(first.socket.exists(), "a killed daemon leaves its socket")
        with Daemon(args.smd, "--sim", "ft2:4", folder=first.folder) as third:
            third.swept()
            third.end()
        expect(not first.socket.exists(), "the socket goes with the daemon")
        first.socket.write_text("mine")
        with Daemon(args.smd, "--sim", "ft2:4", folder=first.folder) as fourth:
            expect(fourth.process.wait(60) == 1, "a file is no socket")
        expect(first.socket.read_text() == "mine", "the file stays")


def state(args):
    """One writer for a subnet's state; a file that is rubbish costs one line; what cannot be written, another."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="smd-state-"))
    kept = folder / "state"
    with Daemon(args.smd, "--sim", "ft2:4", "--state-dir", kept) as first:
        first.swept()
        again = [args.smd, "run", "--once", "--sim", "ft2:4", "--state-dir", kept]
        second = subprocess.run(again, capture_output=True, text=True, timeout=60)
        wanted = f"smd run: {kept}: the state of subnet ft2:4 is in use by process {first.process.pid}\n"
        expect(second.returncode == 1 and wanted in second.stderr, second.stderr)  # a line of the log may come later
        with Daemon(args.smd, "--sim", "ft2:4", "--sim", "ft2:8", "--state-dir", kept) as beside:
            until(lambda: beside.answers() and beside.subnet("ft2:8")["last_sweep"], "the other subnet's sweep")
            waits = until(lambda: beside.subnet("ft2:4")["waiting"], "why the first does not run")
            expect(waits["for"] == "state" and f"process {first.process.pid}" in waits["reason"], waits)
            expect("is in use by process" in beside.tell("status"), "in words too")
            expect(beside.log().count("store.refused") == 1, "said once")
            beside.tell("resweep", "--subnet", "ft2:4", status=1)
            beside.end()
        first.process.kill()
        first.process.wait()
    with Daemon(args.smd, "--sim", "ft2:4", "--sim", "ft2:8", "--state-dir", kept) as third:
        until(lambda: third.log().count(" subnet.up ") == 2, "both subnets up")
        log = third.log()  # on a busy machine a disk is slow at times, which is told and is over again
        expect(log.count("store.") == log.count("is not on the disk after") + log.count("store.works_again"), log)
        third.end()
    (kept / "smd.db").write_bytes(os.urandom(20000))
    done = subprocess.run(again, capture_output=True, text=True, timeout=60)
    expect(done.returncode == 0 and done.stderr.count(" error ") == 1, done.stderr)
    expect("store.set_aside" in done.stderr and (kept / "smd.db.set-aside-1").exists(), done.stderr)
    (folder / "file").write_text("")
    done = subprocess.run(again[:-1] + [folder / "file" / "x"], capture_output=True, text=True, timeout=60)
    expect(done.returncode == 0 and done.stderr.count(" error ") == 1, done.stderr)
    expect("store.failed" in done.stderr, done.stderr)
    shutil.rmtree(folder)


def looked_into(args):
    """A program that opens smd's files while it runs, and ends, takes nothing of them away."""
    look = "import sqlite3, sys; sqlite3.connect(sys.argv[1]).execute('SELECT count(*) FROM sqlite_schema').fetchall()"
    with tempfile.TemporaryDirectory(prefix="smd-looked-into-") as folder:
        kept = pathlib.Path(folder) / "state"
        with Daemon(args.smd, "--sim", "ft2:4", "--state-dir", kept) as smd:
            smd.swept()
            for name in ("events.db", "smd.db"):
                subprocess.run([sys.executable, "-c", look, kept / name], check=True, timeout=60)
                expect((kept / f"{name}-wal").exists(), f"{name}: SQLite's log stays")
            smd.tell("priority", "3")
            time.sleep(1)  # an event is written 50 ms after it has happened
            smd.process.kill()
            smd.process.wait()
        with Daemon(args.smd, "--sim", "ft2:4", "--state-dir", kept) as smd:
            smd.swept()
            expect("sm.priority" in smd.tell("events", "--match", "sm.priority"), "an event of after that")
            smd.end()


def end(args):
    """SIGTERM ends in under a second: at rest, in the first sweep, in a computation."""
    for fabric, wait in (("ft2:8", True), ("ft3:24", False), ("dragonfly:8:4", False)):
        for delay in (0.0, 0.3, 0.8):
            with Daemon(args.smd, "--sim", fabric) as smd:
                if wait:
                    smd.swept()
                until(smd.answers, "an answer")
                time.sleep(delay)
                took = smd.end()
                expect(took < 1.0 * args.slack, f"{fabric} after {delay} s: {took:.2f} s")
                expect(not smd.socket.exists(), "the socket goes in any case")
    with Daemon(args.smd, "--sim", "ft2:8", "--once", "--set", "mad.timeout=1m") as smd:
        expect(smd.process.wait(60) == 0, "--once")


def reload(args):
    """SIGHUP: what changed is said and in force; --set stays; what needs a restart is named."""
    with config_daemon(args) as smd:
        subnet = smd.swept()
        expect(subnet["last_sweep"]["engine"] == "dmodc", subnet["last_sweep"])
        smd.config.write_text('[routing]\nengines = ["minhop"]\nthreads = 3\n[lids]\nlmc = 3\n'
                              '[mad]\nmax_outstanding = 40\nper_node = 1\n[log]\nlevel = "debug"\n')
        smd.hang_up()
        smd.logged("reason=reload")
        line = next(l for l in smd.log().splitlines() if "config.reloaded" in l)
        for part in ("routing.engines", "mad.max_outstanding 256 -> 40", "log.level", "needs_restart=",
                     "routing.threads 0 -> 3"):
            expect(part in line, f"{part!r} is not in: {line}")
        expect("lids.lmc" not in line, f"--set lids.lmc stays: {line}")
        expect(smd.status()["needs_restart"] == ["routing.threads 0 -> 3"], smd.status()["needs_restart"])
        until(lambda: smd.subnet()["last_sweep"]["engine"] == "minhop", "minhop")
        expect(smd.subnet()["last_sweep"]["lids"] == 6 + 8 * 2, "lmc stays 1")
        smd.tell("log", "error", "sweep")
        expect('"sweep":"error"' in scrape(smd, "/v1/log"), scrape(smd, "/v1/log"))
        smd.hang_up()
        smd.logged("changed=nothing")
        expect('"sweep"' not in scrape(smd, "/v1/log"), f"what smd log has changed stays: {scrape(smd, '/v1/log')}")
        smd.end()


def metrics(args):
    """/metrics of a running daemon: counts go on, and promtool, where it is installed, has no complaint."""
    with (tempfile.TemporaryDirectory(prefix="smd-fabric-") as folder,
          config_daemon(args, more=("--sim", "ft2:4", "--sim-socket", f"{folder}/sim.sock")) as smd):
        smd.swept()

        def value(name):
            page = scrape(smd)
            found = re.search(r"^" + re.escape(name) + r" (\S+)$", page, re.M)
            return float(found[1]) if found else None

        expect(value("smd_config_reload_total") == 0 and value("smd_config_reload_failed_total") == 0, "no reload yet")
        sweeps, blocks = value("smd_sweeps_total"), value("smd_lft_blocks_written_total")
        expect(sweeps >= 1 and blocks >= 6, f"{sweeps} sweeps, {blocks} blocks of 6 switches")
        expect(value('smd_sweep_duration_seconds{type="heavy"}') > 0, "how long the first sweep took")
        smd.tell("resweep", "heavy")
        until(lambda: value("smd_sweeps_total") > sweeps, "a further sweep is counted")
        smd.config.write_text("nonsense")
        smd.hang_up()
        until(lambda: value("smd_config_reload_failed_total") == 1, "a refused reload is counted")
        smd.config.write_text("")
        smd.hang_up()
        until(lambda: value("smd_config_reload_total") == 2, "a reload is counted")
        expect(value("smd_config_reload_failed_total") == 1, "which was not refused")
        expect(value("smd_smp_outstanding") is not None, "requests that wait")
        expect(value("smd_sa_latency_seconds_count") == 0, "nothing was asked of subnet administration")
        asked = subprocess.run([args.smd, "attach", "--socket", f"{folder}/sim.sock", "--node", "h00001", "--", "saquery",
                                "NR"], capture_output=True, text=True, timeout=LIMIT)
        expect(asked.returncode == 0, f"saquery: exit {asked.returncode}, {asked.stdout}{asked.stderr}")
        counted = 'smd_sa_requests_total{attr="NodeRecord",method="GetTable",status="ok"}'
        until(lambda: value(counted), "a request is counted", 5)
        expect(value(counted) == value("smd_sa_latency_seconds_count"), f"with its time: {scrape(smd)}")
        for path in ("/metrics", "/metrics/guilbaults"):
            if shutil.which("promtool"):
                checked = subprocess.run(["promtool", "check", "metrics"], input=scrape(smd, path), text=True,
                                         capture_output=True, timeout=LIMIT)
                text = checked.stdout + checked.stderr
                expect(checked.returncode == 0 and not text.strip(), f"promtool of {path}: {text}")
            else:
                print("promtool is not installed (Debian's prometheus): not checked by it")
        smd.end()


def scrape(smd, path="/metrics"):
    with socket.socket(socket.AF_UNIX) as one:
        one.connect(str(smd.socket))
        one.sendall(f"GET {path} HTTP/1.0\r\n\r\n".encode())
        page = b"".join(iter(lambda: one.recv(65536), b""))
    return page.decode().split("\r\n\r\n", 1)[1]


def reload_subnets(args):
    """SIGHUP: new subnets begin, those that are gone end, the others are left alone."""
    def blocks(*ports):
        return "".join(f'[[subnet]]\nname = "{name}"\nport = "{port}"\n' for name, port in ports)

    with config_daemon(args, blocks(("a", "none_0:1"), ("b", "none_1:1")), more=()) as smd:
        until(smd.answers, "an answer")

        def shown():
            return sorted((s["subnet"], s["port"]) for s in smd.status()["subnets"])

        expect(shown() == [("a", "none_0:1"), ("b", "none_1:1")], shown())
        preview = smd.tell("check", "--running")
        expect("not in the configuration" not in preview and "the one in force" in preview, preview)
        expect("a waits: " in smd.tell("ports", "--subnet", "a", status=1), "no list of ports that were not read")
        since = smd.subnet("b")["waiting"]["since"]
        for wanted in ((("b", "none_1:1"), ("c", "none_2:1")), (("b", "none_1:1"), ("c", "none_3:1")),
                       (("b", "none_1:1"), ("d", "none_3:1")), (("b", "none_1:1"),)):
            smd.config.write_text(blocks(*wanted))
            smd.hang_up()
            until(lambda: shown() == sorted(wanted), f"{wanted}")
        expect(smd.subnet("b")["waiting"]["since"] == since, "b waits as it did")
        log = smd.log()
        for part in ("subnet gone: a", "new subnet: c", "subnet gone: c"):
            expect(part in log, f"{part!r} is not in: {log}")
        expect("needs_restart" not in log, log)
        expect(smd.end() < 1.0 * args.slack, "ends at once")


def config_daemon(args, text="", more=("--sim", "ft2:4", "--set", "lids.lmc=1")):
    folder = pathlib.Path(tempfile.mkdtemp(prefix="smd-daemon-"))
    config = folder / "smd.toml"
    config.write_text(text)
    daemon = Daemon(args.smd, "--config", config, *more, folder=folder)
    daemon.own_folder = True
    daemon.config = config
    return daemon


def partitions(args):
    """Partitions by the API: kept before they are answered, whenever the daemon is killed."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="smd-daemon-"))
    config = folder / "smd.toml"
    config.write_text('[[partition]]\nname = "filed"\npkey = 0x20\nfull = ["h00001"]\n')
    start = lambda: Daemon(args.smd, "--config", config, "--sim", "ft2:4", "--state-dir", folder / "state", folder=folder)
    chance = random.Random(7)
    members = {}

    def change(smd):
        host = f"h{chance.randrange(4):05}"
        membership = chance.choice(["limited", "full"])
        if host in members and chance.random() < 0.5:
            smd.tell("partitions", "remove", "blue", host)
            del members[host]
        else:
            smd.tell("partitions", "add", "blue", host, "--membership", membership)
            members[host] = membership

    def as_told(smd):
        smd.tell("partitions", "wait", "blue")
        shown = json.loads(smd.tell("partitions", "show", "blue", "--json"))["partitions"][0]
        return {one["name"]: one["membership"] for one in shown["members"]} == members

    try:
        with start() as smd:
            smd.swept()
            smd.tell("partitions", "create", "blue", "--pkey", "0x8012", "--ipoib", "--mtu", "4096", "--rate", "100")
            expect("0x0012 blue" in smd.tell("partitions", "list"), "the list")
            for line, words in ((("add", "filed", "h00002"), f"is defined in {config}:1"),
                                (("create", "red", "--pkey", "0x20"), f"is defined in {config}:1"),
                                (("create", "blue", "h00001"), "it is another one"),
                                (("show", "nope"), "no partition"),
                                (("add", "blue", "group:nope"), "there is no group nope")):
                expect(words in smd.tell("partitions", *line, status=1), f"{line}: {words}")
            for line, words in ((("add", "blue"), "needs members"), (("create",), "needs a name"),
                                (("list", "blue"), "smd partitions show blue"),
                                (("delete", "blue", "red"), "delete takes one partition: what is red?"),
                                (("show", "blue", "h00001"), "show takes one partition"),
                                (("reindex", "h00001", "h00002"), "reindex takes one set of ports"),
                                (("add", "blue", "h00001", "--pkey", "0x9"), "add takes no --pkey"),
                                (("list", "--timeout", "5"), "list takes no --timeout"),
                                (("add", "blue", "0xzz"), "found"), (("create", "x", "--pkey", "zz"), "--pkey"),
                                (("create", "x", "--sl", "77"), "--sl"), (("create", "x,y"), "the name of a partition"),
                                (("create", "x", "--mtu", "4096"), "--mtu is of the IPoIB group")):
                expect(words in smd.tell("partitions", *line, status=2), f"{line}: {words}")
            expect("nothing changes" in smd.tell("partitions", "remove", "blue", "h00003"), "no member")
            for words, what in ((("create", "glob", "h0000[12]", "h00000"), "created"), (("add", "glob", "h00003"), "added"),
                                (("remove", "glob", "h0000[12]", "h00000"), "removed")):
                expect(f" glob: {what}" in smd.tell("partitions", *words), what)
            smd.tell("partitions", "wait", "glob")
            expect('"h00003"' in smd.tell("partitions", "show", "glob"), "the member that was added")
            expect(" glob: deleted" in smd.tell("partitions", "delete", "glob"), "deleted")
            smd.process.kill()
        for round in range(10 if "SMD_LONG" not in os.environ else 100):
            with start() as smd:
                smd.swept()
                expect(as_told(smd), f"round {round}: other members than {members}")
                for _ in range(chance.randrange(1, 4)):
                    change(smd)
                smd.process.kill()
        config.write_text('[[partition]]\nname = "theirs"\npkey = 0x12\nfull = ["h00002"]\n')
        with start() as smd:  # the file takes it over, and gives it back
            smd.swept()
            smd.logged("partition.taken_over")
            expect(f"P_Key 0x0012 of blue is that of theirs, {config}:1" in smd.tell("partitions", "delete", "blue", status=1),
                   "taken over")
            config.write_text("")
            smd.hang_up()
            smd.logged("config.reloaded")
            expect(as_told(smd), "given back")
            smd.tell("partitions", "delete", "blue")
            expect("blue" not in smd.tell("partitions", "list"), "deleted")
            smd.end()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def policy(args):
    """Files that are wrong about partitions: the policy that was accepted last, or no start at all."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="smd-daemon-"))
    config, conf = folder / "smd.toml", folder / "partitions.conf"
    config.write_text('[partitions]\nfile = "partitions.conf"\n')
    conf.write_text("X=0x10 : notaguid=full ;\n")
    common = ("--config", config, "--sim", "ft2:4", "--state-dir", folder / "state")
    start = lambda: Daemon(args.smd, *common, folder=folder)
    try:
        with start() as smd:
            expect(smd.process.wait(LIMIT) == 2, f"without a kept policy: exit {smd.process.returncode}")
            expect(f"{conf}:1: " in smd.log(), smd.log())
        conf.write_text("X=0x10 : ALL=full ;\n")
        with start() as smd:
            expect(smd.swept()["last_sweep"]["state"] == "up", "up")
            smd.tell("partitions", "wait", "X")
            smd.end()
        conf.write_text("X=0x10 : notaguid=full ;\n")
        for more in (("--once",), ("--dry-run",)):
            ended = subprocess.run([args.smd, "run", *map(str, common), *more], capture_output=True, text=True)
            expect(ended.returncode == 2, f"{more}: exit {ended.returncode}")
        with start() as smd:
            subnet = smd.swept()
            expect(subnet["last_sweep"]["state"] == "degraded", subnet["last_sweep"]["state"])
            smd.logged("config.refused")
            smd.tell("partitions", "wait", "X")
            expect("accepted last" in smd.tell("status"), smd.tell("status"))
            refused = smd.log().count("config.refused")
            smd.hang_up()
            smd.logged("config.refused", refused + 1)
            until(lambda: "was refused, the configuration before it is in force: " in smd.tell("status"), "refused in status")
            conf.write_text("X=0x10 : ALL=full ;\nY=0x11 : ALL_CAS=full ;\n")
            smd.hang_up()
            smd.logged("config.reloaded")
            expect("was refused" not in smd.tell("status"), "no longer refused")
            smd.tell("partitions", "wait", "Y")
            until(lambda: smd.subnet()["last_sweep"]["state"] == "up", "up again")
            smd.end()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def qos_policy(args):
    """A wrong QoS policy: the one that was accepted last is in force, with its partitions, or no start."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="smd-daemon-"))
    config, conf = folder / "smd.toml", folder / "qos-policy.conf"
    config.write_text('[qos]\nenabled = true\npolicy_file = "qos-policy.conf"\n[[partition]]\nname = "X"\npkey = 0x10\n')
    right, wrong_text = "qos-ulps\ndefault : {}\nend-qos-ulps\n", "qos-ulps\ndefault : 16\nend-qos-ulps\n"
    conf.write_text(wrong_text)
    common = ("--config", config, "--sim", "ft2:4", "--state-dir", folder / "state")
    start = lambda: Daemon(args.smd, *common, folder=folder)
    try:
        with start() as smd:
            expect(smd.process.wait(LIMIT) == 2, f"without a kept policy: exit {smd.process.returncode}")
            expect(f"{conf}:2: default: got " in smd.log(), smd.log())
        conf.write_text(right.format(3))
        with start() as smd:
            state = lambda: smd.subnet()["last_sweep"]["state"]
            expect(smd.swept()["last_sweep"]["state"] == "up", "up")
            conf.write_text(wrong_text)
            smd.hang_up()
            until(lambda: state() == "reduced", "reduced after a reload of a wrong policy")
            conf.write_text(right.format(3))
            smd.hang_up()
            until(lambda: state() == "up", "up after a reload of a right one")
            smd.end()
        conf.write_text(wrong_text)
        for more in (("--once",), ("--dry-run",)):
            ended = subprocess.run([args.smd, "run", *map(str, common), *more], capture_output=True, text=True)
            expect(ended.returncode == 2, f"{more}: exit {ended.returncode}")
        ended = subprocess.run([args.smd, "check", "--config", config], capture_output=True, text=True)
        expect(ended.returncode == 2, f"check: exit {ended.returncode}")
        config.write_text(config.read_text().replace("0x10", "0x11"))
        with start() as smd:
            expect(smd.swept()["last_sweep"]["state"] == "reduced", smd.swept()["last_sweep"]["state"])
            smd.logged("config.refused")
            expect("wrong about QoS, the policy that was accepted last is in force" in smd.tell("status"), smd.tell("status"))
            expect("0x0010" in smd.tell("partitions", "list"), "partitions name classes: the kept ones")
            refused = smd.log().count("config.refused")
            smd.hang_up()
            smd.logged("config.refused", refused + 1)
            conf.write_text(right.format(4))
            smd.hang_up()
            smd.logged("config.reloaded")
            until(lambda: smd.subnet()["last_sweep"]["state"] == "up", "up again")
            expect("0x0011" in smd.tell("partitions", "list"), "partitions of the right files")
            smd.end()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def wrong_cases(source):
    """Files (not overrides) of tests/golden/config/wrong.txt that need no other file."""
    for block in (source / "tests/golden/config/wrong.txt").read_text().split("---\n"):
        lines = block.splitlines()
        toml = [l for l in lines if not l.startswith(("=> ", "--set "))]
        said = [l[3:] for l in lines if l.startswith("=> ")]
        alone = all(l.startswith("smd.toml:") for l in said) and ".guids" not in block and "cannot read" not in block
        if toml and alone and not any(l.startswith("--set ") for l in lines) and "key_file" not in block:
            yield "\n".join(toml) + "\n", said


def wrong(args):
    """Every wrong file: exit 2 at the start, refused whole by a running daemon."""
    cases = list(wrong_cases(args.source))
    expect(len(cases) >= 40, f"{len(cases)} wrong files")
    with config_daemon(args, more=("--sim", "ft2:4")) as smd:
        smd.swept()
        before = smd.subnet()["last_sweep"]["reason"]
        for toml, said in cases:
            smd.config.write_text(toml)
            checked = subprocess.run([args.smd, "check", "--config", smd.config], capture_output=True, text=True)
            expect(checked.returncode == 2, f"{toml}: exit {checked.returncode}")
            started = subprocess.run([args.smd, "run", "--config", smd.config, "--sim", "ft2:4", "--once"],
                                     capture_output=True, text=True)
            expect(started.returncode == 2, f"{toml}: exit {started.returncode}")
            expect(started.stderr == checked.stderr, f"{toml}: {started.stderr} and {checked.stderr}")
            expect(started.stderr.count("\n") == len(said), f"{toml}: {started.stderr}")
            for line in started.stderr.splitlines():
                where, _, rest = line.partition(f"{smd.config}:")
                expect(where == "" and rest.split(":")[0].isdigit(), f"no file and line: {line}")
            # The unit test has engines and log modules of its own: those lists, and what comes next to them, differ.
            told = [l.replace(str(smd.config), "smd.toml") for l in started.stderr.splitlines()]
            expect([l.partition(" one of the ")[0] for l in told] == [l.partition(" one of the ")[0] for l in said],
                   f"{told} instead of {said}")
            refused = smd.log().count("config.refused")
            smd.hang_up()
            until(lambda: smd.log().count("config.refused") == refused + len(said), f"refusal of {toml}")
        expect("config.reloaded" not in smd.log(), "nothing was taken over")
        expect(smd.subnet()["last_sweep"]["reason"] == before, "no sweep for a refused file")
        smd.config.write_text("[lids]\nlmc = 1\n[links]\nhoq_life = 17\n")
        checked = subprocess.run([args.smd, "check", "--config", smd.config], capture_output=True, text=True)
        expect(checked.returncode == 0 and "4: links.hoq_life: called hoq_lifetime now" in checked.stderr,
               f"an old name: {checked}")
        conf = smd.config.parent / "escapes.conf"
        conf.write_bytes(b"A\x1b[31m=0x10:h\x1b[0m/P1;\n")
        checked = subprocess.run([args.smd, "check", "--config", smd.config, "--set", f"partitions.file={conf}"],
                                 capture_output=True, text=True)
        expect("A\\x1b[31m" in checked.stdout and "\x1b" not in checked.stdout, f"control characters: {checked}")
        smd.hang_up()
        smd.logged("config.renamed")
        smd.logged("config.reloaded")
        smd.end()


def rotate(args):
    """SIGUSR1: the log goes on in a new file under the old name, with the level that `smd log` set."""
    with config_daemon(args, more=("--sim", "ft2:4")) as smd:
        smd.swept()
        log = smd.config.parent / "target.log"
        smd.config.write_text(f'[log]\ntarget = "{log}"\n')
        smd.hang_up()
        until(lambda: log.exists() and "reason=reload" in log.read_text(), "a line in the file")
        def rotate_to(suffix):
            log.rename(log.with_suffix(suffix))
            smd.process.send_signal(signal.SIGUSR1)
            until(log.exists, "a new file")
            smd.tell("resweep", "heavy")

        rotate_to(".1")
        until(lambda: "asked for" in log.read_text(), "a sweep in the new file")
        expect("asked for" not in log.with_suffix(".1").read_text(), "nothing more in the old file")
        smd.tell("log", "warn")
        sweeps = smd.subnet()["swept_at"]
        rotate_to(".2")
        until(lambda: smd.subnet()["swept_at"] != sweeps, "another sweep")
        expect("sweep=" not in log.read_text(), "the level stays")
        smd.process.send_signal(signal.SIGUSR2)  # of no meaning here; its default would end the process
        time.sleep(0.2)
        expect(smd.process.poll() is None and smd.answers(), "SIGUSR2 ends nothing")
        smd.end()


def full(args):
    """What cannot be written to stdout is an error."""
    for command in (["check"], ["route", "--topology", "ft2:4"], ["run", "--sim", "ft2:4", "--once", "--json"]):
        with open("/dev/full", "w") as nowhere:
            done = subprocess.run([args.smd, *command], stdout=nowhere, stderr=subprocess.PIPE, text=True)
        expect(done.returncode == 1 and "standard output cannot be written" in done.stderr, f"{command}: {done}")


def import_file(args):
    """`smd check` reads what [lids] import names; a daemon goes on without it."""
    with tempfile.TemporaryDirectory(prefix="smd-daemon-") as folder:
        lids = pathlib.Path(folder) / "guid2lid"
        again = [args.smd, "check", "--set", f"lids.import_guid2lid={lids}"]
        done = subprocess.run(again, capture_output=True, text=True)
        expect(done.returncode == 2 and f"{lids}: No such file" in done.stderr, done)
        lids.write_text("0x1 1 1\nrubbish\n")
        done = subprocess.run(again, capture_output=True, text=True)
        expect(done.returncode == 2 and f"{lids}:2: " in done.stderr, done)
        lids.write_text("0x1 1 1\n")
        done = subprocess.run([*again, "--set", "lids.lmc=2"], capture_output=True, text=True)
        expect(done.returncode == 0 and ": 2 keys differ from the defaults\n" in done.stdout, done)
        expect("  lids.lmc = 2 " in done.stdout and "sweep" not in done.stdout, done)
        done = subprocess.run([*again, "--all"], capture_output=True, text=True)
        expect(": 1 key differs from the default\n" in done.stdout and "[sweep]\n" in done.stdout, done)


def dry_run(args):
    """The first three lines say what a fabric in operation would feel; --fail-on-disruption makes an exit status of it."""
    with tempfile.TemporaryDirectory(prefix="smd-daemon-") as folder:
        socket = pathlib.Path(folder) / "sim.sock"
        sim = subprocess.Popen([args.smd, "sim", "ft2:8", "--socket", str(socket)], stdout=subprocess.DEVNULL)
        try:
            until(socket.exists, "the fabric")
            def run(*options):
                return subprocess.run([args.smd, "attach", "--socket", str(socket), "--node", "h00000", "--", args.smd, "run",
                                       "--state-dir", folder, *options], capture_output=True, text=True)
            fresh = run("--dry-run", "--fail-on-disruption")
            expect(fresh.returncode == 0, fresh)
            expect(fresh.stdout.startswith("LIDs: 0 change\nroutes: 0 of 0 entries of ports in use change\n"
                                           "links taken down: none\n"), fresh.stdout)
            expect(run("--once").returncode == 0, "bring-up")
            same = run("--dry-run", "--fail-on-disruption")
            expect(same.returncode == 0, same)
            found = re.match(r"LIDs: 0 change\nroutes: 0 of (\d+) entries of ports in use change\nlinks taken down: none\n",
                             same.stdout)
            expect(found and int(found.group(1)) > 12 * 32, same.stdout)
            slower = ("--dry-run", "--set", "links.speed=QDR")
            found = re.search(r"^links taken down: (\d+): .* port \d+", run(*slower).stdout, re.M)
            expect(found and int(found.group(1)) == 64, run(*slower).stdout)
            expect(run(*slower).returncode == 0 and run(*slower, "--fail-on-disruption").returncode == 3, "exit status")
            more = run("--dry-run", "--fail-on-disruption", "--set", "lids.lmc=1")
            expect(more.returncode == 3 and not more.stdout.startswith("LIDs: 0 "), more)
        finally:
            sim.terminate()
            sim.wait()


def screen(args):
    """What `smd run` shows: the field's words, and the program by the name that the shell knows."""
    def shown(path, fabric="ft3:4"):
        done = subprocess.run([args.smd, "run", "--once", "--sim", fabric], capture_output=True, text=True,
                              env={**os.environ, "PATH": path})
        expect(done.returncode == 0, done)
        return done.stdout

    text = shown(f"/usr/bin:{args.smd.parent}")
    expect("  balance   most loaded link carries 14 routes, mean 13; every shift permutation: 1 flow a link\n" in text, text)
    expect(re.search(r"\n  SMPs      \d+ \(\d+ Get, \d+ Set\); OpenSM 3\.3\.23 would send \d+ \(smd: \d+ %\)\n", text), text)
    expect("  try next  smd run --once --json " in text, text)
    expect(f" {args.smd} route --topology FILE" in shown("/usr/bin"), "not in PATH")
    expect("; shift permutations: up to " in shown("/usr/bin", "dragonfly:4:2:2"), "a dragonfly")


def subnets(args):
    """Several in one daemon; one whose fabric is bad leaves the others alone."""
    with Daemon(args.smd, "--sim", "ft2:4", "--sim", "ft2:4", "--sim", args.source / "tests/fabrics/irregular.net",
                "--port", "none_0:1") as smd:
        until(lambda: smd.answers() and sum(bool(s["last_sweep"]) for s in smd.status()["subnets"]) == 3,
              "three sweeps")
        names = [s["subnet"] for s in smd.status()["subnets"]]
        net = str(args.source / "tests/fabrics/irregular.net")
        expect(sorted(names) == sorted(["", "ft2:4", "ft2:4-2", net]), names)
        waiting = next(s for s in smd.status()["subnets"] if not s["subnet"])
        expect(waiting["waiting"]["for"] == "port" and waiting["port"] == "none_0:1", waiting)
        expect("subnet=ft2:4-2" in smd.log(), "the name is in the log lines")
        smd.tell("resweep", "heavy", "--subnet", "ft2:4-2")
        until(lambda: smd.subnet("ft2:4-2")["last_sweep"]["reason"] == "asked for", "its sweep")
        expect(smd.subnet("ft2:4")["last_sweep"]["reason"] != "asked for", "only the one that was named")
        smd.tell("dump", smd.folder / "d")
        folders = sorted(p.name for p in (smd.folder / "d").iterdir())
        expect(folders == sorted(["ft2:4", "ft2:4-2", net.replace("/", "%2f")]), folders)
        smd.tell("dump", smd.folder / "one", "--subnet", net)
        expect((smd.folder / "one/topology.net").exists(), "one subnet, no folder of its own")
        expect(smd.tell("resweep").count("asked for") == 3, "all that have a name")
        smd.end()
    twice = subprocess.run([args.smd, "run", "--port", "a:1", "--port", "a:1"], capture_output=True, text=True)
    expect(twice.returncode == 2 and "given twice" in twice.stderr, twice.stderr)


def waiting(args):
    """No device: said once, in the status too, and nothing ends."""
    with Daemon(args.smd, "--port", "none_0:1") as smd:
        smd.logged("port.waiting")
        until(smd.answers, "an answer")
        waits = until(lambda: smd.subnet()["waiting"], "waiting")
        expect(waits["for"] == "port" and waits["reason"], waits)
        expect("waiting" in smd.tell("status"), "in words too")
        time.sleep(1.5)  # some more tries
        expect(smd.log().count("port.waiting") == 1, "said once")
        expect("no subnet yet" in smd.tell("resweep", status=1), "nothing to sweep")
        expect(smd.end() < 1.0 * args.slack, "ends while it waits")


def notify(args):
    """What systemd hears: READY, STATUS, WATCHDOG, RELOADING with its time, STOPPING."""
    folder = tempfile.mkdtemp(prefix="smd-notify-")
    path = os.path.join(folder, "notify")
    heard = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    heard.bind(path)
    heard.settimeout(30)

    def wait_for(text):
        while True:
            message = heard.recv(4096).decode()
            if text in message:
                return message

    with Daemon(args.smd, "--sim", "ft2:4", env={"NOTIFY_SOCKET": path, "WATCHDOG_USEC": "900000"}) as smd:
        wait_for("READY=1")
        wait_for("master, up")
        for _ in range(3):
            wait_for("WATCHDOG=1")
        smd.hang_up()
        micros = int(wait_for("RELOADING=1").split("MONOTONIC_USEC=")[1].split()[0])
        expect(abs(micros / 1e6 - time.clock_gettime(time.CLOCK_MONOTONIC)) < 10, f"MONOTONIC_USEC={micros}")
        wait_for("READY=1")
        smd.process.send_signal(signal.SIGTERM)
        wait_for("STOPPING=1")
        expect(smd.process.wait(30) == 0, "exit 0")
    heard.close()
    os.unlink(path)
    os.rmdir(folder)


def pipe(args):
    """Whoever reads the log goes away: the daemon does not."""
    with tempfile.TemporaryDirectory(prefix="smd-daemon-") as folder:
        socket = pathlib.Path(folder) / "smd.sock"
        process = subprocess.Popen([args.smd, "run", "--sim", "ft2:4", "--state-dir", folder, "--socket", str(socket)],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        try:
            process.stderr.readline()
            process.stderr.close()
            for _ in range(3):
                done = subprocess.run([args.smd, "resweep", "heavy", "--socket", str(socket)], capture_output=True)
                until(lambda: socket.exists(), "the socket")
                expect(process.poll() is None, f"smd ended with {process.poll()}, resweep said {done.stderr}")
                time.sleep(0.2)
            process.terminate()
            expect(process.wait(10) == 0, f"exit {process.returncode} after SIGTERM")
        finally:
            process.kill()
            process.wait()


def unread(args):
    """Nothing reads stderr: sweeps go on, questions are answered, SIGTERM ends it, and what is lost is counted."""
    with tempfile.TemporaryDirectory(prefix="smd-daemon-") as folder:
        path = pathlib.Path(folder) / "smd.sock"
        process = subprocess.Popen([args.smd, "run", "--sim", "ft2:8", "--socket", str(path)],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)

        def tell(*words):
            return subprocess.run([args.smd, *words, "--socket", str(path)], capture_output=True, text=True, timeout=20)
        try:
            until(lambda: tell("status").returncode == 0, "an answer")
            tell("log", "debug")
            fcntl.fcntl(process.stderr, fcntl.F_SETPIPE_SZ, 4096)
            full, sweeps = 0, 0
            while full < 5:  # sweeps after the pipe took no more
                before = tell("status", "--json").stdout.partition('"swept_at":')[2][:30]
                expect(tell("resweep", "heavy").returncode == 0, f"no answer to resweep after {sweeps} sweeps")
                until(lambda: tell("status", "--json").stdout.partition('"swept_at":')[2][:30] != before,
                      f"sweep {sweeps}", 20)
                sweeps += 1
                waiting = fcntl.ioctl(process.stderr, termios.FIONREAD, b"\0" * 4)
                full += int.from_bytes(waiting, sys.byteorder) > 3000
            process.terminate()
            expect(process.wait(10) == 0, f"exit {process.returncode} after SIGTERM")
        finally:
            process.kill()
            process.wait()


def locked(args):
    """Another process locks the database: the subnet comes up from memory, it is said once, and made good later."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="smd-state-"))
    run = ["--sim", "ft2:8", "--state-dir", folder]
    done = subprocess.run([args.smd, "run", "--once", *map(str, run)], capture_output=True, text=True, timeout=60)
    expect(done.returncode == 0, done.stderr)
    database = sqlite3.connect(folder / "smd.db", isolation_level=None)
    rows = database.execute("SELECT count(*) FROM lids").fetchone()[0]
    database.execute("DELETE FROM lids")
    database.execute("BEGIN IMMEDIATE")
    begun = time.monotonic()
    with Daemon(args.smd, *run) as smd:
        until(lambda: "subnet.up" in smd.log(), "the subnet is up")
        took = time.monotonic() - begun
        expect(took < 4, f"up after {took:.1f} s: SQLite waits 5 s for a lock")
        smd.logged("store.failed")
        expect("not on the disk" in smd.status()["store"]["failed"], smd.status()["store"])
        expect("changes are in memory only" in smd.tell("status"), smd.tell("status"))
        database.execute("ROLLBACK")
        smd.logged("store.works_again")
        expect(smd.status()["store"] is None, smd.status()["store"])
        expect(database.execute("SELECT count(*) FROM lids").fetchone()[0] == rows, "the LIDs are kept")
        expect(smd.log().count("store.") == 2, smd.log())
        smd.end()
    database.close()
    shutil.rmtree(folder)


def hostile(args):
    """Clients that send rubbish, or nothing, hold nobody up."""
    with Daemon(args.smd, "--sim", "ft2:4") as smd:
        smd.swept()
        idle = []
        for _ in range(200):
            one = socket.socket(socket.AF_UNIX)
            one.connect(str(smd.socket))
            one.send(b"GET /v1")
            idle.append(one)
            if len(idle) % 50 == 0:
                smd.status()
        for rubbish in (b"\0" * 1000, b"GET " + b"x" * 100000, b"PUT /v1/log HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999\r\n\r\n",
                        b"PUT /v1/log HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n", b"\r\n\r\n"):
            one = socket.socket(socket.AF_UNIX)
            one.connect(str(smd.socket))
            try:
                one.sendall(rubbish)
                one.shutdown(socket.SHUT_WR)
                while one.recv(65536):
                    pass
            except OSError:
                pass  # sent away before it had said all
            one.close()
        expect(smd.subnet()["last_sweep"]["state"] == "up", "still there")
        files = len(os.listdir(f"/proc/{smd.process.pid}/fd"))
        expect(files < 110, f"{files} descriptors")
        for one in idle:
            one.close()
        smd.end()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("scenario")
    parser.add_argument("--smd", type=pathlib.Path, required=True)
    parser.add_argument("--source", type=pathlib.Path, required=True)
    args = parser.parse_args()
    args.slack = float(os.environ.get("SMD_SLACK", "2"))  # a loaded machine is not what is tested
    try:
        globals()[args.scenario](args)
    except Failed as failure:
        sys.exit(f"{args.scenario}: {failure}")


if __name__ == "__main__":
    main()
