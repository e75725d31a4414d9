// SPDX-License-Identifier: Apache-2.0
// The way of packets between two ports, by the tables that were decided, there and back, on the SL that the
// SA answers.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "mad/base/parse.h"
#include "mad/wire/drop_vl.h"
#include "smd/api/handlers.h"
#include "smd/api/json_out.h"
#include "smd/api/listing.h"
#include "smd/api/not_master.h"
#include "smd/api/places.h"
#include "smd/api/tenant.h"
#include "smd/decide/path_layers.h"
#include "smd/report/description.h"
#include "smd/sa/granted_pkeys.h"
#include "smd/sa/path/trace.h"
#include "smd/sa/policy.h"

namespace smd::api {

using sm::Json;
using sm::JsonArray;
using sm::JsonObject;

namespace {

Json path_end_json(const EndPort& end) {
  return Json(JsonObject{{"guid", guid(end.node->guid())},
                         {"name", text(sm::raw_name(*end.node))},
                         {"port", number(end.port.value())},
                         {"lid", number(end.lid.value())}});
}

/// What the query asks for in addition to the two ends, and what the caller may see.
struct PathAsked {
  sa::PathConstraints constraints{};
  bool sees_switches = true;  ///< a tenant does not: they are not its own
  /// P_Keys of a tenant's partitions; a path of another one is not shown. Nothing: of any.
  std::optional<std::vector<PKey>> only{};
};

/// P_Keys of each end that a refusal names.
constexpr std::size_t kKeysNamed = 8;

/// What the SA grants of one direction, or why it grants nothing.
struct Granted {
  std::optional<PKey> pkey{};
  std::optional<Sl> sl{};
  std::string refused{};  ///< empty where there is an SL
};

/// The keys of a table that are of these partitions.
sa::HeldPKeys own_keys(const sa::HeldPKeys* all, const std::vector<PKey>& own) {
  sa::HeldPKeys kept;
  if (all == nullptr) return kept;
  kept = *all;
  for (auto& block : kept.row) {
    for (auto& key : block.keys) {
      if (std::ranges::none_of(own, [&](PKey one) { return one.same_partition(key); })) key = PKey{};
    }
  }
  return kept;
}

/// "0x7fff 0x8012"
std::string keys_words(const sa::HeldPKeys* keys) {
  if (keys == nullptr) return "that were not read";
  std::string words;
  std::size_t shown = 0, all = 0;
  for (const auto& block : keys->row) {
    for (const auto key : block.keys) {
      if (key.partition() == 0) continue;
      if (++all <= kKeysNamed) words += fmt::format("{}{}", shown++ == 0 ? "" : " ", key);
    }
  }
  if (all > shown) words += fmt::format(" and {} more", all - shown);
  return all == 0 ? "none" : words;
}

/// A port is named for a tenant too: it has asked by that name.
Granted granted(const sm::Snapshot& now, const EndPort& source, const EndPort& target,
                const PathAsked& asked) {
  const auto& decided = now.decided;
  auto from = sa::end_port_of(decided, *source.node, source.port);
  auto to = sa::end_port_of(decided, *target.node, target.port);
  const auto of_source = sa::narrowed_pkeys(now, *source.node, source.port),
             of_target = sa::narrowed_pkeys(now, *target.node, target.port);
  if (of_source) from.pkeys = of_source.get();
  if (of_target) to.pkeys = of_target.get();
  sa::HeldPKeys own;
  if (asked.only) {
    own = own_keys(from.pkeys, *asked.only);
    from.pkeys = &own;
  }
  const auto pair = fmt::format("{} and {}", sm::raw_name(*source.node), sm::raw_name(*target.node));
  const sa::Policy policy;
  const auto shared = policy.pkey(from, to, asked.constraints);
  if (!shared && asked.constraints.pkey)
    return {.refused = fmt::format("{} do not share P_Key {}, one of them as full member", pair,
                                   *asked.constraints.pkey)};
  if (!shared && asked.only)
    return {.refused = fmt::format("{} share no partition of yours, one of them as full member", pair)};
  if (!shared)
    return {.refused = fmt::format("{} share no partition, one of them as full member: P_Keys {}, and {}",
                                   pair, keys_words(from.pkeys), keys_words(to.pkeys))};
  auto constraints = asked.constraints;
  if (const auto terms = policy.terms(decided, from, to, constraints)) {
    const auto sl = policy.granted_sl(decided, *terms, constraints.sl, from, target.lid);
    if (sl) return {.pkey = terms->pkey, .sl = sl, .refused = {}};
  }
  const auto wanted = std::exchange(constraints.sl, std::nullopt);
  const auto without = policy.terms(decided, from, to, constraints);
  if (!wanted || !without)
    return {.refused = fmt::format("the QoS policy has no path with P_Key {} between {}", *shared, pair)};
  return {.refused = fmt::format("paths from {} to {} have SL {}, not {}", sm::raw_name(*source.node),
                                 sm::raw_name(*target.node),
                                 policy.sl(decided, without->sl, &from, target.lid), *wanted)};
}

/// By the table that is decided; nothing where none is.
std::optional<Vl> decided_vl(const sm::Snapshot& now, const sm::Node& node, PortNum in, PortNum out, Sl sl) {
  const auto* part = now.decided.qos_tables.get();
  const auto index = part != nullptr ? now.subnet->index_of(node.guid()) : std::nullopt;
  if (!index || part->find(*index, out) == nullptr) return std::nullopt;
  const auto* mapping = part->mapping(*index, in, out);
  return mapping != nullptr ? mapping->vls[sl.value()] : Vl{0};
}

/// By the table as it was read. A standby reads none: it has decided what the master has written.
std::optional<Vl> vl_out(const sm::Snapshot& now, const sm::Node& node, PortNum in, PortNum out, Sl sl) {
  const bool is_master = now.state == wire::SmState::master;
  const auto decided = is_master ? std::nullopt : decided_vl(now, node, in, out, sl);
  return decided ? decided : sa::vl_of(node, in, out, sl);
}

/// A packet on its way: in a node, come in by a port.
struct Hop {
  const sm::Node* node;  ///< null: nowhere
  PortNum in;
};

Hop far_end(const sm::Subnet& subnet, const sm::Node& node, PortNum out) {
  if (out.value() >= node.ports.size() || !node.ports[out.value()].peer) return {nullptr, {}};
  const auto& peer = *node.ports[out.value()].peer;
  return {subnet.find(peer.node), peer.port};
}

/// One direction, followed from node to node.
class Direction {
 public:
  Direction(const sm::Snapshot& now, const EndPort& from, const EndPort& to, const PathAsked& asked)
      : now_(now), from_(from), to_(to), asked_(asked), granted_(granted(now, from, to, asked)) {
    follow();
  }

