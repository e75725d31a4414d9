// SPDX-License-Identifier: Apache-2.0
#include "mad/umad/issm.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <infiniband/umad.h>

#include <array>
#include <cerrno>
#include <system_error>

namespace smd::umad {

std::expected<IsSm, mad::TransportError> IsSm::hold(const mad::LocalPort& port) {
  std::array<char, 256> path{};
  const int found = umad_get_issm_path(port.device.c_str(), port.port.value(), path.data(), path.size());
  if (found < 0) {
    return std::unexpected(mad::TransportError{
        -found,
        fmt::format("no issm device for {}:{}: is the ib_umad module loaded?", port.device, port.port)});
  }
  // The kernel's open waits while another process holds it, unless told not to.
  base::Descriptor device(::open(path.data(), O_RDWR | O_NONBLOCK | O_CLOEXEC));
  if (device) return IsSm(std::move(device));
  const int error = errno == EAGAIN ? EBUSY : errno;
  const auto why = error == EBUSY ? std::string("another subnet manager runs on this port")
                                  : std::generic_category().message(error);
  return std::unexpected(mad::TransportError{error, fmt::format("{}: {}", path.data(), why)});
}

}  // namespace smd::umad
