# SPDX-License-Identifier: Apache-2.0
"""An etcd (Debian's etcd-server) on loopback, of one member or several, with TLS and certificates of a CA of its own."""
import base64
import http.client
import json
import signal
import ssl
import subprocess
import time

from failover_pair import free_ports
from ibsim import check, end_with_parent, wait_for


def b64(text):
    return base64.b64encode(text if isinstance(text, bytes) else text.encode()).decode()


class Etcd:
    """Its data outlives a kill(). `quota`: bytes of its database."""

    def __init__(self, folder, quota=None, members=1):
        self.folder, self.quota = folder / "etcd", quota
        self.folder.mkdir()
        ports = free_ports(2 * members)
        self.client_ports, self.peer_ports = ports[:members], ports[members:]
        self.processes = [None] * members
        self._openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
                      "-keyout", "ca.key", "-out", "ca.pem", "-subj", "/CN=test")
        # The gateway of etcd is a client of etcd itself, with the server's certificate.
        self._certificate("etcd", "serverAuth,clientAuth")
        self._certificate("smd", "clientAuth")
        self.start()

    def _openssl(self, *words):
        done = subprocess.run(["openssl", *words], cwd=self.folder, capture_output=True, text=True)
        check(done.returncode == 0, f"openssl {words}: {done.stderr}")

    def _certificate(self, name, usage):
        (self.folder / f"{name}.ext").write_text(f"subjectAltName=IP:127.0.0.1\nextendedKeyUsage={usage}\n")
        self._openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", f"{name}.key",
                      "-out", f"{name}.csr", "-subj", f"/CN={name}")
        self._openssl("x509", "-req", "-in", f"{name}.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2",
                      "-extfile", f"{name}.ext", "-out", f"{name}.pem")

    def ha(self):
        """The keys of [ha] of an smd that copies through it."""
        urls = ", ".join(f'"https://127.0.0.1:{port}"' for port in self.client_ports)
        return (f'etcd = [{urls}]\ncert = "{self.folder}/smd.pem"\n'
                f'key = "{self.folder}/smd.key"\nca = "{self.folder}/ca.pem"\n')

    def start(self):
        """The members that do not run."""
        for number, process in enumerate(self.processes):
            if process is None:
                self.processes[number] = self._start_member(number)
        wait_for(self._answers, 20, "etcd's first answer")

    def _start_member(self, number):
        client, peers = f"https://127.0.0.1:{self.client_ports[number]}", [f"http://127.0.0.1:{port}" for port in self.peer_ports]
        cluster = ",".join(f"m{at}={url}" for at, url in enumerate(peers))
        words = ["--name", f"m{number}", "--data-dir", f"data{number}", "--listen-client-urls", client, "--advertise-client-urls", client,
                 "--listen-peer-urls", peers[number], "--initial-advertise-peer-urls", peers[number], "--initial-cluster", cluster,
                 "--cert-file", "etcd.pem", "--key-file", "etcd.key", "--trusted-ca-file", "ca.pem", "--client-cert-auth"]
        if self.quota:
            words += ["--quota-backend-bytes", str(self.quota)]
        with open(self.folder / "log", "ab") as log:
            return subprocess.Popen(["etcd", *words], cwd=self.folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                    preexec_fn=end_with_parent)

    def _answers(self):
        check(all(process is None or process.poll() is None for process in self.processes), f"etcd has ended: {self.log()}")
        try:
            return self.ask("kv/range", {"key": b64("x")})[0] == 200
        except OSError:
            return False

    def log(self):
        return (self.folder / "log").read_text(errors="replace")[-3000:]

    def kill(self, members=None):
        """All of them, or those with these numbers."""
        for number in range(len(self.processes)) if members is None else members:
            if self.processes[number] is not None:
                self.processes[number].send_signal(signal.SIGKILL)
                self.processes[number].wait()
                self.processes[number] = None

    def ask(self, path, body):
        """(status, answer) of the gateway of the first member that runs."""
        port = next(port for port, process in zip(self.client_ports, self.processes) if process is not None)
        context = ssl.create_default_context(cafile=self.folder / "ca.pem")
        context.load_cert_chain(self.folder / "smd.pem", self.folder / "smd.key")
        connection = http.client.HTTPSConnection("127.0.0.1", port, context=context, timeout=10)
        try:
            connection.request("POST", f"/v3/{path}", json.dumps(body))
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read())
        finally:
            connection.close()

    def good(self, path, body):
        status, answer = self.ask(path, body)
        check(status == 200, f"etcd {path}: {status} {answer}")
        return answer

    def put(self, key, value):
        self.good("kv/put", {"key": b64(key), "value": b64(value)})

    def get(self, key):
        rows = self.good("kv/range", {"key": b64(key)}).get("kvs", [])
        return base64.b64decode(rows[0].get("value", "")).decode(errors="replace") if rows else None

    def keys(self, prefix):
        rows = self.good("kv/range", {"key": b64(prefix), "range_end": b64(prefix[:-1] + chr(ord(prefix[-1]) + 1)), "keys_only": True})
        return [base64.b64decode(row["key"]).decode() for row in rows.get("kvs", [])]

    def compact(self):
        """What was before now is gone."""
        revision = self.good("kv/range", {"key": b64("x")})["header"]["revision"]
        self.good("kv/compaction", {"revision": revision, "physical": True})

    def fill(self):
        """Until it takes nothing any more."""
        piece = "x" * 200_000
        for number in range(200):
            status, _ = self.ask("kv/put", {"key": b64("filler"), "value": b64(f"{number}{piece}")})
            if status != 200:
                return
        check(False, "etcd is not full")

    def make_room(self):
        """As its documentation says: compact, defragment, disarm."""
        self.compact()
        self.good("maintenance/defragment", {})
        time.sleep(0.5)
        for alarm in self.good("maintenance/alarm", {"action": "GET"}).get("alarms", []):
            self.good("maintenance/alarm", {"action": "DEACTIVATE", **alarm})
