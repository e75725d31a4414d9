// SPDX-License-Identifier: Apache-2.0
#pragma once
// The files of --dump-dir: which there are, how large they get, and writing them.

#include <cstdint>
#include <expected>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "routing/parallel.h"
#include "smd/dump/formats.h"

namespace smd::sm::inline dumps {

struct DumpFormat {
  std::string_view name;    ///< of the file
  bool by_default = false;  ///< written where --dump does not say
  /// Null where write_hops is set.
  void (*write)(Out&, const DumpView&) = nullptr;
  void (*write_hops)(Out&, const DumpView&, const HopTable&) = nullptr;  ///< instead, where hops are needed
  std::uint64_t (*size)(const DumpView&) = nullptr;                      ///< bytes, not less than it will be
  bool layered = false;  ///< written by default for routes of several layers
};

/// All formats, in the order of the contract.
std::span<const DumpFormat> dump_formats();

using DumpList = std::vector<const DumpFormat*>;
/// Those with by_default, and for routes of several layers those with `layered`.
DumpList default_dumps(bool layered = false);
/// File names with commas between. The error names `what` was asked so, what is wrong and what is allowed.
std::expected<DumpList, std::string> parse_dump_list(std::string_view list, std::string_view what);

/// Writes the files, each under another name first. Makes the folder where it is missing. Refuses before
/// anything is written what the disk cannot hold. The error names the file.
std::expected<void, std::string> write_dumps(const std::filesystem::path& folder, const DumpList& list,
                                             const DumpView& view, const routing::Parallel& parallel);

}  // namespace smd::sm::inline dumps
