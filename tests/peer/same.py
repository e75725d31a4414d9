# SPDX-License-Identifier: Apache-2.0
"""Subnet administration, field by field: random queries of every kind of record to opensm, and to smd after it.

What the two may say differently is in ALLOWED here and in docs/differences.md, and nowhere else."""
import os
import random
import signal
import time

from ibsim import Failure, check, wait_for

ASKER = os.environ.get("SMD_SA_ASKER")
GET, SET, REPORT, GET_TABLE, GET_MULTI, DELETE = 0x01, 0x02, 0x06, 0x12, 0x14, 0x15
SM_KEY = 1

# Kind: attribute, bytes of a record, widths in bits of its components in their order; a negative one is reserved, or
# a selector that is not compared by itself.
KINDS = {
    "NodeRecord": (0x11, 108, [16, -16, 8, 8, 8, 8, 64, 64, 64, 16, 16, 32, 8, 24, 512]),
    "PortInfoRecord": (0x12, 68, [16, 8, -8, 64, 64, 16, 16, 32, 16, 16, 8, 8, 8, 8, 4, 4, 4, 4, 2, -3, 3, 4, 4, 4, 4, 4,
                                  4, 8, 8, 8, 4, 4, 3, 5, 4, 1, 1, 1, 1, 16, 16, 16, 8]),
    "SwitchInfoRecord": (0x14, 24, [16, -16, 16, 16, 16, 16, 8, 8, 8, 5, 1, -2, 16, 16, 1, 1, 1, 1, 1]),
    "LinearForwardingTableRecord": (0x15, 72, [16, 16]),
    "MulticastForwardingTableRecord": (0x17, 72, [16, 4, -3, 9]),
    "SMInfoRecord": (0x18, 28, [16, -16, 64, -64, 32, 4, 4]),
    "SLtoVLMappingTableRecord": (0x13, 16, [16, 8, 8]),
    "VLArbitrationTableRecord": (0x36, 72, [16, 8, 8]),
    "LinkRecord": (0x20, 6, [16, 8, 8, 16]),
    "GUIDInfoRecord": (0x30, 72, [16, 8, -8, -32] + [64] * 8),
    "ServiceRecord": (0x31, 176, [64, 128, 16, -16, 32, -128, 512]),
    "P_KeyTableRecord": (0x33, 72, [16, 16, -8]),
    "PathRecord": (0x35, 64, [8, 56, 128, 128, 16, 16, -1, -3, 20, 8, 8, 1, 7, 16, 12, 4, 2, 6, 2, 6, 2, 6]),
    "MultiPathRecord": (0x3A, 24, [1, -3, 20, 8, 8, 1, 7, 16, 12, 4, 2, 6, 2, 6, 2, 6, 8, 2, -6, 8, 8, 56]),
    "MCMemberRecord": (0x38, 52, [128, 128, 32, 16, 2, 6, 8, 16, 2, 6, 2, 6, 4, 20, 8, 4, 4, -1]),
    "InformInfoRecord": (0xF3, 60, [128, 16]),
}
# Bits of a record that are an SM's own choice or count, and no part of a query: (first, width) and why.
ALLOWED = {
    "PortInfoRecord": [(32, 64, "M_Key: smd shows it to nobody"), (32 + 144, 16, "MasterSMLID"),
                       (32 + 336, 12, "VLStallCount, HOQLife, OperationalVLs: each SM's configuration"),
                       (32 + 344, 4, "OperationalVLs"), (32 + 304, 8, "VLHighLimit"), (32 + 348, 2, "enforcement"),
                       (32 + 408, 8, "ClientReregister, SubnetTimeOut"), (32 + 424, 8, "error thresholds"),
                       (32 + 224, 8, "LocalPortNum: of a switch the port by which the SM asked"),
                       (32 + 352, 48, "violations counted meanwhile")],
    "SwitchInfoRecord": [(32 + 88, 6, "LifeTimeValue, PortStateChange"), (32 + 48, 16, "LinearFDBTop"),
                         (32 + 144, 16, "MulticastFDBTop")],
    "SMInfoRecord": [(32, 164, "GUID is one port's; ActCount and priority are each SM's")],
    "MCMemberRecord": [(288, 16, "MLID"), (336, 8, "rate of the broadcast group"), (304, 8, "its MTU"),
                       (344, 8, "its lifetime"), (392, 8, "ProxyJoin: OpenSM sets the lowest bit of its byte, IBA has the highest")],
    "ServiceRecord": [(224, 32, "what is left of a lease")],
    "PathRecord": [(448, 8, "PacketLifeTime: each SM's configuration")],
    "MultiPathRecord": [(448, 8, "as PathRecord, which the answer is"), (456, 8, "Preference")],
    "InformInfoRecord": [(128, 16, "Enum: a number that each SM gives"), (416, 24, "QPN")],
}