  const std::string& refused() const { return granted_.refused; }

  Json json() && {
    const auto layer = sm::layer_of(*now_.decided.routes, *from_.node, from_.port, to_.lid);
    return Json(JsonObject{{"complete", Json(reason_.empty())},
                           {"reason", reason_.empty() ? Json{} : text(reason_)},
                           {"pkey", granted_.pkey ? pkey(*granted_.pkey) : Json{}},
                           {"sl", sl_json()},
                           {"refused", granted_.refused.empty() ? Json{} : text(granted_.refused)},
                           {"layer", number(layer)},
                           {"vl", first_vl_ ? number(first_vl_->value()) : Json{}},
                           {"hops", Json(std::move(hops_))}});
  }

 private:
  Json sl_json() const { return granted_.sl ? number(granted_.sl->value()) : Json{}; }

  /// The VL on the link that it leaves by; says where it ends on VL 15.
  std::optional<Vl> leave(const sm::Node& node, PortNum in, PortNum out) {
    if (!granted_.sl || out.value() == 0 || out.value() >= node.ports.size()) return std::nullopt;
    const auto vl = vl_out(now_, node, in, out, *granted_.sl);
    if (vl == wire::kDropVl)
      reason_ = fmt::format("{} drops packets with SL {} at port {}",
                            asked_.sees_switches ? sm::raw_name(node) : "a switch", *granted_.sl, out);
    return vl;
  }

  void add(const sm::Node& node, PortNum in, PortNum out, std::optional<Vl> vl) {
    const auto shown = [&](Json value) { return asked_.sees_switches ? std::move(value) : Json{}; };
    hops_.push_back(Json(JsonObject{{"guid", shown(guid(node.guid()))},
                                    {"name", shown(text(sm::raw_name(node)))},
                                    {"in", shown(number(in.value()))},
                                    {"out", shown(number(out.value()))},
                                    {"sl", sl_json()},
                                    {"vl", vl ? number(vl->value()) : Json{}}}));
  }

