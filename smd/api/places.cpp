// SPDX-License-Identifier: Apache-2.0
#include "smd/api/places.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <vector>

#include "mad/base/escaped.h"
#include "mad/base/parse.h"
#include "smd/api/tenant.h"
#include "smd/report/description.h"
#include "smd/report/m_keys.h"
#include "smd/sweep/unresponsive.h"

namespace smd::api {
namespace {

struct Named {
  Guid guid{};
  Lid lid{};
};

/// A port has 2^LMC LIDs from its base LID on.
bool has_lid(const sm::Port& port, Lid lid) {
  const unsigned base = port.info.lid.value(), count = 1U << port.info.lmc;
  return base != 0 && lid.value() >= base && lid.value() < base + count;
}

/// The port's base LID, a switch's that of its port 0; or the one of its LIDs that was named.
Lid port_lid(const sm::Node& node, PortNum port, const Named& named_by) {
  const auto index = node.is_switch() ? std::size_t{0} : std::size_t{port.value()};
  if (index >= node.ports.size()) return {};
  return has_lid(node.ports[index], named_by.lid) ? named_by.lid : node.ports[index].info.lid;
}

/// One of its ports is there for the caller.
bool is_there(OnlyPorts only, const sm::Node& node) {
  if (only == nullptr) return true;
  const auto first = only->lower_bound({node.guid(), PortNum{0}});
  return first != only->end() && first->node == node.guid();
}

/// By its own GUID, or a GUID or LID of a port that is there for the caller.
bool has(const sm::Node& node, const Named& named_by, PortNum* at, OnlyPorts only) {
  if (named_by.guid != Guid{} && node.guid() == named_by.guid) return true;
  // Most words are names: of a large fabric the ports are megabytes.
  if (named_by.guid == Guid{} && named_by.lid == Lid{}) return false;
  // A switch's ports have its own GUID, and port 0 alone has LIDs.
  const auto count = node.is_switch() ? std::min<std::size_t>(1, node.ports.size()) : node.ports.size();
  for (std::size_t p = 0; p < count; ++p) {
    const PortNum port{static_cast<std::uint8_t>(p)};
    if (!sees(only, node, port)) continue;
    const bool mine = named_by.guid != Guid{} && node.ports[p].guid == named_by.guid;
    const bool lid = sm::is_end_port(node, port) && has_lid(node.ports[p], named_by.lid);
    if (mine || lid) return *at = port, true;
  }
  return false;
}

}  // namespace

bool is_written_as(const std::string& name, const std::string& words) {
  if (name == words || sm::printable(name) == base::kept_name(words)) return true;
  return words.find('\\') != std::string::npos && base::escaped(name) == words;
}

namespace {

/// By its name, or as `smd nodes` prints a name with control characters.
bool is_named(const sm::Node& node, const std::string& words) {
  if (node.description == words) return true;
  const bool is_escaped = words.find('\\') != std::string::npos;
  if (!is_escaped && node.reported != words) return false;
  const auto& raw = sm::raw_name(node);
  return raw == words || (is_escaped && base::escaped(raw) == words);
}

/// One that has stopped to answer is no node of the fabric, but known where it is.
Answer no_such_node(const sm::Subnet& subnet, const std::string& words, OnlyPorts only) {
  const auto guid = base::parse_guid(words);
  if (only == nullptr) {
    for (const auto& silent : sm::silent_nodes(subnet)) {
      const auto& lost = *silent.first;
      const bool meant =
          (guid && lost.node == *guid) || (!words.empty() && is_written_as(lost.description, words));
      if (!meant) continue;
      return error_of(404, "no_such_node",
                      fmt::format("{} does not answer: behind \"{}\" port {}: {}{}", words,
                                  sm::description_of(subnet, lost.behind.node), lost.behind.port, lost.reason,
                                  sm::silence_hint(lost)));
    }
  }
  return error_of(404, "no_such_node", fmt::format("no node {} is there", words));
}

Named named(const std::string& words) {
  Named named_by;
  if (const auto guid = base::parse_guid(words)) named_by.guid = *guid;
  const bool decimal = words.find_first_not_of("0123456789") == std::string::npos;
  if (const auto lid = decimal ? base::parse_number(words, 0xFFFF) : std::nullopt)
    named_by.lid = Lid{static_cast<std::uint16_t>(*lid)};
  return named_by;
}

/// `at` is set where the words name a port of it.
std::expected<const sm::Node*, Answer> find_by_words(const sm::Subnet& subnet, const std::string& words,
                                                     PortNum* at, OnlyPorts only = nullptr) {
  const auto named_by = named(words);
  const auto* of_guid = named_by.guid != Guid{} ? subnet.find(named_by.guid) : nullptr;
  if (of_guid != nullptr && is_there(only, *of_guid)) return of_guid;
  std::vector<const sm::Node*> alike;
  for (const auto& node : subnet.nodes) {
    if (!is_there(only, *node)) continue;
    if (has(*node, named_by, at, only)) return node.get();
    if (is_named(*node, words)) alike.push_back(node.get());
  }
  if (alike.size() == 1) return alike.front();
  if (!alike.empty())
    return std::unexpected(
        error_of(409, "ambiguous", fmt::format("{} nodes are named {}: give the GUID", alike.size(), words)));
  return std::unexpected(no_such_node(subnet, words, only));
}

}  // namespace

std::expected<const sm::Node*, Answer> find_node(const sm::Subnet& subnet, const std::string& words,
                                                 OnlyPorts only) {
  PortNum ignored;
  return find_by_words(subnet, words, &ignored, only);
}

std::expected<EndPort, Answer> find_end_port(const sm::Subnet& subnet, const std::string& words,
                                             OnlyPorts only) {
  PortNum port;
  auto node = find_by_words(subnet, words, &port, only);
  const auto colon = words.rfind(':');
  if (!node && colon != std::string::npos) {
    const auto number = base::parse_number(words.substr(colon + 1), 254);
    if (number && *number > 0) {
      node = find_by_words(subnet, words.substr(0, colon), &port, only);
      port = PortNum{static_cast<std::uint8_t>(*number)};
    }
  }
  if (!node) return std::unexpected(node.error());
  const auto& found = **node;
  if (found.is_switch() && !sees(only, found, PortNum{0}))
    return std::unexpected(no_such_node(subnet, words, only));
  if (found.is_switch()) return EndPort{&found, PortNum{0}, port_lid(found, PortNum{0}, named(words))};
  for (std::size_t p = 1; p < found.ports.size() && port.value() == 0; ++p) {
    const PortNum one{static_cast<std::uint8_t>(p)};
    if (found.ports[p].linked() && sees(only, found, one)) port = one;
  }
  if (port.value() != 0 && !sees(only, found, port))
    return std::unexpected(no_such_node(subnet, words, only));
  if (port.value() == 0 || port.value() >= found.ports.size())
    return std::unexpected(
        error_of(404, "no_such_port", fmt::format("{} has no such port with a link", words)));
  return EndPort{&found, port, port_lid(found, port, named(words))};
}

}  // namespace smd::api
