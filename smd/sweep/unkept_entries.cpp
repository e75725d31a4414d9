// SPDX-License-Identifier: Apache-2.0
#include "smd/sweep/unkept_entries.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string_view>

namespace smd::sm::inline sweeping {
namespace {

// One word each: they are stored as they stand here (smd/store/kinds.cpp).
constexpr std::string_view kLid = "LID", kMlid = "MLID", kAboveTop = "above_LinearFDBTop";

template <class T>
bool number(std::string_view text, T& into) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), into);
  return error == std::errc{} && end == text.data() + text.size();
}

}  // namespace

NotKept unkept_entry(Lid lid, PortNum desired) {
  return {wire::LinearForwardingTable::kAttribute, PortNum{0}, fmt::format("{}{}", kLid, lid.value()),
          desired.value()};
}

std::optional<Lid> unkept_lid(const NotKept& note) {
  const std::string_view field = note.field;
  if (note.attribute != wire::LinearForwardingTable::kAttribute || !field.starts_with(kLid))
    return std::nullopt;
  std::uint16_t lid = 0;
  if (!number(field.substr(kLid.size()), lid)) return std::nullopt;
  return Lid{lid};
}

NotKept unkept_mask(Lid mlid, std::size_t position, std::uint16_t desired) {
  return {wire::MulticastForwardingTable::kAttribute, PortNum{0},
          fmt::format("{}{}/{}", kMlid, mlid.value(), position), desired};
}

std::optional<UnkeptMask> unkept_mask(const NotKept& note) {
  const std::string_view field = note.field;
  const auto slash = field.find('/');
  if (note.attribute != wire::MulticastForwardingTable::kAttribute || !field.starts_with(kMlid) ||
      slash == std::string_view::npos)
    return std::nullopt;
  std::uint16_t mlid = 0;
  std::size_t position = 0;
  if (!number(field.substr(kMlid.size(), slash - kMlid.size()), mlid)) return std::nullopt;
  if (!number(field.substr(slash + 1), position)) return std::nullopt;
  if (!Lid{mlid}.multicast() || position >= kMftPositions) return std::nullopt;
  return UnkeptMask{Lid{mlid}, position};
}

NotKept blocks_above_top() {
  return {wire::LinearForwardingTable::kAttribute, PortNum{0}, std::string(kAboveTop), 0};
}

bool raises_top_first(const Node& node) {
  return std::ranges::any_of(node.not_kept, [](const NotKept& note) {
    return note.attribute == wire::LinearForwardingTable::kAttribute && note.field == kAboveTop;
  });
}

}  // namespace smd::sm::inline sweeping
