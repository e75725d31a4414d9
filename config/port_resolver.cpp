// SPDX-License-Identifier: Apache-2.0
// The ports of a fabric that belong to a set.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <set>
#include <tuple>

#include "config/glob.h"
#include "config/port_set.h"
#include "mad/base/escaped.h"
#include "mad/base/parse.h"

namespace smd::config {
namespace {

template <class Ports, class Projection>
std::span<const std::uint32_t> equal_to(std::span<const std::uint32_t> sorted, const Ports& low,
                                        const Ports& high, Projection projection) {
  const auto first = std::ranges::lower_bound(sorted, low, {}, projection);
  const auto last = std::ranges::upper_bound(first, sorted.end(), high, {}, projection);
  return {first, last};
}

class Resolver {
 public:
  Resolver(const PortSetContext& context, const PortIndex& index) : context_(context), index_(index) {}

  /// Groups are followed one after another, not by recursion: a chain of them may be as long as a file.
  void add(const PortSet& first) {
    std::vector<const PortSet*> sets{&first};
    for (std::size_t i = 0; i < sets.size(); ++i) {
      for (const auto& term : sets[i]->terms) {
        if (term.kind == PortTermKind::group) {
          if (!context_.groups.contains(term.name)) {
            pending_.push_back({.term = term, .reason = "there is no group of this name"});
          } else if (const auto* group = enter(term.name)) {
            sets.push_back(group);
          }
        } else if (!add_ports(term)) {
          pending_.push_back({.term = term, .reason = reason(term)});
        }
      }
    }
  }

  ResolvedPorts take() {
    std::ranges::sort(chosen_);
    const auto twice = std::ranges::unique(chosen_);
    chosen_.erase(twice.begin(), twice.end());
    return {.ports = std::move(chosen_), .pending = std::move(pending_)};
  }

 private:
  /// A group that is there, once, although several members may refer to it; null where it was entered.
  const PortSet* enter(const std::string& name) {
    const auto group = context_.groups.find(name);
    if (!entered_.insert(group->first).second) return nullptr;
    return &group->second;
  }

  /// False where the member has no ports in this fabric and names some that may come.
  bool add_ports(const PortTerm& term) {
    switch (term.kind) {
      case PortTermKind::guid:
        return choose(index_.with_guids(term.first, term.first));
      case PortTermKind::guid_range:
        return choose(index_.with_guids(term.first, term.last));
      case PortTermKind::self:
        return context_.self != Guid{} && choose(index_.with_guids(context_.self, context_.self));
      case PortTermKind::node:
      case PortTermKind::node_port:
        return add_nodes(term);
      case PortTermKind::partition:
        return add_partition(term);
      default:
        return add_class(term);
    }
  }

  bool choose(std::span<const std::uint32_t> ports) {
    chosen_.insert(chosen_.end(), ports.begin(), ports.end());
    return !ports.empty();
  }

  template <class Wanted>
  bool choose_if(Wanted wanted) {
    bool any = false;
    const auto ports = index_.ports();
    for (std::uint32_t i = 0; i < ports.size(); ++i) {
      if (!wanted(ports[i])) continue;
      chosen_.push_back(i);
      any = true;
    }
    return any;
  }

  /// Control characters of a name may be written as people are shown them.
  std::span<const std::uint32_t> named(const std::string& name) const {
    const auto ports = index_.of_node(name);
    return ports.empty() ? index_.of_node(base::kept_name(name)) : ports;
  }

  bool add_nodes(const PortTerm& term) {
    const auto meant = [&](const PortView& port) {
      return term.kind == PortTermKind::node ? port.is_end_port() : port.port.value() == term.number;
    };
    if (is_glob(term.name)) {
      const auto pattern = base::kept_name(term.name);
      return choose_if(
          [&](const PortView& port) { return meant(port) && matches_glob(pattern, port.node_name); });
    }
    bool any = false;
    for (const auto port : named(term.name)) {
      if (!meant(index_.ports()[port])) continue;
      chosen_.push_back(port);
      any = true;
    }
    return any;
  }

  bool add_partition(const PortTerm& term) {
    const auto named = context_.partitions.find(term.name);
    const auto key =
        named != context_.partitions.end() ? std::optional(named->second) : base::parse_pkey(term.name);
    return key && choose_if([&](const PortView& port) {
             return std::ranges::any_of(port.partitions,
                                        [&](PKey of_port) { return key->same_partition(of_port); });
           });
  }