def bits(data, first, width):
    return int.from_bytes(data, "big") >> (8 * len(data) - first - width) & ((1 << width) - 1)


def with_bits(data, first, width, value):
    shift = 8 * len(data) - first - width
    number = int.from_bytes(data, "big")
    number = number & ~(((1 << width) - 1) << shift) | value << shift
    return number.to_bytes(len(data), "big")


def components(widths):
    at = 0
    for index, width in enumerate(widths):
        yield index, at, width
        at += abs(width)


def line(method, kind, mask=0, data=b"", key=0):
    return f"{method:x} {KINDS[kind][0] if isinstance(kind, str) else kind:x} {mask:x} {key:x} {data.hex() or '00'}"


def parse(text, size, method_has_table=True):
    """(status, records); None where nobody answered."""
    if text == "none":
        return None
    status, stride, data = text.split(" ")
    stride, data = int(stride, 16), bytes.fromhex(data)
    if int(status, 16) or stride == 0:
        return int(status, 16), []
    if not method_has_table:
        data = data[:size]
    return 0, [data[i:i + size] for i in range(0, len(data) - stride + 1, stride)]


class Asker:
    def __init__(self, sim, host):
        self.sim, self.host = sim, host

    def ask(self, lines):
        check(ASKER and os.path.exists(ASKER), f"SMD_SA_ASKER={ASKER}: must name sa_asker")
        file = self.sim.folder / "questions"
        file.write_text("\n".join(lines) + "\n")
        text = self.sim.output(self.host, "sh", "-c", f"exec '{ASKER}' < '{file}'", seconds=600)
        answers = dict(answer.split(" ", 1) for answer in text.splitlines())
        check(len(answers) == len(lines), f"{len(answers)} answers to {len(lines)} questions")
        return [answers[str(number)] for number in range(len(lines))]

    def table(self, kind, key=0):
        answer = parse(self.ask([line(GET_TABLE, kind, key=key)])[0], KINDS[kind][1])
        check(answer is not None and answer[0] == 0, f"the table of {kind}: {answer and hex(answer[0])}")
        return answer[1]


def lanes_are_read(asker, nodes):
    """smd has read the SL to VL tables of these NodeRecords' nodes: nobody is told to ask again."""
    lines = []
    for node in nodes:
        lid, kind, ports = node[:2], node[6], node[7]
        for out in range(1, ports + 1 if kind == 2 else 2):
            lines.append(line(GET, "SLtoVLMappingTableRecord", 7, lid + bytes([1, out])))
    return not any(answer.startswith("1 ") for answer in asker.ask(lines))


def join_line(mgid, gid, state=1, method=SET):
    """A join (or a leave) that says enough to make a group."""
    record = bytearray(52)
    record[:16], record[16:32] = mgid, gid
    record[32:36] = (0x0B1B).to_bytes(4, "big")
    record[40:42] = b"\xff\xff"
    record[48] = 0x20 | state
    return line(method, "MCMemberRecord", 1 << 0 | 1 << 1 | 1 << 2 | 1 << 6 | 1 << 7 | 1 << 12 | 1 << 13 | 1 << 16,
                bytes(record))


def mgid_of(number):
    return bytes.fromhex("ff12401bffff00000000") + number.to_bytes(6, "big")


