#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What saquery and hand-made questions are answered by opensm and, after it, by smd: lab_answers.py --smd PROGRAM. Each
answer that differs has its row in docs/differences.md. On ibsim, where no kernel sorts versions out, requests of all class
versions."""
import pathlib
import re
import tempfile

import same
from ibsim import Ibsim, check, hosts_of, wait_for
from lab import Lab
from runner import run_scenario
from same import ASKER, DELETE, GET, GET_MULTI, GET_TABLE, SET, Asker, components, line, with_bits
from subject import Smd

DOC = pathlib.Path(__file__).parents[2] / "docs" / "differences.md"

# (what was asked, what may differ, words of its row in docs/differences.md). Differences are names of fields, 'records' for
# their number or the exit status, or both statuses.
ROWS = [
    (r"(CPI|-c)$", "Response time value", "response time 0x10 (268 ms)"),
    (r"(SL2VL|VLAR)\b", "VL", "what it has Set, else zeros"),
    (r"(IIR|-I)$", "SubscriberEnum, trap_num", "Enum counts on"),
    (r"SWIR\b", "LifeTimeValue/PortStateChange/OpSL2VL", "LifeTimeValue, PortStateChange"),
    (r"PIR\b", "LocalPort", "it is the port by which the SM asked"),
    (r"SMIR\b", "ActCount", "ActCount, priority"),
    (r"MFTR\b", "records, block, line", "other trees"),
    (r"--smkey 1 PKTR\b", "records", "all blocks of a port"),
    (r"--smkey 1 PKTR\b", "Block", "BlockNum in the byte order of its host"),
    (r"(MCMR|-g|-m)\b", "mlid, Mlid", "MLIDs from 0xC000 on"),
    (r"(MCMR|-g|-m)\b", "mtu, Mtu, rate, Rate", "the broadcast group has 10 Gb/s and 2 KB"),
    (r"MCMR --(mtu|rate)", "records", "the broadcast group has 10 Gb/s and 2 KB"),
    (r"MCMR", "pkt_life", "a group made without PacketLifeTime has 0"),
    (r"MCMR --pkt_lifetime", "records", "PacketLifeTime is not compared"),
    (r"--smkey 1 (MCMR|-g|-m)\b", "records, line, ScopeState, ProxyJoin, NodeDescription, PortGid, MGID",
     "without members | one |"),
    (r"-m 0x", "line, records", "MLIDs from 0xC000 on"),
    (r"MCMR --m?lid", "records", "MLIDs from 0xC000 on"),
    (r"MCMR.*", "ProxyJoin", "ProxyJoin in the lowest bit of its byte"),
    (r"--smkey 1 MCMR --proxy_join", "records", "ProxyJoin in the lowest bit of its byte"),
    (r"MCMR --(join_state|proxy_join)", "records", "JoinState and ProxyJoin are compared"),
    (r"PR .*--pkt_lifetime", "records", "a smaller value than the fabric's is promised"),
    (r"PR .*--rate", "rate", "some codes lead to a rate that is not the next one"),
    (r"PR .*--rate", "records", "codes 23 and 24"),
    (r"PR .*--sl", "records", "any SL that is asked for is granted"),
    (r"PR .*--qos_class", "qos_class", "PathRecord, QoSClass"),
    (r"PR .*--service_id", "service_id", "PathRecord, ServiceID"),
    (r"PR .*(0xc0|ff12)", "records, sgid, slid, mtu, rate", "PathRecord to a group"),
    (r"(PR .*|--sgid-to-dgid .*)(fe80::99|fe80::77|fec0::)", "records", "PathRecord, SGID or DGID that no port has"),
    (r"raw (Get|GetTable) of an unknown [SD]GID", "0x0300 0x0500, 0x0000 0x0500", "PathRecord, SGID or DGID that no port has"),
    (r"raw Get of a path \{('[sd](gid|lid)': \d+)?(, 'paths': \d)?\}$", "records", "Get with an end that is not named"),
    (r"raw method 0x1 of 0x35$", "records", "Get with an end that is not named"),
    (r"raw method .* of 0x18", "records", "ActCount, priority"),
    (r"raw method .* of 0xf3", "records", "Enum counts on"),
    (r"raw method 0x13 of 0x3[59]", "no answer 0x0600", "TraceRecord | not served"),
    (r"raw method .* of ", "no answer 0x000c, 0x0200 0x000c", "An attribute or a method that is not served"),
    (r"raw (Set|Delete) ServiceRecord", "0x0200 0x0600, 0x0300 0x0400", "ServiceRecord: Set without ServiceID"),
]


def saquery_commands(lids, gids):
    a, b, leaf, spine = (lids[name] for name in ("h00003", "h00006", "leaf000", "spine000"))
    ga, gb = gids["h00003"], gids["h00006"]
    plain = [[name] for name in "CPI NR PIR SL2VL PKTR VLAR IIR LR SR PR MCMR LFTR MFTR GIR SWIR SMIR".split()]
    plain += [[option] for option in "-D -c -s -g -m -x -I -S -p -N".split()]
    plain += [[option, name] for name in ("h00003", "leaf000", "nosuch") for option in ("-L", "-l", "-G")]
    plain += [["-O", a], ["-O", 999], ["-m", "0xc000"], ["-m", "0xc001"], ["-K", "PIR", a], ["-K", "SMIR"], ["-K", "SR"],
              ["--src-to-dst", f"{a}:{b}"], ["--src-to-dst", "h00003:h00006"], ["--src-to-dst", "h00003:nosuch"],
              ["--sgid-to-dgid", f"{ga}-{gb}"], ["--sgid-to-dgid", f"{ga}-fe80::77"]]
    for lid in (a, leaf, 999):
        plain += [["NR", lid], ["SWIR", lid], ["SMIR", lid], ["PIR", lid], ["PIR", f"{lid}/1"], ["PIR", f"{lid}/99"],
                  ["VLAR", f"{lid}/1"], ["VLAR", f"{lid}/1/1"], ["PKTR", f"{lid}/1/0"], ["PKTR", f"{lid}/1/1"],
                  ["SL2VL", f"{lid}/1"], ["SL2VL", f"{lid}/0/1"], ["LR", lid], ["LR", f"{lid}/1"], ["LR", f"{lid}/1", leaf],
                  ["LFTR", lid], ["LFTR", f"{lid}/0"], ["LFTR", f"{lid}/99"], ["GIR", lid], ["GIR", f"{lid}/1"]]
    plain += [["MFTR", what] for what in ("0xc000", f"{leaf}", f"{leaf}/0/0", f"{leaf}/1/0")]
    plain += [["PIR", f"//{option}"] for option in ("", "issm", "m", "+m", "e")]
    ends = ["--slid", a, "--dlid", b]
    paths = [["--slid", a], ["--dlid", a], ["--sgid", ga], ["--dgid", ga], ends, ["--sgid", ga, "--dgid", gb],
             ["--sgid", ga, "--dlid", b], ["--slid", 999, "--dlid", b], ["--slid", a, "--dlid", 999],
             ["--slid", a, "--dlid", "0xc000"], ["--slid", a, "--dlid", "0xc0ff"], ["--slid", a, "--dlid", leaf],
             ["--slid", leaf, "--dlid", spine], ["--slid", a, "--dlid", a], ["--dgid", "ff12:401b:ffff::ffff:ffff"],
             ["--sgid", ga, "--dgid", "ff12:401b:ffff::ffff:ffff"], ["--sgid", ga, "--dgid", "ff12:401b:ffff::1"],
             ["--sgid", ga, "--dgid", "fe80::99"], ["--sgid", "fe80::99", "--dgid", gb],
             ["--sgid", ga, "--dgid", "fec0::1:2"], ["--sgid", ga, "--dgid", gb, "--dlid", a],
             ["--sgid", ga, "--slid", b, "--dgid", gb]]
    for option, values in (("reversible", (0, 1)), ("numb_path", (0, 1, 5)), ("pkey", ("0xffff", "0x7fff", "0x8001", 0)),
                           ("qos_class", (0, 3)), ("sl", (0, 3)), ("tclass", (0, 7)), ("flow_label", (0, 9)),
                           ("hop_limit", (0, 5)), ("service_id", (0, 77)), ("mtu", (2, 4, 66, 69, 132, 196)),
                           ("rate", (3, 17, *range(64 + 2, 64 + 25), 145, 194)), ("pkt_lifetime", (2, 18, 66, 84, 146, 194))):
        paths += [[*ends, f"--{option}", value] for value in values]
    groups = [["--" + option, value] for option, values in (
        ("mgid", ("ff12:401b:ffff::ffff:ffff", "ff12:401b:ffff::7")), ("mlid", ("0xc000", "0xc001")), ("gid", (ga, gb)),
        ("pkey", ("0xffff", "0x7fff", "0x8001")), ("sl", (0, 1)), ("qkey", ("0xb1b", 1)), ("tclass", (0, 1)),
        ("flow_label", (0, 1)), ("hop_limit", (0, 1)), ("scope", (2, 5)), ("join_state", (0, 1, 15)), ("proxy_join", (0, 1)),
        ("mtu", (4, 132, 5)), ("rate", (3, 131)), ("pkt_lifetime", (18, 66, 146))) for value in values]
    plain += [["PR", *words] for words in paths] + [["MCMR", *words] for words in groups]
    return [[str(word) for word in key + words] for key in ([], ["--smkey", "1"]) for words in plain]


PORT_INFO_RECORD = 0x12
PATH = {"sgid": 3, "dgid": 2, "slid": 5, "dlid": 4, "paths": 12}


def path(method, **named):
    at = {i: (first, abs(width)) for i, first, width in components(same.KINDS["PathRecord"][2])}
    data, mask = bytes(64), 0
    for name, value in named.items():
        data, mask = with_bits(data, *at[PATH[name]], value), mask | 1 << PATH[name]
    return line(method, "PathRecord", mask, data)


def raw_questions(lids, numbers):
    """(what, question). A Get of one end first: saquery asks for tables only."""
    a, asked = numbers["h00003"], []
    ends = [{}, {"slid": lids["h00003"]}, {"dlid": lids["h00003"]}, {"sgid": a}, {"dgid": a}, {"slid": lids["leaf000"]},
            {"sgid": a, "paths": 1}, {"dgid": a, "paths": 3}, {"slid": 999}, {"dlid": 999}, {"slid": 0}, {"dlid": 0},
            {"sgid": a, "dgid": numbers["h00006"], "paths": 0},
            {"sgid": a, "dgid": numbers["h00006"], "dlid": lids["h00001"]},
            {"sgid": a, "dgid": numbers["h00006"], "dlid": 999}, {"sgid": a, "slid": lids["h00001"]},
            {"sgid": a, "slid": 999, "dgid": numbers["h00006"]}]
    for end in ends:
        asked += [(f"raw Get of a path {end}", path(GET, **end)), (f"raw GetTable of paths {end}", path(GET_TABLE, **end))]
    for name in ("sgid", "dgid"):
        asked += [(f"raw {method} of an unknown {name.upper()}", path(code, **{name: a + 0x777777}))
                  for method, code in (("Get", GET), ("GetTable", GET_TABLE))]
    for attribute in (0x01, 0x02, 0x10, 0x11, 0x12, 0x16, 0x18, 0x20, 0x35, 0x39, 0x3A, 0x3B, 0x3C, 0xF3):
        asked += [(f"raw method {method:#x} of {attribute:#x}", line(method, attribute))
                  for method in (GET, SET, GET_TABLE, 0x13, GET_MULTI, DELETE)]
    # What the kernel answers, or drops, before a program sees it.
    asked += [(f"raw method {method:#x}, which nobody has registered for", line(method, "NodeRecord"))
              for method in (0x03, 0x11, 0x16, 0x7F)]
    asked += [(f"raw method {method:#x} of class version 1", line(method, "NodeRecord") + " 1") for method in (GET, GET_TABLE)]
    return asked + [("raw Set ServiceRecord of nothing", line(SET, "ServiceRecord")),
                    ("raw Delete ServiceRecord of nothing", line(DELETE, "ServiceRecord"))]


def without_local_port(record):
    """A PortInfoRecord with LocalPortNum 0: whose SMP reached a switch by which port depends on the answers' order."""
    local_port = 32
    return record[:local_port] + b"\0" + record[local_port + 1:]


