#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Pictures of how engines load the links of a tree: all links between switches, the most used one first.

routing_loads.py [CASE FILE.svg]…, or ./dev bench routing

A case is SPEC[-LINKS%[-SWITCHES%]][#SEED]. Our tables and opensm's come from runs on that fabric; a load is the
number of (source host, destination host) routes over one direction of a cable. Without arguments: those of
docs/routing.md, into its folder.
"""
import collections
import os
import pathlib
import re
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import routing  # noqa: E402 (and the way to tests/peer)
import network  # noqa: E402
from ibsim import Failure, Ibsim, hosts_of  # noqa: E402
from routing_grid import fabric  # noqa: E402

DOCS = pathlib.Path(__file__).resolve().parent.parent.parent / "docs"
DEFAULT = [("ft3:16+guids=1-0", DOCS / "routing-whole.svg"), ("ft3:16+guids=1-5#1", DOCS / "routing-damaged.svg")]
COLOURS = {"smd dmodc": "#1b6ca8", "opensm minhop": "#c0392b", "opensm updn": "#8e6c1a", "opensm ftree": "#5d8a3a"}
WIDTH, HEIGHT, LEFT, BOTTOM, TOP = 760, 420, 70, 50, 40


def cabling(net):
    """{(switch, port): switch}, {host's base LID: (switch, port)} by the file's cables."""
    far, at, here = {}, collections.defaultdict(int), None
    for line in net.splitlines():
        if found := re.match(r'Switch\s+\d+\s+"S-([0-9a-f]+)"', line):
            here = int(found[1], 16)
        elif line.startswith("Ca"):
            here = None
        elif here and (found := re.match(r'\[(\d+)\]\s+"([SH])-([0-9a-f]+)"', line)):
            if found[2] == "S":
                far[here, int(found[1])] = int(found[3], 16)
            else:
                at[here] += 1
    return far, at


def loads(net, dump):
    """Routes over each (switch, port) towards a switch, most first."""
    far, hosts = cabling(net)
    tables = network.lfts(dump)
    destinations = {lid for switch in hosts for lid, port in tables[switch].items()
                    if port and (switch, port) not in far}
    count = dict.fromkeys(far, 0)
    for source, number in hosts.items():
        for lid in destinations:
            here = source
            for _ in range(64):
                out = here, tables[here].get(lid, 255)
                if out not in far:
                    break
                count[out] += number
                here = far[out]
    return sorted(count.values(), reverse=True)


def picture(title, curves):
    most = max(curve[0] for curve in curves.values())
    links = max(len(curve) for curve in curves.values())
    x = lambda i: LEFT + i * (WIDTH - LEFT - 20) / max(1, links - 1)
    y = lambda load: HEIGHT - BOTTOM - load * (HEIGHT - BOTTOM - TOP) / most
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" '
           'font-family="sans-serif" font-size="12">', f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>',
           f'<text x="{LEFT}" y="20" font-size="14">{title}</text>']
    step = 10 ** (len(str(most)) - 1)
    step = step if most / step >= 3 else step // 2
    for load in range(0, most + 1, step):
        out.append(f'<line x1="{LEFT}" y1="{y(load):.1f}" x2="{WIDTH - 20}" y2="{y(load):.1f}" stroke="#dddddd"/>'
                   f'<text x="{LEFT - 8}" y="{y(load) + 4:.1f}" text-anchor="end">{load:,}</text>')
    out.append(f'<text x="{(LEFT + WIDTH) / 2}" y="{HEIGHT - 14}" text-anchor="middle">{links:,} links, the most used '
               f'first</text><text x="16" y="{HEIGHT / 2}" text-anchor="middle" transform="rotate(-90 16 '
               f'{HEIGHT / 2})">routes over the link</text>')
    for number, (name, curve) in enumerate(curves.items()):
        points = [(i, load) for i, load in enumerate(curve)
                  if i in (0, len(curve) - 1) or curve[i - 1] != load or curve[min(i + 1, len(curve) - 1)] != load]
        colour = COLOURS.get(name, "#444444")
        out.append(f'<polyline fill="none" stroke="{colour}" stroke-width="2" points="' +
                   " ".join(f"{x(i):.1f},{y(load):.1f}" for i, load in points) + '"/>')
        out.append(f'<text x="{WIDTH - 30}" y="{TOP + 14 + 17 * number}" text-anchor="end" fill="{colour}">{name}: '
                   f'at most {curve[0]:,}</text>')
    return "\n".join([*out, "</svg>", ""])


def draw(case, file):
    curves = {}
    with tempfile.TemporaryDirectory(prefix="smd-loads-") as name:
        folder = pathlib.Path(name)
        net = fabric(case, folder)
        routing.route("--topology", net, "--engine", "dmodc", "--dump-dir", folder / "ours", "--dump",
                      "opensm-lfts.dump")
        curves["smd dmodc"] = loads(net.read_text(), (folder / "ours" / "opensm-lfts.dump").read_text())
        for engine in routing.THEIRS:
            with Ibsim(net) as sim:
                try:
                    _, used = routing.theirs(sim, hosts_of(net.read_text())[0], engine, folder)
                except Failure as failure:
                    print(f"   opensm {engine}: {str(failure).splitlines()[0]}", flush=True)
                    continue
            if used != engine:
                print(f"   opensm {engine}: gave up, {used} instead", flush=True)
                continue
            curves["opensm " + engine] = loads(net.read_text(), (folder / "opensm-lfts.dump").read_text())
    spec, links, switches, seed = routing.parse(case)
    lost = f", {links:g} % of the cables and {switches:g} % of the switches gone (seed {seed})"
    file.write_text(picture(spec + (lost if links or switches else ", whole"), curves))
    for name, curve in curves.items():
        print(f"   {name:<16} at most {curve[0]:>6}, mean {sum(curve) / len(curve):.0f}", flush=True)


def main():
    given = list(zip(sys.argv[1::2], map(pathlib.Path, sys.argv[2::2])))
    with tempfile.TemporaryDirectory(prefix="smd-svg-") as name:
        keep = os.environ.get("SMD_BENCH_PICTURES") == "keep"
        for case, file in given or [(c, f if keep else pathlib.Path(name) / f.name) for c, f in DEFAULT]:
            print(f"{case}:", flush=True)
            draw(case, file)


if __name__ == "__main__":
    main()
