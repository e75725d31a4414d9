// SPDX-License-Identifier: Apache-2.0
#include "mad/base/spec/suffixes.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "mad/base/parse.h"
#include "mad/base/spec/args.h"
#include "mad/base/split.h"

namespace smd::base::spec {
namespace {

/// "cut=5:1" has the name "cut" and the value "5:1".
struct Suffix {
  std::string_view name;
  std::optional<std::string_view> value;
};

Suffix split_suffix(std::string_view text) {
  const auto equals = text.find('=');
  if (equals == std::string_view::npos) return {text, std::nullopt};
  return {text.substr(0, equals), text.substr(equals + 1)};
}

/// Both sides of the one colon; nothing if there is none or more than one.
std::optional<std::pair<std::string_view, std::string_view>> split_seed(std::string_view value) {
  const auto colon = value.find(':');
  if (colon == std::string_view::npos || value.find(':', colon + 1) != std::string_view::npos)
    return std::nullopt;
  return std::pair(value.substr(0, colon), value.substr(colon + 1));
}

std::expected<std::uint64_t, std::string> seed_of(std::string_view text) {
  return number(text, {"SEED", 0, ~std::uint64_t{0}});
}

bool digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

/// "2.5" is 2500: whole numbers, so that the same text gives the same cables everywhere.
std::expected<std::uint32_t, std::string> thousandths(std::string_view text) {
  constexpr std::uint32_t kMost = 100'000;
  const auto dot = text.find('.');
  const auto whole = text.substr(0, dot);
  std::string part(dot == std::string_view::npos ? "0" : text.substr(dot + 1));
  if (digits(whole) && whole.size() <= 3 && digits(part) && part.size() <= 3) {
    part.resize(3, '0');
    const auto percents = parse_number(whole), rest = parse_number(part);
    if (percents && rest && *percents * 1000 + *rest <= kMost)
      return static_cast<std::uint32_t>(*percents * 1000 + *rest);
  }
  return std::unexpected(
      fmt::format("PERCENT is {}: a number from 0 to 100 with at most three decimals is needed",
                  text.empty() ? "empty" : text));
}

std::string read_guids(std::string_view value, Suffixes& suffixes) {
  const auto seed = seed_of(value);
  if (!seed) return seed.error();
  suffixes.guids = *seed;
  return {};
}

std::string read_cut(std::string_view value, Suffixes& suffixes) {
  const auto parts = split_seed(value);
  if (!parts) return fmt::format("'{}': PERCENT:SEED is needed", value);
  const auto percent = thousandths(parts->first);
  if (!percent) return percent.error();
  const auto seed = seed_of(parts->second);
  if (!seed) return seed.error();
  suffixes.cut = Cut{*percent, *seed};
  return {};
}

std::string all_speeds() {
  std::string text;
  for (auto code = static_cast<unsigned>(LinkSpeed::sdr); code <= static_cast<unsigned>(LinkSpeed::xdr);
       ++code)
    text += fmt::format("{}{}", text.empty() ? "" : ", ", to_string(static_cast<LinkSpeed>(code)));
  return text;
}

std::string read_speeds(std::string_view value, Suffixes& suffixes) {
  const auto parts = split_seed(value);
  if (!parts) return fmt::format("'{}': A,B,…:SEED is needed", value);
  Speeds result;
  for (const auto name : split_list(parts->first)) {
    const auto speed = parse_link_speed(name);
    if (!speed || *speed == LinkSpeed::unknown) {
      return fmt::format("speed {} is {}: one of {} is needed", result.speeds.size() + 1,
                         name.empty() ? "empty" : name, all_speeds());
    }
    result.speeds.push_back(*speed);
  }
  const auto seed = seed_of(parts->second);
  if (!seed) return seed.error();
  result.seed = *seed;
  suffixes.speeds = std::move(result);
  return {};
}

/// Empty, or what is wrong with the suffix.
std::string read_suffix(std::string_view text, Suffixes& suffixes) {
  const auto [name, value] = split_suffix(text);
  const bool given = (name == "an" && suffixes.aggregation_nodes) || (name == "guids" && suffixes.guids) ||
                     (name == "cut" && suffixes.cut) || (name == "speeds" && suffixes.speeds);
  if (given) return fmt::format("+{}: is given twice", name);
  if (name == "an") {
    if (value) return fmt::format("+{}: +an takes no value", text);
    suffixes.aggregation_nodes = true;
    return {};
  }
  std::string why;
  if (name == "guids") {
    why = read_guids(value.value_or(""), suffixes);
  } else if (name == "cut") {
    why = read_cut(value.value_or(""), suffixes);
  } else if (name == "speeds") {
    why = read_speeds(value.value_or(""), suffixes);
  } else {
    return fmt::format("+{}: not a suffix: one of {} is needed", text, fmt::join(kSuffixes, ", "));
  }
  return why.empty() ? why : fmt::format("+{}: {}", text, why);
}

}  // namespace

std::expected<Suffixes, std::string> parse_suffixes(std::string_view text) {
  Suffixes suffixes;
  while (!text.empty()) {
    text.remove_prefix(1);
    const auto end = std::min(text.find('+'), text.size());
    if (auto why = read_suffix(text.substr(0, end), suffixes); !why.empty())
      return std::unexpected(std::move(why));
    text.remove_prefix(end);
  }
  return suffixes;
}

std::expected<Fabric, std::string> with_suffixes(Fabric plain, const Suffixes& suffixes) {
  auto fabric = std::move(plain);
  if (suffixes.aggregation_nodes) {
    auto added = with_aggregation_nodes(std::move(fabric));
    if (!added) return added;
    fabric = std::move(*added);
  }
  if (suffixes.cut) fabric = with_cut(fabric, *suffixes.cut);
  if (suffixes.speeds) fabric = with_speeds(std::move(fabric), *suffixes.speeds);
  if (suffixes.guids) fabric = with_random_guids(fabric, *suffixes.guids);
  return fabric;
}

}  // namespace smd::base::spec
