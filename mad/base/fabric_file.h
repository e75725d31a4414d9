// SPDX-License-Identifier: Apache-2.0
#pragma once
// Fabrics as text: the format of ibnetdiscover and ibsim's dialect of it.

#include <expected>
#include <functional>
#include <string>
#include <string_view>

#include "mad/base/fabric.h"
#include "mad/base/file_error.h"

namespace smd::base {

/// Gives the text of a file that ibsim's `include "NAME"` names, or why it cannot be had.
using OpenInclude = std::function<std::expected<std::string, std::string>(std::string_view name)>;

/// Reads ibnetdiscover's output (plain, -f, -g) or a file for ibsim. `file_name` is for the errors only. All
/// errors at once, up to 50; no Fabric from a file with errors. In the result links are symmetric (a missing
/// line of one end is made up from the other's), and a CA port's GUID is 0 where it is node GUID + port.
std::expected<Fabric, FileErrors> read_fabric(std::string_view text, const std::string& file_name,
                                              const OpenInclude& open_include = {});

/// As ibnetdiscover 44 writes it, in the order of the fabric's nodes and without a date. Control characters
/// in names become spaces; everything else that the format has a place for is read back equal.
std::string write_fabric(const Fabric& fabric);

/// The file at `path`, includes too (relative to the file that names them).
std::expected<Fabric, FileErrors> read_fabric_file(const std::string& path);

}  // namespace smd::base
