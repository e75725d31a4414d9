#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The rules of the house that no compiler checks: check.py CHECK ROOT. One line a finding, exit 1."""
import pathlib
import re
import subprocess
import sys

# What each room may include of the others; longest folder that matches wins. tests see all.
ROOMS = {
    "mad/base": {"mad/base"},
    "mad/wire": {"mad/wire", "mad/base"},
    "mad/umad": {"mad/umad", "mad", "mad/wire", "mad/base"},
    # The simulator knows the transport that it implements, and no transactions. mad/sim/ has no files of its own.
    "mad/sim": set(),
    "mad/sim/state": {"mad/sim/state", "mad", "mad/wire", "mad/base"},
    "mad/sim/agents": {"mad/sim/agents", "mad/sim/state", "mad", "mad/wire", "mad/base"},
    "mad/sim/packets": {"mad/sim/packets", "mad/sim/agents", "mad/sim/state", "mad", "mad/wire", "mad/base"},
    "mad/sim/fabric": {"mad/sim/fabric", "mad/sim/packets", "mad/sim/agents", "mad/sim/state", "mad", "mad/wire",
                       "mad/base"},
    # Data packets by VL arbitration: what smd/decide computes is looked at with it, so it shares no code with that.
    "mad/sim/arbitration": {"mad/sim/arbitration", "mad/sim/packets", "mad/sim/state", "mad", "mad/wire", "mad/base"},
    "mad/sim/console": {"mad/sim/console", "mad/sim/fabric", "mad/sim/arbitration", "mad/sim/packets", "mad/sim/state",
                        "mad", "mad/wire", "mad/base"},
    # The preload library lives in foreign processes.
    "mad/sim/attach": {"mad/sim/attach"},
    "mad/sim/umad_server": {"mad/sim/umad_server", "mad/sim/attach", "mad/sim/console", "mad/sim/fabric",
                            "mad/sim/packets", "mad/sim/agents", "mad/sim/state", "mad", "mad/wire", "mad/base"},
    "mad/sim/drivers": {"mad/sim/drivers", "mad/sim/umad_server", "mad/sim/fabric", "mad/sim/packets",
                        "mad/sim/state", "mad", "mad/wire", "mad/base"},
    "mad/transactions": {"mad/transactions", "mad", "mad/wire", "mad/base"},
    "mad/gsi": {"mad/gsi", "mad/transactions", "mad", "mad/wire", "mad/base"},
    "mad": {"mad", "mad/wire", "mad/base"},
    "config": {"config", "mad/base"},
    # The files of routing/ itself (threads, rows of tables, statistics) are the base of its rooms.
    "routing": {"routing", "mad/base"},
    "routing/topology": {"routing/topology", "routing", "mad/base"},
    "routing/ranking": {"routing/ranking", "routing/topology", "routing", "mad/base"},
    "routing/engines": {"routing/engines", "routing/quality", "routing/ranking", "routing/topology", "routing",
                        "mad/base"},
    # Verification shares the topology with the engines, and nothing else.
    "routing/verify": {"routing/verify", "routing/topology", "routing", "mad/base"},
    "routing/update": {"routing/update", "routing/verify", "routing/topology", "routing", "mad/base"},
    "routing/chain": {"routing/chain", "routing/engines", "routing/verify", "routing/quality",
                      "routing/repair", "routing/ranking", "routing/topology", "routing", "mad/base"},
    "routing/repair": {"routing/repair", "routing/engines", "routing/verify", "routing/ranking",
                       "routing/topology", "routing", "mad/base"},
    "routing/quality": {"routing/quality", "routing/ranking", "routing/topology", "routing", "mad/base"},
    "routing/multicast": {"routing/multicast", "routing/verify", "routing/ranking", "routing/topology", "routing",
                          "mad/base"},
    "routing/cabling": {"routing/cabling", "routing/chain", "routing/ranking", "routing/topology", "routing",
                        "mad/base"},
}
# The rooms of smd/, in the order of dependency: each with those that its CMake target links. It may include these,
# what these may include, and all that smd knows of mad/, config/ and routing/.
SMD = {
    "smd/base": (),
    "smd/tls": (),
    "smd/access": ("smd/base",),
    "smd/log": (),
    "smd/events": ("smd/log",),
    "smd/tables": (),
    "smd/registry": ("smd/base",),
    "smd/policy": ("smd/access", "smd/base"),
    "smd/sweep": ("smd/tables",),
    "smd/schedule": ("smd/base", "smd/events", "smd/log", "smd/sweep"),
    "smd/ha": ("smd/events", "smd/log", "smd/schedule", "smd/sweep"),
    "smd/inventory": ("smd/base", "smd/sweep"),
    "smd/decide": ("smd/base", "smd/inventory", "smd/sweep"),
    "smd/plan": ("smd/decide", "smd/policy"),
    "smd/apply": ("smd/plan",),
    "smd/report": ("smd/apply", "smd/log"),
    "smd/snapshot": ("smd/ha", "smd/report"),
    "smd/store": ("smd/decide", "smd/events", "smd/log", "smd/policy", "smd/registry"),
    "smd/replica": ("smd/ha", "smd/store", "smd/tls"),
    "smd/reconcile": ("smd/report", "smd/schedule", "smd/store"),
    "smd/background": ("smd/events", "smd/ha", "smd/reconcile", "smd/schedule"),
    "smd/status": ("smd/events", "smd/reconcile", "smd/schedule", "smd/snapshot"),
    "smd/observe": ("smd/schedule", "smd/status", "smd/store"),
    "smd/dump": ("smd/decide",),
    "smd/offline": ("smd/plan", "mad/sim/fabric"),
    "smd/sa": ("smd/events", "smd/snapshot", "smd/store"),
    "smd/etcd": ("smd/log", "smd/replica", "smd/tls"),
    "smd/api": ("smd/access", "smd/dump", "smd/log", "smd/policy", "smd/replica", "smd/sa", "smd/schedule", "smd/snapshot", "smd/store", "smd/tls"),
    # The manager: the files of smd/ itself.
    "smd": ("smd/background", "smd/observe", "smd/snapshot"),
    "smd/daemon": ("smd/api", "smd/etcd", "smd", "smd/offline", "smd/sa", "mad/umad", "mad/sim/drivers",
                   "mad/sim/umad_server"),
    "smd/cli": ("smd/daemon", "mad/sim/attach", "mad/sim/packets"),
    "smd/main.cpp": ("smd/cli",),
}
BELOW_SMD = {room for room in ROOMS if not room.startswith(("mad/sim", "mad/umad"))}
for smd_room, linked in SMD.items():
    ROOMS[smd_room] = {smd_room, *BELOW_SMD, *linked, *(room for other in linked for room in ROOMS[other])}
