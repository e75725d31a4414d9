// SPDX-License-Identifier: Apache-2.0
#include "smd/report/changes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

#include "smd/report/ports.h"

namespace smd::sm::inline reports {
namespace {

/// Lines of one event that a sweep writes at most.
constexpr std::size_t kMostLines = 20;
/// As many links of one switch are one line.
constexpr std::size_t kOfOneSwitch = 8;
/// Names in a line.
constexpr std::size_t kMostNames = 40;

std::string name_of(const Inventory& known, Guid node) {
  const auto* found = known.find(node);
  return found != nullptr ? found->name : std::string{};
}

/// "1-3,7".
std::string ranges_text(const std::set<PortNum>& ports) {
  std::string text;
  for (auto at = ports.begin(); at != ports.end();) {
    const unsigned first = at->value();
    unsigned last = first;
    for (++at; at != ports.end() && at->value() == last + 1; ++at) last = at->value();
    fmt::format_to(std::back_inserter(text), "{}{}", text.empty() ? "" : ",", first);
    if (last != first) fmt::format_to(std::back_inserter(text), "-{}", last);
  }
  return text;
}

/// The LID by which the node was, or is, reached; 0 where that is not known.
Lid lid_of(const Subnet* subnet, Guid guid) {
  const auto* node = subnet != nullptr ? subnet->find(guid) : nullptr;
  if (node == nullptr) return {};
  if (node->is_switch()) return node->ports.empty() ? Lid{} : node->ports[0].info.lid;
  for (std::size_t p = 1; p < node->ports.size(); ++p) {
    if (node->ports[p].linked() && node->ports[p].info.lid.unicast()) return node->ports[p].info.lid;
  }
  return {};
}

/// The GUID of its first port that has had a link; 0 where that is not known.
Guid port_guid_of(const Subnet* subnet, Guid guid) {
  const auto* node = subnet != nullptr ? subnet->find(guid) : nullptr;
  if (node == nullptr || node->is_switch()) return {};
  for (std::size_t p = 1; p < node->ports.size(); ++p) {
    if (node->ports[p].linked()) return node->ports[p].guid;
  }
  return {};
}

/// The port that leads to the node; nothing where that is not known.
std::optional<LinkEnd> leads_to(const Subnet* subnet, Guid guid) {
  const auto* node = subnet != nullptr ? subnet->find(guid) : nullptr;
  if (node == nullptr) return std::nullopt;
  for (const auto& port : node->ports) {
    if (port.peer) return LinkEnd{port.peer->node, port.peer->port};
  }
  return std::nullopt;
}

/// Lines about links of one event.
class LinkLines {
 public:
  LinkLines(const log::Log& log, const ChangeContext& context, std::string_view event, bool warns)
      : log_(log), in_(context), event_(event), warns_(warns) {}

  void write(const std::vector<LinkChange>& changes) {
    std::map<Guid, std::vector<const LinkChange*>> by_switch;
    for (const auto& change : changes) {
      by_switch[change.end.node].push_back(&change);
      const auto* peer = in_.known.find(change.peer.node);
      if (peer != nullptr && peer->is_switch()) by_switch[change.peer.node].push_back(&change);
    }
    std::vector<std::pair<Guid, const std::vector<const LinkChange*>*>> most;
    for (const auto& [guid, list] : by_switch) {
      if (list.size() >= kOfOneSwitch) most.emplace_back(guid, &list);
    }
    std::ranges::sort(most, [](const auto& a, const auto& b) {
      return a.second->size() != b.second->size() ? a.second->size() > b.second->size() : a.first < b.first;
    });
    for (const auto& [guid, list] : most) of_switch(guid, *list);
    for (const auto& change : changes) {
      if (told_.contains(&change)) continue;
      if (lines_ < kMostLines) {
        ++lines_;
        say(change);
      } else {
        ++left_;
        say_apart(change);
      }
    }
    if (left_ == 0) return;
    begin().kv("links", left_).kv("cause", in_.cause).kv("reason", "more than a log takes at once").always();
  }

 private:
  log::Event begin() const { return warns_ ? log_.warn(event_) : log_.info(event_); }

  void say(const LinkChange& change) const {
    auto&& event = begin();
    describe(event, change);
  }

  /// For who follows this link: the log has one line about many.
  void say_apart(const LinkChange& change) const {
    auto&& event = begin();
    describe(event, change);
    event.event_only();
  }