def ask_saquery(lab, commands, at_once):
    """{command: (exit status, records)}, and the commands whose answer did not come in saquery's time."""
    found, late = {}, []
    for first in range(0, len(commands), at_once):
        some = [(words, lab.start("h00002", "saquery", *words)) for words in commands[first:first + at_once]]
        for words, client in some:
            lab.finish(client, words, ok=range(256))
            text = (client.folder / "stdout").read_text(errors="replace")
            records = text.splitlines() if "-D" in words else re.split(r"(?m)^(?=\S.*dump:)", text)
            found["saquery " + " ".join(words)] = (client.process.returncode, sorted(records))
            if "timed out" in text + (client.folder / "stderr").read_text(errors="replace").lower():
                late.append(words)
    return found, late


def answers(lab, lids, gids, numbers, only=None):
    """{what was asked: answer}; of saquery its exit status and records, else status and records. `only`: names."""
    asker = Asker(lab, "h00002")
    nodes = asker.table("NodeRecord")
    same.register(asker, sorted(same.gids_of(nodes)))
    commands = [words for words in saquery_commands(lids, gids) if not only or "saquery " + " ".join(words) in only]
    found, late = ask_saquery(lab, commands, 16)
    # On a busy machine a second passes: what stays without an answer then is the peer's own way.
    found |= ask_saquery(lab, late, 1)[0]
    asked = [one for one in raw_questions(lids, numbers) if not only or one[0] in only]
    if not asked:
        return found
    (lab.folder / "asked").write_text("\n".join(text for _, text in asked) + "\n")
    text = lab.output("h00002", "sh", "-c", f"exec '{ASKER}' 64 < '{lab.folder / 'asked'}'", seconds=120)
    came = dict(one.split(" ", 1) for one in text.splitlines())
    for number, (name, question) in enumerate(asked):
        method, attribute = (int(word, 16) for word in question.split()[:2])
        size = next((size for code, size, _ in same.KINDS.values() if code == attribute), 64)
        answer = same.parse(came[str(number)], size, method != GET)
        records = [without_local_port(r) if attribute == PORT_INFO_RECORD else r for r in answer[1]] if answer else []
        found[name] = (f"{answer[0]:#06x}" if answer else "no answer", sorted(r.hex() for r in records))
    return found