def register(asker, gids):
    """The same groups, services and subscriptions at any SM."""
    lines = []
    for group in range(4):
        for number, gid in enumerate(gids[group:group + 3]):
            lines.append(join_line(mgid_of(0x100 + group), gid, 1 if number == 0 else 1 << group % 3))
    for service in range(4):
        record = bytearray(176)
        record[:8] = (0x1000 + service).to_bytes(8, "big")
        record[8:24] = gids[service]
        record[24:26] = b"\xff\xff"
        record[28:32] = b"\xff\xff\xff\xff"
        record[48:52] = b"name"
        lines.append(line(SET, "ServiceRecord", 1 << 0 | 1 << 1 | 1 << 2 | 1 << 4 | 1 << 6, bytes(record)))
    for trap in (64, 65, 128):
        info = bytearray(36)
        info[16:18] = b"\xff\xff"
        info[22], info[23] = 1, 1
        info[24:26] = b"\xff\xff"
        info[26:28] = trap.to_bytes(2, "big")
        info[30], info[31] = 1, 0x12
        info[33:36] = b"\xff\xff\xff"
        lines.append(line(SET, 0x03, 0, bytes(info)))
    for text, answer in zip(lines, asker.ask(lines)):
        check(answer.startswith("0 "), f"{text}: {answer[:40]}")


# Codes of rates that both take for the same: see docs/differences.md for the others.
RATES = [2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 16, 17]
# Components that queries do not name, because OpenSM takes them otherwise: docs/differences.md says how.
NOT_ASKED = {"SwitchInfoRecord": set(range(1, 32)), "GUIDInfoRecord": set(range(4, 12)), "PortInfoRecord": {5, 30}}

# Components whose bits are not changed: smd reads one block of P_Keys, descriptions are compared otherwise, and OpenSM
# 3.3.23 dies of a port that a switch does not have.
NOT_CHANGED = {("P_KeyTableRecord", 1), ("NodeRecord", 14), ("SLtoVLMappingTableRecord", 1),
               ("SLtoVLMappingTableRecord", 2), ("VLArbitrationTableRecord", 1)}


def compared(kind, index, at, width):
    """Whether a query may name the component."""
    if width <= 0 or index in NOT_ASKED.get(kind, ()):
        return False
    return all(at + width <= first or first + bits <= at for first, bits, _ in ALLOWED.get(kind, []))


def question(chooser, kind, records):
    """A random one: some components of a record that is there, now and then with a bit changed."""
    _, size, widths = KINDS[kind]
    names = [(i, at, w) for i, at, w in components(widths) if compared(kind, i, at, w)]
    model = chooser.choice(records)
    data, mask = bytes(size), 0
    method = GET_TABLE if chooser.random() < 0.6 else GET
    key = SM_KEY if kind == "P_KeyTableRecord" or chooser.random() < 0.3 else 0
    chosen = chooser.sample(names, min(len(names), chooser.choice([0, 1, 1, 2, 2, 3, 5])))
    if kind == "P_KeyTableRecord":  # smd may not have read the other blocks
        model, chosen = with_bits(model, 16, 16, 0), [name for name in chosen if name[0] != 1] + [names[1]]
    if kind == "MCMemberRecord" and key:
        method = GET_TABLE  # smd has one record more, of a group without members
    if kind == "MCMemberRecord" and not key:
        chosen = [name for name in chosen if name[0] != 16]
    for index, at, width in chosen:
        value = bits(model, at, width)
        if chooser.random() < 0.1 and (kind, index) not in NOT_CHANGED:
            value ^= 1 << chooser.randrange(width)
        if (kind, index, value) == ("GUIDInfoRecord", 0, 0):
            continue  # to OpenSM LID 0 is any
        data, mask = with_bits(data, at, width, value), mask | 1 << index
    return line(method, kind, mask, data, key)