  /// Classes of ports may be empty: only a level or a rail that nothing has is worth a word.
  bool add_class(const PortTerm& term) {
    const bool any = choose_if([&](const PortView& port) {
      if (term.kind == PortTermKind::switch_links) return port.to_switch;
      if (!port.is_end_port()) return false;
      // Above the leaves adapters are aggregation nodes of the switches there.
      if (term.kind == PortTermKind::level)
        return port.level == term.number && (term.number == 0 || port.type == NodeType::switch_);
      if (term.kind == PortTermKind::rail) return port.rail == term.number;
      if (term.kind == PortTermKind::cas) return port.type == NodeType::ca;
      if (term.kind == PortTermKind::switches) return port.type == NodeType::switch_;
      if (term.kind == PortTermKind::routers) return port.type == NodeType::router;
      return true;
    });
    return any || (term.kind != PortTermKind::level && term.kind != PortTermKind::rail);
  }

  std::string reason(const PortTerm& term) const {
    if (term.kind == PortTermKind::guid) {
      const auto* node = index_.find_node(term.first);
      return node == nullptr ? std::string(kNoPortHasGuid)
                             : fmt::format("this is the GUID of node {}, not of a port", node->node_name);
    }
    if (term.kind == PortTermKind::self) return "the port of the master SM is not known yet";
    if (term.kind == PortTermKind::guid_range) return std::string(kNoPortInRange);
    if (term.kind == PortTermKind::partition) return "no port is a member of this partition";
    if (term.kind == PortTermKind::level || term.kind == PortTermKind::rail) return "nothing belongs to it";
    if (term.kind == PortTermKind::node_port && !is_glob(term.name) && !named(term.name).empty())
      return "this node has no such port";
    return "no node of the fabric has this name";
  }

  const PortSetContext& context_;
  const PortIndex& index_;
  std::vector<std::uint32_t> chosen_{};  ///< not sorted, some of them more than once
  std::vector<PendingMember> pending_{};
  std::set<std::string, std::less<>> entered_{};
};

}  // namespace

PortIndex::PortIndex(std::span<const PortView> ports)
    : ports_(ports), by_node_(ports.size()), name_hashes_(ports.size()) {
  for (std::uint32_t i = 0; i < ports.size(); ++i) {
    if (ports[i].is_end_port()) by_guid_.push_back(i);
  }
  std::iota(by_node_.begin(), by_node_.end(), 0U);
  std::ranges::sort(by_guid_, {}, [&](std::uint32_t i) { return std::pair(ports_[i].port_guid, i); });
  std::ranges::sort(by_node_, {}, [&](std::uint32_t i) { return std::pair(ports_[i].node_guid, i); });
  // Many members are names: hashes are compared faster than names that begin alike.
  std::vector<std::pair<std::size_t, std::uint32_t>> hashed;
  hashed.reserve(ports.size());
  for (std::uint32_t i = 0; i < ports.size(); ++i)
    hashed.emplace_back(std::hash<std::string_view>{}(ports[i].node_name), i);
  std::ranges::sort(hashed, {}, [&](const auto& one) {
    return std::tuple(one.first, ports_[one.second].node_name, one.second);
  });
  std::ranges::transform(hashed, name_hashes_.begin(), &std::pair<std::size_t, std::uint32_t>::first);
  for (const auto& one : hashed) by_name_.push_back(one.second);
}

std::span<const std::uint32_t> PortIndex::with_guids(Guid first, Guid last) const {
  return equal_to(by_guid_, first, last, [this](std::uint32_t i) { return ports_[i].port_guid; });
}

std::span<const std::uint32_t> PortIndex::of_node(std::string_view name) const {
  const auto hash = std::hash<std::string_view>{}(name);
  const auto same = std::ranges::equal_range(name_hashes_, hash);
  const auto first = static_cast<std::size_t>(same.begin() - name_hashes_.begin());
  return equal_to(std::span(by_name_).subspan(first, same.size()), name, name,
                  [this](std::uint32_t i) { return ports_[i].node_name; });
}

const PortView* PortIndex::find_node(Guid node) const {
  const auto found = equal_to(by_node_, node, node, [this](std::uint32_t i) { return ports_[i].node_guid; });
  return found.empty() ? nullptr : &ports_[found.front()];
}

ResolvedPorts resolve(const PortSet& set, const PortSetContext& context, const PortIndex& index) {
  Resolver resolver(context, index);
  resolver.add(set);
  return resolver.take();
}

}  // namespace smd::config