def differences(theirs, ours):
    """Names of what differs; empty where the answers are equal."""
    if theirs == ours:
        return set()
    if isinstance(theirs[0], str):
        return {f"{theirs[0]} {ours[0]}"} if theirs[0] != ours[0] else {"records"}
    if theirs[0] != ours[0] or len(theirs[1]) != len(ours[1]):
        return {"records"}
    names = set()
    for one, other in zip(theirs[1], ours[1]):
        mine, its = one.splitlines(), other.splitlines()
        names |= {"records"} if len(mine) != len(its) else set()
        for left, right in zip(mine, its):
            field = re.match(r"\s*([A-Za-z][^.:|]*?)(\.\.|:)", left)
            if left != right:
                names.add(field[1] if field else "line")
    return names


def judge(theirs, ours, again):
    """`again`: asks the questions of these names once more. A difference is one that is there both times."""
    wrong, undocumented = compare(theirs, ours)
    if wrong:
        print(f"   asked again: {sorted(wrong)}", flush=True)
        wrong, undocumented = compare(theirs, ours | again(set(wrong)))
    check(not wrong and not undocumented, f"{len(wrong)} differ otherwise\n" + "\n".join(wrong.values()) +
          "".join(f"\nnot in docs/differences.md: {words}" for words in sorted(undocumented)))


