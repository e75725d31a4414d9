# SPDX-License-Identifier: Apache-2.0
"""Fabric files and what the tools print, as values that can be compared."""
import random
import re


def parse(text):
    """ibnetdiscover's format -> {"nodes": {guid: (type, ports, name)}, "links": {((guid, port), (guid, port))}}.

    A node's GUID is taken from the id in quotes, as all of ibnetdiscover, ibsim and smd write it.
    """
    nodes, links, current = {}, set(), None
    for line in text.splitlines():
        node = re.match(r'(Switch|Ca|Hca|Rt)\s+(\d+)\s+"[SHR]-([0-9a-fA-F]+)"\s*(?:#\s*"([^"]*)")?', line)
        if node:
            current = int(node[3], 16)
            kind = "Ca" if node[1] == "Hca" else node[1]
            nodes[current] = (kind, int(node[2]), (node[4] or "").strip())
            continue
        link = re.match(r'\[(\d+)\](?:\([0-9a-fA-F]*\))?\s+"[SHR]-([0-9a-fA-F]+)"\[(\d+)\]', line)
        if link and current is not None:
            ends = sorted([(current, int(link[1])), (int(link[2], 16), int(link[3]))])
            links.add(tuple(ends))
    return {"nodes": nodes, "links": links}


def switch_links(net):
    """One end of each link between switches, in an order of their own."""
    nodes = net["nodes"]
    return [a for a, b in sorted(net["links"]) if nodes[a[0]][0] == nodes[b[0]][0] == "Switch"]


def differences(wanted, found):
    """What differs between two networks, as lines."""
    lines = []
    for guid in sorted(wanted["nodes"].keys() | found["nodes"].keys()):
        a, b = wanted["nodes"].get(guid), found["nodes"].get(guid)
        if a != b:
            lines.append(f"node 0x{guid:016x}: in the file {a}, found {b}")
    for link in sorted(wanted["links"] ^ found["links"]):
        where = "not found" if link in wanted["links"] else "not in the file"
        lines.append(f"link {link}: {where}")
    return lines


def without_lids(text):
    """The same fabric as it is after power on: a dump of ours carries the LIDs that were given."""
    return re.sub(r"\blid \d+ lmc \d+", "lid 0 lmc 0", re.sub(r"\blid \d+\b", "lid 0", text))


def lfts(text):
    """opensm-lfts.dump, dump_fts or ibroute -> {switch guid: {lid: port}}."""
    tables, current = {}, None
    for line in text.splitlines():
        header = re.search(r"of switch .*guid (0x[0-9a-fA-F]+)", line)
        if header:
            current = tables.setdefault(int(header[1], 16), {})
            continue
        entry = re.match(r"0x([0-9a-fA-F]{4}) (\d{3})\b", line)
        if entry and current is not None:
            current[int(entry[1], 16)] = int(entry[2])
    return tables


def lft_block(smpdump, first_lid):
    """smpdump's bytes of one LFT block -> {lid: port}, entries that drop (255) left out."""
    digits = "".join(re.findall(r"^((?:[0-9a-fA-F]{4} ?)+)$", smpdump, re.M)).replace(" ", "")
    ports = bytes.fromhex(digits)[:64]
    return {first_lid + i: port for i, port in enumerate(ports) if port != 255}


def lid_of_guid(subnet_lst):
    """opensm-subnet.lst -> {port guid: lid} and {node guid: {"type", "lid"}} of both ends of each line."""
    ports, nodes = {}, {}
    for kind, node, port, lid in re.findall(
            r"\{ (CA|SW|RT)(?:-SM)? Ports:\S+ SystemGUID:\S+ NodeGUID:(\S+) PortGUID:(\S+) .*? LID:(\S+) PN:", subnet_lst):
        ports[int(port, 16)] = int(lid, 16)
        nodes.setdefault(int(node, 16), (kind, int(lid, 16)))
    return ports, nodes


def random_pairs(items, count, seed):
    """At most `count` different ordered pairs, the same for a seed."""
    chooser, items, pairs = random.Random(seed), sorted(items), set()
    most = len(items) * (len(items) - 1)
    while len(pairs) < min(count, most):
        a, b = chooser.sample(items, 2)
        pairs.add((a, b))
    return sorted(pairs)
