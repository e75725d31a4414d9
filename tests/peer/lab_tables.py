#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The same partitions.conf by opensm and by smd: lab_tables.py --smd PROGRAM. In a fresh laboratory each, smpquery shows the
P_Key tables of all end ports and of the switch ports before hosts, and what these enforce, and saquery the multicast groups.
Equal are the keys, index 0 of end ports, the bits of switch ports, and the groups with MTU, rate, P_Key and SL. Then smd takes
a fabric from opensm with the same file, and opensm takes it back, and all tables stay as they are."""
import os
import re
import signal
import subprocess

from ibsim import check, wait_for
from lab import Lab
from runner import run_scenario

FABRIC = "ft2:4"
SM = "h00000"
# {N} is the port GUID of host N. The first twelve are those of opensm's doc/partition-config.txt, with members that are there.
FILES = [
    "Default=0x7fff : ALL, SELF=full ;",
    "Default=0x7fff : ALL, ALL_SWITCHES=full, SELF=full ;",
    "NewPartition , ipoib : {1}=full, {2}=limi, {3} ;",
    "YetAnotherOne = 0x300 : SELF=full ;",
    "YetAnotherOne = 0x300 : SELF=full ;\nYetAnotherOne = 0x300 : ALL=limited ;",
    "ShareIO = 0x80 , defmember=full : {1}, {2}; # {3}, {4} will be limited",
    "ShareIO = 0x80 : {3}, {4}, {5}=full; # {6}, {7} will be limited",
    "ShareIO = 0x80 : {6}, {7}, {5}=full;",
    "ShareIO = 0x80 , defmember=full : {1}, {2};\nShareIO = 0x80 , defmember=full : {3}, {4}=limited, {5};",
    "Default=0x7fff,ipoib:ALL=full;",
    "Default=0x7fff : ALL=limited, SELF=full ;",
    "Default=0x7fff : ALL=full ;",
    "Default=0x7fff,ipoib : ALL=full;\nA=0x1 : {1}=full, {2};\nB=0x2 : {2}=full, {3};\nC=0x3,defmember=full : ALL_CAS;",
    "A=0x10,indx0 : {1}=full, {2}=full;\nB=0x11 : {1}=full, {2};",
    "Default=0x7fff : SELF=full, {1}, {2}=full;\nA=0x5 : ALL=full;",
    "G=0x31,ipoib,mtu=5,rate=16,scope=2 : {1}=full,\nmgid=ff12:401b::16,mtu=5,rate=16\n{2}=full ;",
    "H=0x32,ipoib,mtu=4,rate=3,Q_Key=0x1234 : ALL_CAS=full;",
    "A=0x21 : ALL_SWITCHES=full, {4};\nB=0x22 : ALL_CAS=limited;",
]

# With SMD_LONG: every flag and keyword, abbreviated and combined, several definitions for a key, places of blanks and comments.
MORE_FILES = [
    "Default=0x7fff : AL=full ;",
    "Default=0x7fff : ALL=limited, S=full ;\nA=0x41 : ALL_S=full, {1} ;",
    "Default=0x7fff : ALL_CAS=full, ALL_SWITCHES ;",
    "Default=0x7fff : ALL=full ;\nA=0x42 : ALL_ROUTERS=full, {1}=full ;",
    "Default=0x7fff : ALL=full ;\nA=0x43 : NONE ;\nB=0x44 : {1}=full, NONE, {2} ;",
    "A=0x45 : {1}=f, {2}=lim, {3}=l, {4}=full ;",
    "A=0x46 : {1}=both, {2}=full ;",
    "A=0x47,d=full : {1}, {2}=limited ;",
    "A=0x48,defmember=lim : {1}=full, {2} ;",
    "A=0x49,ipoib,m=4 : {1}=full, {2}=full ;",
    "A=0x4a,ipoib,r=7 : {1}=full, {2}=full ;",
    "A=0x4b,ipoib,s=5 : {1}=full, {2}=full ;",
    "A=0x4c,ipoib,scope=2,scope=5 : {1}=full, {2}=full ;",
    "A=0x4d,ipoib,TClass=16,FlowLabel=0x1234 : {1}=full, {2}=full ;",
    "A=0x4e,ipoib,sl=0 : {1}=full, {2}=full ;",
    "A=0x4f,ipoib,sl=3 : {1}=full, {2}=full ;",
    "A=0x50,ipoib,Q_Key=0xb1b : {1}=full ;\nB=0x51 : {2}=full ;",
    "A=0x52,ipoib,colour=red : {1}=full ;",
    "A=0x53 : {1}=full ; B=0x54 : {1}, {2}=full ; C=0x55,indx0 : {3}=full ;",
    "A=0x56 :\n  {1}=full ,\n  {2}=full , # one\n  {3} ; # the last",
    "# nothing but this\nDefault=0x7fff : ALL=full ; # and that\n\n",
    "0x57 : {1}=full, {2} ;",
    "Named : {1}=full ;\nNamed : {2}=full ;",
    "One : {1}=full ;\nTwo : {2}=full ;\nThree=0x3 : {3}=full ;",
    "A=0x58 : {1}=full ;\nOther=0x58 : {2}, {1}=limited ;",
    "A=0x59,indx0 : {1}=full ;\nA=0x59 : {2}=full ;",
    "A=0x5a,indx0 : ALL=full ;",
    "Default=0x7fff,ipoib : ALL=full ;\nA=0x5b,indx0 : {4}=full, {5}=full ;\nB=0x5c,indx0 : {6}=full ;",
    "A=0x805d : {1}=full, {2} ;",
    "A=0x5e : {1}=full ;\nDefault=0x7fff : ALL, SELF=full ;\nB=0x5f : ALL=full ;",
    "Default=0x7fff,ipoib,mtu=5,rate=12 : ALL=full ;",
    "A=0x60,ipoib : {1}=full,\nmgid=ff12:401b::1:3,mtu=4\n{2}=full ;",
    "A=0x61,ipoib : {1}=full,\nmgid=ff12:a01b::1:5,Q_Key=0x77,rate=3\n{2}=full ;",
    "Default=0x7fff : SELF=full ;\nA=0x62 : {1}=full, {2}=full ;\nB=0x63,ipoib,defmember=full : {2}, {3}, {4}=limited ;",
]


# docs/partitions.md, "OpenSM's partitions.conf": {text of the file: MGIDs that only one of both has}. opensm 3.3.23 ignores scope.
KNOWN = {
    "A=0x4b,ipoib,s=5 : {1}=full, {2}=full ;": {"ff12:401b:804b::ffff:ffff", "ff15:401b:804b::ffff:ffff"},
    "A=0x4c,ipoib,scope=2,scope=5 : {1}=full, {2}=full ;": {"ff15:401b:804c::ffff:ffff"},
}


def nodes_of(lab):
    """{name: (LID, port GUID or None)} and the switch ports before hosts: {(switch, port): host}."""
    nodes, before, owner = {}, {}, None
    for line in lab.output(SM, "ibnetdiscover").splitlines():
        head = re.match(r'(Switch|Ca)\s+\d+ "[^"]*"\s+# "([^"]+)"(?:.* lid (\d+))?', line)
        link = re.match(r'\[(\d+)\](?:\(([0-9a-f]+)\))?\s+"([SH])-[^"]*"\[\d+\](?:\([0-9a-f]+\))?\s+# (?:lid (\d+) )?.*?"([^"]+)"', line)
        if head:
            owner = head[2] if head[1] == "Switch" else None
            host = head[2]
            if owner:
                nodes[owner] = (int(head[3]), None)
        elif link and owner and link[3] == "H":
            before[owner, int(link[1])] = link[5]
        elif link and not owner and link[2]:
            nodes[host] = (int(link[4]), int(link[2], 16))
    return nodes, before


def keys_of(lab, lid, port):
    """The table without the free entries at its end."""
    text = lab.output(SM, "smpquery", "pkeys", str(lid), str(port))
    keys = [int(key, 16) for line in text.splitlines() if re.match(r"\s*\d+:", line) for key in re.findall(r"0x[0-9a-f]{4}\b", line)]
    while keys and keys[-1] == 0:
        keys.pop()
    return keys


def bits_of(lab, lid, port):
    text = lab.output(SM, "smpquery", "portinfo", str(lid), str(port))
    return re.findall(r"PartEnforce(?:Inb|Outb):\.+(\w+)", text)


def seen(lab):
    nodes, before = nodes_of(lab)
    found = {}
    for name, (lid, guid) in nodes.items():
        keys = keys_of(lab, lid, 1 if guid else 0)
        found[name] = (set(keys) - {0}, keys[0] if keys else 0)
    for (switch, port), host in before.items():
        lid = nodes[switch][0]
        bits = bits_of(lab, lid, port)
        found[f"{switch} port {port}"] = (keys_of(lab, lid, port) if "on" in bits or "1" in bits else "not enforced", bits)
    return found


def groups_of(lab):
    """Multicast groups as the hosts see them, each those of its partitions, without the multicast LIDs. (opensm shows who
    knows the SM_Key groups with members only.)"""
    groups, now, lines = {}, None, []
    for n in range(8):
        # A host whose key at index 0 is not one of the SM's port asks in vain.
        asked = subprocess.run(lab.attach(f"h{n:05}", "saquery", "-t", "300", "-g"), capture_output=True, text=True, timeout=60,
                               cwd=lab.folder)
        lines += asked.stdout.splitlines() if asked.returncode == 0 else [f"MGID....no answer for h{n:05}"]
    for line in lines:
        found = re.match(r"\s*(\w+)\.+\s*(\S+)", line)
        if found and found[1] == "MGID":
            now = groups.setdefault(found[2], {})
        elif found and now is not None and found[1].lower() in ("mtu", "pkey", "rate", "sl"):
            now[found[1].lower()] = int(found[2], 0)
    return groups


def run_smd(lab, conf):
    (lab.folder / "smd.toml").write_text(f'[partitions]\nfile = "{conf}"\n')
    server = lab.start(SM, lab.smd, "run", "--config", str(lab.folder / "smd.toml"), "--state-dir", "state", "--socket", "api.sock")
    wait_for(lambda: "state=up" in server.log() or "state=degraded" in server.log(), 60, "smd's first sweep")
    return server


def text_with_guids(lab, text):
    guids = {name: guid for name, (_, guid) in nodes_of(lab)[0].items() if guid}
    return text.format(*[f"{guids[f'h{n:05}']:#x}" for n in range(8)]) + "\n"


def unordered(found):
    """Indexes but 0 are the SM's choice in a fresh fabric."""
    return {place: (set(keys) if isinstance(keys, list) else keys, other) for place, (keys, other) in found.items()}


