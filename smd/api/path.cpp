// SPDX-License-Identifier: Apache-2.0
// The way of packets between two ports, by the tables that were decided, there and back.
#include <fmt/format.h>

#include "smd/api/handlers.h"
#include "smd/api/json_out.h"
#include "smd/api/places.h"
#include "smd/decide/path_layers.h"
#include "smd/report/description.h"

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

Json hop_json(const sm::Node& node, PortNum in, PortNum out) {
  return Json(JsonObject{{"guid", guid(node.guid())},
                         {"name", text(sm::raw_name(node))},
                         {"in", number(in.value())},
                         {"out", number(out.value())}});
}

/// Where a packet is: in a node, come in by a port.
struct Hop {
  const sm::Node* node;  ///< null: nowhere
  PortNum in;
};

Hop far_end(const sm::Subnet& subnet, const sm::Node& node, PortNum out) {
  if (out.value() >= node.ports.size() || !node.ports[out.value()].peer) return {nullptr, {}};
  const auto& peer = *node.ports[out.value()].peer;
  return {subnet.find(peer.node), peer.port};
}

/// `reason` is empty where the packet arrives.
JsonArray follow(const sm::Snapshot& now, const EndPort& from, const EndPort& to, std::string* reason) {
  JsonArray hops;
  const auto& subnet = *now.subnet;
  Hop at{from.node, PortNum{0}};
  if (!from.node->is_switch()) at = far_end(subnet, *from.node, from.port);
  for (std::size_t left = subnet.nodes.size() + 1; left > 0; --left) {
    if (at.node == nullptr) return *reason = "a link is missing", hops;
    if (at.node == to.node) return hops;
    if (!at.node->is_switch()) return *reason = fmt::format("it ends at {}", at.node->description), hops;
    const auto* row = now.decided.routes->find(at.node->guid());
    const PortNum out{routing::entry(row != nullptr ? row->get() : nullptr, to.lid)};
    if (out == kNoPort) return *reason = fmt::format("{} has no route", at.node->description), hops;
    hops.push_back(hop_json(*at.node, at.in, out));
    at = far_end(subnet, *at.node, out);
  }
  *reason = "it goes in a loop";
  return hops;
}

Json direction_json(const sm::Snapshot& now, const EndPort& from, const EndPort& to) {
  std::string reason;
  auto hops = follow(now, from, to, &reason);
  return Json(
      JsonObject{{"complete", Json(reason.empty())},
                 {"reason", reason.empty() ? Json{} : text(reason)},
                 {"sl", number(sm::path_sl(now.decided, Sl{0}, *from.node, from.port, to.lid).value())},
                 {"layer", number(sm::layer_of(*now.decided.routes, *from.node, from.port, to.lid))},
                 {"hops", Json(std::move(hops))}});
}

}  // namespace

Answer get_path(const Question& question, Backend& backend) {
  const auto chosen = choose(question, backend);
  if (!chosen) return chosen.error();
  const auto src = question.query.find("src"), dst = question.query.find("dst");
  if (src == question.query.end() || dst == question.query.end())
    return error_of(400, "bad_query", "src and dst: a GUID, a name, NODE:PORT or a LID each");
  const auto& now = chosen->view->snapshot;
  if (!now || !now->decided.routes)
    return error_of(409, "nothing_decided",
                    fmt::format("{}: no routes were decided yet", chosen->view->name));
  const auto from = find_end_port(*now->subnet, src->second), to = find_end_port(*now->subnet, dst->second);
  if (!from) return from.error();
  if (!to) return to.error();
  return answer_of(Json(JsonObject{{"subnet", text(chosen->view->name)},
                                   {"from", path_end_json(*from)},
                                   {"to", path_end_json(*to)},
                                   {"forward", direction_json(*now, *from, *to)},
                                   {"back", direction_json(*now, *to, *from)}}));
}

}  // namespace smd::api
