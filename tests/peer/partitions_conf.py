#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""opensm and smd on the same partitions.conf: partitions_conf.py --smd PROGRAM --members PROGRAM. Random files of every flag,
keyword and abbreviation are read by opensm on ibsim and by smd; the keys of every port are those that smpquery shows. SMD_LONG=1:
10,000 files instead of 500."""
import os
import pathlib
import random
import re
import subprocess
import tempfile

from ibsim import Ibsim, check
from runner import run_scenario

HOSTS = {f"h{n}": 0x2C90300000100 + 16 * n + 1 for n in range(5)}
SWITCH, ROUTER = 0x2C90300000010, 0x2C90300000F01
PORTS = [(guid, "ca", name) for name, guid in HOSTS.items()] + [(SWITCH, "switch", "s"), (ROUTER, "router", "r")]


def fabric():
    """Five hosts and a router at one switch; h0 is at its port 1."""
    text = f'switchguid={SWITCH:#x}({SWITCH:x})\nSwitch 8 "S-{SWITCH:016x}" # "s" base port 0 lid 0 lmc 0\n'
    others = [(name, guid, "H", "Ca", "caguid") for name, guid in HOSTS.items()] + [("r", ROUTER, "R", "Rt", "rtguid")]
    nodes = ""
    for port, (name, guid, letter, kind, word) in enumerate(others, 1):
        text += f'[{port}] "{letter}-{guid - 1:016x}"[1]({guid:x}) # "{name}" lid 0 4xHDR\n'
        nodes += (f'\n{word}={guid - 1:#x}\n{kind} 1 "{letter}-{guid - 1:016x}" # "{name}"\n'
                  f'[1]({guid:x}) "S-{SWITCH:016x}"[{port}] # lid 0 lmc 0 "s" 4xHDR\n')
    return text + nodes


def a_member(rng):
    word = rng.choice(["", "NONE", "N", "A", "AL", "ALL", "ALL_", "ALL_CAS", "ALL_SW", "ALL_SWITCHES", "ALL_R", "S", "SELF"]
                      + [f"{guid:{form}}" for guid, _, _ in PORTS for form in ("#x", "d", "#X")] + ["0x99", "0777"])
    return word + rng.choice(["", "", "=full", "=limited", "=both", "=f", " = lim", "=b", "=", "=what"])


def a_flag(rng):
    return rng.choice(["ipoib", "i", "mtu=5", "m=4", "rate=3", "r=16", "scope=2", "s=5", "sl=2", "sl=99", "Q_Key=7", "TClass=1",
                       "FlowLabel=3", "indx0", "defmember=full", "d=limited", "defm=b", "d=", "", "what", "what=3"])


def a_definition(rng, names, numbered):
    name = rng.choice(["", rng.choice(names), f"n{rng.randrange(99)}"])
    keys = ["=0x10", "=17", "=0x8012", "=020", "=0x7fff", "=40", "=0x18010"] + ([] if numbered else ["=0", "", ""])
    head = rng.choice([name + rng.choice(keys), "0x11", "Default", "Default=0x7fff"])
    flags = "".join(rng.choice([",", " , "]) + a_flag(rng) for _ in range(rng.randrange(4)))
    separator = rng.choice([", ", ",\n  ", " ,# more\n"])
    members = separator.join(a_member(rng) for _ in range(rng.randrange(1, 7)))
    if not members.split("\n")[-1].strip():
        members += "NONE"  # a ';' that begins a line is no end of a definition for opensm (docs/partitions.md)
    return f"{head}{flags} : {members}{rng.choice([' ;', ';'])}{rng.choice([chr(10), ' ', ''])}"


def a_file(rng, numbered):
    names = [f"p{rng.randrange(9)}" for _ in range(3)]
    return "".join(a_definition(rng, names, numbered) for _ in range(rng.randrange(1, 7))) + "\n"


class Opensm:
    """An opensm and its fabric. A file may be put in the place of the one before, and opensm told by SIGHUP."""

    def __init__(self, net, both, text=""):
        self.sim, self.host = Ibsim(net), f"H-{HOSTS['h0'] - 1:016x}"
        self.conf = self.sim.folder / "partitions.conf"
        self.conf.write_text(text)
        self.client = self.sim.opensm(self.host, "-s", "0", "-P", str(self.conf), *(["-W"] if both else []))
        self.places = {guid: ["0,1," + str(n)] for n, guid in enumerate([*HOSTS.values(), ROUTER], 1)}
        self.places[HOSTS["h0"]], self.places[SWITCH] = ["0"], ["0,1", "0"]

    def change(self, text):
        self.conf.write_text(text)
        self.client.hang_up("osm.log", b"SUBNET UP")
        return self

    def keys(self):
        """{port GUID: (keys, key at index 0)} as smpquery shows them."""
        tables = self.sim.outputs(self.host, [("smpquery", "-D", "pkeys", *place) for place in self.places.values()])
        found = {}
        for guid, table in zip(self.places, tables):
            rows = re.findall(r"^\s*\d+:((?: 0x[0-9a-f]{4})+)", table, re.M)
            keys = [int(key, 16) for row in rows for key in row.split()]
            check(keys, f"smpquery pkeys of {guid:#x}: {table}")
            found[guid] = ({key for key in keys if key & 0x7FFF}, keys[0])
        return found

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.client.stop()
        self.sim.__exit__(*error)


def keys_of_smd(program, conf, both):
    """The same of smd; index 0 is None where no definition says it. Nothing where smd refuses the file."""
    lines = "".join(f"{guid:#x} {kind} {name}\n" for guid, kind, name in PORTS)
    done = subprocess.run([program, str(conf), f"{HOSTS['h0']:#x}", "both" if both else "one"], input=lines, text=True,
                          capture_output=True, timeout=20)
    if done.returncode == 2:
        return None, done.stderr
    check(done.returncode == 0, f"{program}: {done.returncode} {done.stderr}")
    found = {guid: (set(), None) for guid, _, _ in PORTS}
    for line in done.stdout.splitlines():
        guid, key = line.split()
        keys, first = found[int(guid, 16)]
        number = int(key.removesuffix("@0"), 16)
        keys.add(number)
        found[int(guid, 16)] = (keys, number if key.endswith("@0") else first)
    return found, ""


def index0_is_decided(text):
    """With opensm it is not where a definition with indx0 is followed by one without (docs/partitions.md)."""
    told = ["indx0" in one.partition(":")[0] for one in text.split(";")[:-1]]
    return told == sorted(told)


def differences(ours, theirs, text):
    """A line for each port whose keys, or key at index 0 where the file names it, differ."""
    decided = index0_is_decided(text)
    for guid, kind, name in PORTS:
        keys, first = ours[guid]
        wanted, at_0 = theirs[guid]
        if guid == HOSTS["h0"]:  # the SM's port is a full member of the default partition, whatever the file says
            keys, wanted = keys - {0x7FFF, 0xFFFF}, wanted - {0x7FFF, 0xFFFF}
        show = lambda some: " ".join(f"{key:#06x}" for key in sorted(some))
        if keys != wanted:
            yield f"{name} ({kind}): smd {show(keys)}, opensm {show(wanted)}"
        if decided and first is not None and first & 0x7FFF != at_0 & 0x7FFF:
            yield f"{name}: index 0: smd {first:#06x}, opensm {at_0:#06x}"


def compare(given, folder, seed, running=None):
    """Of a file by an opensm that is running (one without and one with allow_both_pkeys), or by a new one; whether a new one
    was needed. One that is running numbers partitions without a P_Key on from where it was. It may lose keys, never have more: with
    allow_both_pkeys one of the two of a port, without only those of a switch's port 0 (docs/partitions.md)."""
    rng = random.Random(seed)
    text = a_file(rng, numbered=running is not None)
    both = rng.random() < 0.5
    conf = folder / "partitions.conf"
    conf.write_text(text)
    ours, refused = keys_of_smd(given.members, conf, both)
    check(ours, f"seed {seed}: smd refuses a file that opensm takes\n{refused}{text}")
    if running:
        theirs = running[both].change(text).keys()
        if not list(differences(ours, theirs, text)):
            return False
        wrong = [name for guid, kind, name in PORTS if not theirs[guid][0] <= ours[guid][0] | {0x7FFF, 0xFFFF} or
                 (theirs[guid][0] != ours[guid][0] and not both and kind == "ca" and guid != HOSTS["h0"])]
        check(not wrong, f"seed {seed}, both={both}, by an opensm that ran: {wrong}, {list(differences(ours, theirs, text))}\n{text}")
    with Opensm(folder / "net", both, text) as opensm:
        wrong = "\n".join(differences(ours, opensm.keys(), text))
    check(not wrong, f"seed {seed}, both={both}: {wrong}\n{text}")
    return True


def scenario(given):
    files = 10_000 if os.environ.get("SMD_LONG") else 500
    with tempfile.TemporaryDirectory(prefix="smd-partitions-") as name:
        folder = pathlib.Path(name)
        (folder / "net").write_text(fabric())
        for seed in range(given.seed, given.seed + files // 25):
            compare(given, folder, seed)
        with Opensm(folder / "net", False) as one_key, Opensm(folder / "net", True) as both_keys:
            anew = sum(compare(given, folder, seed, (one_key, both_keys)) for seed in range(given.seed, given.seed + files))
    print(f"{files} files by one opensm ({anew} of them only after a new start), {files // 25} by one each: the same keys on every port")
    check(anew <= files // 5, f"{anew} of {files} files needed a new opensm")


def arguments(parser):
    parser.add_argument("--members", required=True)
    parser.add_argument("--seed", type=int, default=1)


if __name__ == "__main__":
    run_scenario(scenario, __doc__, arguments)
