// SPDX-License-Identifier: Apache-2.0
// Multicast groups that clients have joined.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <optional>
#include <vector>

#include "mad/base/gid.h"
#include "mad/base/parse.h"
#include "smd/api/handlers.h"
#include "smd/api/json_out.h"
#include "smd/api/listing.h"
#include "smd/api/not_master.h"

namespace smd::api {

using sm::Json;
using sm::JsonObject;

Answer get_groups(const Question& question, Backend& backend) {
  const auto chosen = choose(question, backend);
  if (!chosen) return chosen.error();
  const auto page = page_of(question);
  if (!page) return page.error();
  const auto wanted =
      question.asked("pkey").empty() ? std::nullopt : base::parse_pkey(question.asked("pkey"));
  if (!wanted && !question.asked("pkey").empty())
    return bad_query("pkey", question.asked("pkey"), "a P_Key, as 0x8001");
  constexpr std::size_t kCursor = 32;  // digits of an MGID
  const auto& after = page->after;
  const bool is_cursor =
      after.empty() || (after.size() == kCursor && after.find_first_not_of("0123456789abcdef") == after.npos);
  if (!is_cursor) return bad_cursor(after);
  if (!chosen->view->registry && !chosen->view->snapshot) return not_read(*chosen->view);
  std::vector<Entry> groups;
  if (const auto& registry = chosen->view->registry) {
    for (const auto& [mgid, group] : registry->groups()) {
      if (wanted && !wanted->same_partition(group.terms.pkey)) continue;
      groups.push_back({Json(JsonObject{{"mgid", text(to_string(mgid))},
                                        {"mlid", text(fmt::format("0x{:04x}", group.mlid.value()))},
                                        {"pkey", pkey(group.terms.pkey)},
                                        {"qkey", text(fmt::format("0x{:08x}", group.terms.qkey))},
                                        {"mtu", number(bytes(group.terms.mtu))},
                                        {"rate_code", number(group.terms.rate)},
                                        {"sl", number(group.terms.sl.value())},
                                        {"members", number(group.members)},
                                        {"well_known", Json(group.well_known)}}),
                        fmt::format("{:02x}", fmt::join(mgid.bytes, ""))});
    }
  }
  return short_listing("groups", *page, std::move(groups),
                       {.before = {{"subnet", text(chosen->view->name)}}, .after = {}});
}

}  // namespace smd::api
