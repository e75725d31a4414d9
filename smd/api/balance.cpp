// SPDX-License-Identifier: Apache-2.0
// How evenly the forwarding tables use the ports of switches.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include "mad/base/parse.h"
#include "smd/api/handlers.h"
#include "smd/api/json_out.h"
#include "smd/api/listing.h"
#include "smd/api/lost.h"
#include "smd/api/not_master.h"
#include "smd/api/places.h"
#include "smd/report/description.h"

namespace smd::api {

using sm::Json;
using sm::JsonArray;
using sm::JsonObject;

namespace {

/// LIDs by the port that they leave by; those of adapters and routers apart.
struct PortLoads {
  std::array<std::uint32_t, 256> all{}, hosts{};
};

class BalanceOf {
 public:
  BalanceOf(std::shared_ptr<const sm::Snapshot> now, Guid only, Guid after)
      : now_(std::move(now)), only_(only), after_(after), is_host_(std::size_t{1} << 16U) {
    for (const auto& node : now_->subnet->nodes) {
      if (node->is_switch()) continue;
      for (std::size_t p = 1; p < node->ports.size(); ++p) mark(node->ports[p].info);
    }
  }

  std::optional<Entry> operator()() {
    while (at_ < now_->subnet->nodes.size()) {
      const auto& node = *now_->subnet->nodes[at_++];
      if (!node.is_switch() || node.guid() <= after_ || (only_ != Guid{} && node.guid() != only_)) continue;
      if (const auto* row = now_->decided.routes->find(node.guid()))
        return Entry{switch_json(node, loads_of(**row)), fmt::format("{}", node.guid())};
    }
    return std::nullopt;
  }

 private:
  void mark(const wire::PortInfo& info) {
    const std::size_t first = info.lid.value(), count = std::size_t{1} << info.lmc;
    for (auto lid = first; first != 0 && lid < std::min(first + count, is_host_.size()); ++lid)
      is_host_[lid] = true;
  }
  PortLoads loads_of(const routing::LftRow& row) const {
    PortLoads loads;
    for (std::size_t lid = 0; lid < row.size(); ++lid) {
      const auto port = routing::entry(&row, Lid{static_cast<std::uint16_t>(lid)});
      if (port == routing::kNoRoute) continue;
      ++loads.all.at(port);
      if (is_host_[lid]) ++loads.hosts.at(port);
    }
    return loads;
  }
  /// With `fewest` and `most` of the ports that lead to other switches: those that routing can balance.
  Json switch_json(const sm::Node& node, const PortLoads& loads) const {
    JsonArray ports;
    std::uint64_t links = 0, fewest = 0, most = 0;
    for (std::size_t p = 1; p < node.ports.size(); ++p) {
      const auto& port = node.ports[p];
      const auto* peer = port.peer && port.linked() ? now_->subnet->find(port.peer->node) : nullptr;
      if (peer == nullptr) continue;
      if (peer->is_switch()) {
        fewest = links == 0 ? loads.hosts.at(p) : std::min<std::uint64_t>(fewest, loads.hosts.at(p));
        most = std::max<std::uint64_t>(most, loads.hosts.at(p));
        ++links;
      }
      ports.push_back(Json(JsonObject{{"port", number(p)},
                                      {"peer", end_json(*now_, {peer->guid(), port.peer->port})},
                                      {"to_switch", Json(peer->is_switch())},
                                      {"lids", number(loads.all.at(p))},
                                      {"host_lids", number(loads.hosts.at(p))}}));
    }
    return Json(JsonObject{{"guid", guid(node.guid())},
                           {"name", text(sm::raw_name(node))},
                           {"links_to_switches", number(links)},
                           {"fewest_host_lids", number(fewest)},
                           {"most_host_lids", number(most)},
                           {"ports", Json(std::move(ports))}});
  }

  std::shared_ptr<const sm::Snapshot> now_;
  Guid only_, after_;
  std::vector<bool> is_host_;
  std::size_t at_ = 0;
};

}  // namespace

Answer get_balance(const Question& question, Backend& backend) {
  const auto chosen = choose(question, backend);
  if (!chosen) return chosen.error();
  const auto page = page_of(question);
  if (!page) return page.error();
  const auto after = page->after.empty() ? std::optional(Guid{}) : base::parse_guid(page->after);
  if (!after) return bad_cursor(page->after);
  const auto& now = chosen->view->snapshot;
  if (!now) return not_read(*chosen->view);
  if (!now->decided.routes)
    return error_of(409, "nothing_decided",
                    fmt::format("{}: no routes were decided yet", chosen->view->name));
  Guid only{};
  if (const auto words = question.asked("node"); !words.empty()) {
    const auto node = find_node(*now->subnet, words);
    if (!node) return node.error();
    if (!(*node)->is_switch())
      return error_of(404, "no_such_switch", fmt::format("{} is no switch", sm::raw_name(**node)));
    only = (*node)->guid();
  }
  return listing(
      "switches", *page, BalanceOf(now, only, *after),
      {.before = {{"subnet", text(chosen->view->name)}, {"engine", text(now->decided.routes->engine)}},
       .after = {}});
}

}  // namespace smd::api
