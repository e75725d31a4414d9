# SPDX-License-Identifier: Apache-2.0
"""QoS policy files for opensm and smd: those that OpenSM's documentation shows (values as there), some that were written to look
at one thing each, and random ones. GUIDs are those of the fabric, by the name of the node."""

PARTITIONS = """Default=0x7fff, ipoib, sl=0 : ALL=full ;
Blue=0x0001, sl=1 : {h00003}=full, {h00004}=full, {h00005}=limited, {h00006}=limited ;
Part1=0x1234, sl=4 : {h00003}, {h00006}=full, {h00007}=full ;
Green=0x0abc, sl=2 : ALL=full ;
Narrow=0x0f10, sl=6 : {h00008}=full, {h00009}=limited ;
"""
PKEYS = (0xFFFF, 0x7FFF, 0x8001, 0x0001, 0x1234, 0x9234, 0x0ABC, 0x8ABC, 0x0F10, 0x0042)
SERVICES = (0x10000, 0x12710, 0x17530, 0x1FFFF, 0x20000, 0xFFFF, 0x10648CA, 0x1060CBC, 0x1060384, 0x1060000, 0x106FFFF, 0x6234,
            0x10000000000001, 0x10000000000008, 0x10000000000FFF, 22, 4719, 0xFFFFFFFFFFFFFFFF, 0)
CLASSES = (0, 1, 7, 8, 9, 10, 11, 0x100, 0xFFF)

DOCUMENTATION = {
    "shortest": """
    qos-levels
        qos-level
            name: DEFAULT
            sl: 0
        end-qos-level
    end-qos-levels
""",
    "whole": """
    port-groups
        port-group # by GUID
            name: Storage
            use: SRP Targets
            port-guid: {h00003}, {h00004}-{h00006}
            port-guid: {h00009}
        end-port-group
        port-group
            name: Virtual Servers
            port-name: h00010/P1, h00011/P1
        end-port-group
        port-group
            name: Partitions
            partition: Part1
            pkey: 0x1234
        end-port-group
        port-group
            name: CAs and SM
            node-type: CA, SELF
        end-port-group
    end-port-groups
    qos-setup
        # nothing
    end-qos-setup
    qos-levels
        qos-level
            name: DEFAULT
            use: default QoS Level
            sl: 0
        end-qos-level
        qos-level
            name: WholeSet
            sl: 1
            mtu-limit: 4
            rate-limit: 5
            pkey: 0x1234
            packet-life: 8
        end-qos-level
    end-qos-levels
    qos-match-rules
        qos-match-rule
            use: by QoS class
            qos-class: 7-9,11
            qos-level-name: WholeSet
        end-qos-match-rule
        qos-match-rule
            use: Storage targets
            destination: Storage
            service-id: 0x10000000000001, 0x10000000000008-0x10000000000FFF
            qos-level-name: WholeSet
        end-qos-match-rule
        qos-match-rule
            source: Storage
            use: match by source group only
            qos-level-name: DEFAULT
        end-qos-match-rule
        qos-match-rule
            use: match by all parameters
            qos-class: 7-9,11
            source: Virtual Servers
            destination: Storage
            service-id: 0x0000000000010000-0x000000000001FFFF
            pkey: 0x0F00-0x0FFF
            qos-level-name: WholeSet
        end-qos-match-rule
    end-qos-match-rules
""",
    "simplified": """
    qos-ulps
        default                       : 0 # default SL
        sdp, port-num 30000           : 0
        sdp, port-num 10000-20000     : 0
        sdp                           : 1
        rds                           : 2
        iser, port-num 900            : 0
        iser                          : 3
        ipoib, pkey 0x0001            : 0
        ipoib                         : 4
        any, service-id 0x6234        : 6
        any, pkey 0x0ABC              : 6
        srp, target-port-guid {h00003}: 5
        any, target-port-guid {h00004}-{h00006} : 6
        any, source-port-guid {h00007}  : 7
        any, source-target-port-guid {h00008}-{h00012} : 8
    end-qos-ulps
""",
}


def ulps(*lines, default=0):
    text = "".join(f"  {line}\n" for line in lines)
    return f"qos-ulps\n  default : {default}\n{text}end-qos-ulps\n"


def levels(*bodies):
    """The bodies of levels, ';' between their lines; the first is DEFAULT's."""
    text = "".join(" qos-level\n" + "".join(f"  {line.strip()}\n" for line in body.split(";")) + " end-qos-level\n" for body in bodies)
    return f"qos-levels\n{text}end-qos-levels\n"


def rules(*bodies):
    text = "".join(" qos-match-rule\n" + "".join(f"  {line.strip()}\n" for line in body.split(";")) + " end-qos-match-rule\n"
                   for body in bodies)
    return f"qos-match-rules\n{text}end-qos-match-rules\n"


def groups(*bodies):
    text = "".join(" port-group\n" + "".join(f"  {line.strip()}\n" for line in body.split(";")) + " end-port-group\n" for body in bodies)
    return f"port-groups\n{text}end-port-groups\n"


