// SPDX-License-Identifier: Apache-2.0
#pragma once
// Files that appear under their names when they are whole. Where others may write too (/tmp), a symbolic link
// that they have put there leads nowhere: files are never written through one.

#include <expected>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

#include "mad/base/descriptor.h"

namespace smd::sm::inline dumps {

/// An open folder. What is made in it is in it, whatever becomes of its path.
class Folder {
 public:
  enum class Links : std::uint8_t { follow, refuse };
  /// Makes what is missing of the path. `refuse`: its last part must not be a symbolic link.
  static std::expected<Folder, std::string> open(const std::filesystem::path& path, Links links);
  /// A folder in it, which is no symbolic link.
  std::expected<Folder, std::string> inner(const std::string& name) const;

  /// Of the open folder, owned by it.
  int descriptor() const { return file_.get(); }
  const std::filesystem::path& path() const { return path_; }

 private:
  Folder(base::Descriptor file, std::filesystem::path path)
      : file_(std::move(file)), path_(std::move(path)) {}
  base::Descriptor file_;
  std::filesystem::path path_;
};

/// `folder` outlives it.
class NewFile {
 public:
  /// Creates it under a temporary name, mode 0644; ok() is false where that fails.
  NewFile(const Folder& folder, std::string name);
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;
  ~NewFile();  ///< what was not finished is gone

  bool ok() const { return error_ == 0; }  ///< no error so far
  /// All bytes; false: an error, now or before.
  bool write(std::string_view bytes);
  /// Closes, and gives it its name: a file or a symbolic link that has it is replaced.
  bool finish();
  std::filesystem::path path() const { return folder_.path() / name_; }  ///< as it is after finish()
  /// "PATH: TEXT" of the first error, as the system says it.
  std::string error() const;

 private:
  const Folder& folder_;
  std::string name_, new_;
  int fd_ = -1;
  int error_ = 0;
};

}  // namespace smd::sm::inline dumps
