// SPDX-License-Identifier: Apache-2.0
#include "mad/umad/sysfs_port.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <system_error>

#include "mad/base/descriptor.h"

namespace smd::umad {

// By open, read and close as libibumad: emulations stand in front of these.
std::expected<std::string, int> read_sysfs(const std::string& file, std::size_t most) {
  const base::Descriptor descriptor(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  if (!descriptor) return std::unexpected(errno);
  std::string text(most, '\0');
  const auto got = ::read(descriptor.get(), text.data(), text.size());
  if (got < 0) return std::unexpected(errno);
  text.resize(static_cast<std::size_t>(got));
  text.resize(text.find_last_not_of(" \n") + 1);
  return text;
}

std::optional<std::uint32_t> sysfs_number(std::string_view text) {
  const bool hexadecimal = text.starts_with("0x");
  if (hexadecimal) text.remove_prefix(2);
  std::uint32_t number = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), number, hexadecimal ? 16 : 10);
  if (error != std::errc{}) return std::nullopt;
  return number;
}

std::optional<Guid> sysfs_guid(std::string_view gid) {
  constexpr std::size_t kInterface = 20;  // four words of the prefix with their colons
  constexpr std::size_t kWords = 4, kDigits = 4;
  if (gid.size() < kInterface + kWords * (kDigits + 1) - 1) return std::nullopt;
  std::uint64_t guid = 0;
  for (std::size_t i = 0; i < kWords; ++i) {
    const auto word = gid.substr(kInterface + i * (kDigits + 1), kDigits);
    std::uint16_t part = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), part, 16);
    if (error != std::errc{} || end != word.data() + word.size()) return std::nullopt;
    guid = guid << 16U | part;
  }
  return Guid{guid};
}

std::expected<mad::LocalPort, mad::TransportError> read_local_port(const std::string& root,
                                                                   const std::string& device, PortNum port) {
  const auto folder = fmt::format("{}/{}/ports/{}/", root, device, port);
  const auto gone = [&](int error) {
    return std::unexpected(mad::TransportError{
        error, fmt::format("{}:{} is gone: {}", device, port, std::generic_category().message(error))});
  };
  const auto gid = read_sysfs(folder + "gids/0");
  if (!gid) return gone(gid.error());
  const auto state = read_sysfs(folder + "state");
  if (!state) return gone(state.error());
  const auto phys_state = read_sysfs(folder + "phys_state");
  if (!phys_state) return gone(phys_state.error());
  const auto guid = sysfs_guid(*gid);
  const auto logical = sysfs_number(*state), physical = sysfs_number(*phys_state);
  if (!guid || !logical || !physical) return gone(EIO);
  const PortEntry entry{.device = device,
                        .port = port,
                        .state = static_cast<PortState>(*logical),
                        .phys_state = static_cast<PhysState>(*physical)};
  return mad::LocalPort{.device = device, .port = port, .guid = *guid, .link_up = entry.link_up()};
}

}  // namespace smd::umad
