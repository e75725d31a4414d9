// SPDX-License-Identifier: Apache-2.0
#pragma once
// Why a management device is refused to this process.

#include <filesystem>
#include <string>
#include <string_view>

namespace smd::umad {

/// The device file of a port: "/dev/infiniband/umad0". `classes` is /sys/class/infiniband_mad. Empty where
/// the kernel has none.
std::filesystem::path device_file(const std::filesystem::path& classes, std::string_view device,
                                  unsigned port);

/// `error` is what open() has said. EACCES: "/dev/infiniband/umad0 is root:rdma mode 0660, this process has
/// uid 999, gid 999"; without a file, what is needed. EPERM: what keeps it away although its rights would do
/// (ib_umad_open() of Linux, and device cgroups).
std::string why_refused(const std::filesystem::path& file, int error);

}  // namespace smd::umad