PURE = ("mad/base", "mad/wire", "config", "routing")
TOP = {"config", "mad", "routing", "smd", "systemd", "tests", "docs", ".ci"}
SKIP = {"build", ".git", ".cache", ".github"}
COMMENTED = {".h": "//", ".cpp": "//", ".c": "//", ".cmake": "#", ".py": "#", ".sh": "#"}


class House:
    def __init__(self, root):
        self.root = pathlib.Path(root).resolve()
        self.findings = []

    def files(self, *suffixes, under=""):
        """Files of the project (tracked ones where git knows them), by suffix."""
        command = "git ls-files -co --exclude-standard -z"  # no git, or a tarball: all but what is built
        listed = subprocess.run(command, shell=True, cwd=self.root, capture_output=True, text=True)
        if listed.returncode == 0:
            names = [n for n in listed.stdout.split("\0") if n]
        else:
            names = [str(p.relative_to(self.root)) for p in self.root.rglob("*") if p.is_file()]
            names = [n for n in names if n.split("/")[0] not in SKIP]
        for name in sorted(names):
            path = self.root / name
            if name.startswith(under) and path.is_file() and (not suffixes or path.suffix in suffixes):
                yield name, path

    def lines(self, path):
        return path.read_text(encoding="utf-8", errors="replace").splitlines()

    def find(self, name, line, text):
        self.findings.append(f"{name}:{line}: {text}")


def room_of(name):
    if name in ROOMS:
        return name
    folder = name.rsplit("/", 1)[0]
    while folder:
        if folder in ROOMS or folder == "tests":
            return folder
        folder = folder.rpartition("/")[0]
    return None


def includes(house):
    """A room includes only the rooms to its left."""
    for name, path in house.files(".h", ".cpp"):
        room = room_of(name)
        for number, line in enumerate(house.lines(path), 1):
            match = re.match(r'\s*#\s*include\s+"([^"]+)"', line)
            if not match:
                continue
            target = match.group(1)
            if not (house.root / target).is_file():
                house.find(name, number, f'include "{target}": not a path from the root of the project')
            elif room in ROOMS and room_of(target) not in ROOMS[room]:
                allowed = ", ".join(sorted(ROOMS[room] - BELOW_SMD if room in SMD else ROOMS[room]))
                house.find(name, number, f'include "{target}": {room} may include {allowed} only')


