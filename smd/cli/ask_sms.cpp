// SPDX-License-Identifier: Apache-2.0
// `smd sms` for people.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <ostream>
#include <string>
#include <vector>

#include "smd/cli/ask_text.h"

namespace smd::cli {

namespace json = boost::json;

namespace {

constexpr std::size_t kSmColumns = 9, kLidColumn = 3;
using SmRow = std::array<std::string, kSmColumns>;

/// What is not known is "-".
SmRow sm_row(const json::value& sm) {
  const bool self = text_of(sm, "self") == "true";
  auto seen = text_of(sm, "last_seen");
  if (self) seen = "this SM";
  const auto node = text_of(sm, "node");
  // Before the first sweep the API has port 0 of no node.
  SmRow row{text_of(sm, "guid"),
            node,
            node.empty() && self ? "" : text_of(sm, "port"),
            text_of(sm, "lid"),
            text_of(sm, "priority"),
            text_of(sm, "state"),
            text_of(sm, "act_count"),
            seen.empty() ? "never" : seen,
            text_of(sm, "outlook")};
  if (row[kLidColumn] == "0") row[kLidColumn].clear();
  for (auto& cell : row) {
    if (cell.empty()) cell = "-";
  }
  return row;
}

}  // namespace

void print_sms(std::ostream& out, const json::value& answer, bool with_subnet) {
  if (with_subnet) out << fmt::format("subnet {}\n", text_of(answer, "subnet"));
  std::vector<SmRow> rows{{"GUID", "NODE", "PORT", "LID", "PRIO", "STATE", "ACTCOUNT", "LAST SEEN", "NEXT"}};
  for (const auto& sm : list_of(answer, "sms")) rows.push_back(sm_row(sm));
  if (rows.size() == 1) {
    out << "no SM is known yet\n";
    return;
  }
  std::array<std::size_t, kSmColumns> widths{};
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  for (const auto& row : rows) {
    for (std::size_t i = 0; i + 1 < row.size(); ++i) out << fmt::format("{:<{}}  ", row[i], widths[i]);
    out << row.back() << '\n';
  }
}

}  // namespace smd::cli
