// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <sys/statvfs.h>

#include <iterator>
#include <optional>
#include <string>

#include "smd/dump/dumps.h"
#include "smd/dump/new_file.h"

namespace smd::sm::inline dumps {
namespace {

std::string size_text(std::uint64_t bytes) {
  const auto value = static_cast<double>(bytes);
  if (bytes >= 1'000'000'000) return fmt::format("{:.1f} GB", value / 1e9);
  if (bytes >= 1'000'000) return fmt::format("{:.1f} MB", value / 1e6);
  return fmt::format("{:.1f} kB", value / 1e3);
}

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
  const auto place = Folder::open(folder, Folder::Links::follow);
  if (!place) return std::unexpected(place.error());
  if (auto space = check_space(folder, list, view); !space) return space;
  std::optional<HopTable> hops;
  for (const auto* format : list) {
    NewFile file(*place, std::string(format->name));
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

}  // namespace smd::sm::inline dumps
