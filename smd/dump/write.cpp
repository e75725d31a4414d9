// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <system_error>

#include "smd/dump/dumps.h"

namespace smd::sm {
namespace {

std::string size_text(std::uint64_t bytes) {
  const auto value = static_cast<double>(bytes);
  if (bytes >= 1'000'000'000) return fmt::format("{:.1f} GB", value / 1e9);
  if (bytes >= 1'000'000) return fmt::format("{:.1f} MB", value / 1e6);
  return fmt::format("{:.1f} kB", value / 1e3);
}

/// A file that appears under its name when it is whole.
class NewFile {
 public:
  explicit NewFile(std::filesystem::path path)
      : path_(std::move(path)), new_(path_.string() + fmt::format(".new{}", ::getpid())) {
    fd_ = ::open(new_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (fd_ < 0) error_ = errno;
  }
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;
  ~NewFile() {
    if (fd_ < 0) return;
    ::close(fd_);
    ::unlink(new_.c_str());
  }

  bool ok() const { return error_ == 0; }
  bool write(std::string_view bytes) {
    while (!bytes.empty() && error_ == 0) {
      const auto n = ::write(fd_, bytes.data(), bytes.size());
      if (n >= 0) {
        bytes.remove_prefix(static_cast<std::size_t>(n));
      } else if (errno != EINTR) {
        error_ = errno;
      }
    }
    return error_ == 0;
  }
  /// Closes and renames.
  bool finish() {
    if (error_ == 0 && ::close(fd_) != 0) error_ = errno;
    if (error_ == 0) fd_ = -1;
    if (error_ == 0 && ::rename(new_.c_str(), path_.c_str()) != 0) error_ = errno;
    return error_ == 0;
  }
  std::string error() const { return fmt::format("{}: {}", path_.string(), std::strerror(error_)); }

 private:
  std::filesystem::path path_;
  std::string new_;
  int fd_ = -1;
  int error_ = 0;
};

std::expected<void, std::string> check_space(const std::filesystem::path& folder, const DumpList& list,
                                             const DumpView& view) {
  struct statvfs disk{};
  if (::statvfs(folder.c_str(), &disk) != 0) return {};  // not all file systems say
  const auto room = std::uint64_t{disk.f_bavail} * disk.f_frsize;
  std::uint64_t needed = 0;
  std::string sizes;
  for (const auto* format : list) {
    const auto size = format->size(view);
    needed += size;
    if (size * 10 >= room)
      fmt::format_to(std::back_inserter(sizes), ", {} {}", format->name, size_text(size));
  }
  if (needed <= room) return {};
  return std::unexpected(fmt::format("{}: the dumps need {}{}, and {} are free", folder.string(),
                                     size_text(needed), sizes, size_text(room)));
}

}  // namespace

std::expected<void, std::string> write_dumps(const std::filesystem::path& folder, const DumpList& list,
                                             const DumpView& view, const routing::Parallel& parallel) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return std::unexpected(fmt::format("{}: {}", folder.string(), error.message()));
  if (auto space = check_space(folder, list, view); !space) return space;
  std::optional<HopTable> hops;
  for (const auto* format : list) {
    NewFile file(folder / format->name);
    if (!file.ok()) return std::unexpected(file.error());
    Out out([&](std::string_view bytes) { return file.write(bytes); });
    if (format->write != nullptr) {
      format->write(out, view);
    } else {
      if (!hops) hops.emplace(view, parallel);
      format->write_hops(out, view, *hops);
    }
    if (!out.finish() || !file.finish()) return std::unexpected(file.error());
  }
  return {};
}

}  // namespace smd::sm
