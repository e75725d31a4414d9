// SPDX-License-Identifier: Apache-2.0
#include "smd/cli/accepted.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "mad/base/error_list.h"
#include "mad/base/lines.h"
#include "mad/base/node_finder.h"
#include "mad/base/parse.h"
#include "mad/base/spec/args.h"

namespace smd::cli {
namespace {

using routing::CablingFault;

std::string all_kinds() {
  std::string text;
  for (auto code = 0U; code <= static_cast<unsigned>(CablingFault::differs); ++code)
    text += fmt::format("{}{}", text.empty() ? "" : ", ", to_string(static_cast<CablingFault>(code)));
  return text;
}

std::optional<CablingFault> kind_of(std::string_view name) {
  for (auto code = 0U; code <= static_cast<unsigned>(CablingFault::differs); ++code) {
    if (to_string(static_cast<CablingFault>(code)) == name) return static_cast<CablingFault>(code);
  }
  return std::nullopt;
}

/// Takes a word or what stands in double quotes; nothing if the closing quote is missing.
std::optional<std::string_view> take_name(std::string_view& text) {
  if (!text.starts_with('"')) return base::take_word(text);
  const auto end = text.find('"', 1);
  if (end == std::string_view::npos) return std::nullopt;
  const auto name = text.substr(1, end - 1);
  text = base::trim(text.substr(end + 1));
  return name;
}

/// The line's meaning, or what is wrong with it.
std::expected<Accepted, std::string> read_line(const base::Fabric& fabric, const base::NodeFinder& finder,
                                               std::string_view line) {
  constexpr std::string_view kNeeded = "'KIND NODE' or 'KIND NODE PORT' is needed";
  const auto word = base::take_word(line);
  const auto kind = kind_of(word);
  if (!kind) return std::unexpected(fmt::format("'{}': not a kind of finding ({})", word, all_kinds()));
  const auto name = take_name(line);
  if (!name) return std::unexpected(fmt::format("{}: no closing quotation mark", line));
  if (name->empty()) return std::unexpected(fmt::format("{}: {}", word, kNeeded));
  const auto node = finder.find(*name);
  if (!node) return std::unexpected(node.error());
  const auto& found = fabric.nodes[*node];
  Accepted accepted{0, *kind, {found.guid, PortNum{}}};
  if (line.empty() || line.starts_with('#')) return accepted;
  const auto port_text = base::take_word(line);
  const auto port = base::parse_port(port_text);
  if (!port || port->value() == 0 || port->value() > base::spec::kMostPorts)
    return std::unexpected(
        fmt::format("'{}': not a port: a number from 1 to {}", port_text, base::spec::kMostPorts));
  if (!line.empty() && !line.starts_with('#'))
    return std::unexpected(fmt::format("'{}': nothing may follow the port", line));
  accepted.port.port = *port;
  return accepted;
}

bool accepts(const Accepted& accepted, const routing::Finding& finding) {
  return accepted.kind == finding.kind &&
         std::ranges::any_of(finding.ports, [&](const routing::PortName& at) {
           return at.node == accepted.port.node &&
                  (accepted.port.port == PortNum{} || at.port == PortNum{} || at.port == accepted.port.port);
         });
}

}  // namespace

std::expected<std::vector<Accepted>, base::FileErrors> read_accepted(const base::Fabric& fabric,
                                                                     std::string_view text,
                                                                     const std::string& file_name) {
  const base::NodeFinder finder(fabric);
  base::ErrorList errors;
  std::vector<Accepted> all;
  base::for_each_line(text, [&](unsigned number, std::string_view line) {
    line = base::trim(line);
    if (line.empty() || line.starts_with('#')) return;
    auto accepted = read_line(fabric, finder, line);
    if (!accepted) {
      errors.add(file_name, number, std::move(accepted.error()));
      return;
    }
    accepted->line = number;
    all.push_back(*accepted);
  });
  if (!errors.empty()) return std::unexpected(errors.take(file_name));
  return all;
}

std::size_t take_accepted(const std::vector<Accepted>& accepted, const std::string& file_name,
                          routing::Health& health, std::vector<std::string>& notes) {
  for (const auto& line : accepted) {
    const bool used = std::ranges::any_of(
        health.findings, [&](const routing::Finding& finding) { return accepts(line, finding); });
    if (!used) notes.push_back(fmt::format("{}:{}: accepts nothing: no such finding", file_name, line.line));
  }
  return std::erase_if(health.findings, [&](const routing::Finding& finding) {
    return std::ranges::any_of(accepted, [&](const Accepted& line) { return accepts(line, finding); });
  });
}

}  // namespace smd::cli
