// SPDX-License-Identifier: Apache-2.0
#include "smd/store/path_layer_kind.h"

#include <map>
#include <memory>
#include <string>
#include <utility>

#include "smd/store/sql_values.h"

namespace smd::store {
namespace {

using routing::GuidLayers;
using LayersPtr = std::shared_ptr<const GuidLayers>;

constexpr std::string_view kDigits = "0123456789abcdef";

std::string digits_of(const GuidLayers& layers, std::size_t place) {
  std::string text;
  for (std::size_t other = 0; other <= place; ++other) {
    const auto layer = layers.layers.at(place, other);
    text += layer < kDigits.size() ? kDigits[layer] : '-';
  }
  return text;
}

/// By switch; the two may know different switches.
std::map<Guid, std::pair<std::string, std::string>> rows_of(const sm::Stored& stored) {
  std::map<Guid, std::pair<std::string, std::string>> rows;
  const auto add = [&](const LayersPtr& layers, auto member) {
    for (std::size_t i = 0; layers && i < layers->switches.size(); ++i)
      rows[layers->switches[i]].*member = digits_of(*layers, i);
  };
  add(stored.layers_home, &std::pair<std::string, std::string>::first);
  add(stored.layers_now, &std::pair<std::string, std::string>::second);
  return rows;
}

/// Not shared yet while rows are read.
bool read_digits(const Cell& cell, Guid node, LayersPtr& into) {
  const auto* text = std::get_if<std::string>(&cell);
  if (text == nullptr) return false;
  if (text->empty()) return true;
  if (!into) into = std::make_shared<GuidLayers>();
  auto& layers = *std::const_pointer_cast<GuidLayers>(into);
  const auto place = layers.switches.size();
  if (text->size() != place + 1 || (place != 0 && !(layers.switches.back() < node))) return false;
  layers.switches.push_back(node);
  layers.layers.add_switch(place, routing::kNoLayer);
  for (std::size_t other = 0; other <= place; ++other) {
    const auto digit = kDigits.find((*text)[other]);
    if (digit != kDigits.npos) layers.layers.set(place, other, static_cast<unsigned>(digit));
    if (digit == kDigits.npos && (*text)[other] != '-') return false;
  }
  return true;
}

}  // namespace

void path_layers_difference(const sm::Stored& before, const sm::Stored& now, const ChangeSink& sink) {
  if (before.layers_home == now.layers_home && before.layers_now == now.layers_now) return;
  const auto old = rows_of(before), rows = rows_of(now);
  for (const auto& [node, digits] : old) {
    if (!rows.contains(node)) sink({Cells{guid(node)}, std::nullopt});
  }
  for (const auto& [node, digits] : rows) {
    const auto at = old.find(node);
    if (at == old.end() || at->second != digits)
      sink({Cells{guid(node)}, Cells{digits.first, digits.second}});
  }
}

bool decode_path_layers(const Cells& row, sm::Stored& into) {
  Guid node;
  return read_guid(row[0], node) && read_digits(row[1], node, into.layers_home) &&
         read_digits(row[2], node, into.layers_now);
}

}  // namespace smd::store
