# SPDX-License-Identifier: Apache-2.0
"""Served files and descriptors as programs use them: runs attached, in an empty folder, and fails by an assertion."""
import fcntl
import glob
import os
import pathlib
import resource
import select
import shutil
import struct
import subprocess
import sys

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
    try:
        os.read(folder, 100)
        raise AssertionError("a folder was read as a file")
    except IsADirectoryError:
        pass
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
    assert subprocess.check_output(["cat", "node_type"], cwd=DEVICE, text=True) == "1: CA\n"
    os.chdir(CLASS)
    assert subprocess.check_output(["cat", "state"], cwd=DEVICE + "/ports/1", text=True) == pathlib.Path(STATE).read_text()
    assert subprocess.check_output(["pwd"], cwd=before, text=True).strip() == before
    assert subprocess.check_output(["/bin/pwd"], text=True).strip() == CLASS
    os.chdir(before)
    assert os.getcwd() == before and os.path.exists("copy")
    try:
        os.read(fd, 320)
        raise AssertionError("there was something to read")
    except BlockingIOError:
        os.close(fd)


def far():
    """A copy of a device's descriptor with the highest number there is reads what came in several at once."""
    most = 1 << 17
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    except (OSError, ValueError):  # only root may have more than he has
        most = min(most, resource.getrlimit(resource.RLIMIT_NOFILE)[1])
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    fd = device()
    fcntl.ioctl(fd, 0x1B03, 0)
    fcntl.ioctl(fd, 0xC01C1B01, struct.pack("<I16sBBB5x", 0, b"", 0, 0x81, 1))
    high = fcntl.fcntl(fd, fcntl.F_DUPFD, most - 1)
    assert high == most - 1
    ask(high)
    subprocess.run(["true"], close_fds=True, check=True)
    answers(high)
    ask(high)
    subprocess.run([sys.executable, __file__, str(high)], pass_fds=[high], check=True)
    os.close(high)
    os.close(fd)


def ask(fd):
    """For NodeInfo, ten times."""
    for number in range(10):
        header = struct.pack("<5I", 0, 0, 1000, 0, 0) + struct.pack(">IIH", 0, 0, 0xFFFF)
        mad = struct.pack(">BBBBHBBQHHI", 1, 0x81, 1, 1, 0, 0, 0, number, 0x11, 0, 0) + bytes(8) + b"\xff" * 4
        assert os.write(fd, header.ljust(64, b"\0") + mad.ljust(256, b"\0")) == 320


def answers(fd):
    waiting = select.poll()
    waiting.register(fd, select.POLLIN)
    for number in range(10):
        assert waiting.poll(10_000), "no answer"
        answer = os.read(fd, 320)
        assert len(answer) == 320 and answer[64 + 15] == number, (number, answer)


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


if len(sys.argv) == 2:  # a child of far(), with its descriptor
    answers(int(sys.argv[1]))
else:
    tools()
    library()
    children()
    far()
    descriptors()
