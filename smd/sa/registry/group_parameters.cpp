// SPDX-License-Identifier: Apache-2.0
#include "smd/sa/registry/group_parameters.h"

#include <fmt/format.h>

#include "config/partition_groups.h"
#include "mad/wire/capability.h"
#include "smd/sa/path/limits.h"
#include "smd/sa/registry/membership.h"

namespace smd::sa {
namespace {

using MemberFields = wire::McMemberRecord;
using wire::Selector;

std::string_view words(Selector selector) {
  switch (selector) {
    case Selector::greater:
      return "more than ";
    case Selector::less:
      return "less than ";
    case Selector::exactly:
      return "";
    case Selector::largest:
      return "the largest, not ";
  }
  return "";
}

std::string mtu_text(Mtu mtu) { return fmt::format("{}", bytes(mtu)); }
std::string rate_text(std::uint8_t code) {
  const auto mbps = rate_mbps(code);
  return mbps == 0 ? fmt::format("rate code {}", code) : fmt::format("{} Mb/s", mbps);
}
std::string life_text(std::uint8_t life) { return fmt::format("2^{} * 4.096 us", life); }

Selector selector_of(const Request& request, unsigned component, Selector selector) {
  return request.has(component) ? selector : Selector::exactly;
}

/// Whether a value that stands is what a selector asks for.
template <class T>
bool selected(Selector selector, T wanted, T has) {
  switch (selector) {
    case Selector::greater:
      return has > wanted;
    case Selector::less:
      return has < wanted;
    case Selector::exactly:
      return has == wanted;
    case Selector::largest:
      return true;
  }
  return false;
}

std::optional<Refusal> limits_mismatch(const GroupParameters& terms, const Request& request,
                                       const MemberFields& asked) {
  if (request.has(MemberFields::kMtu)) {
    const auto how = selector_of(request, MemberFields::kMtuSelector, asked.mtu_selector);
    if (!selected(how, asked.mtu, terms.mtu)) {
      return make_refusal("MTU", fmt::format("{}{}", words(how), mtu_text(asked.mtu)), mtu_text(terms.mtu),
                          "the group has another MTU");
    }
  }
  if (request.has(MemberFields::kRate)) {
    const auto how = selector_of(request, MemberFields::kRateSelector, asked.rate_selector);
    if (!selected(how, rate_mbps(asked.rate), rate_mbps(terms.rate))) {
      return make_refusal("Rate", fmt::format("{}{}", words(how), rate_text(asked.rate)),
                          rate_text(terms.rate), "the group has another rate");
    }
  }
  if (request.has(MemberFields::kLife)) {
    const auto how = selector_of(request, MemberFields::kLifeSelector, asked.life_selector);
    if (!selected(how, asked.life, terms.life)) {
      return make_refusal("PacketLifeTime", fmt::format("{}{}", words(how), life_text(asked.life)),
                          life_text(terms.life), "the group has another packet lifetime");
    }
  }
  return std::nullopt;
}

/// All that a request may name but the MLID. `why`: where they differ.
std::optional<Refusal> terms_mismatch(const GroupParameters& terms, const Request& request,
                                      const MemberFields& asked, std::string_view why) {
  const auto differs = [&](unsigned component, const auto& wanted, const auto& has) {
    return request.has(component) && !(wanted == has);
  };
  const auto other = [&](std::string_view component, std::string wanted, std::string has) {
    return make_refusal(component, std::move(wanted), std::move(has), why);
  };
  if (differs(MemberFields::kPKey, asked.pkey.partition(), terms.pkey.partition())) {
    return other("P_Key", fmt::format("{}", asked.pkey), fmt::format("{}", terms.pkey));
  }
  if (differs(MemberFields::kQKey, asked.qkey, terms.qkey)) {
    return other("Q_Key", fmt::format("0x{:08x}", asked.qkey), fmt::format("0x{:08x}", terms.qkey));
  }
  if (differs(MemberFields::kSl, asked.sl, terms.sl)) {
    return other("SL", fmt::format("{}", asked.sl), fmt::format("{}", terms.sl));
  }
  if (differs(MemberFields::kFlowLabel, asked.flow_label, terms.flow_label)) {
    return other("FlowLabel", fmt::format("{}", asked.flow_label), fmt::format("{}", terms.flow_label));
  }
  if (differs(MemberFields::kTrafficClass, asked.traffic_class, terms.traffic_class)) {
    return other("TClass", fmt::format("{}", asked.traffic_class), fmt::format("{}", terms.traffic_class));
  }
  if (differs(MemberFields::kHopLimit, asked.hop_limit, terms.hop_limit)) {
    return other("HopLimit", fmt::format("{}", asked.hop_limit), fmt::format("{}", terms.hop_limit));
  }
  return limits_mismatch(terms, request, asked);
}

/// What the port's link cannot carry.
std::optional<Refusal> cannot_carry(const EndPort& port, const GroupParameters& terms) {
  const auto limits = limits_of(port);
  if (limits.mtu != Mtu::none && limits.mtu < terms.mtu) {
    return make_refusal("MTU", mtu_text(terms.mtu), mtu_text(limits.mtu),
                        "the port's link has a smaller MTU");
  }
  const bool has_link = !port.node->is_switch();  // a switch's port 0 is inside
  if (has_link && limits.rate.code != 0 && limits.rate.mbps < rate_mbps(terms.rate)) {
    return make_refusal("Rate", rate_text(terms.rate), rate_text(limits.rate.code),
                        "the port's link is slower");
  }
  return std::nullopt;
}

std::optional<Refusal> without_pkey(const EndPort& port, PKey pkey) {
  if (has_pkey(port, pkey)) return std::nullopt;
  return make_refusal("P_Key", fmt::format("{}", pkey), {}, "the port is not in this partition");
}

std::expected<Mtu, Refusal> new_mtu(Mtu has, const Request& request, const MemberFields& asked) {
  std::optional<Limit<Mtu>> limit;
  const auto how = selector_of(request, MemberFields::kMtuSelector, asked.mtu_selector);
  if (request.has(MemberFields::kMtu)) limit = Limit<Mtu>{how, asked.mtu};
  const auto given = limited(has, limit);
  if (given && bytes(*given) != 0) return *given;
  return std::unexpected(make_refusal("MTU", fmt::format("{}{}", words(how), mtu_text(asked.mtu)),
                                      mtu_text(has), "the port's link cannot have this MTU"));
}

std::expected<std::uint8_t, Refusal> new_rate(StaticRate has, const Request& request,
                                              const MemberFields& asked) {
  std::optional<Limit<std::uint8_t>> limit;
  const auto how = selector_of(request, MemberFields::kRateSelector, asked.rate_selector);
  if (request.has(MemberFields::kRate)) limit = Limit<std::uint8_t>{how, asked.rate};
  const auto given = limited(has, limit);
  if (given && given->code != 0) return given->code;
  return std::unexpected(make_refusal("Rate", fmt::format("{}{}", words(how), rate_text(asked.rate)),
                                      rate_text(has.code), "the port's link cannot have this rate"));
}

/// Packets live at least as long as they do on any path here.
std::expected<std::uint8_t, Refusal> new_life(std::uint8_t has, const Request& request,
                                              const MemberFields& asked) {
  if (!request.has(MemberFields::kLife)) return has;
  const auto how = selector_of(request, MemberFields::kLifeSelector, asked.life_selector);
  const bool longer = how == Selector::exactly && asked.life >= has;
  if (longer) return asked.life;
  if (how != Selector::exactly && selected(how, asked.life, has)) return has;
  return std::unexpected(make_refusal("PacketLifeTime",
                                      fmt::format("{}{}", words(how), life_text(asked.life)), life_text(has),
                                      "packets here live as long as this"));
}

}  // namespace

PortLimits limits_of(const EndPort& port) {
  const auto& info = port.info().info;
  const bool linked = !port.node->is_switch() && info.neighbor_mtu != Mtu::none;
  return {.mtu = linked ? info.neighbor_mtu : info.mtu_cap,
          .rate = static_rate(wire::link_width(info), wire::link_speed(info, port.info().mlnx))};
}

StaticRate capped(StaticRate rate, const Settings& settings) {
  const auto most = rate_mbps(settings.max_rate);
  return most != 0 && most < rate.mbps ? StaticRate{settings.max_rate, most} : rate;
}

bool has_pkey(const EndPort& port, PKey pkey) {
  if (pkey.partition() == 0) return true;  // no partition: groups of earlier versions have such keys
  if (port.pkeys == nullptr) return pkey.same_partition(kDefaultPKey);  // unread: taken as a reset leaves it
  for (const auto& block : port.pkeys->row) {
    for (const auto key : block.keys) {
      if (key.same_partition(pkey)) return true;
    }
  }
  return false;
}

std::expected<GroupParameters, Refusal> new_parameters(const EndPort& port, const Settings& settings,
                                                       const Request& request, const MemberFields& asked) {
  if (asked.pkey.partition() == 0) {
    return std::unexpected(
        make_refusal("P_Key", fmt::format("{}", asked.pkey), {}, "no partition has this P_Key"));
  }
  if (auto bad = without_pkey(port, asked.pkey)) return std::unexpected(*std::move(bad));
  auto limits = limits_of(port);
  limits.rate = capped(limits.rate, settings);
  const auto mtu = new_mtu(limits.mtu, request, asked);
  if (!mtu) return std::unexpected(mtu.error());
  const auto rate = new_rate(limits.rate, request, asked);
  if (!rate) return std::unexpected(rate.error());
  const auto life = new_life(settings.packet_life, request, asked);
  if (!life) return std::unexpected(life.error());
  return GroupParameters{
      .qkey = asked.qkey,
      .pkey = asked.pkey,
      .mtu = *mtu,
      .rate = *rate,
      .life = *life,
      .sl = asked.sl,
      .traffic_class = asked.traffic_class,
      .hop_limit = request.has(MemberFields::kHopLimit) ? asked.hop_limit : std::uint8_t{0},
      .flow_label = asked.flow_label};
}

std::optional<Refusal> mismatch(const EndPort& port, const Group& group, const Request& request,
                                const MemberFields& asked) {
  const auto& terms = group.terms;
  if (auto bad = terms_mismatch(terms, request, asked, "the group has another one")) return bad;
  if (request.has(MemberFields::kMlid) && asked.mlid != group.mlid) {
    return make_refusal("MLID", fmt::format("{}", asked.mlid), fmt::format("{}", group.mlid),
                        "the group has another one");
  }
  if (auto bad = without_pkey(port, terms.pkey)) return bad;
  return cannot_carry(port, terms);
}

std::optional<Refusal> ipoib_mismatch(const Registry& registry, const Request& request,
                                      const MemberFields& asked) {
  const auto broadcast = config::broadcast_mgid(asked.pkey, scope_of(asked.mgid));
  if (!config::is_ip_group(asked.mgid) || asked.mgid == broadcast) return std::nullopt;
  const auto* group = registry.groups().find(broadcast);
  if (group == nullptr)
    return make_refusal("MGID", to_string(asked.mgid), to_string(broadcast),
                        "the IPoIB broadcast group of its partition and scope is not there");
  return terms_mismatch(group->terms, request, asked,
                        "groups of IPoIB have what the broadcast group of their partition has");
}

std::optional<Refusal> bad_group_sl(const Directory& directory, Sl sl) {
  const auto* sls = directory.snapshot().decided.service_levels.get();
  if (sm::class_of(sls, sl, 0)) return std::nullopt;
  std::string may;
  for (const auto one : sls->classes)
    may += fmt::format("{}{}", may.empty() ? "" : ", ", sm::wire_sl(sls, one, 0));
  return make_refusal("SL", fmt::format("{}", sl), std::move(may),
                      "SLs are layers of paths; groups have that of a class in the first one");
}

std::optional<Refusal> bad_mgid(const Mgid& mgid, PKey pkey) {
  const auto& b = mgid.bytes;
  const auto bad = [&](std::string_view why) { return make_refusal("MGID", to_string(mgid), {}, why); };
  if (b[0] != 0xff) return bad("a multicast GID begins with ff");
  if (config::has_reserved_flags(mgid)) return bad("a flag that is reserved is set");
  if (scope_of(mgid) == 0) return bad("its scope is reserved");
  // Beyond the link another subnet's SM may have given the name (OpenSM's validate_requested_mgid).
  if (config::is_named_by_sa(mgid) && scope_of(mgid) == kLinkLocal)
    return bad("its signature is of groups that the SM names");
  if (config::is_ip_group(mgid)) {
    // RFC 4391: the P_Key with its full-member bit stands in an IPoIB group's name.
    const unsigned named = static_cast<unsigned>(b[4]) << 8U | b[5];
    if (named != pkey.full().value()) return bad("an IPoIB group's name holds its P_Key");
  }
  return std::nullopt;
}

}  // namespace smd::sa
