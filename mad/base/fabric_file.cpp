// SPDX-License-Identifier: Apache-2.0
#include "mad/base/fabric_file.h"

#include <filesystem>

#include "mad/base/file.h"
#include "mad/base/net/linker.h"
#include "mad/base/net/reader.h"

namespace smd::base {

std::expected<Fabric, FileErrors> read_fabric(std::string_view text, const std::string& file_name,
                                              const OpenInclude& open_include) {
  net::Reader reader(open_include);
  reader.read(text, file_name);
  auto& lines = reader.lines();
  if (lines.fabric.nodes.empty() && lines.errors.empty()) {
    lines.errors.add(file_name, 0, "no node in it: a file in the format of ibnetdiscover or ibsim is needed");
  }
  net::link(lines);
  if (!lines.errors.empty()) return std::unexpected(lines.errors.take(file_name));
  return std::move(lines.fabric);
}

std::expected<Fabric, FileErrors> read_fabric_file(const std::string& path) {
  const auto text = read_file(path);
  if (!text) return std::unexpected(FileErrors{text.error()});
  const auto folder = std::filesystem::path(path).parent_path();
  return read_fabric(*text, path, [&](std::string_view name) -> std::expected<std::string, std::string> {
    auto included = read_file((folder / name).string());
    if (!included) return std::unexpected(included.error().what);
    return *std::move(included);
  });
}

}  // namespace smd::base
