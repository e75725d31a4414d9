// SPDX-License-Identifier: Apache-2.0
#include "smd/dump/new_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

namespace smd::sm::inline dumps {
namespace {

std::string text_of(int error) { return std::generic_category().message(error); }

std::unexpected<std::string> failed(const std::filesystem::path& path, int error) {
  return std::unexpected(fmt::format("{}: {}", path.string(), text_of(error)));
}

bool is_link(int at, const std::filesystem::path& path) {
  struct stat info{};
  return ::fstatat(at, path.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(info.st_mode);
}

std::unexpected<std::string> link(const std::filesystem::path& path) {
  return std::unexpected(
      fmt::format("{}: is a symbolic link; name the folder that it leads to", path.string()));
}

/// "a/b/" names a folder in any case, also where b is a link.
std::filesystem::path without_slash(const std::filesystem::path& path) {
  auto text = path.string();
  while (text.size() > 1 && text.ends_with('/')) text.pop_back();
  return text;
}

}  // namespace

std::expected<Folder, std::string> Folder::open(const std::filesystem::path& path, Links links) {
  const auto plain = without_slash(path);
  const int refuse = links == Links::refuse ? O_NOFOLLOW : 0;
  if (refuse != 0 && is_link(AT_FDCWD, plain)) return link(plain);
  std::error_code error;
  std::filesystem::create_directories(plain, error);
  if (error) return failed(plain, error.value());
  base::Descriptor file(::open(plain.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | refuse));
  if (!file) return failed(plain, errno);
  return Folder(std::move(file), path);
}

std::expected<Folder, std::string> Folder::inner(const std::string& name) const {
  const auto path = path_ / name;
  if (is_link(descriptor(), name)) return link(path);
  if (::mkdirat(descriptor(), name.c_str(), 0777) != 0 && errno != EEXIST) return failed(path, errno);
  base::Descriptor file(
      ::openat(descriptor(), name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
  if (!file) return failed(path, errno);
  return Folder(std::move(file), path);
}

NewFile::NewFile(const Folder& folder, std::string name)
    : folder_(folder), name_(std::move(name)), new_(fmt::format("{}.new{}", name_, ::getpid())) {
  const auto open = [&] {
    return ::openat(folder_.descriptor(), new_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                    0644);
  };
  fd_ = open();
  // Left by a process of the same number that was killed, or put there by another process.
  if (fd_ < 0 && errno == EEXIST && ::unlinkat(folder_.descriptor(), new_.c_str(), 0) == 0) fd_ = open();
  if (fd_ < 0) error_ = errno;
}

NewFile::~NewFile() {
  if (fd_ < 0) return;
  ::close(fd_);
  ::unlinkat(folder_.descriptor(), new_.c_str(), 0);
}

bool NewFile::write(std::string_view bytes) {
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

bool NewFile::finish() {
  if (error_ != 0) return false;
  const int at = folder_.descriptor();
  const int fd = std::exchange(fd_, -1);
  if (::close(fd) != 0 || ::renameat(at, new_.c_str(), at, name_.c_str()) != 0) {
    error_ = errno;
    ::unlinkat(at, new_.c_str(), 0);
  }
  return error_ == 0;
}

std::string NewFile::error() const { return fmt::format("{}: {}", path().string(), text_of(error_)); }

}  // namespace smd::sm::inline dumps