def by(smd, text, start):
    with Lab(smd, FABRIC) as lab:
        conf = lab.folder / "partitions.conf"
        conf.write_text(text_with_guids(lab, text))
        start(lab, conf)
        return seen(lab), groups_of(lab)


def takeover(smd, text):
    """opensm, then smd with the same file: no P_Key Set but for the ports of both SMs, which is the same one here."""
    with Lab(smd, FABRIC) as lab:
        conf = lab.folder / "partitions.conf"
        conf.write_text(text_with_guids(lab, text))
        opensm = lab.opensm(SM, "-P", str(conf))
        before = seen(lab)
        opensm.stop(signal.SIGKILL)
        server = run_smd(lab, conf)
        check(seen(lab) == before, f"tables differ after the takeover with\n{text}")
        server.stop(signal.SIGKILL)
        lab.opensm(SM, "-P", str(conf))
        check(seen(lab) == before, f"tables differ after the way back with\n{text}")


def scenario(given):
    differ = []
    for text in FILES + (MORE_FILES if "SMD_LONG" in os.environ else []):
        theirs, their_groups = by(given.smd, text, lambda lab, conf: lab.opensm(SM, "-P", str(conf)))
        ours, our_groups = by(given.smd, text, run_smd)
        theirs, ours = unordered(theirs), unordered(ours)
        wrong = {place: (theirs[place], ours.get(place)) for place in theirs if theirs[place] != ours.get(place)}
        wrong |= {mgid: (their_groups.get(mgid), our_groups.get(mgid)) for mgid in their_groups | our_groups
                  if their_groups.get(mgid) != our_groups.get(mgid)}
        print(f"   {len(theirs)} tables, {len(their_groups)} groups, {len(wrong)} differ: {text.splitlines()[0]}", flush=True)
        if set(wrong) != KNOWN.get(text, set()):
            differ.append((text, wrong))
            for place, (opensm, smd) in wrong.items():
                print(f"      {place}: opensm {opensm}, smd {smd}", flush=True)
    check(not differ, f"{len(differ)} files give other tables")
    takeover(given.smd, FILES[12])


if __name__ == "__main__":
    run_scenario(scenario, __doc__)