def room_graph(house):
    """Room -> room -> one include that leads there, as the sources have it; rooms of ROOMS only."""
    graph = {}
    for name, path in house.files(".h", ".cpp"):
        room = room_of(name)
        if room not in ROOMS:
            continue
        for number, line in enumerate(house.lines(path), 1):
            match = re.match(r'\s*#\s*include\s+"([^"]+)"', line)
            other = room_of(match.group(1)) if match and "/" in match.group(1) else None
            if other in ROOMS and other != room:
                graph.setdefault(room, {}).setdefault(other, (name, number))
    return graph


def cycle_in(graph):
    """The rooms of a cycle in their order, each including the next and the last the first; [] without one."""
    done = set()

    def search(room, path):
        if room in path:
            return path[path.index(room):]
        if room in done:
            return []
        for other in sorted(graph.get(room, {})):
            if found := search(other, path + [room]):
                return found
        done.add(room)
        return []

    for room in sorted(graph):
        if found := search(room, []):
            return found
    return []


def cycles(house):
    """No rooms include each other, directly or through others, whatever ROOMS allows."""
    graph = room_graph(house)
    while found := cycle_in(graph):
        name, number = graph[found[-1]].pop(found[0])
        house.find(name, number, f"closes a cycle of rooms: {' -> '.join(found + found[:1])}")


def boost(house):
    """The pure rooms know no Boost and no sockets."""
    for name, path in house.files(".h", ".cpp"):
        if name.startswith(tuple(room + "/" for room in PURE)):
            for number, line in enumerate(house.lines(path), 1):
                if re.match(r"\s*#\s*include\s+[<\"]boost/", line):
                    house.find(name, number, f"{line.strip()}: no Boost in {room_of(name)}")


def first_line(house):
    """Each source says its licence first (second where a script has its interpreter first)."""
    for name, path in house.files(*COMMENTED):
        lines = house.lines(path)
        wanted = COMMENTED[path.suffix] + " SPDX-License-Identifier: Apache-2.0"
        at = 1 if lines and lines[0].startswith("#!") else 0
        if len(lines) <= at or lines[at] != wanted:
            house.find(name, at + 1, f'must be "{wanted}"')


def pragma_once(house):
    for name, path in house.files(".h"):
        code = [l for l in house.lines(path) if l.strip() and not l.startswith("//")]
        if not code or code[0] != "#pragma once":
            house.find(name, 2, "the first line of code of a header must be #pragma once")


def sizes(house):
    """No source longer than 500 lines; those over 250 are named, without failing."""
    for name, path in house.files(".h", ".cpp"):
        count = len(house.lines(path))
        if count > 500:
            house.find(name, count, f"{count} lines: at most 500; what part has a name of its own?")
        elif count > 250:
            print(f"note: {name}: {count} lines, the aim is 250")


def folders(house):
    """The top of the repository holds the rooms of docs/architecture.md and nothing else."""
    seen = {name.split("/")[0] for name, _ in house.files() if "/" in name}
    for extra in sorted(seen - TOP - {".github"}):
        house.find(extra, 1, f"not a top-level folder ({', '.join(sorted(TOP))})")
    for gone in sorted(TOP - seen):
        house.find(gone, 1, "missing")


def outside(house):
    """Nothing reads files outside the repository."""
    for name, path in house.files():
        if name in ("tests/house/check.py", "LICENSE") or "/corpus/" in name:
            continue
        for number, line in enumerate(house.lines(path), 1):
            for match in re.finditer(r"\.\./shared/|/work/|/tmp/wt/", line):
                house.find(name, number, f'"{match.group()}" is outside the repository')


def timers(house):
    """Time is a Clock's business: Asio timers only in RealClock, no sleeping anywhere."""
    pattern = re.compile(r"\b(steady_timer|system_timer|high_resolution_timer|deadline_timer|sleep_for|sleep_until|usleep)\b")
    for name, path in house.files(".h", ".cpp", under=""):
        # The receiver threads of mad/umad block in libibumad and never run in virtual time.
        if name.startswith(("tests/", "mad/umad/")) or pathlib.Path(name).stem == "real_clock":
            continue
        for number, line in enumerate(house.lines(path), 1):
            code = "" if line.lstrip().startswith("#") else line.split("//")[0]
            if pattern.search(code):
                house.find(name, number, f"{pattern.search(code).group()}: time only from Clock (mad/clock.h)")


