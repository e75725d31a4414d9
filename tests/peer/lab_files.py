# SPDX-License-Identifier: Apache-2.0
"""Served files and descriptors as programs use them: runs attached, in an empty folder, and fails by an assertion."""
import glob
import os
import pathlib
import shutil
import subprocess

CLASS = "/sys/class/infiniband"
DEVICE = CLASS + "/mlx5_0"
STATE = DEVICE + "/ports/1/state"


def shell(command):
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and not done.stderr, f"{command}: {done.returncode} {done.stdout}{done.stderr}"
    return done.stdout


def tools():
    text = pathlib.Path(STATE).read_text()
    assert shell(f"cp {STATE} copy; cat copy") == text
    assert shell(f"cp -r {DEVICE} tree; cat tree/ports/1/state") == text
    assert "-r--r--r--" in shell(f"ls -l {DEVICE}/ports/1")
    assert shell(f"find {CLASS} -name state -exec cat {{}} +") == text
    assert shell(f"cd {DEVICE}/ports/1; pwd; cat state; cat ../../node_type; cd ..; ls; /bin/pwd; cd /tmp; /bin/pwd") == \
        f"{DEVICE}/ports/1\n{text}1: CA\n1\n{DEVICE}/ports\n/tmp\n"
    assert shell(f"cat /sys/../sys/class/./infiniband/mlx5_0/ports/1/../../node_type") == "1: CA\n"
    assert shell(f"cd {CLASS}; echo *; realpath mlx5_0/ports/..; stat -c %F mlx5_0") == f"mlx5_0\n{DEVICE}\ndirectory\n"
    assert shell(f"tar cf tar {DEVICE} 2>/dev/null; tar tf tar | grep -c state") == "2\n"  # and phys_state
    assert shell("ls /dev/infiniband").split() == ["issm0", "umad0"]


def library():
    assert glob.glob(CLASS + "/*/ports/*/state") == [STATE]
    shutil.copy(STATE, "other")
    with os.scandir(DEVICE) as entries:
        assert [entry.name for entry in entries if entry.is_dir()] == ["ports"]
    folder = os.open(DEVICE, os.O_RDONLY | os.O_DIRECTORY)
    assert "node_guid" in os.listdir(folder)
    os.close(os.open("node_guid", os.O_RDONLY, dir_fd=folder))
    before = os.getcwd()
    os.fchdir(folder)
    assert os.getcwd() == DEVICE and os.path.exists("ports/1/lid") and not os.path.exists("copy")
    assert shell("cat node_type") == "1: CA\n"
    os.chdir(before)
    assert os.getcwd() == before and os.path.exists("copy")
    os.close(folder)


def device():
    return os.open("/dev/infiniband/umad0", os.O_RDWR | os.O_NONBLOCK)


def looked_at():
    fd = device()
    try:
        os.read(fd, 320)
        raise AssertionError("there was something to read")
    except BlockingIOError:
        pass
    os.close(fd)


def children():
    """Those of vfork have our memory: neither their folder nor their closing counts here."""
    fd = device()
    before = os.getcwd()
    subprocess.run(["true"], cwd=DEVICE, close_fds=True, check=True)
    assert os.getcwd() == before and os.path.exists("copy")
    try:
        os.read(fd, 320)
        raise AssertionError("there was something to read")
    except BlockingIOError:
        os.close(fd)


def resident():
    return int(pathlib.Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE")


def descriptors():
    for _ in range(100):
        looked_at()
    before = resident()
    for _ in range(1000):
        looked_at()
    assert resident() - before < 4 << 20, "1,000 times open, read, close keep memory"  # 16 MB once
    fd = device()
    os.closerange(fd, fd + 8)  # close_range
    read_end, write_end = os.pipe()
    assert read_end == fd
    os.write(write_end, b"of the pipe")
    assert os.read(read_end, 20) == b"of the pipe"


tools()
library()
children()
descriptors()
