#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""opensm and smd with the same qos-policy.conf: lab_qos_policy.py --smd PROGRAM. Random path requests (ServiceID, QoSClass, P_Key,
SL, limits, Reversible; PathRecord and MultiPathRecord) are answered alike: the same SL, MTU, rate, lifetime and P_Key, or the same refusal.
Each program runs once a fabric and engine; the file is written anew and the program told by SIGHUP. SMD_LONG=1: 10,000 generated policies
instead of 500, 5,000 requests for each file of OpenSM's documentation, and further fabrics, engines and ports with 8, 4, 2 and 1 VLs."""
import os
import random
import re

import qos_policies
from ibsim import check, wait_for
from lab import Lab
from lab_qos_tables import mix_vls
from lab_torus import configuration, network
from runner import run_scenario
from same import GET, GET_MULTI, KINDS, Asker, bits, components, line, parse, with_bits

LONG = os.environ.get("SMD_LONG") == "1"
SEED = int(os.environ.get("SMD_SEED", "1"))
AT = {index: (first, abs(width)) for index, first, width in components(KINDS["PathRecord"][2])}
SERVICE, DGID, SGID, REVERSIBLE, PKEY, CLASS, SL, MTU_HOW, MTU, RATE_HOW, RATE, LIFE = 0, 2, 3, 11, 13, 14, 15, 16, 17, 18, 19, 21
PREFIX = 0xFE80000000000000 << 64
MULTI_AT = {index: (first, abs(width)) for index, first, width in components(KINDS["MultiPathRecord"][2])}
# Components of MultiPathRecord by those of PathRecord; the ServiceID is split (the 8 bits first), ends stand behind the record.
MULTI = {REVERSIBLE: 5, PKEY: 7, CLASS: 8, SL: 9, MTU_HOW: 10, MTU: 11, RATE_HOW: 12, RATE: 13}
PATHS, SERVICE_FIRST, SOURCES, DESTINATIONS, SERVICE_REST = 6, 16, 19, 20, 21


def question(rng, guids):
    """A request for one path as {component: value}."""
    hosts = [guid for name, guid in guids.items() if name.startswith("h")]
    anywhere = hosts[:14] + list(guids.values())
    # Not between switches: of two spines smd's trees lead to no other (docs/differences.md).
    ends = [rng.choice(hosts[:14] + hosts), rng.choice(anywhere)]
    rng.shuffle(ends)
    asked = {SGID: PREFIX | ends[0], DGID: PREFIX | ends[1]}
    if rng.random() < 0.5:
        asked[SERVICE] = rng.choice(qos_policies.SERVICES)
    if rng.random() < 0.4:
        asked[CLASS] = rng.choice(qos_policies.CLASSES)
    if rng.random() < 0.5:
        asked[PKEY] = rng.choice(qos_policies.PKEYS)
    if rng.random() < 0.2:
        asked[SL] = rng.randrange(8)
    if rng.random() < 0.15:
        asked |= {MTU_HOW: rng.randrange(4), MTU: rng.randint(1, 5)}
    if rng.random() < 0.15:
        asked |= {RATE_HOW: rng.choice((0, 1, 3)), RATE: rng.choice((2, 3, 5, 6))}
    if rng.random() < 0.5:
        asked[REVERSIBLE] = 1  # the policy has to grant the way back, too
    if rng.random() < 0.2:
        asked["multi"] = 1
    return asked


def as_multi_line(asked):
    """The same question as MultiPathRecord: from one port to one other."""
    data, mask = bytes(KINDS["MultiPathRecord"][1]), 0
    values = {MULTI[component]: value for component, value in asked.items() if component in MULTI}
    values |= {PATHS: 1, SOURCES: 1, DESTINATIONS: 1}
    if SERVICE in asked:
        values |= {SERVICE_FIRST: asked[SERVICE] >> 56, SERVICE_REST: asked[SERVICE] & (1 << 56) - 1}
    for component, value in values.items():
        data, mask = with_bits(data, *MULTI_AT[component], value), mask | 1 << component
    return line(GET_MULTI, "MultiPathRecord", mask, data + b"".join(asked[end].to_bytes(16, "big") for end in (SGID, DGID)))


