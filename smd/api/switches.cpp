// SPDX-License-Identifier: Apache-2.0
// Switches: their place in the fabric, and how full their tables are.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "config/glob.h"
#include "mad/base/escaped.h"
#include "mad/base/parse.h"
#include "smd/api/handlers.h"
#include "smd/api/json_out.h"
#include "smd/api/listing.h"
#include "smd/api/not_master.h"
#include "smd/inventory/switch_levels.h"

namespace smd::api {

using sm::Json;
using sm::JsonObject;

namespace {

std::uint64_t hosts_at(const sm::Subnet& subnet, const sm::Node& node) {
  return static_cast<std::uint64_t>(std::ranges::count_if(node.ports, [&](const sm::Port& port) {
    const auto* peer = port.peer && port.linked() ? subnet.find(port.peer->node) : nullptr;
    return peer != nullptr && !peer->is_switch();
  }));
}

struct SwitchFilter {
  std::string match;  ///< empty: any name
  std::optional<unsigned> level{};
  Guid after{};  ///< those with greater GUIDs
};

class SwitchesOf {
 public:
  SwitchesOf(std::shared_ptr<const sm::Snapshot> now, SwitchFilter filter)
      : now_(std::move(now)),
        filter_(std::move(filter)),
        levels_(sm::switch_levels(*now_->subnet, now_->inventory.get())) {}

  std::optional<Entry> operator()() {
    const auto& nodes = now_->subnet->nodes;
    while (at_ < nodes.size()) {
      const auto index = at_++;
      const auto& node = *nodes[index];
      if (!node.is_switch() || node.guid() <= filter_.after) continue;
      if (filter_.level && levels_[index] != filter_.level) continue;
      if (!filter_.match.empty() && !config::matches_glob(filter_.match, node.description)) continue;
      return Entry{switch_json(node, levels_[index]), fmt::format("{}", node.guid())};
    }
    return std::nullopt;
  }

 private:
  Json switch_json(const sm::Node& node, std::optional<unsigned> level) const {
    auto object = node_object(node);
    const auto linked = object.at("ports_linked").as_uint64();
    object.emplace("ports_free", number(node.port_count() - linked));
    object.emplace("hosts", number(hosts_at(*now_->subnet, node)));
    object.emplace("level", level ? number(*level) : Json{});
    const auto* row = now_->decided.routes ? now_->decided.routes->find(node.guid()) : nullptr;
    object.emplace("lft_entries", row != nullptr ? number(entries_in(**row)) : Json{});
    const auto& info = node.switch_info;
    const auto known = [&](std::uint64_t value) { return info ? number(value) : Json{}; };
    object.emplace("lft_top", known(info ? info->linear_fdb_top : 0U));
    object.emplace("lft_capacity", known(sm::lft_capacity(node)));
    object.emplace("mft_capacity", known(info ? info->multicast_fdb_cap : 0U));
    object.emplace("pkeys_enforced", known(info ? info->partition_enforcement_cap : 0U));
    object.emplace("enhanced_port0", info ? Json(info->enhanced_port0) : Json{});
    return Json(std::move(object));
  }
  static std::uint64_t entries_in(const routing::LftRow& row) {
    return row.size() - static_cast<std::uint64_t>(std::ranges::count(row, routing::kNoRoute));
  }

  std::shared_ptr<const sm::Snapshot> now_;
  SwitchFilter filter_;
  std::vector<std::optional<unsigned>> levels_;  ///< by node
  std::size_t at_ = 0;
};

}  // namespace

Answer get_switches(const Question& question, Backend& backend) {
  const auto chosen = choose(question, backend);
  if (!chosen) return chosen.error();
  const auto page = page_of(question);
  if (!page) return page.error();
  SwitchFilter filter{.match = base::kept_name(question.asked("match"))};
  if (const auto words = question.asked("level"); !words.empty()) {
    const auto level = base::parse_number(words, 0xFFFF);
    if (!level) return bad_query("level", words, "0 for switches with hosts, 1 for those next to them, ...");
    filter.level = static_cast<unsigned>(*level);
  }
  if (!page->after.empty()) {
    const auto after = base::parse_guid(page->after);
    if (!after) return bad_cursor(page->after);
    filter.after = *after;
  }
  const auto& now = chosen->view->snapshot;
  if (!now) return not_read(*chosen->view);
  return listing("switches", *page, SwitchesOf(now, std::move(filter)),
                 {.before = {{"subnet", text(chosen->view->name)}}, .after = {}});
}

}  // namespace smd::api
