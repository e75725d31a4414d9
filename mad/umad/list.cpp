// SPDX-License-Identifier: Apache-2.0
// The ports of this machine, as libibumad reads them from sysfs.
#include <endian.h>
#include <infiniband/umad.h>

#include <algorithm>
#include <filesystem>
#include <future>
#include <string_view>
#include <thread>
#include <tuple>
#include <utility>

#include "mad/umad/port.h"
#include "mad/wire/capability.h"

namespace smd::umad {
namespace {

/// libibumad says "IB" where the kernel has no link_layer file (before RoCE, and in simulators).
bool is_infiniband(const char* link_layer) {
  const std::string_view layer(link_layer);
  return layer == "InfiniBand" || layer == "IB";
}

/// A virtual function's PCI device links to its physical function.
bool is_virtual_function(const std::string& device) {
  std::error_code ignored;
  return std::filesystem::exists("/sys/class/infiniband/" + device + "/device/physfn", ignored);
}

void add_ports(const umad_ca_t& ca, std::vector<PortEntry>& ports) {
  const std::string device(ca.ca_name);
  const bool virtual_function = is_virtual_function(device);
  for (const auto* port : ca.ports) {
    if (port == nullptr) continue;
    ports.push_back({.device = device,
                     .port = PortNum{static_cast<std::uint8_t>(port->portnum)},
                     .guid = Guid{be64toh(port->port_guid)},
                     .lid = Lid{static_cast<std::uint16_t>(port->base_lid)},
                     .sm_lid = Lid{static_cast<std::uint16_t>(port->sm_lid)},
                     .sm_sl = Sl{static_cast<std::uint8_t>(port->sm_sl)},
                     .state = static_cast<PortState>(port->state),
                     .phys_state = static_cast<PhysState>(port->phys_state),
                     .infiniband = is_infiniband(port->link_layer),
                     .virtual_function = virtual_function,
                     .smi_disabled = (be32toh(port->capmask) & wire::kCapSmDisabled) != 0});
  }
}

}  // namespace

std::vector<PortEntry> list_ports() {
  std::vector<PortEntry> ports;
  auto* devices = umad_get_ca_device_list();
  for (const auto* device = devices; device != nullptr; device = device->next) {
    umad_ca_t ca{};
    if (umad_get_ca(device->ca_name, &ca) < 0) continue;  // gone since, or no InfiniBand at all
    add_ports(ca, ports);
    umad_release_ca(&ca);
  }
  umad_free_ca_device_list(devices);
  std::ranges::sort(ports, {}, [](const PortEntry& entry) { return std::tie(entry.device, entry.port); });
  return ports;
}

std::future<std::vector<PortEntry>> begin_list_ports() {
  std::packaged_task<std::vector<PortEntry>()> task(list_ports);
  auto ports = task.get_future();
  std::thread(std::move(task)).detach();
  return ports;
}

}  // namespace smd::umad
