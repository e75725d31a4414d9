// SPDX-License-Identifier: Apache-2.0
#include "mad/base/lid_file.h"

#include <fmt/format.h>

#include "mad/base/error_list.h"
#include "mad/base/file.h"
#include "mad/base/lines.h"

namespace smd::base {
namespace {

class LidReader {
 public:
  LidReader() : line_of_lid_(kLastUnicastLid.value() + 1U, 0) {}
  const GuidLids& lids() const { return lids_; }

  /// Empty, or what is wrong with the line.
  std::string read(unsigned number, std::string_view line) {
    line = trim(line.substr(0, line.find('#')));
    if (line.empty()) return {};
    const auto guid_text = take_word(line), first_text = take_word(line);
    const auto last_text = line.empty() ? first_text : take_word(line);
    const auto guid = parse_guid(guid_text);
    if (!guid) return fmt::format("'{}': a GUID is needed, 0x and up to 16 digits", guid_text);
    const auto first = parse_lid(first_text), last = parse_lid(last_text);
    if (!first || !last || !line.empty()) return "'GUID LID' or 'GUID FIRST-LID LAST-LID' is needed";
    if (!first->unicast() || !last->unicast() || *last < *first) {
      return fmt::format("LIDs {} to {}: from 1 to {}, in rising order, are possible", *first, *last,
                         kLastUnicastLid);
    }
    return add(number, *guid, {*first, *last});
  }

 private:
  std::string add(unsigned number, Guid guid, LidRange range) {
    if (!lids_.emplace(guid, range).second) return fmt::format("GUID {} has a line already", guid);
    for (std::uint32_t lid = range.first.value(); lid <= range.last.value(); ++lid) {
      if (line_of_lid_[lid] != 0) return fmt::format("LID {} was already in line {}", lid, line_of_lid_[lid]);
      line_of_lid_[lid] = number;
    }
    return {};
  }

  GuidLids lids_;
  std::vector<unsigned> line_of_lid_;
};

}  // namespace

std::expected<GuidLids, FileErrors> read_lids(std::string_view text, const std::string& file_name) {
  LidReader reader;
  ErrorList errors;
  for_each_line(text, [&](unsigned number, std::string_view line) {
    if (auto what = reader.read(number, line); !what.empty()) errors.add(file_name, number, std::move(what));
  });
  if (!errors.empty()) return std::unexpected(errors.take(file_name));
  return reader.lids();
}

std::expected<GuidLids, FileErrors> load_lids(const std::string& path) {
  const auto text = read_file(path);
  if (!text) return std::unexpected(FileErrors{text.error()});
  return read_lids(*text, path);
}

}  // namespace smd::base