  std::string name_of(const sm::Node& node) const {
    return asked_.sees_switches ? sm::raw_name(node) : std::string("a node");
  }

  void follow() {
    const auto& subnet = *now_.subnet;
    Hop at{from_.node, PortNum{0}};
    if (!from_.node->is_switch() && from_.node != to_.node) {
      first_vl_ = leave(*from_.node, PortNum{0}, from_.port);
      at = far_end(subnet, *from_.node, from_.port);
    }
    for (std::size_t left = subnet.nodes.size() + 1; left > 0; --left) {
      if (!reason_.empty()) return;
      if (at.node == nullptr) return void(reason_ = "a link is missing");
      if (at.node == to_.node) return;
      if (!at.node->is_switch()) return void(reason_ = "it ends at " + name_of(*at.node));
      const auto* row = now_.decided.routes->find(at.node->guid());
      const PortNum out{routing::entry(row != nullptr ? row->get() : nullptr, to_.lid)};
      if (out == kNoPort) return void(reason_ = name_of(*at.node) + " has no route");
      const auto vl = leave(*at.node, at.in, out);
      if (at.node == from_.node) first_vl_ = vl;
      add(*at.node, at.in, out, vl);
      at = far_end(subnet, *at.node, out);
    }
    reason_ = "it goes in a loop";
  }

  const sm::Snapshot& now_;
  const EndPort& from_;
  const EndPort& to_;
  const PathAsked& asked_;
  Granted granted_;
  std::optional<Vl> first_vl_;  ///< out of the source
  JsonArray hops_;
  std::string reason_;  ///< why it does not arrive; empty: it does
};

std::expected<PathAsked, Answer> path_asked(const Question& question, const SubnetView& view) {
  PathAsked asked;
  if (const auto words = question.asked("sl"); !words.empty()) {
    const auto sl = base::parse_number(words, 15);
    if (!sl) return std::unexpected(bad_query("sl", words, "0 to 15"));
    asked.constraints.sl = Sl{static_cast<std::uint8_t>(*sl)};
  }
  if (const auto words = question.asked("pkey"); !words.empty()) {
    asked.constraints.pkey = base::parse_pkey(words);
    if (!asked.constraints.pkey || asked.constraints.pkey->partition() == 0)
      return std::unexpected(bad_query("pkey", words, "a P_Key, as 0x8001"));
  }
  asked.only = pkeys_seen(*question.access, view);
  asked.sees_switches = !asked.only;
  const auto& wanted = asked.constraints.pkey;
  if (!wanted || !asked.only) return asked;
  const bool own = std::ranges::any_of(*asked.only, [&](PKey one) { return one.same_partition(*wanted); });
  if (!own)
    return std::unexpected(
        error_of(404, "no_such_partition", fmt::format("no partition {} is there", *wanted)));
  return asked;
}

}  // namespace

Answer get_path(const Question& question, Backend& backend) {
  const auto chosen = choose(question, backend);
  if (!chosen) return chosen.error();
  const auto& view = *chosen->view;
  const auto src = question.asked("src"), dst = question.asked("dst");
  if (src.empty() || dst.empty())
    return error_of(400, "bad_query", "src and dst: a GUID, a name, NODE:PORT or a LID each");
  const auto& now = view.snapshot;
  if (!now) return not_read(view);
  if (!now->decided.routes)
    return error_of(409, "nothing_decided", fmt::format("{}: no routes were decided yet", view.name));
  const auto only = ports_seen(*question.access, view);
  const auto from = find_end_port(*now->subnet, src, only ? &*only : nullptr);
  if (!from) return from.error();
  const auto to = find_end_port(*now->subnet, dst, only ? &*only : nullptr);
  if (!to) return to.error();
  const auto asked = path_asked(question, view);
  if (!asked) return asked.error();
  Direction forward(*now, *from, *to, *asked), back(*now, *to, *from, *asked);
  const bool particular = asked->constraints.sl || asked->constraints.pkey;
  if (particular && !forward.refused().empty()) return error_of(409, "no_such_path", forward.refused());
  return answer_of(Json(JsonObject{{"subnet", text(view.name)},
                                   {"from", path_end_json(*from)},
                                   {"to", path_end_json(*to)},
                                   {"forward", std::move(forward).json()},
                                   {"back", std::move(back).json()}}));
}

}  // namespace smd::api
