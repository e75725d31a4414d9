# SPDX-License-Identifier: Apache-2.0
"""opensm's engines on one fabric file, each in an ibsim of its own, measured by `smd route --lfts`."""
import re

import routing
from ibsim import Failure, Ibsim, hosts_of

# Of lash, and of dfsssp with the log level that routing.theirs() asks for.
LAYERS = (r"Lanes [Nn]eeded:? *(\d+)", r"(\d+) (?:layers|lanes) (?:were )?needed", r"[Nn]eeded (?:layers|VLs?|lanes):? *(\d+)")


class Run:
    """A run whose engine routed the fabric."""

    def __init__(self, found, milliseconds, log):
        self.verify, self.quality, self.ms = found["verify"], found["quality"], milliseconds
        layers = [int(number) for pattern in LAYERS for number in re.findall(pattern, log)]
        self.layers = layers[-1] if layers else None  # as its log says


def all_of(net, folder, runs, wrong):
    """`runs`: {label: (engine, options)}. The proven Runs by label, and why the others do not count: what opensm said,
    or wrong(run), which is empty for those that count."""
    text = net.read_text()
    proven, refused = {}, {}
    for label, (engine, options) in runs.items():
        with Ibsim(net) as sim:
            try:
                took, used = routing.theirs(sim, hosts_of(text)[0], engine, folder, *options)
            except Failure as failure:
                refused[label] = str(failure).splitlines()[0]
                continue
        if used != engine:
            refused[label] = f"fell back to {used}"
            continue
        found = routing.route("--topology", net, "--lfts", folder / "opensm-lfts.dump", "--quality")
        run = Run(found, took, (folder / "osm.log").read_text(errors="replace"))
        reason = wrong(run)
        if reason:
            refused[label] = reason
        else:
            proven[label] = run
    return proven, refused
