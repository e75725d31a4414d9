// SPDX-License-Identifier: Apache-2.0
// /metrics/guilbaults: what the SM knows, by the names and labels of
// github.com/guilbaults/infiniband-exporter.
#include <fmt/format.h>

#include <array>

#include "smd/api/handlers.h"
#include "smd/api/scrape.h"
#include "smd/sweep/end_ports.h"

namespace smd::api {
namespace {

/// Of each port with an Active link, from both ends, as there. The port GUIDs are as that exporter has them
/// from ibqueryerrors: no leading zeros on our side of the link.
void write_link_gauge(Scrape& scrape, std::string_view name, std::string_view help,
                      double (*value)(const Rate&)) {
  if (!scrape.family(name, Exposition::Kind::gauge, help)) return;
  scrape.for_each_node([&](const Scraped& subnet, const sm::Node& node) {
    for (std::size_t p = 1; p < node.ports.size(); ++p) {
      const auto& port = node.ports[p];
      const auto rate = port_rate(port);
      const auto* peer = port.peer ? subnet.now()->subnet->find(port.peer->node) : nullptr;
      if (!rate || peer == nullptr || port.info.port_state != PortState::active) continue;
      const PortNum number{static_cast<std::uint8_t>(p)};
      const auto local = fmt::format("0x{:x}", sm::port_guid(node, number).value());
      const auto remote = fmt::format("{}", sm::port_guid(*peer, port.peer->port));
      const auto at = fmt::format("{}", p), there = fmt::format("{}", port.peer->port.value());
      scrape.out.sample({{subnet.label, subnet.view->name},
                         {"component", node.is_switch() ? "switch" : "ca"},
                         {"local_name", node.description},
                         {"local_guid", local},
                         {"local_port", at},
                         {"remote_guid", remote},
                         {"remote_port", there},
                         {"remote_name", peer->description}},
                        value(*rate));
    }
  });
}

constexpr std::array<Families, 3> kGuilbaults{
    [](Scrape& scrape) {
      write_link_gauge(scrape, "infiniband_speed", "Link current speed per lane, in Gb/s",
                       [](const Rate& rate) { return rate.lane; });
    },
    [](Scrape& scrape) {
      write_link_gauge(scrape, "infiniband_width", "Lanes per link",
                       [](const Rate& rate) { return static_cast<double>(rate.lanes); });
    },
    [](Scrape& scrape) {
      // Nothing is queried for it: what the last sweep has found is whole, or there is none.
      if (!scrape.out.family("infiniband_scrape_ok", Exposition::Kind::gauge,
                             "1 where the fabric has been read, else 0"))
        return;
      for (const auto& subnet : scrape.subnets)
        scrape.out.sample({{subnet.label, subnet.view->name}}, subnet.now() != nullptr ? 1 : 0);
    }};

}  // namespace

Answer get_guilbaults(const Question& question, Backend& backend) {
  return scrape(question, backend, kGuilbaults);
}

}  // namespace smd::api
