#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Cold bring-up of one fabric by smd and by opensm, in turns, each time on a fresh ibsim; prints times and SMPs.

bringup.py --smd PROGRAM [--runs N] SPEC…   (run by tests/bench/bringup.sh)
"""
import argparse
import pathlib
import statistics
import tempfile
import time

from ibsim import Ibsim, hosts_of
from peer import GET, SET, by_attribute
from subject import Smd


def opensm(sim, host):
    return sim.run(host, "opensm", "-d", "2", "-f", "osm.log", "--maxsmps", "64", "-o")


def smd(program):
    return lambda sim, host: sim.run(host, program, "run", "--once", "--state-dir", "state")


def timed(net, host, run):
    with Ibsim(net) as sim:
        began = time.monotonic()
        client = run(sim, host)
        seconds = time.monotonic() - began
        return seconds, by_attribute(client, GET), by_attribute(client, SET)


def row(name, times):
    return (f"{name:8} median {statistics.median(times):7.3f} s   min {min(times):7.3f}   max {max(times):7.3f}   "
            f"runs {' '.join(f'{t:.3f}' for t in times)}")


def compare(spec, program, runs):
    subjects = {"smd": smd(program), "opensm": opensm}
    times, counts = {name: [] for name in subjects}, {}
    with tempfile.TemporaryDirectory(prefix="smd-bench-") as folder:
        text = Smd(program).fabric(spec, folder)
        host = hosts_of(text)[0]
        for _ in range(runs):
            for name, run in subjects.items():  # in turns, so that a slow minute of the machine meets both
                seconds, *counts[name] = timed(pathlib.Path(folder) / "net", host, run)
                times[name].append(seconds)
    print(f"bringup/{spec}")
    for name in subjects:
        print("  " + row(name, times[name]))
    ratio = statistics.median(times["smd"]) / statistics.median(times["opensm"])
    print(f"  smd takes {ratio:.3f} of opensm's time (medians)")
    print_smps(counts)


def print_smps(counts):
    print(f"  {'SMPs':14} {'smd Get':>9} {'smd Set':>9} {'opensm Get':>11} {'opensm Set':>11}")
    attributes = sorted({a for both in counts.values() for one in both for a in one})
    outside = {}
    for attribute in attributes:
        numbers = [one.get(attribute, 0) for name in ("smd", "opensm") for one in counts[name]]
        print(f"  {attribute:14} {numbers[0]:9} {numbers[1]:9} {numbers[2]:11} {numbers[3]:11}")
    for name, (gets, sets) in counts.items():
        outside[name] = sum(gets.values()) + sum(n for a, n in sets.items() if a != "0x19")
    if outside["opensm"]:
        print(f"  outside LFT Sets: smd {outside['smd']}, opensm {outside['opensm']}, "
              f"ratio {outside['smd'] / outside['opensm']:.3f}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("specs", nargs="+")
    parser.add_argument("--smd", required=True)
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    for spec in options.specs:
        compare(spec, options.smd, options.runs)


if __name__ == "__main__":
    main()
