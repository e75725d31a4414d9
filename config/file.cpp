// SPDX-License-Identifier: Apache-2.0
// The one place of this room that touches the file system.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>

#include "config/load.h"

namespace smd::config {
namespace {

std::string reason() { return std::generic_category().message(errno); }

/// Closes at the end of its scope.
class Descriptor {
 public:
  explicit Descriptor(const char* path) : fd_(open(path, O_RDONLY | O_CLOEXEC)) {}
  ~Descriptor() {
    if (fd_ >= 0) close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

}  // namespace

std::expected<std::string, std::string> read_file(const std::filesystem::path& path) {
  const Descriptor file(path.c_str());
  if (file.get() < 0) return std::unexpected(reason());
  std::string bytes;
  std::array<char, 65536> chunk{};
  while (true) {
    const auto got = read(file.get(), chunk.data(), chunk.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return std::unexpected(reason());
    if (got == 0) return bytes;
    bytes.append(chunk.data(), static_cast<std::size_t>(got));
  }
}

}  // namespace smd::config
