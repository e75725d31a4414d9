// SPDX-License-Identifier: Apache-2.0
// The command that sends data packets through VL arbitration: its words into flows and settings.
#include <fmt/format.h>

#include <type_traits>

#include "mad/sim/arbitration/print.h"
#include "mad/sim/console/command.h"

namespace smd::sim {
namespace {

constexpr std::uint64_t kMostPackets = 10'000'000, kMostNanoseconds = 1'000'000, kMostBuffer = 1024;
constexpr std::string_view kArbitrateForm =
    "arbitrate [packets N] [warmup N] [buffer N] [delay NS] [json] [blocked END [vl VL]]… "
    "flow SRC DST SL PKEY [size BYTES] [rate MBPS]…";

}  // namespace

/// The words of `arbitrate` from the second on, one after the other.
struct Command::Arbitrate {
  std::vector<DataFlow> flows{};
  SimulationSettings settings{};
  std::vector<BlockedReceiver> blocked{};
  bool json = false, warm_up_given = false;
  std::size_t at = 1;
};

std::expected<std::uint64_t, std::string> Command::number_after(Arbitrate& given, std::string_view what,
                                                                std::uint64_t least, std::uint64_t most) {
  const auto value = whole(word(given.at + 1), most);
  if (!value || *value < least)
    return std::unexpected(bad(what, word(given.at + 1), fmt::format("{} to {}", least, most)).error());
  given.at += 2;
  return *value;
}

Command::Result Command::arbitrate_flow(Arbitrate& given) {
  const auto first = given.at + 1;
  const auto from = end_of(first), to = end_of(first + 1);
  const auto to_lid = to ? std::nullopt : whole(word(first + 1), 0xBFFF);
  if (!from) return no_end(first);
  if (!to && !to_lid) return no_end(first + 1);
  const auto sl = whole(word(first + 2), 15), pkey = whole(word(first + 3), 0xFFFF);
  if (!sl) return bad("SL", word(first + 2), "0 to 15");
  if (!pkey) return bad("P_Key", word(first + 3), "0 to 65535 (0xffff)");
  given.at += 5;
  DataFlow flow{.from = *from,
                .to = to ? fabric_.state().ports[*to].info.lid : Lid{static_cast<std::uint16_t>(*to_lid)},
                .sl = Sl{static_cast<std::uint8_t>(*sl)},
                .pkey = PKey{static_cast<std::uint16_t>(*pkey)}};
  while (word(given.at) == "size" || word(given.at) == "rate") {
    const bool size = word(given.at) == "size";
    const auto value =
        size ? number_after(given, "size", 1, 4096) : number_after(given, "rate", 1, 10'000'000);
    if (!value) return std::unexpected(value.error());
    (size ? flow.payload : flow.offered_mbps) = static_cast<std::uint32_t>(*value);
  }
  given.flows.push_back(flow);
  return {};
}

Command::Result Command::arbitrate_blocked(Arbitrate& given) {
  const auto port = end_of(given.at + 1);
  if (!port) return no_end(given.at + 1);
  given.at += 2;
  BlockedReceiver receiver{.port = *port};
  if (word(given.at) == "vl") {
    const auto vl = number_after(given, "VL", 0, 14);
    if (!vl) return std::unexpected(vl.error());
    receiver.vl = Vl{static_cast<std::uint8_t>(*vl)};
  }
  given.blocked.push_back(receiver);
  return {};
}

/// One of what stands before and between flows.
Command::Result Command::arbitrate_word(Arbitrate& given) {
  const auto what = word(given.at);
  if (what == "flow") return arbitrate_flow(given);
  if (what == "blocked") return arbitrate_blocked(given);
  if (what == "json") {
    given.json = true;
    ++given.at;
    return {};
  }
  const auto take = [&](std::string_view unit, std::uint64_t least, std::uint64_t most, auto& setting,
                        unsigned times = 1) -> Result {
    const auto value = number_after(given, unit, least, most);
    if (!value) return std::unexpected(value.error());
    setting = static_cast<std::remove_reference_t<decltype(setting)>>(*value * times);
    return {};
  };
  auto& settings = given.settings;
  if (what == "packets") return take("packets", 1, kMostPackets, settings.packets);
  if (what == "buffer") return take("packets", 1, kMostBuffer, settings.buffer_packets);
  if (what == "delay") return take("nanoseconds", 0, kMostNanoseconds, settings.delay, 1000);
  if (what != "warmup") return bad("word", what, fmt::format("'{}'", kArbitrateForm));
  given.warm_up_given = true;
  return take("packets", 0, kMostPackets, settings.warm_up);
}

Command::Result Command::arbitrate() {
  Arbitrate given;
  while (given.at < words_.size()) {
    if (auto taken = arbitrate_word(given); !taken) return taken;
  }
  if (given.flows.empty()) return bad("flow", "", fmt::format("'{}'", kArbitrateForm));
  if (!given.warm_up_given) given.settings.warm_up = given.settings.packets / 10;
  const auto& state = fabric_.state();
  const auto result = sim::arbitrate(state, given.flows, given.settings, given.blocked);
  return given.json ? to_json(state, given.flows, result) : to_text(state, given.flows, result);
}

}  // namespace smd::sim
