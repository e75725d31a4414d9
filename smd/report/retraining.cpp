// SPDX-License-Identifier: Apache-2.0
#include "smd/report/retraining.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

namespace smd::sm::inline reports {
namespace {

constexpr std::size_t kNamed = 8;

std::string end_text(const Subnet& subnet, const LinkEnd& end) {
  const auto* node = subnet.find(end.node);
  return node != nullptr ? port_text(*node, end.port) : fmt::format("{} port {}", end.node, end.port);
}

/// `"leaf000" port 5 - "spine000" port 1; "leaf001" port 5 - ...; and 3 more`
std::string links_text(const Subnet& subnet, const std::vector<Retraining::Link>& links) {
  std::string text;
  for (std::size_t i = 0; i < std::min(kNamed, links.size()); ++i) {
    text += fmt::format("{}{} - {}", i == 0 ? "" : "; ", end_text(subnet, links[i].end),
                        end_text(subnet, links[i].peer));
  }
  if (links.size() > kNamed) text += fmt::format("; and {} more", links.size() - kNamed);
  return text;
}

void log_outside(const log::Log& log, const Subnet& subnet, const std::vector<Retraining::Link>& links,
                 std::string_view action) {
  if (links.empty()) return;
  log.warn("links.outside_limits")
      .kv("links", links.size())
      .kv("ports", links_text(subnet, links))
      .kv("reason", "they came up faster or wider than [links] speed and width allow")
      .kv("action", action)
      .always();
}

}  // namespace

void log_retraining(const log::Log& log, const Subnet& subnet, const std::vector<Retraining::Link>& step,
                    std::size_t wanted) {
  log.info("links.retrain")
      .kv("links", step.size())
      .kv("left", wanted - std::min(wanted, step.size()))
      .kv("ports", links_text(subnet, step))
      .always();
}

void log_outside_limits(const log::Log& log, const Subnet& subnet, const std::vector<Retraining::Link>& again,
                        const std::vector<Retraining::Link>& left) {
  log_outside(log, subnet, again, "taken down once more");
  log_outside(log, subnet, left, "left as they are until the configuration is read again");
}

void log_still_down(const log::Log& log, const Subnet& subnet, const std::vector<Retraining::Link>& links) {
  log.error("links.retrain_stopped")
      .kv("links", links.size())
      .kv("ports", links_text(subnet, links))
      .kv("reason", fmt::format("they were taken down and did not come up within {} s",
                                std::chrono::duration_cast<std::chrono::seconds>(Retraining::kLimit).count()))
      .kv("action", "no further link is taken down; check these cables, then reload")
      .always();
}

void log_not_retrained(const log::Log& log, const Subnet& subnet, const std::vector<PortItem>& links) {
  const auto& first = links.front();
  log.warn("links.retrain_stopped")
      .kv("links", links.size())
      .kv("first", port_text(*subnet.nodes[first.node], first.port))
      .kv("reason",
          "other links of these switches are down: a switch would lose its last link to another one")
      .kv("action", "no further link is taken down; mend the links that are down, then reload")
      .always();
}

}  // namespace smd::sm::inline reports