def compare(theirs, ours):
    """({name: how it differs where nothing documents that}, rows that docs/differences.md has not)."""
    doc, wrong, undocumented = DOC.read_text(), {}, set()
    equal = 0
    for name, one in theirs.items():
        left = differences(one, ours[name])
        equal += not left
        for pattern, fields, words in ROWS:
            excused = left & set(fields.split(", "))
            if excused and re.search(pattern, name):
                left -= excused
                if words not in doc:
                    undocumented.add(words)
        if left:
            wrong[name] = f"{name}: {sorted(left)}\n   opensm {str(one)[-300:]}\n   smd    {str(ours[name])[-300:]}"
    print(f"   {len(theirs)} questions, {equal} answers are equal, {len(theirs) - equal - len(wrong)} differ as "
          "docs/differences.md says", flush=True)
    return wrong, undocumented


def versions(program, which):
    """{(class version, what): status} on ibsim, whose nodes deliver every version up to 2."""
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        hosts = hosts_of(Smd(program).fabric("ft2:4", folder))
        with Ibsim(pathlib.Path(folder) / "net") as sim:
            if which == "opensm":
                sim.opensm(hosts[0])
            else:
                client = Smd(program).start(sim, hosts[0])
                wait_for(lambda: "state=up" in client.log(), 60, "smd's state=up")
            for version in (0, 1, 2):
                lines = [f"{text} {version}" for text in (line(GET, 0x01), line(GET, "NodeRecord", 1, b"\0\1"),
                                                         line(GET_TABLE, "NodeRecord", 1, b"\0\1"), path(GET, slid=1, dlid=2))]
                for what, answer in zip(("ClassPortInfo", "Get NodeRecord", "GetTable NodeRecord", "PathRecord"),
                                        Asker(sim, hosts[2]).ask(lines)):
                    found[version, what] = answer.split()[0]
    return found


