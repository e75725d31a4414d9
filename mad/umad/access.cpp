// SPDX-License-Identifier: Apache-2.0
#include "mad/umad/access.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>

#include "mad/base/ownership.h"

namespace smd::umad {
namespace {

std::string first_word(const std::filesystem::path& file) {
  std::string word;
  std::ifstream(file) >> word;
  return word;
}

}  // namespace

std::filesystem::path device_file(const std::filesystem::path& classes, std::string_view device,
                                  unsigned port) {
  std::error_code error;
  for (std::filesystem::directory_iterator at(classes, error), end; !error && at != end;
       at.increment(error)) {
    const auto name = at->path().filename().string();
    if (!name.starts_with("umad") || first_word(at->path() / "ibdev") != device) continue;
    if (first_word(at->path() / "port") == std::to_string(port)) return "/dev/infiniband/" + name;
  }
  return {};
}

std::string why_refused(const std::filesystem::path& file, int error) {
  const auto ownership = base::ownership_of(file);
  auto rights = ownership ? fmt::format("{} is {}, this process has uid {}, gid {}", file.string(),
                                        base::to_string(*ownership), geteuid(), getegid())
                          : "/dev/infiniband/umad* must be readable and writable for this user";
  if (error != EPERM) return rights;
  return fmt::format(
      "{} is kept from this process by its device cgroup (systemd's DeviceAllow=char-infiniband_mad is read "
      "when the unit starts: load ib_umad, then restart the unit; a container needs the device), by its "
      "network "
      "namespace (\"rdma system show\": netns exclusive), or by its group ({})",
      file.empty() ? "/dev/infiniband/umad*" : file.string(), rights);
}

}  // namespace smd::umad