def path_question(chooser, paths, ports):
    """Ends by LID, GID or both, and limits; a Get names both ends."""
    size = KINDS["PathRecord"][1]
    at = {i: (a, abs(w)) for i, a, w in components(KINDS["PathRecord"][2])}
    model = chooser.choice(paths)
    data, mask = bytes(size), 0

    def name(index, value=None):
        nonlocal data, mask
        first, width = at[index]
        data, mask = with_bits(data, first, width, bits(model, first, width) if value is None else value), mask | 1 << index

    for ends in ((2, 4), (3, 5)):  # destination, source: GID, LID
        for index in chooser.choice([(ends[0],), (ends[1],), ends, ends[:1]]):
            name(index)
    if chooser.random() < 0.4:
        name(16, chooser.randrange(4)), name(17, chooser.randrange(1, 6))
    if chooser.random() < 0.4:
        name(18, chooser.choice([0, 2, 3])), name(19, chooser.choice(RATES))
    if chooser.random() < 0.3:
        name(11, chooser.randrange(2))
    if chooser.random() < 0.3:
        name(12, chooser.randrange(1, 5))
    if chooser.random() < 0.3:
        name(13, chooser.choice([0xFFFF, 0x7FFF, 0x8001]))
    if chooser.random() < 0.2:
        name(15, 0)
    return line(GET_TABLE if chooser.random() < 0.6 else GET, "PathRecord", mask, data)


def multi_question(chooser, gids):
    """From some ports to some others, and limits."""
    _, size, widths = KINDS["MultiPathRecord"]
    at = {i: (a, abs(w)) for i, a, w in components(widths)}
    data, mask = bytes(size), 0

    def name(index, value):
        nonlocal data, mask
        data, mask = with_bits(data, *at[index], value), mask | 1 << index

    sources, destinations = chooser.randrange(1, 5), chooser.randrange(1, 6)
    if chooser.random() < 0.9:
        name(19, sources)
    if chooser.random() < 0.9:
        name(20, destinations)
    # Two by two and two paths: OpenSM chooses a diagonal, see docs/differences.md.
    if chooser.random() < 0.4:
        name(6, chooser.choice([1, 3, 5, 127]))
    if chooser.random() < 0.4:
        name(10, chooser.randrange(4)), name(11, chooser.randrange(0, 7))
    if chooser.random() < 0.4:
        name(12, chooser.choice([0, 2, 3])), name(13, chooser.choice(RATES))
    for index, values in ((5, [0, 1]), (7, [0xFFFF, 0x7FFF, 0x8001]), (9, [0])):
        if chooser.random() < 0.3:
            name(index, chooser.choice(values))
    ends = [chooser.choice(gids) for _ in range(sources + destinations)]
    if chooser.random() < 0.1:
        ends[0] = ends[0][:8] + bytes(8)
    return line(GET_MULTI, "MultiPathRecord", mask, data + b"".join(ends))


def shown(kind, text, answer):
    """What is compared of an answer."""
    if answer is None:
        return None
    status, records = answer
    if kind == "MulticastForwardingTableRecord":  # trees are each SM's own
        return (status, []) if text.startswith(f"{GET_TABLE:x} ") else None
    if kind == "MCMemberRecord" and text.split()[3] != "0":
        records = [record for record in records if any(record[16:32])]
    for first, width, _ in ALLOWED.get(kind, []):
        records = [with_bits(record, first, width, 0) for record in records]
    return status, sorted(records)


def gids_of(nodes):
    """Of the adapters' ports, from NodeRecords."""
    return [bytes.fromhex("fe80000000000000") + node[24:32] for node in nodes if node[6] == 1]


def random_questions(chooser, asker, kind, nodes, count):
    if kind == "MultiPathRecord":
        return [multi_question(chooser, gids_of(nodes)) for _ in range(count)]
    records = asker.table(kind, SM_KEY)
    check(records, f"opensm has no {kind}")
    if kind == "PathRecord":
        return [path_question(chooser, records, nodes) for _ in range(count)]
    return [question(chooser, kind, records) for _ in range(count)]


def settled_answers(asker, lines):
    """Once two rounds a second apart are equal: opensm forgets what a table holds while it writes it, and with its QoS
    writes SL to VL tables once more when OperationalVLs have become what it has set."""
    before = asker.ask(lines)
    for _ in range(20):
        time.sleep(1)
        now = asker.ask(lines)
        if now == before:
            return now
        before = now
    raise AssertionError("opensm's answers do not settle")