def scenario(given):
    theirs, ours = versions(given.smd, "opensm"), versions(given.smd, "smd")
    for (version, what), status in theirs.items():
        print(f"   class version {version}, {what:20} opensm {status:>4} smd {ours[version, what]:>4}", flush=True)
    check(theirs == ours, "requests of another class version are answered otherwise")
    with Lab(given.smd, "ft2:8") as lab:
        opensm = lab.opensm("h00000")
        lids, gids, numbers = {}, {}, {}
        for node in Asker(lab, "h00002").table("NodeRecord"):
            name, guid = node[44:108].split(b"\0")[0].decode(), int.from_bytes(node[24:32], "big")
            lids[name], numbers[name] = int.from_bytes(node[:2], "big"), 0xFE80 << 112 | guid
            gids[name] = "fe80::" + ":".join(f"{guid >> shift & 0xFFFF:x}" for shift in (48, 32, 16, 0))
        theirs = answers(lab, lids, gids, numbers)
        opensm.stop()
        client = Smd(given.smd).start(lab, "h00000")
        wait_for(lambda: "state=up" in client.log(), 60, "smd's state=up")
        nodes = Asker(lab, "h00002").table("NodeRecord")
        wait_for(lambda: same.lanes_are_read(Asker(lab, "h00002"), nodes), 60, "SL to VL tables that smd has read")
        judge(theirs, answers(lab, lids, gids, numbers), lambda names: answers(lab, lids, gids, numbers, names))


if __name__ == "__main__":
    run_scenario(scenario, __doc__)
