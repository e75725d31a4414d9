# SPDX-License-Identifier: Apache-2.0
"""The subnet manager under test: smd, or opensm to see that the tests themselves are right."""
import json
import pathlib
import re
import subprocess

import network
from ibsim import Failure, check

# As the simulated nodes of ibsim keep no linear forwarding cap but their own, the defaults do for all.
DUMPS = ("opensm-subnet.lst", "opensm.fdbs", "opensm.mcfdbs", "opensm-lfts.dump", "guid2lid", "topology.net")


class Smd:
    def __init__(self, program):
        self.program = pathlib.Path(program).resolve()

    def fabric(self, spec, folder):
        """A fabric file for ibsim from a file of ours or a specification, without LIDs."""
        if pathlib.Path(spec).is_file():
            text = pathlib.Path(spec).read_text()
        else:
            command = [self.program, "route", "--topology", spec, "--dump-dir", folder, "--dump", "topology.net"]
            done = subprocess.run(command, capture_output=True, text=True)
            check(done.returncode == 0, f"{' '.join(map(str, command))}: exit status {done.returncode}\n{done.stderr}")
            text = (pathlib.Path(folder) / "topology.net").read_text()
        text = network.without_lids(text)
        (pathlib.Path(folder) / "net").write_text(text)
        return text

    def once(self, sim, host, *options, state="state", ok=(0,)):
        """One full sweep: (client, summary, folder of the dumps). Its state is its own unless `state` is an
        absolute path."""
        client = sim.run(host, self.program, "run", "--once", "--json", "--dump-dir", "dumps", "--state-dir", state,
                         *options, ok=ok)
        lines = (client.folder / "stdout").read_text().splitlines()
        try:
            summary = json.loads(lines[-1])
        except (IndexError, ValueError) as error:
            raise Failure(f"no JSON summary ({error}):\n{client.log()[-3000:]}") from error
        return client, summary, client.folder / "dumps"

    def start(self, sim, host, *options, state="state"):
        return sim.start(host, self.program, "run", "--state-dir", state, *options)


class Opensm(Smd):
    """Stands in for smd where a scenario needs one sweep and its dumps only."""

    def fabric(self, spec, folder):
        check(pathlib.Path(spec).is_file(), f"{spec}: with opensm as subject the fabric is a file")
        return super().fabric(spec, folder)

    def once(self, sim, host, *options, state="state", ok=(0,)):
        client = sim.run(host, "opensm", "-d", "2", "-f", "osm.log", "-D", "0x43", "-o", ok=ok)
        log = (client.folder / "osm.log").read_text(errors="replace")
        check("SUBNET UP" in log, "opensm: no SUBNET UP")
        summary = {"state": "up", "ports_not_active": 0, "smps_get": client.sent(1), "smps_set": client.sent(2)}
        return client, summary, client.folder


def fields_named(log):
    """{field: ports} that smd names as not kept, from its log."""
    return {field: int(ports) for field, ports in re.findall(r"field\.not_kept .*?\bfield=(\S+) .*?\bports=(\d+)", log)}
