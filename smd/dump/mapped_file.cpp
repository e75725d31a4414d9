// SPDX-License-Identifier: Apache-2.0
#include "smd/dump/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

namespace smd::sm {
namespace {

std::expected<std::string, std::string> read_all(int fd) {
  std::string text;
  std::array<char, 65536> piece{};
  for (;;) {
    const auto n = ::read(fd, piece.data(), piece.size());
    if (n > 0) {
      text.append(piece.data(), static_cast<std::size_t>(n));
    } else if (n == 0) {
      return text;
    } else if (errno != EINTR) {
      return std::unexpected(std::strerror(errno));
    }
  }
}

}  // namespace

std::expected<MappedFile, std::string> MappedFile::open(const std::filesystem::path& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return std::unexpected(std::strerror(errno));
  MappedFile file;
  struct stat status{};
  if (::fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0) {
    file.size_ = static_cast<std::size_t>(status.st_size);
    void* at = ::mmap(nullptr, file.size_, PROT_READ, MAP_PRIVATE, fd, 0);
    if (at != MAP_FAILED) file.mapped_ = at;
  }
  if (file.mapped_ == nullptr) {
    auto text = read_all(fd);
    if (!text) {
      ::close(fd);
      return std::unexpected(std::move(text.error()));
    }
    file.read_ = std::move(*text);
  }
  ::close(fd);
  return file;
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : mapped_(std::exchange(other.mapped_, nullptr)), size_(other.size_), read_(std::move(other.read_)) {}

MappedFile::~MappedFile() {
  if (mapped_ != nullptr) ::munmap(mapped_, size_);
}

std::string_view MappedFile::bytes() const {
  if (mapped_ != nullptr) return {static_cast<const char*>(mapped_), size_};
  return read_;
}

}  // namespace smd::sm
