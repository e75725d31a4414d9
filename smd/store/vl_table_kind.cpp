// SPDX-License-Identifier: Apache-2.0
#include "smd/store/vl_table_kind.h"

#include <fmt/format.h>

#include <charconv>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "mad/wire/codec.h"
#include "mad/wire/tables.h"
#include "smd/store/sql_values.h"

namespace smd::store {
namespace {

using sm::Stored;

template <class A>
std::string hex_of(const A& block) {
  std::array<std::uint8_t, A::kBytes> bytes{};
  wire::encode(block, bytes);
  std::string text;
  for (const auto byte : bytes) text += fmt::format("{:02x}", byte);
  text.resize(text.find_last_not_of('0') + 1);
  return text;
}

template <class A>
std::string blocks_text(const sm::HeldPtr<A>& table) {
  std::string text;
  for (std::size_t block = 0; table && block < table->row.size(); ++block) {
    if (!table->known.test(block)) continue;
    const auto first = block;
    const auto same = [&](std::size_t next) {
      return next < table->row.size() && table->known.test(next) && table->row[next] == table->row[first];
    };
    while (same(block + 1)) ++block;
    text += fmt::format("{}{}{}:{}", text.empty() ? "" : ",", first,
                        block != first ? fmt::format("-{}", block) : "", hex_of(table->row[first]));
  }
  return text;
}

/// Takes the text up to `end`, which is taken too; all of it where there is no `end`.
std::string_view take_until(std::string_view& text, char end) {
  const auto at = text.find(end);
  const auto part = text.substr(0, at);
  text.remove_prefix(at == std::string_view::npos ? text.size() : at + 1);
  return part;
}

template <class A>
std::optional<A> block_of(std::string_view hex) {
  std::array<std::uint8_t, A::kBytes> bytes{};
  if (hex.size() > 2 * bytes.size()) return std::nullopt;
  for (std::size_t i = 0; i < hex.size(); ++i) {
    std::uint8_t digit = 0;
    const auto* at = hex.data() + i;
    if (std::from_chars(at, at + 1, digit, 16).ptr != at + 1) return std::nullopt;
    bytes[i / 2] = static_cast<std::uint8_t>(bytes[i / 2] | (i % 2 == 0 ? digit << 4U : digit));
  }
  return wire::decode<A>(bytes);
}

/// An empty text is no table.
template <class A>
bool read_blocks(const Cell& cell, sm::HeldPtr<A>& into) {
  const auto* text = std::get_if<std::string>(&cell);
  if (text == nullptr) return false;
  sm::HeldBlocks<A> table;
  for (std::string_view rest = *text; !rest.empty();) {
    auto hex = take_until(rest, ',');
    auto numbers = take_until(hex, ':');
    const auto first = base::parse_port(take_until(numbers, '-'));
    const auto last = numbers.empty() ? first : base::parse_port(numbers);
    const auto block = block_of<A>(hex);
    if (!first || !last || !block || *last < *first) return false;
    if (table.row.size() <= last->value()) table.row.resize(last->value() + 1U);
    for (std::size_t i = first->value(); i <= last->value(); ++i) {
      table.row[i] = *block;
      table.known.set(i), table.asked.set(i);
    }
  }
  if (!table.row.empty()) into = std::make_shared<const sm::HeldBlocks<A>>(std::move(table));
  return true;
}

/// Consecutive ports with the same tables.
using Runs = std::map<Cells, Cells>;

void add_runs(Guid node, const Stored::NodeVlTables& ports, Runs& runs) {
  for (auto first = ports.begin(); first != ports.end();) {
    auto last = first;
    const auto next = [&] { return std::next(last); };
    while (next() != ports.end() && next()->port.value() == last->port.value() + 1U &&
           same_blocks(next()->sl_to_vl, first->sl_to_vl) &&
           same_blocks(next()->arbitration, first->arbitration))
      ++last;
    runs.emplace(
        Cells{guid(node), number(first->port.value())},
        Cells{number(last->port.value()), blocks_text(first->sl_to_vl), blocks_text(first->arbitration)});
    first = std::next(last);
  }
}

}  // namespace

void vl_tables_difference(const Stored& before, const Stored& now, const ChangeSink& sink) {
  Runs old, rows;  // of nodes that differ
  for (const auto& [node, ports] : before.vl_tables) {
    const auto same = now.vl_tables.find(node);
    if (same == now.vl_tables.end() || same->second != ports) add_runs(node, ports, old);
  }
  for (const auto& [node, ports] : now.vl_tables) {
    const auto same = before.vl_tables.find(node);
    if (same == before.vl_tables.end() || same->second != ports) add_runs(node, ports, rows);
  }
  for (const auto& [key, value] : old) {
    if (!rows.contains(key)) sink({key, std::nullopt});
  }
  for (const auto& [key, value] : rows) {
    const auto at = old.find(key);
    if (at == old.end() || at->second != value) sink({key, value});
  }
}

bool decode_vl_tables(const Cells& row, Stored& into) {
  Guid node;
  PortNum first, last;
  Stored::PortVlTables tables;
  const bool good = read_guid(row[0], node) && read_port(row[1], first) && read_port(row[2], last) &&
                    first <= last && read_blocks(row[3], tables.sl_to_vl) &&
                    read_blocks(row[4], tables.arbitration);
  if (!good) return false;
  auto& ports = into.vl_tables[node];
  for (unsigned port = first.value(); port <= last.value(); ++port) {
    tables.port = PortNum{static_cast<std::uint8_t>(port)};
    if (!ports.empty() && ports.back().port >= tables.port) return false;
    ports.push_back(tables);
  }
  return true;
}

}  // namespace smd::store