TWO = ("name: DEFAULT; sl: 0", "name: L; sl: 3")
OURS = {
    # every form of every protocol
    "default 5": ulps(default=5),
    "default twice": ulps("default : 7"),
    "sdp": ulps("sdp : 1"), "SDP": ulps("SdP : 1"),
    "sdp ports": ulps("sdp, port-num 30000 : 2", "sdp , port-num 10000-20000, 0 : 3", "sdp:1"),
    "rds": ulps("rds : 2"), "rds ports": ulps("rds, port-num 900, 0x48CA : 4"),
    "iser": ulps("iser : 3"), "iser ports": ulps("iSER, port-num 900-1000 : 5", "iser : 3"),
    "srp": ulps("srp, target-port-guid {h00003} : 5"), "srp range": ulps("srp, target-port-guid {h00003}-{h00009},{h00011} : 5"),
    "ipoib": ulps("ipoib : 4"), "ipoib pkeys": ulps("ipoib, pkey 0x0001 : 1", "ipoib, pkey 0x8abc,0x7fff : 2"),
    "any service": ulps("any, service-id 0x6234, 0x10000000000001-0x10000000000FFF : 6"),
    "any pkey": ulps("any, pkey 0x8001-0x8100, 0x1234 : 6"), "any pkey unknown": ulps("any, pkey 0x0042 : 6"),
    "any target": ulps("any, target-port-guid {h00004} : 6"), "any source": ulps("any, source-port-guid {h00004}, 0x99 : 6"),
    "any both": ulps("any, source-target-port-guid {h00004}-{h00010} : 6"),
    "a switch as target": ulps("any, target-port-guid {leaf000} : 6"),
    "octal": ulps("any, service-id 026 : 3"), "reversed": ulps("sdp, port-num 30000-10000 : 3"),
    "order": ulps("any, service-id 0x10000-0x10648CA : 1", "sdp : 2", "rds : 3", "iser : 4"),
    "list over lines": "qos-ulps\n default : 0\n any, service-id 0x6234,\n  0x1060cbc,\n 22 : 3\nend-qos-ulps\n",
    # levels
    "level before the default of the protocols": levels("name: default; sl: 2") + ulps(default=7),
    "mtu": levels("name: DEFAULT; sl: 0; mtu-limit: 1"), "mtu 5": levels("name: DEFAULT; sl: 0; mtu-limit: 5"),
    "rate": levels("name: DEFAULT; sl: 0; rate-limit: 2"), "rate of no link": levels("name: DEFAULT; sl: 1; rate-limit: 9"),
    "fast rate": levels("name: DEFAULT; sl: 0; rate-limit: 10"), "life": levels("name: DEFAULT; sl: 0; packet-life: 3"),
    "pkey": levels("name: DEFAULT; sl: 0; pkey: 0x8001"), "pkeys": levels("name: DEFAULT; sl: 9; pkey: 0x0f10,0x1000-0x2000; pkey: 1"),
    "path bits": levels("name: DEFAULT; sl: 15; path-bits: 1,2-5"),
    "first of a name": levels("name: DEFAULT; sl: 1", "name: default; sl: 2"),
    # rules
    "class": levels(*TWO) + rules("qos-class: 7-9,11; qos-level-name: l"),
    "classes twice": levels(*TWO) + rules("qos-class: 7; qos-class: 0x100,1; qos-level-name: L"),
    "service and class": levels(*TWO) + rules("service-id: 0-0xffffffffffffffff; qos-class: 7-9; qos-level-name: L"),
    "pkey rule": levels(*TWO) + rules("pkey: 0x8001; qos-level-name: L"),
    "everything": levels(*TWO) + rules("qos-level-name: L", "qos-class: 1; qos-level-name: DEFAULT"),
    "groups": groups("name: my group; port-guid: {h00003}-{h00012}", "name: B; node-type: switch", "name: none; port-guid: 0x99")
    + levels(*TWO, "name: M; sl: 5; mtu-limit: 3") + rules(
        "source: none; qos-level-name: M", "source: My Group; destination: b; qos-level-name: M",
        "destination: MYGROUP, B; qos-level-name: L"),
    "both directions": groups("name: A; port-name: h00003/P1,h00004/p1", "name: B; port-name: h00005/P1; port-name: nosuch/P1")
    + levels(*TWO) + rules("source: A; destination: B; qos-level-name: L"),
    "node types": groups("name: C; node-type: ca", "name: S; node-type: SWITCH, router", "name: me; node-type: Self")
    + levels(*TWO, "name: M; sl: 4", "name: N; sl: 5") + rules("destination: me; qos-level-name: N", "source: S; qos-level-name: M",
                                                               "destination: C; qos-level-name: L"),
    "partitions": groups("name: P; partition: Part1, Blue", "name: Q; pkey: 0x8f10; pkey: 0x0042") + levels(*TWO, "name: M; sl: 4")
    + rules("source: P; destination: P; qos-level-name: L", "source: Q; qos-level-name: M"),
    "rules before protocols": levels(*TWO) + ulps("sdp : 7", "any, source-port-guid {h00003} : 8") + rules(
        "service-id: 0x12710; qos-level-name: L"),
    "quotes and comments": '# comment "\nqos-levels # here\nqos-level\nname:"DEFAULT" # a\n  use: "some # text"\nsl : 2\n'
    "end-qos-level # x\n  qos-level\n name : L 1\n sl:3\nend-qos-level\nend-qos-levels\n"
    'qos-match-rules\n qos-match-rule\n\tqos-level-name: "L1"\n qos-class:\t7\n end-qos-match-rule\nend-qos-match-rules\n',
    "setup": "qos-setup\n vlarb-tables\n  vlarb-scope\n   group: Storage\n   across: A, B\n   vlarb-high: 0:255,1:127\n   vlarb-low: 8:255\n"
    "   vl-high-limit: 10\n  end-vlarb-scope\n end-vlarb-tables\n sl2vl-tables\n  sl2vl-scope\n   group: Part1\n   from: *\n   to: 1-5,7\n"
    "   across-to: S\n   across-from: T\n   sl2vl-table: 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,7\n  end-sl2vl-scope\n end-sl2vl-tables\n"
    "end-qos-setup\n" + ulps("sdp : 3"),
}


