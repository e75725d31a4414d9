#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What an extension costs: extending.py SOURCE BUILD [PATCH]...

Each patch of tests/house/extending/ adds one thing as a contributor would: a routing engine, a kind of table, a record
of subnet administration, a management class. It must apply to SOURCE, change at most MOST existing files (tests, docs
and CMakeLists.txt apart) and compile: its own units and those that use what it changes (USERS), with the options that
BUILD/compile_commands.json has for their room.
"""
import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
MOST = 2
# Units with one of these words are compiled too: what a changed declaration may break.
USERS = {"engine": r"\ball_engines\b", "table_kind": r"\b(for_each_table|OfEachTable)\b|\bTableKind<",
         "sa_record": r"\brecord_kinds\b", "mgmt_class": r"\bMgmtClass::perf\b|daemon/instance\.h"}


def changed_files(patch):
    """(existing files, new files)"""
    existing, new = [], []
    for part in re.split(r"^diff --git ", patch.read_text(), flags=re.M)[1:]:
        name = re.match(r"a/(\S+) b/", part).group(1)
        (new if re.search(r"^new file mode", part, re.M) else existing).append(name)
    return existing, new


def counts(name):
    return not name.startswith(("tests/", "docs/")) and not name.endswith("CMakeLists.txt")


def options_by_room(source, build):
    """{folder: options of a unit of the target that is built from it}"""
    rooms = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        found = re.match(rf"{re.escape(str(build))}/(.+)/unity/", entry["file"])
        own = pathlib.Path(entry["file"])
        if found:
            folder = found.group(1)
        elif own.is_relative_to(source) and not own.is_relative_to(build):
            folder = str(own.relative_to(source).parent)
        else:
            continue
        rooms.setdefault(folder, entry["command"])
    return rooms


def options(command, source, copy):
    """Without precompiled headers, output and input; with the copy in the place of the source tree."""
    kept, words = [], iter(shlex.split(command))
    compiler = next(words)
    while compiler.endswith(("ccache", "launcher")):
        compiler = next(words)
    for word in words:
        if word == "-Xclang":
            next(words)
        elif word in ("-o", "-c"):
            next(words)
        elif word in ("-Winvalid-pch", "-fpch-instantiate-templates"):
            continue
        else:
            kept.append(f"-I{copy}" if word == f"-I{source}" else word)
    return [compiler, *kept, "-fsyntax-only"]


def command_of(rooms, unit):
    """Of the nearest room: a folder without a target belongs to the one above it."""
    folder = pathlib.PurePosixPath(unit).parent
    while str(folder) not in rooms:
        if folder == folder.parent:
            sys.exit(f"extending.py: no target is built from the folder of {unit}")
        folder = folder.parent
    return rooms[str(folder)]


def units(copy, name, changed):
    users = re.compile(USERS[name])
    found = {f for f in changed if f.endswith(".cpp")}
    for room in ("smd", "mad", "routing"):
        for path in (copy / room).rglob("*.cpp"):
            if users.search(path.read_text()):
                found.add(str(path.relative_to(copy)))
    return sorted(found)


def compile_unit(rooms, source, copy, unit):
    done = subprocess.run([*options(command_of(rooms, unit), source, copy), str(copy / unit)], cwd=copy,
                          capture_output=True, text=True)
    return f"{unit}: {done.stderr}" if done.returncode else ""


def check(source, build, patch, folder):
    name = patch.stem
    existing, new = changed_files(patch)
    touched = [f for f in existing if counts(f)]
    if not 0 < len(touched) <= MOST:
        return f"{name}: changes {len(touched)} existing files, allowed are 1 to {MOST}: {', '.join(touched)}"
    copy = folder / name
    for room in ("smd", "mad", "routing", "config"):
        shutil.copytree(source / room, copy / room)
    applied = subprocess.run(["patch", "-p1", "-i", str(patch)], cwd=copy, capture_output=True, text=True)
    if applied.returncode:
        return f"{name}: does not apply: {applied.stdout}{applied.stderr}"
    rooms = options_by_room(source, build)
    todo = units(copy, name, existing + new)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        errors = [e for e in pool.map(lambda unit: compile_unit(rooms, source, copy, unit), todo) if e]
    print(f"{name}: {len(touched)} existing files ({', '.join(touched)}), {len(new)} new; {len(todo)} units compiled")
    return "\n".join(errors)


def main():
    source, build = (pathlib.Path(a).resolve() for a in sys.argv[1:3])
    wanted = sys.argv[3:] or sorted(USERS)
    with tempfile.TemporaryDirectory(prefix="smd-extending-") as folder:
        errors = [e for name in wanted
                  if (e := check(source, build, HERE / "extending" / f"{name}.patch", pathlib.Path(folder)))]
    if errors:
        sys.exit("extending.py: " + "\n".join(errors))


if __name__ == "__main__":
    main()
