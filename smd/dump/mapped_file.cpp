// SPDX-License-Identifier: Apache-2.0
#include "smd/dump/mapped_file.h"

#include <sys/mman.h>
#include <sys/stat.h>

#include <utility>

#include "mad/base/file.h"

namespace smd::sm::inline dumps {

std::expected<MappedFile, std::string> MappedFile::open(const std::filesystem::path& path) {
  const auto opened = base::open_for_reading(path);
  if (!opened) return std::unexpected(opened.error());
  MappedFile file;
  struct stat status{};
  if (::fstat(opened->get(), &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0) {
    file.size_ = static_cast<std::size_t>(status.st_size);
    void* at = ::mmap(nullptr, file.size_, PROT_READ, MAP_PRIVATE, opened->get(), 0);
    if (at != MAP_FAILED) file.mapped_ = at;
  }
  if (file.mapped_ == nullptr) {
    auto text = base::read_to_end(opened->get());
    if (!text) return std::unexpected(std::move(text.error()));
    file.read_ = std::move(*text);
  }
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

}  // namespace smd::sm::inline dumps
