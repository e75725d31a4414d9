#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The clients of clouds, byte for byte: lab_clients.py --smd PROGRAM. What their HTTP libraries write (request line, headers in
their order, body) goes over one kept-alive TLS connection for each client, the answer is judged as that client reads it, and
P_Key tables are read back by smpquery. Sources:
  ib-kubernetes: Mellanox/ib-kubernetes 528f63f6, pkg/sm/plugins/ufm/ufm.go and pkg/drivers/http/client.go (net/http)
  NICo: NVIDIA/infra-controller a02fa34b, crates/ib-fabric/src/ib/ufmclient/rest.rs (hyper)
  mlnx-baremetal: IamFive/networking-mlnx-baremetal 070d42a2, networking_mlnx_baremetal/ufmclient (requests)"""
import base64
import http.client
import json
import re
import socket
import ssl
import subprocess
import time

from failover_pair import Sm, free_ports
from ibsim import check, wait_for
from lab import Lab
from runner import run_scenario

SM, HOST, OTHER = "h00000", "h00005", "h00009"


def basic(secret):
    return "Basic " + base64.b64encode(f"admin:{secret}".encode()).decode()


class Wire:
    """One connection of a client, which stays open."""

    def __init__(self, port, secret, *alpn):
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        if alpn:
            context.set_alpn_protocols(alpn)
        self.port, self.secret, self.calls = port, secret, 0
        self.socket = context.wrap_socket(socket.create_connection(("127.0.0.1", port), timeout=10))
        check(self.socket.selected_alpn_protocol() in (None, "http/1.1"), f"ALPN: {self.socket.selected_alpn_protocol()}")

    def send(self, first, headers, body):
        """Status, body and type of the answer. On a machine that stands still smd says 503, and clients ask again."""
        for _ in range(10):
            answer = self.send_once(first, headers, body)
            if answer[0] != 503:
                break
            time.sleep(1)
        return answer

    def send_once(self, first, headers, body):
        text = first + "\r\n" + "".join(f"{line}\r\n" for line in headers) + "\r\n" + body
        self.socket.sendall(text.encode())
        answer = http.client.HTTPResponse(self.socket, method=first.split()[0])
        answer.begin()
        found = answer.read().decode()
        self.calls += 1
        check(not answer.will_close, f"{first}: the connection ends: {answer.getheaders()}")
        return answer.status, found, answer.getheader("Content-Type")


class Go(Wire):
    """net/http: Content-Length before the caller's headers, its own Accept-Encoding last, HTTP/2 offered."""

    def __init__(self, port, secret):
        super().__init__(port, secret, "h2", "http/1.1")

    def call(self, method, path, body=""):
        length = [f"Content-Length: {len(body)}"] if body else []
        status, text, _ = self.send(f"{method} {path} HTTP/1.1", [
            f"Host: 127.0.0.1:{self.port}", "User-Agent: Go-http-client/1.1", *length, f"Authorization: {basic(self.secret)}",
            "Content-Type: application/json; charset=utf-8", "Accept-Encoding: gzip"], body)
        check(status == 200, f"ib-kubernetes takes 200 only: {method} {path}: {status} {text}")
        return text


class Hyper(Wire):
    """hyper: names in lower case, the token as it is, 200 and 201 are good, {} is 'not found'."""

    def __init__(self, port, secret):
        super().__init__(port, secret, "h2", "http/1.1")

    def call(self, method, path, body=""):
        length = [f"content-length: {len(body)}"] if body else []
        status, text, kind = self.send(f"{method} /ufmRestV3{path} HTTP/1.1", [
            "user-agent: nico-ib-fabric", "content-type: application/json", f"authorization: Basic {self.secret}",
            f"host: 127.0.0.1:{self.port}", *length], body)
        check(status in (200, 201), f"NICo: {method} {path}: {status} {text}")
        check(kind.startswith("application/json"), f"NICo: {method} {path}: {kind}")
        return text

    def get(self, path):
        """None: not found."""
        text = self.call("GET", path)
        return None if text == "{}" else json.loads(text)


