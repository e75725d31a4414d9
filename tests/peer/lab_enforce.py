#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""opensm enforces partitions at switch ports: lab_enforce.py --smd PROGRAM. With `ALL=limited, SELF=full` and `-Z both` (its
default) a limited host asks the SA, two limited hosts cannot talk, and a foreign key does not pass the leaf."""

from ibsim import Failure, check, wait_for
from lab import Lab
from runner import run_scenario


def osm_log(client):
    return (client.folder / "osm.log").read_text(errors="replace")


def asks(lab, host, *query):
    """(exit status, output) of saquery, whose time-out is 1 s."""
    client = lab.start(host, "saquery", "-t", "1000", *query)
    client.process.wait(30)
    return client.process.returncode, client.log()


def enforced(smd):
    with Lab(smd, "ft2:4") as lab:
        conf = lab.folder / "partitions.conf"
        conf.write_text("Default=0x7fff,ipoib:ALL=limited,SELF=full;\n")
        sm = lab.opensm("h00000", "-P", str(conf), "-Z", "both", seconds=30)
        status, text = asks(lab, "h00005", "NR")
        check(status == 0, f"saquery of a limited host: exit status {status}: {text}")
        print("   saquery of a limited host answers", flush=True)
        way = lab.command("packet h00001 h00002 0 0x7fff").splitlines()[0]
        check(way.endswith("P_Key table of h00002 port 1"), f"limited to limited: {way}")
        wait_for(lambda: "num:257 (Bad P_Key" in osm_log(sm), 10, "trap 257 in opensm's log")
        print(f"   limited to limited: {way}; trap 257", flush=True)
        check("num:259" not in osm_log(sm), "a switch port has refused a limited member of its partition")
        way = ""

        def is_refused_by_the_leaf():  # opensm writes the table again with its next sweep
            nonlocal way
            lab.command("pkey h00003 1 0x8005")
            way = lab.command("packet h00003 h00002 0 0x8005").splitlines()[0]
            return "leaf001 port 2" in way
        try:
            wait_for(is_refused_by_the_leaf, 10, "a foreign key at the leaf")
        except Failure as failure:
            raise Failure(f"{failure}: {way}") from failure
        wait_for(lambda: "num:259 (Bad P_Key (switch external port))" in osm_log(sm), 10, "trap 259 in opensm's log")
        print(f"   a foreign key: {way}; trap 259", flush=True)


def scenario(given):
    enforced(given.smd)


if __name__ == "__main__":
    run_scenario(scenario, __doc__)
