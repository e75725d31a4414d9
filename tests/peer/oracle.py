# SPDX-License-Identifier: Apache-2.0
"""What an SM has made of each port, by smpquery; and where two SMs differ."""
import collections
import pathlib
import re

from ibsim import check

DOCUMENT = pathlib.Path(__file__).parents[2] / "docs" / "differences.md"

# Per node, and per port of it: the last words of the command. Route and LID-free, so that both SMs' fabrics compare.
OF_NODE = ("nodeinfo", "nodedesc")
OF_SWITCH = ("switchinfo",)
OF_PORT = ("portinfo", "pkeys", "sl2vl", "vlarb", "guidinfo")
# What belongs to one SM's choice of LIDs and is compared by nobody, or tells of the question and not of the port.
IGNORED = {"LocalPort"}


def fields(text):
    """{name: value} of smpquery's 'Name:.......value' lines; tables by their line."""
    found = {}
    for line in text.splitlines():
        if line.startswith("#"):
            continue
        named = re.match(r"([A-Za-z0-9_]+):\.+(.*)$", line)
        if named:
            found[named[1]] = named[2]
        elif line.strip():
            row = re.match(r"\s*([^:|]+)[:|](.*)$", line)
            found[f"row {row[1].strip()}" if row else f"line {len(found)}"] = row[2].strip() if row else line.strip()
    return {name: value for name, value in found.items() if name not in IGNORED}


def places(net_text):
    """(lid-free name, is a switch, ports with a cable) of each node of an ibnetdiscover file."""
    for kind, ports, guid, body in re.findall(r'^(Switch|Ca)\s+(\d+) "[SH]-([0-9a-f]+)".*\n((?:\[.*\n)+)', net_text, re.M):
        linked = [int(n) for n in re.findall(r"^\[(\d+)\]", body, re.M)]
        yield "0x" + guid, kind == "Switch", linked


def read(lab, host):
    """{(node, port, attribute, field): value} of everything."""
    net = lab.output(host, "ibnetdiscover")
    asked, commands = [], []
    for guid, is_switch, linked in places(net):
        for attribute in OF_NODE + (OF_SWITCH if is_switch else ()):
            asked.append((guid, 0, attribute))
        for port in ([0] if is_switch else []) + linked:
            asked.extend((guid, port, attribute) for attribute in OF_PORT)
    route = routes(net, host)
    for guid, port, attribute in asked:
        words = ["smpquery", "-D", attribute, route[guid]]
        commands.append(words if attribute in OF_NODE + OF_SWITCH + ("guidinfo",) else words + [str(port)])
    values = {}
    for key, text in zip(asked, lab.outputs(host, commands, at_once=6)):
        for name, value in fields(text).items():
            values[(*key, name)] = value
    return values


def routes(net, host):
    """A directed route from the host to each node."""
    nodes = {}
    for kind, guid, name, body in re.findall(r'^(Switch|Ca)\s+\d+ "([SH]-[0-9a-f]+)"\s+# "([^"]*)".*\n((?:\[.*\n)+)', net, re.M):
        nodes[guid] = (name, re.findall(r'^\[(\d+)\](?:\([0-9a-f]+\))?\s+"([SH]-[0-9a-f]+)"', body, re.M))
    start = next(guid for guid, (name, _) in nodes.items() if name == host)
    found, queue = {start: "0"}, collections.deque([start])
    while queue:
        at = queue.popleft()
        if at.startswith("H") and at != start:
            continue
        for port, peer in nodes[at][1]:
            if peer not in found:
                found[peer] = f"{found[at]},{port}"
                queue.append(peer)
    return {"0x" + guid[2:]: way for guid, way in found.items()}


def differences(theirs, ours):
    """{"attribute.field": (how many, an example)}."""
    found = {}
    for key in sorted(theirs.keys() | ours.keys()):
        one, two = theirs.get(key), ours.get(key)
        if one == two:
            continue
        name = f"{key[2]}.{re.sub(r'[0-9]+', 'N', key[3]) if key[3].startswith('row') else key[3]}"
        number, example = found.get(name, (0, f"{key[0]} port {key[1]}: opensm {one}, smd {two}"))
        found[name] = (number + 1, example)
    return found


def documented():
    """The fields that docs/differences.md gives a reason for: `attribute.Field` in its table."""
    return set(re.findall(r"^\| `([a-z0-9]+\.[^`]+)` \|", DOCUMENT.read_text(), re.M))


def judge(found):
    for name, (number, example) in found.items():
        print(f"   {name}: {number} times; {example}", flush=True)
    missing = sorted(set(found) - documented())
    check(not missing, f"differs, and {DOCUMENT.name} does not say why: {', '.join(missing)}")