  void describe(log::Event& event, const LinkChange& change) const {
    event.port(change.end.node, name_of(in_.known, change.end.node), change.end.port)
        .kv("peer_guid", change.peer.node)
        .kv("peer_name", name_of(in_.known, change.peer.node))
        .kv("peer_port", change.peer.port)
        .kv("rate", to_string(change.rate));
    if (event_ == "link.degraded") event.kv("best", to_string(change.best));
    if (event_ != "link.degraded" && change.was != LinkRate{} && change.was != change.rate)
      event.kv("was", to_string(change.was));
    if (change.phys == PhysState::disabled) event.kv("physical_state", to_string(change.phys));
    event.kv("cause", in_.cause);
    const auto lasted = change.since != 0 ? duration_text(in_.time - change.since) : std::string{};
    if (event_ == "link.down" && !lasted.empty()) event.kv("up_for", lasted);
    if (event_ == "link.up" && change.bounced) event.kv("reason", "it was down between two looks");
    if (event_ == "link.up" && !change.bounced && !lasted.empty()) event.kv("down_for", lasted);
    // Each change is a line of its own; how many there may be in a minute is the same for all of them.
    event.subject(fmt::format("{} {} {} {}", change.end.node, change.end.port, in_.time, change.bounced));
  }

  void of_switch(Guid guid, const std::vector<const LinkChange*>& list) {
    std::set<PortNum> ports;
    std::set<Guid> peers;
    std::vector<const LinkChange*> mine;
    for (const auto* change : list) {
      if (told_.contains(change)) continue;
      const bool here = change->end.node == guid;
      ports.insert(here ? change->end.port : change->peer.port);
      peers.insert(here ? change->peer.node : change->end.node);
      mine.push_back(change);
    }
    if (mine.size() < kOfOneSwitch) return;
    told_.insert(mine.begin(), mine.end());
    for (const auto* change : mine) say_apart(*change);
    if (lines_ == kMostLines) {
      left_ += mine.size();
      return;
    }
    ++lines_;
    begin()
        .node(guid, name_of(in_.known, guid))
        .kv("links", mine.size())
        .kv("ports", ranges_text(ports))
        .kv("peers", names_text({peers.begin(), peers.end()}, in_.known))
        .kv("cause", in_.cause)
        .subject(fmt::format("{} {}", guid, in_.time));
  }

  const log::Log& log_;
  const ChangeContext& in_;
  std::string_view event_;
  bool warns_;
  std::set<const LinkChange*> told_;
  std::size_t lines_ = 0, left_ = 0;
};

struct NodeEvent {
  std::string_view name;
  bool warns = false;
  std::string_view since;  ///< the key of how long it was gone
};

void describe_node(log::Event& event, const NodeEvent& kind, const NodeChange& change,
                   const ChangeContext& context) {
  const bool is_gone = kind.name == "node.gone";
  event.node(change.node, change.name).kv("type", change.type);
  const auto lid = lid_of(is_gone ? context.before : &context.now, change.node);
  if (lid.unicast()) event.kv("lid", lid);
  if (const auto port = is_gone ? port_guid_of(context.before, change.node) : Guid{}; port != Guid{})
    event.kv("port_guid", port);
  if (change.behind && change.type != NodeType::switch_) {
    event.kv("behind_guid", change.behind->node)
        .kv("behind_name", name_of(context.known, change.behind->node))
        .kv("behind_port", change.behind->port);
  }
  if (change.links != 1 || change.type == NodeType::switch_) event.kv("links", change.links);
  if (!change.hosts.empty()) {
    event.kv("hosts", change.hosts.size()).kv("host_names", names_text(change.hosts, context.known));
  }
  event.kv("cause", context.cause);
  if (change.since != 0) event.kv(kind.since, duration_text(context.time - change.since));
  if (kind.name == "node.rebooted")
    event.kv("reason",
             change.type == NodeType::switch_ ? "its LID or its tables are lost" : "its LID is lost");
  event.subject(fmt::format("{} {}", change.node, context.time));
}

/// `apart`: for who follows this node, beside a line about many.
void log_node(const log::Log& log, const NodeEvent& kind, const NodeChange& change,
              const ChangeContext& context, bool apart) {
  {
    auto&& event = kind.warns ? log.warn(kind.name) : log.info(kind.name);
    describe_node(event, kind, change, context);
    if (apart) event.event_only();
  }
  const auto* subnet = kind.name == "node.gone" ? context.before : &context.now;
  for (const auto guid : change.hosts) {
    const auto* host = context.known.find(guid);
    if (host == nullptr) continue;
    const NodeChange one{.node = guid,
                         .type = host->type,
                         .name = host->name,
                         .behind = leads_to(subnet, guid),
                         .links = 1,
                         .since = change.since};
    log_node(log, kind, one, context, true);
  }
}

void log_nodes(const log::Log& log, const NodeEvent& kind, const std::vector<NodeChange>& changes,
               const ChangeContext& context) {
  // Switches first: what hangs on them is more.
  std::vector<const NodeChange*> sorted;
  for (const bool switches_now : {true, false}) {
    for (const auto& change : changes) {
      if ((change.type == NodeType::switch_) == switches_now) sorted.push_back(&change);
    }
  }
  std::size_t switches = 0, hosts = 0;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    log_node(log, kind, *sorted[i], context, i >= kMostLines);
    if (i < kMostLines) continue;
    ++(sorted[i]->type == NodeType::switch_ ? switches : hosts);
    hosts += sorted[i]->hosts.size();
  }
  if (switches + hosts == 0) return;
  auto&& event = kind.warns ? log.warn(kind.name) : log.info(kind.name);
  event.kv("nodes", switches + hosts)
      .kv("switches", switches)
      .kv("hosts", hosts)
      .kv("cause", context.cause)
      .kv("reason", "more than a log takes at once")
      .always();
}

}  // namespace

