// SPDX-License-Identifier: Apache-2.0
#pragma once
// A file's bytes without a copy of them.

#include <expected>
#include <filesystem>
#include <string>
#include <string_view>

namespace smd::sm::inline dumps {

/// The bytes of a file, to read.
class MappedFile {
 public:
  /// Regular files are mapped; pipes and the like are read. The error is the system's, as "No such file…".
  static std::expected<MappedFile, std::string> open(const std::filesystem::path& path);

  /// Views of bytes() stay valid for a mapped file only.
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&&) = delete;
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();

  /// Valid while this lives and is not moved. A mapped file must not be shortened meanwhile.
  std::string_view bytes() const;

 private:
  MappedFile() = default;
  void* mapped_ = nullptr;
  std::size_t size_ = 0;
  std::string read_;
};

}  // namespace smd::sm::inline dumps
