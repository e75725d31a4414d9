// SPDX-License-Identifier: Apache-2.0
#pragma once
// OpenSM's file guid2mkey: which M_Key a port has.

#include <cstdint>
#include <expected>
#include <map>
#include <string>
#include <string_view>

#include "mad/base/file_error.h"
#include "mad/base/id.h"

namespace smd::base {

/// By port GUID. The keys are secrets: they are part of no error.
using GuidMKeys = std::map<Guid, std::uint64_t>;

/// A line each: `0xGUID 0xKEY`; empty lines and comments are skipped. No GUID may stand there twice. All
/// errors at once.
std::expected<GuidMKeys, FileErrors> read_m_keys(std::string_view text, const std::string& file_name);
/// The same of a file on the disk.
std::expected<GuidMKeys, FileErrors> load_m_keys(const std::string& path);

}  // namespace smd::base