def private_words(house):
    """Words that an InfiniBand engineer has to guess the meaning of stay out of the product and its documents."""
    pattern = re.compile(r"\b(nobody|somebody|anybody|everybody|whoever|wish\w*|hung up|afresh|circles?|twins|kin)\b", re.IGNORECASE)
    for name, path in house.files():
        if name.startswith("tests/"):
            continue
        for number, line in enumerate(house.lines(path), 1):
            for match in pattern.finditer(line):
                house.find(name, number, f'"{match.group()}": say which port, program or user, or the word of the field (docs/glossary.md)')


def commands_of_dev(house):
    text = (house.root / "dev").read_text()
    return re.search(r"^  (run \|[^)]*)\) \"cmd_", text, re.M).group(1).split(" | ")


def dev_documented(house):
    """Each command of ./dev is in the README or CONTRIBUTING, and in its own usage text."""
    docs = (house.root / "README.md").read_text() + (house.root / "CONTRIBUTING.md").read_text()
    usage = subprocess.run([house.root / "dev"], capture_output=True, text=True, check=True).stdout
    for command in commands_of_dev(house):
        if f"./dev {command}" not in docs:
            house.find("CONTRIBUTING.md", 1, f"./dev {command} is not described")
        if f"./dev {command}" not in usage:
            house.find("dev", 1, f"{command} is missing in its usage text")


def packages(house):
    """What CMake looks for, `dev` installs."""
    text = (house.root / "dev").read_text()
    listed = set(re.findall(r"[a-z0-9.+-]+", " ".join(re.findall(r"_packages=\(([^)]*)\)", text))))
    wanted = {"fmt": "libfmt-dev", "spdlog": "libspdlog-dev", "CLI11": "libcli11-dev", "GTest": "libgtest-dev",
              "rapidcheck": "librapidcheck-dev", "benchmark": "libbenchmark-dev", "Python3": "python3",
              "libibumad": "libibumad-dev", "libibmad": "libibmad-dev", "libsystemd": "libsystemd-dev",
              "sqlite3": "libsqlite3-dev", "prometheus-cpp-core": "prometheus-cpp-dev", "OpenSSL": "libssl-dev",
              "tomlplusplus": "libtomlplusplus-dev", "Boost": "libboost1.81-dev", "PkgConfig": "pkg-config",
              "Threads": None}
    cmake = [p for n, p in house.files(".txt", ".cmake") if p.suffix == ".cmake" or p.name == "CMakeLists.txt"]
    for path in cmake:
        for number, line in enumerate(house.lines(path), 1):
            match = re.search(r"(?:find_package\((\w+)|pkg_check_modules\(\w+ REQUIRED IMPORTED_TARGET (\S+?)\))", line)
            if not match:
                continue
            module = match.group(1) or match.group(2)
            if module not in wanted:
                house.find(str(path.relative_to(house.root)), number, f"{module}: name its package in tests/house/check.py")
            elif wanted[module] and wanted[module] not in listed:
                house.find(str(path.relative_to(house.root)), number, f"{wanted[module]} is not installed by dev")


def log_events(house):
    """Each event of the log is in a document, by its name."""
    docs = "".join(path.read_text() for _, path in house.files(".md"))
    event = re.compile(r"\.(?:info|warn|error)\(\s*\"([a-z0-9_]+\.[a-z0-9_.]+)\"")
    for name, path in house.files(".cpp", ".h"):
        if not name.startswith("smd/"):
            continue
        text = path.read_text()
        for match in event.finditer(text):
            if f"`{match.group(1)}`" not in docs:
                house.find(name, text.count("\n", 0, match.start()) + 1,
                           f"{match.group(1)}: say in docs/operations.md what it means")


def cited_docs(house):
    """Files that the documents name exist; so do the sources that architecture.md names by their paths."""
    source = re.compile(r"`([a-z0-9_]+(?:/[a-z0-9_]+)+\.(?:h|cpp|py))`")
    for name, path in house.files(".md"):
        for number, line in enumerate(house.lines(path), 1):
            for target in source.findall(line) if name == "docs/architecture.md" else ():
                if not (house.root / target).exists():
                    house.find(name, number, f"{target}: no such file")
            for target in re.findall(r"\]\(([^)#]+)\)", line):
                if "://" not in target and not (path.parent / target).exists():
                    house.find(name, number, f"{target}: no such file")


def main():
    if len(sys.argv) != 3 or not callable(globals().get(sys.argv[1])):
        sys.exit("usage: check.py CHECK ROOT")
    house = House(sys.argv[2])
    globals()[sys.argv[1]](house)
    print("\n".join(house.findings))
    sys.exit(1 if house.findings else 0)


if __name__ == "__main__":
    main()