void log_changes(const log::Log& log, const Changes& changes, const ChangeContext& context) {
  const auto links = [&](std::string_view event, const std::vector<LinkChange>& list, bool warns) {
    LinkLines(log, context, event, warns).write(list);
  };
  links("link.down", changes.down, true);
  log_nodes(log, {"node.gone", true, ""}, changes.gone, context);
  links("link.up", changes.up, false);
  log_nodes(log, {"node.new", false, "gone_for"}, changes.fresh, context);
  std::vector<NodeChange> switches, hosts;
  for (const auto& change : changes.rebooted)
    (change.type == NodeType::switch_ ? switches : hosts).push_back(change);
  log_nodes(log, {"node.rebooted", true, "down_for"}, switches, context);
  log_nodes(log, {"node.rebooted", false, "down_for"}, hosts, context);
  links("link.degraded", changes.degraded, true);
}

void log_flapping(const log::Log& log, const std::vector<Flapping>& links, const Inventory& known) {
  for (const auto& link : links) {
    log.warn("link.flapping")
        .port(link.end.node, name_of(known, link.end.node), link.end.port)
        .kv("peer_guid", link.peer.node)
        .kv("peer_name", name_of(known, link.peer.node))
        .kv("peer_port", link.peer.port)
        .kv("downs", link.downs)
        .kv("in", fmt::format("{}s", kFlapWindow.count()))
        .kv("action", "link.down and link.up of it are not written until it is quiet for as long");
  }
}

std::string summary_of(const Changes& changes, const Inventory& known) {
  std::string text;
  std::size_t more = 0;
  const auto link = [&](std::string_view event, const std::vector<LinkChange>& list) {
    for (const auto& change : list) {
      if (!text.empty()) ++more;
      if (text.empty())
        text = fmt::format("{} \"{}\" port {}", event, name_of(known, change.end.node), change.end.port);
    }
  };
  const auto node = [&](std::string_view event, const std::vector<NodeChange>& list) {
    for (const auto& change : list) {
      if (!text.empty()) ++more;
      if (text.empty()) text = fmt::format("{} \"{}\"", event, change.name);
    }
  };
  node("node.gone", changes.gone);
  link("link.down", changes.down);
  node("node.rebooted", changes.rebooted);
  node("node.new", changes.fresh);
  link("link.up", changes.up);
  link("link.degraded", changes.degraded);
  return more == 0 ? text : fmt::format("{}, and {} more", text, more);
}

std::string duration_text(UnixTime seconds) {
  seconds = std::max<UnixTime>(seconds, 0);
  constexpr std::array<std::pair<UnixTime, char>, 4> kUnits{
      {{86'400, 'd'}, {3'600, 'h'}, {60, 'm'}, {1, 's'}}};
  for (std::size_t i = 0; i < kUnits.size(); ++i) {
    const auto [size, unit] = kUnits[i];
    if (seconds < size && unit != 's') continue;
    auto text = fmt::format("{}{}", seconds / size, unit);
    const auto rest = seconds % size;
    if (i + 1 < kUnits.size() && rest / kUnits[i + 1].first != 0)
      text += fmt::format(" {}{}", rest / kUnits[i + 1].first, kUnits[i + 1].second);
    return text;
  }
  return "0s";
}

std::string names_text(const std::vector<Guid>& nodes, const Inventory& known) {
  std::string text;
  for (std::size_t i = 0; i < std::min(nodes.size(), kMostNames); ++i) {
    const auto name = name_of(known, nodes[i]);
    text += (i == 0 ? "" : ",") + (name.empty() ? fmt::format("{}", nodes[i]) : name);
  }
  if (nodes.size() > kMostNames) text += fmt::format(" and {} more", nodes.size() - kMostNames);
  return text;
}

}  // namespace smd::sm::inline reports
