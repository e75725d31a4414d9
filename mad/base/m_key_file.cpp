// SPDX-License-Identifier: Apache-2.0
#include "mad/base/m_key_file.h"

#include <fmt/format.h>

#include <utility>

#include "mad/base/error_list.h"
#include "mad/base/file.h"
#include "mad/base/lines.h"
#include "mad/base/parse.h"

namespace smd::base {
namespace {

/// Adds the line; empty, or what is wrong with it.
std::string read_line(std::string_view line, GuidMKeys& keys) {
  line = trim(line.substr(0, line.find('#')));
  if (line.empty()) return {};
  const auto guid_text = take_word(line), key_text = take_word(line);
  const auto guid = parse_guid(guid_text);
  if (!guid) return fmt::format("'{}': a GUID is needed, 0x and up to 16 digits", guid_text);
  const auto key = parse_number(key_text);
  if (!key || !line.empty()) return "'GUID M_KEY' is needed, the key a number of 64 bits";
  if (!keys.emplace(*guid, *key).second) return fmt::format("GUID {} has a line already", *guid);
  return {};
}

}  // namespace

std::expected<GuidMKeys, FileErrors> read_m_keys(std::string_view text, const std::string& file_name) {
  GuidMKeys keys;
  ErrorList errors;
  for_each_line(text, [&](unsigned number, std::string_view line) {
    if (auto what = read_line(line, keys); !what.empty()) errors.add(file_name, number, std::move(what));
  });
  if (!errors.empty()) return std::unexpected(errors.take(file_name));
  return keys;
}

std::expected<GuidMKeys, FileErrors> load_m_keys(const std::string& path) {
  const auto text = read_file(path);
  if (!text) return std::unexpected(FileErrors{text.error()});
  return read_m_keys(*text, path);
}

}  // namespace smd::base
