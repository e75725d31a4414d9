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

/// An open descriptor, closed at the end.
class Descriptor {
 public:
  explicit Descriptor(const std::string& path)
      : number_(path == "-" ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC)),
        owned_(path != "-") {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (owned_ && number_ >= 0) ::close(number_);
  }
  int number() const { return number_; }

 private:
  int number_;
  bool owned_;
};

}  // namespace

std::expected<std::string, FileError> read_file(const std::string& path) {
  const auto failed = [&](int error) {
    return std::unexpected(FileError{path, 0, std::generic_category().message(error)});
  };
  const Descriptor file(path);
  if (file.number() < 0) return failed(errno);
  struct stat info{};
  std::string text;
  // Pipes say size 0; a file may grow while it is read: the size is only where to start.
  if (::fstat(file.number(), &info) == 0 && S_ISREG(info.st_mode))
    text.reserve(static_cast<std::size_t>(info.st_size) + 1);
  std::size_t used = 0;
  for (;;) {
    text.resize(std::max({text.capacity(), used + 65536, used + used / 2}));
    const auto got = ::read(file.number(), text.data() + used, text.size() - used);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return failed(errno);
    if (got == 0) break;
    used += static_cast<std::size_t>(got);
  }
  text.resize(used);
  return text;
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
