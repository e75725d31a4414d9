#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""lint.py SOURCE BUILD CACHE: every header compiles alone, and clang-tidy finds nothing.

What both cost is the system's and the libraries' headers, not ours. So headers are compiled with those of mad/pch.h
precompiled (PCH, made in BUILD beforehand), and clang-tidy looks at a few translation units that include all sources:
a name in an unnamed namespace has one meaning in one of GROUPS. What passed is not looked at
again until one of its sources, any header, ours or a library's, or a .clang-tidy changes: CACHE has an empty file for
each such state, and clones may share it.
"""
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys

PCH = "mad/CMakeFiles/smd_mad.dir/cmake_pch.hxx.pch"
ROOMS = ("config", "mad", "routing", "smd")
# The first that fits: folders whose sources are one translation unit. Two system headers exclude each other
# (infiniband/umad.h and rdma/ib_user_mad.h), and what is preloaded is compiled with options of its own.
GROUPS = {
    "attach": r"mad/sim/attach/",
    "umad_server": r"mad/sim/umad_server/",
    "mad": r"mad/",
    "config": r"config/",
    "routing_engines": r"routing/(engines|ranking|chain|cabling)/",
    "routing": r"routing/",
    "smd_sa": r"smd/(sa|registry|store|dump)/",
    "smd_daemon": r"smd/(api|cli|daemon|report|log|offline|snapshot)/",
    "smd_manager": r"smd/\w+\.cpp",
    "smd": r"smd/",
}


def commands(build):
    """(options of the program with all definitions and the precompiled header, options of what is preloaded)"""
    program, preloaded = [], []
    for entry in json.loads((build / "compile_commands.json").read_text()):
        words = [w for w in shlex.split(entry["command"]) if not w.endswith(("ccache", "launcher"))][1:]
        kept = [w for i, w in enumerate(words) if w not in ("-o", "-c") and words[i - 1] not in ("-o", "-c")]
        if "/mad/sim/attach/" in entry["file"]:
            preloaded = kept
        elif "/tests/" not in entry["file"] and any(w.endswith(PCH) for w in kept):
            program = max(program, kept, key=lambda k: sum(w.startswith("-D") for w in k))
    if not program or not preloaded:
        sys.exit("lint.py: the build folder has no command for the program or for what is preloaded")
    return program, preloaded


def digest(files, *more):
    state = hashlib.sha256("\0".join(more).encode())
    for file in files:
        state.update(file.read_bytes())
    return state.hexdigest()


def first_include(header):
    """The first of our headers that it includes: it is read with nothing of ours before it, as if compiled alone."""
    found = re.search(rf'^#include "((?:{"|".join(ROOMS)})/[^"]+)"$', header.read_text(), re.M)
    return found and found.group(1)


def headers_to_compile(source):
    headers = {str(p.relative_to(source)): p for room in ROOMS for p in sorted((source / room).rglob("*.h"))}
    covered = {first_include(path) for name, path in headers.items() if not name.startswith("mad/sim/attach/")}
    return [name for name in headers if name not in covered]


def run(words, **more):
    done = subprocess.run(words, capture_output=True, text=True, check=False, **more)
    return done.returncode, done.stdout + done.stderr


def compile_header(source, options, name):
    code, said = run(["clang++-19", *options, "-fsyntax-only", "-x", "c++", "-"], cwd=source,
                     input=f'#include "{name}"\n')
    return f"{name} does not compile alone:\n{said}" if code else ""


def group_of(name):
    return next(group for group, pattern in GROUPS.items() if re.match(pattern, name))


def groups(source):
    found = {}
    for room in ROOMS:
        for path in sorted((source / room).rglob("*.cpp")):
            name = str(path.relative_to(source))
            found.setdefault(group_of(name), []).append(path)
    return found


def unit_of(source, build, group):
    """clang-tidy takes its rules from the folders above a file: those of the room are copied there."""
    room = group.split("_")[0]
    folder = build / "lint" / room
    folder.mkdir(parents=True, exist_ok=True)
    rules = source / room / ".clang-tidy"
    if rules.exists():
        shutil.copy(rules, folder)
    return folder / f"{group}.cpp"


def not_compiled(said):
    """Errors of the compiler alone: of what does not compile, all else that clang-tidy says is false."""
    return "".join(f"{line}\n" for line in said.splitlines() if "[clang-diagnostic-error" in line)


def tidy(unit, options, passed):
    code, said = run(["clang-tidy-19", "--quiet", str(unit), "--", *options])
    if code:
        return not_compiled(said) or re.sub(r"^\d+ warnings.*\n", "", said, flags=re.M)
    passed.touch()
    return ""


def all_of(pool, jobs):
    failed = [said for said in pool.map(lambda job: job(), jobs) if said]
    print("\n".join(failed), end="")
    return not failed


def main():
    source, build, cache = (pathlib.Path(a).resolve() for a in sys.argv[1:4])
    program, preloaded = commands(build)
    cache.mkdir(parents=True, exist_ok=True)
    every_header = [p for room in ROOMS for p in sorted((source / room).rglob("*.h"))]
    rules = [path for path in (source / ".clang-tidy", *(source / r / ".clang-tidy" for r in ROOMS)) if path.exists()]
    libraries = pathlib.Path(f"{build / PCH}.sum")  # of mad/pch.h as it is preprocessed: changes with what it includes
    headers_state = digest([*every_header, *rules, *filter(pathlib.Path.exists, [libraries])],
                           run(["clang-tidy-19", "--version"])[1], *(w.replace(str(source), "") for w in program))
    pool = concurrent.futures.ThreadPoolExecutor(os.cpu_count())

    seen = cache / f"headers-{headers_state}"
    if not seen.exists():
        names = headers_to_compile(source)
        print(f"headers: {len(every_header)}, {len(names)} compiled", flush=True)
        of = lambda name: preloaded if name.startswith("mad/sim/attach/") else program
        if not all_of(pool, [lambda n=name: compile_header(source, of(n), n) for name in names]):
            return 1
        seen.touch()

    jobs = []
    for group, sources in groups(source).items():
        passed = cache / f"{group}-{digest(sources, headers_state, *(str(s.relative_to(source)) for s in sources))}"
        if passed.exists():
            continue
        unit = unit_of(source, build, group)
        unit.write_text("".join(f'// NOLINTNEXTLINE(bugprone-suspicious-include)\n#include "{s}"\n' for s in sources))
        options = preloaded if group == "attach" else program
        jobs.append((sum(s.stat().st_size for s in sources), lambda u=unit, o=options, p=passed: tidy(u, o, p)))
    jobs.sort(key=lambda job: -job[0])
    print(f"clang-tidy: {len(jobs)} of {len(GROUPS)} groups", flush=True)
    return 0 if all_of(pool, [job for _, job in jobs]) else 1


if __name__ == "__main__":
    sys.exit(main())
