#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Engines beside opensm's of the same name: time of computing and balance of the tables, same fabric, same run.

routing.py [SPEC[-LINKS%[-SWITCHES%[#SEED]]]…], or ./dev bench routing

opensm runs in ibsim; its time is that of a second heavy sweep from 'building routing' to 'tables configured', in
which it writes no table; its tables are measured by `smd route --lfts`. SMD_BENCH_ENGINES names the engines,
SMD_BENCH_JSON a file for the figures.
"""
import datetime
import json
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "peer"))
SMD = os.environ.get("SMD", str(HERE / "../../build/release/bin/smd"))
if "SMD_PEER_COUNTER" not in os.environ:
    os.environ["SMD_PEER_COUNTER"] = str(next((HERE / "../../build/release/tests").rglob("libpeer_counter.so"), ""))

from ibsim import Failure, Ibsim, hosts_of, wait_for  # noqa: E402

THEIRS = os.environ.get("SMD_BENCH_THEIRS", "minhop,updn,ftree").split(",")
OURS = os.environ.get("SMD_BENCH_ENGINES", "dmodc,ftree,updn,minhop").split(",")
DEFAULT = ["ft3:16+guids=1", "ft3:16+guids=1-5#1", "ft3:16+guids=2-5#2", "ft3:16+guids=3-10#1", "ft3:16+guids=4-0-10#1",
           "ft3:16+guids=5-5-5#1", "ft3:24+guids=6-5#1"]


def route(*arguments, ok=(0, 3)):
    done = subprocess.run([SMD, "route", "--json", *map(str, arguments)], capture_output=True, text=True)
    if done.returncode not in ok:
        sys.exit(f"smd route {' '.join(map(str, arguments))}: exit status {done.returncode}\n{done.stderr}")
    return json.loads(done.stdout)


def parse(text):
    found = re.fullmatch(r"([^-#]+)(?:-([\d.]+)(?:-([\d.]+))?)?(?:#(\d+))?", text)
    if not found:
        sys.exit(f"{text}: not SPEC[-LINKS%[-SWITCHES%]][#SEED]")
    spec, links, switches, seed = found.groups()
    return spec, float(links or 0), float(switches or 0), int(seed or 1)


def removals(net, links, switches, seed):
    """Lines for --without: a share of the cables between switches, and of the switches."""
    chosen = random.Random(seed)
    names, cables, here = [], [], None
    for line in net.splitlines():
        if line.startswith("switchguid="):
            here = "0x" + line.split("(")[0].split("=")[1].removeprefix("0x")
            names.append(here)
        elif line.startswith(("Ca", "caguid")):
            here = None
        elif here and (cable := re.match(r'\[(\d+)\]\s+"S-([0-9a-f]+)"', line)):
            if int(here, 16) < int(cable[2], 16):
                cables.append(f"link {here} {cable[1]}")
    return (chosen.sample(cables, int(len(cables) * links / 100)) +
            [f"node {name}" for name in chosen.sample(names, int(len(names) * switches / 100))])


def moments(log, pattern):
    """When the log has such lines, in seconds."""
    times = []
    for line in log.splitlines():
        if re.search(pattern, line):
            stamp = re.match(r"\w{3} \d+ (\d\d):(\d\d):(\d\d) (\d{6})", line)
            h, m, s, us = map(int, stamp.groups())
            times.append(datetime.timedelta(hours=h, minutes=m, seconds=s, microseconds=us).total_seconds())
    return times


def theirs(sim, host, engine, folder, *options):
    """opensm's milliseconds and the engine that it used; its tables and its log are in `folder` then."""
    client = sim.opensm(host, "-R", engine, *options, "-D", "0x47")
    log = client.folder / "osm.log"
    read = lambda: log.read_text(errors="replace")
    client.process.send_signal(signal.SIGHUP)
    begins, ends = r"building routing with '", r"tables configured on all switches"
    wait_for(lambda: len(moments(read(), ends)) >= 2, 600, f"opensm's second sweep with {engine}")
    used = re.findall(r"'(\S+)' tables configured|(\S+) tables configured", read())
    took = moments(read(), ends)[1] - [t for t in moments(read(), begins) if t <= moments(read(), ends)[1]][-1]
    wait_for(lambda: read().count("SUBNET UP") >= 2, 600, "the second SUBNET UP")
    client.stop()
    for name in ("opensm-lfts.dump", "guid2lid", "osm.log"):
        (folder / name).write_bytes((client.folder / name).read_bytes())
    return took * 1000, "".join(used[-1]) if used else engine


def line(who, ms, quality, verify, ideal=None):
    text = f"   {who:<16} {ms:>9.1f} ms"
    if quality:
        text += (f"  paths {quality['max_link_paths']:>7} (mean {quality['mean_link_paths']:.0f})"
                 f"  shift {quality['shift_max']:>3} (mean {quality['shift_mean']:.2f})"
                 f"  random {quality['random_permutation_mean']:.2f}  ebb {quality['ebb']:.3f}")
    print(text + ("" if verify["ok"] else f"  NOT VERIFIED {verify}"), flush=True)


def bench(case):
    spec, links, switches, seed = parse(case)
    figures = {"fabric": case, "ours": {}, "theirs": {}}
    with tempfile.TemporaryDirectory(prefix="smd-bench-") as name:
        folder = pathlib.Path(name)
        route("--topology", spec, "--dump-dir", folder, "--dump", "topology.net")
        net = folder / "topology.net"
        if links or switches:
            (folder / "without").write_text("\n".join(removals(net.read_text(), links, switches, seed)) + "\n")
            route("--topology", net, "--without", folder / "without", "--dump-dir", folder / "rest", "--dump",
                  "topology.net")
            net = folder / "rest" / "topology.net"
        print(f"{case}:", flush=True)
        for engine in OURS:
            found = route("--topology", net, "--engine", engine, "--quality", "--repeat", 5)
            figures["ours"][engine] = found
            label = engine if found["engine"] == engine else f"{engine}>{found['engine']}"
            line("smd " + label, found["ms"]["route"], found["quality"], found["verify"])
        text = net.read_text()
        for engine in THEIRS:
            with Ibsim(net) as sim:
                try:
                    ms, used = theirs(sim, hosts_of(text)[0], engine, folder)
                except Failure as failure:
                    print(f"   opensm {engine}: {str(failure).splitlines()[0]}", flush=True)
                    continue
            found = route("--topology", net, "--lfts", folder / "opensm-lfts.dump", "--quality")
            found["ms"]["route"] = ms
            figures["theirs"][engine] = found
            line("opensm " + (engine if used == engine else f"{engine}>{used}"), ms, found["quality"], found["verify"])
    compare(figures)
    return figures


def compare(figures):
    ours, theirs_ = figures["ours"], figures["theirs"]
    for engine in sorted(set(ours) & set(theirs_)):
        ratio = theirs_[engine]["ms"]["route"] / ours[engine]["ms"]["route"]
        whole = theirs_[engine]["ms"]["route"] / (ours[engine]["ms"]["route"] + ours[engine]["ms"]["verify"])
        print(f"   {engine}: {ratio:.0f} times as fast, with the verification {whole:.0f} times")
    if not theirs_ or "dmodc" not in ours:
        return
    best = {key: min(found["quality"][key] for found in theirs_.values())
            for key in ("max_link_paths", "shift_max", "random_permutation_mean")}
    print("   dmodc against opensm's best: " + ", ".join(
        f"{key} {ours['dmodc']['quality'][key] / value:.2f}" for key, value in best.items()), flush=True)


def main():
    results = [bench(case) for case in sys.argv[1:] or DEFAULT]
    if os.environ.get("SMD_BENCH_JSON"):
        pathlib.Path(os.environ["SMD_BENCH_JSON"]).write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
