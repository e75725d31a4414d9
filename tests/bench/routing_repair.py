#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a repair changes and what converging to fresh tables changes, and how good both are.

routing_repair.py, or ./dev bench routing. SMD_BENCH_SEEDS: faults of each class (3), SMD_BENCH_FABRICS (ft3:16+guids=1).
Entries and blocks are those that differ from the whole tree's tables; means over the seeds. That a repair changes at
most 1.02 times what must change is a test: tests/unit/routing/repair_least_test.cpp.
"""
import os
import pathlib
import random
import re
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import routing  # noqa: E402

SEEDS = int(os.environ.get("SMD_BENCH_SEEDS", "3"))
FABRICS = os.environ.get("SMD_BENCH_FABRICS", "ft3:16+guids=1").split(",")
FIGURES = ("max_link_paths", "shift_max", "random_permutation_mean")


def parts(net):
    """Cables between switches as (--without line, names of the ends); switches as (line, name)."""
    cables, switches, here = [], [], None
    for line in net.splitlines():
        if found := re.match(r'Switch\s+\d+\s+"S-([0-9a-f]+)"\s+# "([^"]+)"', line):
            here = found[1], found[2]
            switches.append((f"node 0x{here[0]}", here[1]))
        elif line.startswith("Ca"):
            here = None
        elif here and (found := re.match(r'\[(\d+)\]\s+"S-([0-9a-f]+)"\[\d+\].*# "([^"]+)"', line)):
            if int(here[0], 16) < int(found[2], 16):
                cables.append((f"link 0x{here[0]} {found[1]}", {here[1][:4], found[3][:4]}))
    return cables, switches


def classes(net):
    """Name, lines to choose from, how many."""
    cables, switches = parts(net)
    lines = lambda items, wanted: [line for line, kind in items if wanted(kind)]
    everything = lines(cables, lambda kind: True)
    yield "a cable of a leaf", lines(cables, lambda kind: "edge" in kind), 1
    yield "a cable of a core", lines(cables, lambda kind: "core" in kind), 1
    yield "a leaf", lines(switches, lambda name: name.startswith("edge")), 1
    yield "a middle switch", lines(switches, lambda name: name.startswith("agg")), 1
    yield "a core", lines(switches, lambda name: name.startswith("core")), 1
    yield "0.1 % of the cables", everything, max(1, len(everything) // 1000)
    yield "1 % of the cables", everything, len(everything) // 100


def mean(reports, part, key):
    return sum(report[part][key] for report in reports) / len(reports)


def main():
    print("| fabric | lost | way | entries changed | blocks | most used link | worst shift | random permutations |\n"
          "|---|---|---|---|---|---|---|---|")
    for spec in FABRICS:
        with tempfile.TemporaryDirectory(prefix="smd-repair-") as name:
            folder = pathlib.Path(name)
            routing.route("--topology", spec, "--dump-dir", folder, "--dump", "topology.net")
            for what, lines, count in classes((folder / "topology.net").read_text()):
                for way in ("repair", "converge"):
                    reports = []
                    for seed in range(1, SEEDS + 1):
                        (folder / "without").write_text("\n".join(random.Random(seed).sample(lines, count)) + "\n")
                        reports.append(routing.route("--topology", spec, "--without", folder / "without", "--reroute",
                                                     way, "--quality"))
                        if not reports[-1]["verify"]["ok"]:
                            sys.exit(f"{spec} without {what}, seed {seed}: {reports[-1]['verify']}")
                    quality = " | ".join(f"{mean(reports, 'quality', key):,.1f}" for key in FIGURES)
                    print(f"| {spec} | {what} | {way} | {mean(reports, 'changed', 'lft_entries'):,.0f} | "
                          f"{mean(reports, 'changed', 'lft_blocks'):,.0f} | {quality} |", flush=True)


if __name__ == "__main__":
    main()