class Requests(Wire):
    """requests: a DELETE says that it has no body, JSON has blanks, anything below 400 is good."""

    def call(self, method, path, payload=None):
        body = json.dumps(payload) if payload is not None else ""
        more = ["Content-Type: application/json", f"Content-Length: {len(body)}"] if body else []
        if method == "DELETE":
            more = ["Content-Length: 0"]
        status, text, _ = self.send(f"{method} /ufmRest{path} HTTP/1.1", [
            f"Host: 127.0.0.1:{self.port}", "User-Agent: python-ufmclient - v0.1.0", "Accept-Encoding: gzip, deflate",
            "Accept: */*", "Connection: keep-alive", *more, f"Authorization: {basic(self.secret)}"], body)
        check(status < 400, f"mlnx-baremetal: {method} {path}: {status} {text}")
        return json.loads(text) if method == "GET" else None


class Fabric:
    """An smd with an API on the network, and what the fabric's ports have."""

    def __init__(self, lab):
        self.lab, self.port = lab, free_ports(1)[0]
        cert, key = lab.folder / "api.pem", lab.folder / "api.key"
        done = lab.smd, "api", "cert", "--self-signed", "127.0.0.1", "--cert", cert, "--key", key
        subprocess.run([str(word) for word in done], check=True, stdout=subprocess.DEVNULL)
        self.sm = Sm(lab, SM, f'[api]\nlisten = "127.0.0.1:{self.port}"\ncert = "{cert}"\nkey = "{key}"\n')
        wait_for(lambda: "state=up" in self.sm.client.log(), 60, "smd up")

    def secret(self, name, role):
        return re.search(r"smd_\w+", self.sm.ask("token", "add", name, "--role", role).stdout)[0]

    def guid(self, host):
        """As UFM writes it."""
        return re.search(r"PortGuid:\.*0x([0-9a-f]{16})", self.lab.output(host, "smpquery", "-D", "nodeinfo", "0"))[1]

    def wait_keys(self, host, there=(), gone=()):
        """The port's P_Key table has these and not those."""
        def table():
            return re.findall(r"0x[0-9a-f]{4}", self.lab.output(host, "smpquery", "-D", "pkeys", "0"))
        wait_for(lambda: set(there) <= set(table()) and not set(gone) & set(table()), 20, f"{there} and not {gone} in {host}'s table")


def ib_kubernetes(fabric):
    client, guid = Go(fabric.port, fabric.secret("ib-kubernetes", "operator")), fabric.guid(HOST)
    client.call("GET", "/ufmRest/app/ufm_version")
    add = '{"pkey": "0x%04X", "index0": true, "ip_over_ib": true, "membership": "full", "guids": [%s]}'
    remove = '{"pkey": "0x%04X", "guids": [%s]}'
    pending = "02000ff000ff0009"
    for guids in ([guid], [pending], [guid, pending]):  # the last one is what a retry sends
        client.call("POST", "/ufmRest/resources/pkeys", add % (0x7aff, ",".join(f'"{one}"' for one in guids)))
    fabric.wait_keys(HOST, ["0xfaff"])

    def check_in_use(wanted):
        """GUID to key, as ListGuidsInUse makes it: of each value `guids`, of each of these `guid`."""
        keys = json.loads(client.call("GET", "/ufmRest/resources/pkeys/?guids_data=true"))
        found = {one["guid"]: key for key, value in keys.items() for one in value.get("guids", [])}
        check(found == wanted, f"in use: {found}, not {wanted}")

    check_in_use({guid: "0x7aff", pending: "0x7aff"})
    client.call("POST", "/ufmRest/actions/remove_guids_from_pkey", remove % (0x7aff, f'"{guid}"'))
    fabric.wait_keys(HOST, gone=["0xfaff", "0x7aff"])
    check_in_use({pending: "0x7aff"})
    client.call("POST", "/ufmRest/actions/remove_guids_from_pkey", remove % (0x7aff, f'"{pending}"'))
    check_in_use({})
    return client.calls


