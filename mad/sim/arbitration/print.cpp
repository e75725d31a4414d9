// SPDX-License-Identifier: Apache-2.0
#include "mad/sim/arbitration/print.h"

#include <fmt/format.h>

#include <string_view>

namespace smd::sim {
namespace {

std::string_view name_at(const State& state, PortIndex port) {
  return port == kNowhere ? std::string_view("nowhere") : std::string_view(state.node_of(port).name);
}

std::string place_text(const State& state, const LinkVl& place) {
  return fmt::format("{} port {} VL {}", name_at(state, place.out), state.ports[place.out].number, place.vl);
}

std::string way_text(const FlowShare& share) {
  std::string text;
  for (const auto& hop : share.way.hops) {
    if (hop.vl) text += fmt::format(" {}", *hop.vl);
  }
  return text;
}

std::string count_text(const PacketCount& count, double share) {
  return fmt::format("{} packets, {} bytes, {:.2f} %", count.packets, count.bytes, 100 * share);
}

/// A JSON string. Bytes above ASCII, whose encoding is unknown, are written as characters of Latin-1.
std::string json_string(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      result += '\\';
      result += c;
    } else if (byte < 0x20 || byte >= 0x7F) {
      result += fmt::format("\\u{:04x}", byte);
    } else {
      result += c;
    }
  }
  return result + '"';
}

std::string json_place(const State& state, PortIndex port) {
  return fmt::format(R"("node":{},"port":{})", json_string(name_at(state, port)), state.ports[port].number);
}

std::string json_count(const PacketCount& count, double share) {
  return fmt::format(R"("packets":{},"bytes":{},"share":{:.6f})", count.packets, count.bytes, share);
}

template <class Items, class Print>
std::string json_list(const Items& items, Print&& print) {
  std::string text = "[";
  for (const auto& item : items) {
    if (text.size() > 1) text += ',';
    text += print(item);
  }
  return text + ']';
}

std::string json_places(const State& state, const std::vector<LinkVl>& places) {
  return json_list(places, [&](const LinkVl& at) {
    return fmt::format(R"({{{},"vl":{}}})", json_place(state, at.out), at.vl);
  });
}

std::string json_flow(const State& state, const DataFlow& flow, const FlowShare& share) {
  const auto hops = json_list(share.way.hops, [&](const Hop& hop) {
    const auto vl = hop.vl ? fmt::to_string(*hop.vl) : std::string("null");
    return fmt::format(R"({{"node":{},"in":{},"out":{},"vl":{}}})", json_string(state.nodes[hop.node].name),
                       hop.in, hop.out, vl);
  });
  return fmt::format(R"({{{},"lid":{},"sl":{},"simulated":{},"fate":{},"hops":{},{}}})",
                     json_place(state, flow.from), flow.to, flow.sl, share.simulated,
                     json_string(to_string(share.way.fate)), hops, json_count(share.received, share.share));
}

}  // namespace

std::string_view to_string(Ending ending) {
  switch (ending) {
    case Ending::counted:
      return "counted";
    case Ending::time:
      return "time";
    case Ending::nothing_moves:
      return "nothing moves";
  }
  return "unknown";
}

std::string to_text(const State& state, std::span<const DataFlow> flows, const Arbitration& result) {
  auto text =
      fmt::format("{} in {:.6f} ms", to_string(result.ending), static_cast<double>(result.elapsed) / 1e9);
  for (std::size_t i = 0; i < flows.size(); ++i) {
    const auto& share = result.flows[i];
    text += fmt::format("\nflow {} LID {} SL {}: ", name_at(state, flows[i].from), flows[i].to, flows[i].sl);
    text += share.simulated
                ? fmt::format("{}, VL{}", count_text(share.received, share.share), way_text(share))
                : fmt::format("not simulated: {}", to_string(state, share.way));
  }
  for (const auto& at : result.receivers)
    text += fmt::format("\nreceiver {} port {} SL {} VL {}: {}", name_at(state, at.receiver),
                        state.ports[at.receiver].number, at.sl, at.vl, count_text(at.received, at.share));
  for (const auto& at : result.links)
    text += fmt::format("\nlink {}: {}, load {:.2f} %", place_text(state, {at.out, at.vl}),
                        count_text(at.sent, at.share), 100 * at.load);
  for (const auto& loop : result.loops) {
    text += "\ndeadlock:";
    for (const auto& at : loop) text += fmt::format(" {} ->", place_text(state, at));
    text += fmt::format(" {}", place_text(state, loop.front()));
  }
  for (const auto& at : result.held) text += fmt::format("\nblocked: {}", place_text(state, at));
  for (const auto& at : result.behind) text += fmt::format("\nbehind a deadlock: {}", place_text(state, at));
  return text;
}

std::string to_json(const State& state, std::span<const DataFlow> flows, const Arbitration& result) {
  std::size_t next = 0;
  const auto by_flow =
      json_list(result.flows, [&](const FlowShare& share) { return json_flow(state, flows[next++], share); });
  const auto receivers = json_list(result.receivers, [&](const ClassShare& at) {
    return fmt::format(R"({{{},"sl":{},"vl":{},{}}})", json_place(state, at.receiver), at.sl, at.vl,
                       json_count(at.received, at.share));
  });
  const auto links = json_list(result.links, [&](const LinkShare& at) {
    return fmt::format(R"({{{},"vl":{},{},"load":{:.6f},"credits":{},"most_used":{},"waiting":{}}})",
                       json_place(state, at.out), at.vl, json_count(at.sent, at.share), at.load,
                       at.lane.credits, at.lane.most_used, at.lane.waiting);
  });
  const auto loops =
      json_list(result.loops, [&](const std::vector<LinkVl>& loop) { return json_places(state, loop); });
  return fmt::format(
      R"({{"ending":{},"elapsed_ps":{},"flows":{},"receivers":{},"links":{},"blocked":{},"deadlocks":{},"behind":{}}})",
      json_string(to_string(result.ending)), result.elapsed, by_flow, receivers, links,
      json_places(state, result.held), loops, json_places(state, result.behind));
}

}  // namespace smd::sim