def as_line(asked):
    if asked.get("multi"):
        return as_multi_line(asked)
    data, mask = bytes(64), 0
    for component, value in asked.items():
        if component == SERVICE:
            data, mask = with_bits(data, 0, 64, value), mask | 3
            continue
        data, mask = with_bits(data, *AT[component], value), mask | 1 << component
    return line(GET, "PathRecord", mask, data)


def shown(answer):
    """What must be alike of an answer. The membership bit of the P_Key is smd's own where none was asked for."""
    if answer is None:
        return "none"
    status, records = answer
    if status or not records:
        return f"status {status:#06x}"
    value = {name: bits(records[0], *AT[at]) for name, at in (("sl", SL), ("mtu", MTU), ("rate", RATE), ("life", LIFE), ("pkey", PKEY))}
    value["pkey"] &= 0x7FFF
    return " ".join(f"{name}={number:#x}" for name, number in value.items())


def two_classes(text):
    """SL 0 for those below 8, else 8: torus-2QoS has two classes of traffic, and its own SLs in each (opensm takes bit 3 alone)."""
    def one_line(words):
        if re.match(r"\s*(mtu|rate|packet|path|pkey|qos-class|service-id|port)", words):
            return words
        return re.sub(r":(\s*)(\d+)(?=\s*(?:#.*)?$)", lambda sl: f":{sl[1]}{8 if int(sl[2]) >= 8 else 0}", words)
    return "\n".join(map(one_line, text.split("\n")))


class Subject:
    """A subnet manager in a laboratory of its own, whose policy changes. `case`: fabric, engine, whether ports have different VLs."""

    def __init__(self, smd, case):
        self.fabric, self.engine, mixed = case
        self.smd = smd
        self.lab = Lab(smd, self.fabric)
        self.conf = self.lab.folder / "qos-policy.conf"
        self.partitions = self.lab.folder / "partitions.conf"
        self.guids = self.read_guids()
        self.hosts = [name for name in self.guids if name.startswith("h")]
        if mixed:
            self.lab.sm = self.hosts[0]
            mix_vls(self.lab)
        text = qos_policies.PARTITIONS.format(**self.names())
        self.partitions.write_text(re.sub(r", sl=\d+", "", text) if self.engine == "torus-2QoS" else text)

    def read_guids(self):
        text = self.lab.output("h00002" if self.fabric == "ft2:8" else "ht00-00-00-00", "ibnetdiscover")
        found = {}
        for line_ in text.splitlines():
            if switch := re.match(r'Switch\s+\d+ "S-([0-9a-f]+)"\s+# "([^"]+)"', line_):
                found[switch[2]] = int(switch[1], 16)
            elif host := re.match(r'Ca\s+\d+ "H-([0-9a-f]+)"\s+# "([^"]+)"', line_):
                name = host[2]
            elif port := re.match(r"\[1\]\(([0-9a-f]+)\)\s+\"S-", line_):
                found[name] = int(port[1], 16)
        check(len(found) in (44, 128), f"{len(found)} end ports in {self.fabric}: {found}")
        return dict(sorted(found.items()))

    def names(self):
        """Those of ft2:8, which the policies name, for whatever fabric."""
        switch = next(name for name in self.guids if not name.startswith("h"))
        names = {f"h{number:05}": self.guids[host] for number, host in enumerate(self.hosts)} | {"leaf000": self.guids[switch]}
        return {name: f"{guid:#x}" for name, guid in names.items()}

    def write(self, text):
        named = re.sub(r"\bh(\d{5})(?=/P)", lambda word: self.hosts[int(word[1])], text, flags=re.I)
        self.conf.write_text(named.format(**self.names()))

    def torus_file(self):
        return configuration(self.lab.folder, network(self.smd, self.lab.folder, self.fabric), self.fabric, "torus 4 4 4")

    def ask(self, questions):
        answers = Asker(self.lab, self.hosts[2]).ask([as_line(asked) for asked in questions])
        return [shown(parse(answer, 64, False)) for answer in answers]

    def close(self):
        self.lab.__exit__(None)