def nico(fabric):
    client, guid = Hyper(fabric.port, fabric.secret("nico", "admin")), fabric.guid(HOST)
    check(isinstance(client.get("/app/ufm_version")["ufm_release_version"], str), "no release")
    conf = client.get("/app/smconf")
    check(all(re.fullmatch("0x[0-9a-f]+", conf[key]) for key in ("subnet_prefix", "m_key", "sm_key", "sa_key")), f"smconf: {conf}")
    check(isinstance(conf["m_key_per_port"], bool), f"smconf: {conf}")
    check(client.get("/resources/pkeys/0x67?guids_data=true") is None, "a key that is not there")
    client.call("POST", "/resources/pkeys", '{"pkey":"0x67","ip_over_ib":true,"membership":"full","index0":true,"guids":["%s"]}' % guid)
    client.call("PUT", "/resources/pkeys/qos_conf", '{"pkey":"0x67","mtu_limit":4,"service_level":0,"rate_limit":200.0}')
    fabric.wait_keys(HOST, ["0x8067"])
    key = client.get("/resources/pkeys/0x67?guids_data=true&qos_conf=true")
    check(key["partition"] == "api_pkey_0x67" and key["ip_over_ib"] is True, f"0x67: {key}")
    check(key["guids"] == [{"guid": guid, "index0": True, "membership": "full"}], f"0x67: {key}")
    check(key["qos_conf"] == {"mtu_limit": 4, "rate_limit": 200, "service_level": 0}, f"0x67: {key}")
    keys = client.get("/resources/pkeys?guids_data=true")
    check(list(keys) == [f"{int(one, 16):#x}" for one in keys] and "0x7fff" in keys, f"the keys of keys: {list(keys)}")
    ports = client.get("/resources/ports?sys_type=Computer")
    fields = {"guid", "name", "systemID", "lid", "dname", "system_name", "physical_state", "logical_state"}
    check(len(ports) == 32 and all(fields <= set(one) and isinstance(one["lid"], int) for one in ports), f"ports: {ports[:1]}")
    check({one["logical_state"] for one in ports} <= {"Active", "Down", "Initialize"}, "other states of ports")
    client.call("POST", "/actions/remove_guids_from_pkey", '{"pkey":"0x67","guids":["%s"]}' % guid)
    check(client.get("/resources/pkeys/0x67") is None, "a key that has gone with its last GUID")
    fabric.wait_keys(HOST, gone=["0x8067"])
    return client.calls


def mlnx_baremetal(fabric):
    client = Requests(fabric.port, fabric.secret("baremetal", "operator"))
    guids = [fabric.guid(host) for host in (HOST, OTHER)]

    def payload(wanted, full=True):
        return {"guids": wanted, "ip_over_ib": True, "index0": False, "membership": "full" if full else "limited", "pkey": "0x5"}

    check(client.call("GET", "/resources/pkeys/0x5?guids_data=True") == {}, "a key that is not there")
    client.call("POST", "/resources/pkeys/", payload(guids[:1]))
    fabric.wait_keys(HOST, ["0x8005"])
    client.call("PUT", "/resources/pkeys", payload(guids[1:], full=False))
    fabric.wait_keys(OTHER, ["0x0005"])
    fabric.wait_keys(HOST, gone=["0x8005"])
    listed = client.call("GET", "/resources/pkeys?guids_data=True")["0x5"]["guids"]
    check([(one["guid"], one["membership"]) for one in listed] == [(guids[1], "limited")], f"0x5: {listed}")
    check("guids" not in client.call("GET", "/resources/pkeys?guids_data=False")["0x5"], "GUIDs that were not asked for")
    client.call("POST", "/resources/pkeys/", payload(guids[:1]))
    client.call("DELETE", f"/resources/pkeys/0x5/guids/{guids[0]},{guids[1]}")
    fabric.wait_keys(OTHER, gone=["0x0005", "0x8005"])
    client.call("POST", "/resources/pkeys/", payload(guids[:1]))
    client.call("DELETE", "/resources/pkeys/0x5")
    check("0x5" not in client.call("GET", "/resources/pkeys?guids_data=True"), "a key that was deleted")
    fabric.wait_keys(HOST, gone=["0x8005"])
    return client.calls


def clients(args):
    with Lab(args.smd, "ft2:8") as lab:
        fabric = Fabric(lab)
        for client in (ib_kubernetes, nico, mlnx_baremetal):
            print(f"   {client.__name__}: {client(fabric)} requests on one connection", flush=True)


if __name__ == "__main__":
    run_scenario(clients, __doc__)
