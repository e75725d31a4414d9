// SPDX-License-Identifier: Apache-2.0
// /metrics: what the SM knows, by the names of github.com/treydock/infiniband_exporter where that has them.
#include <fmt/format.h>

#include <array>

#include "smd/api/handlers.h"
#include "smd/api/own_metrics.h"
#include "smd/api/scrape.h"

namespace smd::api {
namespace {

using Form = Exposition::Kind;

/// Scrape::for_each_node() for those of the type; routers count as adapters.
template <class Fn>
void for_each_node(Scrape& scrape, bool switches, Fn fn) {
  scrape.for_each_node([&](const Scraped& subnet, const sm::Node& node) {
    if (node.is_switch() == switches) fn(subnet, node);
  });
}

std::string_view kind_of(const sm::Node& node) { return node.is_switch() ? "SW" : "CA"; }

std::string lid_text(const sm::Node& node, std::size_t port) {
  const auto index = node.is_switch() ? std::size_t{0} : port;
  return index < node.ports.size() ? fmt::format("{}", node.ports[index].info.lid.value()) : "0";
}

/// The first port with a LID.
std::string lid_text(const sm::Node& node) {
  for (std::size_t p = node.is_switch() ? 0 : 1; p < node.ports.size(); ++p) {
    if (node.ports[p].info.lid != Lid{}) return lid_text(node, p);
  }
  return "0";
}

void write_info(Scrape& scrape, bool switches) {
  const auto* name = switches ? "switch" : "hca";
  if (!scrape.family(fmt::format("infiniband_{}_info", name), Form::gauge,
                     switches ? "A switch of the fabric" : "An adapter or router of the fabric"))
    return;
  for_each_node(scrape, switches, [&](const Scraped& subnet, const sm::Node& node) {
    const auto guid = fmt::format("{}", node.guid());
    const auto lid = lid_text(node);
    scrape.out.sample(
        {{subnet.label, subnet.view->name}, {"guid", guid}, {name, node.description}, {"lid", lid}}, 1);
  });
}

void write_uplinks(Scrape& scrape, bool switches) {
  const auto* name = switches ? "switch" : "hca";
  if (!scrape.family(fmt::format("infiniband_{}_uplink_info", name), Form::gauge,
                     "What is at the other end of a port's cable"))
    return;
  for_each_node(scrape, switches, [&](const Scraped& subnet, const sm::Node& node) {
    const auto guid = fmt::format("{}", node.guid());
    for (std::size_t p = 1; p < node.ports.size(); ++p) {
      const auto& peer = node.ports[p].peer;
      const auto* other = peer && node.ports[p].linked() ? subnet.now()->subnet->find(peer->node) : nullptr;
      if (other == nullptr) continue;
      const auto port = fmt::format("{}", p), there = fmt::format("{}", peer->port.value());
      const auto other_guid = fmt::format("{}", other->guid());
      const auto lid = lid_text(*other, peer->port.value());
      scrape.out.sample({{subnet.label, subnet.view->name},
                         {"guid", guid},
                         {"port", port},
                         {name, node.description},
                         {"uplink", other->description},
                         {"uplink_guid", other_guid},
                         {"uplink_type", kind_of(*other)},
                         {"uplink_port", there},
                         {"uplink_lid", lid}},
                        1);
    }
  });
}

/// Of switches by port; of adapters, as the exporter has it, by node: that of the first port with a link.
void write_rates(Scrape& scrape, bool switches, double Rate::* member, std::string_view what,
                 std::string_view help) {
  const auto name = switches ? fmt::format("infiniband_switch_port_{}_bytes_per_second", what)
                             : fmt::format("infiniband_hca_{}_bytes_per_second", what);
  if (!scrape.family(name, Form::gauge, help)) return;
  for_each_node(scrape, switches, [&](const Scraped& subnet, const sm::Node& node) {
    const auto guid = fmt::format("{}", node.guid());
    for (std::size_t p = 1; p < node.ports.size(); ++p) {
      const auto rate = port_rate(node.ports[p]);
      if (!rate) continue;
      const auto port = fmt::format("{}", p);
      scrape.out.sample({{subnet.label, subnet.view->name}, {"guid", guid}, {switches ? "port" : "", port}},
                        (*rate).*member);
      if (!switches) break;
    }
  });
}

template <bool switches>
void write_data_rates(Scrape& scrape) {
  write_rates(scrape, switches, &Rate::data, "rate", "Bytes a second that the link carries");
}
template <bool switches>
void write_raw_rates(Scrape& scrape) {
  write_rates(scrape, switches, &Rate::raw, "raw_rate",
              "Bytes a second on the wire, with the code's overhead");
}

constexpr std::array<Families, 9> kAllFamilies{write_own_families,
                                               [](Scrape& scrape) { write_info(scrape, true); },
                                               [](Scrape& scrape) { write_uplinks(scrape, true); },
                                               write_data_rates<true>,
                                               write_raw_rates<true>,
                                               [](Scrape& scrape) { write_info(scrape, false); },
                                               [](Scrape& scrape) { write_uplinks(scrape, false); },
                                               write_data_rates<false>,
                                               write_raw_rates<false>};

}  // namespace

Answer get_metrics(const Question& question, Backend& backend) {
  return scrape(question, backend, kAllFamilies);
}

}  // namespace smd::api