class OpensmSubject(Subject):
    def start(self, text):
        self.write(text)
        more = ["--torus_config", self.torus_file()] if self.engine == "torus-2QoS" else []
        self.client = self.lab.opensm(self.hosts[0], "-Q", "-Y", str(self.conf), "-P", str(self.partitions), "-s", "0", "-D", "0x07",
                                      "-R", self.engine, *more)
        self.change(text)  # on a busy machine it answers its first requests before it has the policy

    def change(self, text):
        self.write(text)
        self.client.hang_up("osm.log", b"SUBNET UP")


class SmdSubject(Subject):
    def start(self, text):
        self.write(text)
        config = self.lab.folder / "smd.toml"
        # minhop is refused on a torus: one layer is what counts here.
        routing = (f'engines = ["torus-2QoS"]\npath_sl = "asked"\ntorus_file = "{self.torus_file()}"\n' if self.engine == "torus-2QoS"
                   else 'engines = ["updn"]\n' if self.fabric != "ft2:8" or self.engine != "minhop" else "")
        config.write_text(f"[routing]\n{routing}"
                          f'[qos]\nenabled = true\npolicy_file = "{self.conf}"\n[partitions]\nfile = "{self.partitions}"\n'
                          '[multicast]\nbroadcast_mtu = 2048\n')
        self.client = self.lab.start(self.hosts[0], self.lab.smd, "run", "--config", str(config), "--state-dir", "state")
        wait_for(lambda: "state=up" in self.client.log(), 60, "smd's first sweep")

    def change(self, text):
        self.write(text)
        self.client.hang_up("stderr", b" config.reload")


def look(answers, questions, name, problems, layered):
    theirs, ours = answers
    for asked, their, our in zip(questions, theirs, ours):
        if layered and asked.get("multi"):  # docs/differences.md: without the engine's SL
            their, our = (re.sub("sl=0x[0-9a-f] ", "", text) for text in (their, our))
        if PKEY not in asked and our.endswith(" pkey=0x7fff"):  # docs/differences.md: the default partition before others
            their = re.sub(" pkey=0x[0-9a-f]+$", " pkey=0x7fff", their)
        if their != our:
            problems.append(f"{name}: {({k: hex(v) for k, v in asked.items()})}: opensm {their}, smd {our}")


def compare(smd, case, generated, requests):
    """`requests`: for each file of OpenSM's documentation."""
    rng = random.Random(SEED)
    subjects = OpensmSubject(smd, case), SmdSubject(smd, case)
    try:
        guids = subjects[0].guids
        check(guids == subjects[1].guids, "the two laboratories differ")
        policies = {**qos_policies.DOCUMENTATION, **qos_policies.OURS}
        for number in range(generated):
            policies[f"generated {number}"] = qos_policies.a_policy(rng, guids)
        layered = case[1] == "torus-2QoS"
        if layered:
            policies = {name: two_classes(text) for name, text in policies.items()}
        problems, asked = [], 0
        for number, (name, text) in enumerate(policies.items()):
            many = requests if name in qos_policies.DOCUMENTATION else 20 if name.startswith("generated") else min(requests, 200)
            questions = [question(rng, guids) for _ in range(many)]
            if layered:  # docs/differences.md: an SL that is asked for
                questions = [{at: value for at, value in asked.items() if at != SL} for asked in questions]
            for subject in subjects:
                subject.start(text) if number == 0 else subject.change(text)
            look([subject.ask(questions) for subject in subjects], questions, name, problems, layered)
            asked += many
        check(not problems, f"{case}: {len(problems)} of {asked} differ:\n" + "\n".join(problems[:40]))
        print(f"   {case}: {asked} requests by {len(policies)} policies are answered alike", flush=True)
    finally:
        for subject in subjects:
            subject.close()


MORE = [(fabric, engine, mixed) for fabric, engine in (("ft2:8", "updn"), ("torus:4x4x4:1", "minhop"), ("torus:4x4x4:1", "updn"))
        for mixed in (False, True)] + [("ft2:8", "minhop", True), ("torus:4x4x4:1", "torus-2QoS", False)]


def scenario(given):
    compare(given.smd, ("ft2:8", "minhop", False), 10_000 if LONG else 500, 5000 if LONG else 60)
    for case in MORE if LONG else []:
        compare(given.smd, case, 100, 1000)


if __name__ == "__main__":
    run_scenario(scenario, __doc__)