def same(smd, lab, count):
    """`count` random queries of each kind. With its QoS opensm writes SL to VL and VL arbitration tables, and knows
    what they hold."""
    opensm = lab.opensm("h00000", "-Q")
    asker = Asker(lab, "h00002")
    nodes = asker.table("NodeRecord")
    gids = gids_of(nodes)
    register(asker, gids)
    chooser = random.Random(int(os.environ.get("SMD_SEED", "7")))
    questions = []
    for kind in KINDS:
        questions += [(kind, text) for text in random_questions(chooser, asker, kind, nodes, count)]
    theirs = settled_answers(asker, [text for _, text in questions])
    opensm.stop()
    client = smd.start(lab, "h00000")
    wait_for(lambda: "state=up" in client.log(), 60, "smd's state=up")
    wait_for(lambda: len(asker.table("PathRecord")) > 0, 10, "an answer of smd's")
    wait_for(lambda: lanes_are_read(asker, nodes), 60, "SL to VL tables that smd has read")
    register(asker, gids)
    ours = asker.ask([text for _, text in questions])
    wrong, equal, found = [], {}, {}
    for (kind, text), one, other in zip(questions, theirs, ours):
        size = KINDS["PathRecord" if kind == "MultiPathRecord" else kind][1]
        table = int(text.split()[0], 16) != GET
        one, other = (shown(kind, text, parse(answer, size, table)) for answer in (one, other))
        equal[kind] = equal.get(kind, 0) + (one == other)
        found[kind] = found.get(kind, 0) + (one is not None and len(one[1]) > 0)
        if one != other:
            wrong.append(f"{kind}: {text}\n   opensm {brief(one)}\n   smd    {brief(other)}")
    for kind in KINDS:
        print(f"   {kind:32} {equal[kind]} of {count} equal, {found[kind]} with records", flush=True)
    check(not wrong, f"{len(wrong)} answers differ\n" + "\n".join(wrong[:int(os.environ.get('SMD_SHOW', '12'))]))
    check(client.stop() == 0, f"exit status {client.process.returncode} after SIGTERM")


def brief(answer):
    if answer is None:
        return "does not answer"
    status, records = answer
    return f"status {status:#06x}, {len(records)} records" + "".join("\n      " + r.hex() for r in records[:3])


CLIENTS = 64


def kills(smd, lab, rounds):
    """smd is killed while 64 joins are under way: who was answered is a member afterwards."""
    chooser = random.Random(int(os.environ.get("SMD_SEED", "7")))
    asker, answered, group = Asker(lab, "h00002"), set(), 0x1000
    state = str(lab.folder / "state")
    for number in range(rounds):
        client = smd.start(lab, "h00000", state=state)
        try:
            wait_for(lambda: "state=up" in client.log(), 60, f"smd's state=up, round {number}")
        except Failure as failure:
            raise Failure(f"{failure}\n{client.log()[-3000:]}") from failure
        nodes = asker.table("NodeRecord")
        members = {bytes(record[:32]) for record in asker.table("MCMemberRecord", SM_KEY)}
        missing = answered - members
        check(not missing, f"round {number}: {len(missing)} of {len(answered)} answered joins are missing, "
              f"one is {next(iter(missing), b'').hex()}")
        gids = gids_of(nodes)
        desired = [(mgid_of(group + i // len(gids)), gids[i % len(gids)]) for i in range(2000)]
        group += 2000 // len(gids) + 1
        file = lab.folder / "joins"
        file.write_text("\n".join(join_line(*join) for join in desired) + "\n")
        joining = lab.start("h00003", "sh", "-c", f"exec '{ASKER}' {CLIENTS} < '{file}'")
        out = joining.folder / "stdout"
        first = chooser.randrange(1, 60000)
        wait_for(lambda: out.stat().st_size > first or joining.process.poll() is not None, 30, "answers to joins")
        client.stop(signal.SIGKILL)
        joining.stop(signal.SIGKILL)
        for text in out.read_text().splitlines(True):
            words = text.split(" ")
            if text.endswith("\n") and len(words) == 4 and words[1] == "0":
                mgid, gid = desired[int(words[0])]
                answered.add(mgid + gid)
    check(len(answered) > rounds * 10, f"only {len(answered)} joins were answered")
    print(f"   {rounds} times killed, {len(answered)} answered joins, none is missing", flush=True)