def a_range(rng, values, form):
    first, last = rng.choice(values), rng.choice(values)
    return form(first) if rng.random() < 0.5 else f"{form(min(first, last))}{rng.choice(['-', ' - '])}{form(max(first, last))}"


def some(rng, values, form=hex):
    return rng.choice([",", " , "]).join(a_range(rng, values, form) for _ in range(rng.randint(1, 3)))


def a_group(rng, name, guids):
    names = [node for node in guids if node.startswith("h")]
    lines = [f"name: {name}"]
    for _ in range(rng.randint(1, 3)):
        lines.append(rng.choice([
            lambda: "port-guid: " + some(rng, list(guids.values())[:12]),
            lambda: "port-name: " + ", ".join(f"{rng.choice(names)}/P1" for _ in range(3)),
            lambda: f"partition: {rng.choice(['Blue', 'Part1', 'Green', 'Default', 'nosuch'])}",
            lambda: "pkey: " + some(rng, [0x8001, 0x1234, 0x0ABC]),
            lambda: f"node-type: {rng.choice(['CA', 'switch', 'SELF', 'ROUTER,SWITCH', 'ca , self'])}"])())
    return ";".join(lines)


def a_level(rng, name):
    lines = [f"name: {name}", f"sl: {rng.randrange(16)}"]
    for key, values in (("mtu-limit", range(1, 6)), ("rate-limit", (2, 3, 4, 5, 6, 7)), ("packet-life", range(32)),
                        ("pkey", ("0x8001", "0x1234, 0x0abc", "0x0-0x2000"))):
        if rng.random() < 0.3:
            lines.append(f"{key}: {rng.choice(values)}")
    rng.shuffle(lines)
    return ";".join(lines)


def a_rule(rng, group_names, level_names):
    lines = [f"qos-level-name: {rng.choice(level_names)}"]
    for key, make in (("source", lambda: ",".join(rng.sample(group_names, rng.randint(1, 2)))),
                      ("destination", lambda: rng.choice(group_names).upper()),
                      ("qos-class", lambda: some(rng, CLASSES, str)), ("service-id", lambda: some(rng, SERVICES)),
                      ("pkey", lambda: some(rng, [0x8001, 0x1234, 0x0ABC, 0x0F10]))):
        if rng.random() < 0.3:
            lines.append(f"{key}: {make()}")
    rng.shuffle(lines)
    return ";".join(lines)


def an_ulp(rng, guids):
    ports = [0, 900, 0x0CBC, 10000, 0x48CA, 0xFFFF]
    hosts = list(guids.values())[:12]
    what = rng.choice(["sdp", "rds", "iser", "sdp, port-num {p}", "rds, port-num {p}", "iser, port-num {p}", "srp, target-port-guid {g}",
                       "ipoib", "ipoib, pkey 0x0001", "any, service-id {s}", "any, pkey {k}", "any, target-port-guid {g}",
                       "any, source-port-guid {g}", "any, source-target-port-guid {g}"])
    what = what.format(p=some(rng, ports, str), g=some(rng, hosts), s=some(rng, SERVICES), k=some(rng, [0x8001, 0x1234, 0x0ABC, 0x0F10]))
    return f"{what} : {rng.randrange(16)}"


def a_policy(rng, guids):
    group_names = [f"g{n}" for n in range(rng.randint(2, 5))]
    level_names = ["DEFAULT"] + [f"l{n}" for n in range(rng.randint(1, 4))]
    text = groups(*(a_group(rng, name, guids) for name in group_names)) + levels(*(a_level(rng, name) for name in level_names))
    text += rules(*(a_rule(rng, group_names, level_names) for _ in range(rng.randint(0, 6))))
    if rng.random() < 0.7:
        text += ulps(*(an_ulp(rng, guids) for _ in range(rng.randint(0, 6))), default=rng.randrange(16))
    return text
