// SPDX-License-Identifier: Apache-2.0
#include "mad/base/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

namespace smd::base {
namespace {

std::string reason() { return std::generic_category().message(errno); }

}  // namespace

std::expected<Descriptor, std::string> open_for_reading(const std::string& path) {
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return std::unexpected(reason());
  return file;
}

std::expected<std::string, std::string> read_to_end(int fd) {
  struct stat info{};
  std::string text;
  // Pipes say size 0; a file may grow while it is read: the size is only where to start.
  if (::fstat(fd, &info) == 0 && S_ISREG(info.st_mode))
    text.reserve(static_cast<std::size_t>(info.st_size) + 1);
  std::size_t used = 0;
  for (;;) {
    text.resize(std::max({text.capacity(), used + 65536, used + used / 2}));
    const auto got = ::read(fd, text.data() + used, text.size() - used);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return std::unexpected(reason());
    if (got == 0) break;
    used += static_cast<std::size_t>(got);
  }
  text.resize(used);
  return text;
}

std::expected<std::string, FileError> read_file(const std::string& path) {
  auto text = [&]() -> std::expected<std::string, std::string> {
    if (path == "-") return read_to_end(STDIN_FILENO);
    const auto file = open_for_reading(path);
    if (!file) return std::unexpected(file.error());
    return read_to_end(file->get());
  }();
  if (!text) return std::unexpected(FileError{path, 0, std::move(text.error())});
  return std::move(*text);
}

std::string file_name_of(std::string_view text) {
  std::string name;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = byte >= 0x20 && byte != 0x7f && c != '/' && c != '%' && (c != '.' || !name.empty());
    name += plain ? std::string(1, c) : fmt::format("%{:02x}", byte);
  }
  return name;
}

}  // namespace smd::base
