// SPDX-License-Identifier: Apache-2.0
#pragma once
// The few files of sysfs that tell how a local port is. umad_get_port() reads some 140 (each P_Key is one),
// and nearly all are a command to the device's firmware.

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>

#include "mad/transport.h"
#include "mad/umad/port.h"

namespace smd::umad {

/// Where Linux has its InfiniBand devices.
inline constexpr const char* kSysInfiniband = "/sys/class/infiniband";

/// The first `most` bytes of a file of sysfs, without the end of the line. The error is an errno. It blocks
/// for as long as the driver does.
std::expected<std::string, int> read_sysfs(const std::string& file, std::size_t most = 128);

/// The number that a sysfs file begins with: "4: ACTIVE" is 4, "0x1a" is 26; nothing for other texts.
std::optional<std::uint32_t> sysfs_number(std::string_view text);
/// The GUID of a GID "fe80:0000:0000:0000:0002:c903:0000:0001".
std::optional<Guid> sysfs_guid(std::string_view gid);

/// Reads `state`, `phys_state` and `gids/0`, nothing else. `root`: kSysInfiniband, or what stands for it.
std::expected<mad::LocalPort, mad::TransportError> read_local_port(const std::string& root,
                                                                   const std::string& device, PortNum port);

}  // namespace smd::umad
