# SPDX-License-Identifier: Apache-2.0
"""Subnet administration: the same questions to opensm and, after smd has adopted the fabric, to smd."""
import random
import re

from ibsim import check, wait_for

# Not compared: counts of an SM's own life, fields that only one of the two sets, and the port by which a switch was
# asked (LocalPort), which of parallel cables hangs on which answer came first.
OWN = re.compile(r"(?i)^\s*(?:act_?count|SMLid|.*MKey|OperVLs|VLStallCount|HoqLife|OverrunErr|LocalPhysErr|SubnetTimeout"
                 r"|LocalPort|.*LifeTime|.*VLHighLimit)\b.*\n?", re.M)


def lids_of(sim, host):
    """Every base LID with the ports that it has, from ibnetdiscover's second list."""
    text = sim.output(host, "ibnetdiscover", "-p")
    found = {}
    for kind, lid, port in re.findall(r"^(CA|SW)\s+(\d+)\s+(\d+)\s", text, re.M):
        found.setdefault((kind, int(lid)), []).append(int(port))
    return found


def questions(ports, count):
    chooser = random.Random(5)
    ends = sorted(ports)
    switches = [e for e in ends if e[0] == "SW"]
    for _ in range(count):
        (_, a), (_, b) = chooser.choice(ends), chooser.choice(ends)
        yield ["saquery", "PR", "--slid", str(a), "--dlid", str(b)]
    for kind, lid in chooser.sample(ends, min(count, len(ends))):
        port = chooser.choice(ports[kind, lid])
        yield ["saquery", "NR", str(lid)]
        yield ["saquery", "PIR", f"{lid}/{port}"]
        yield ["saquery", "--smkey", "1", "PKTR", f"{lid}/{port if kind == 'SW' else 0}/0"]
        yield ["saquery", "PKTR", str(lid)]  # without the SM_Key: refused
        yield ["saquery", "LR", f"{lid}/{port}"]
    for _, lid in chooser.sample(switches, min(count, len(switches))):
        yield ["saquery", "SWIR", str(lid)]
        yield ["saquery", "LFTR", f"{lid}/0"]


def records(smd, sim, text, hosts, count=12):
    """NodeRecord, PortInfoRecord, LinkRecord, SwitchInfoRecord, forwarding tables and paths: the same answers."""
    opensm = sim.opensm(hosts[0])
    asked = list(questions(lids_of(sim, hosts[2]), count))
    theirs = [OWN.sub("", a) for a in sim.outputs(hosts[2], asked, ok=range(256))]
    opensm.stop()
    client = smd.start(sim, hosts[0])
    wait_for(lambda: "state=up" in client.log(), 60, "smd's state=up")
    ours = [OWN.sub("", a) for a in sim.outputs(hosts[2], asked, ok=range(256))]
    for question, one, other in zip(asked, theirs, ours):
        check(one == other, f"{' '.join(question)}: opensm says\n{one}\nsmd says\n{other}")
    answered = sum("dump:" in a for a in ours)
    check(answered > len(asked) // 2, f"only {answered} of {len(asked)} questions had an answer")
    print(f"{len(asked)} questions, {answered} with records: the same answers from opensm and smd")
    check(client.stop() == 0, f"exit status {client.process.returncode} after SIGTERM")
