// SPDX-License-Identifier: Apache-2.0
#include "mad/base/spec/args.h"

#include <fmt/format.h>

#include <limits>

#include "mad/base/parse.h"

namespace smd::base::spec {

std::expected<std::uint64_t, std::string> number(std::string_view text, const Rule& rule) {
  const auto value = parse_number(text);
  if (!value || *value < rule.first || *value > rule.last || (rule.even && *value % 2 != 0)) {
    return std::unexpected(fmt::format("{} is {}: {} number from {} to {} is needed", rule.name,
                                       text.empty() ? "empty" : text, rule.even ? "an even" : "a whole",
                                       rule.first, rule.last));
  }
  return *value;
}

std::expected<Numbers, std::string> numbers(Args args, std::initializer_list<Rule> rules) {
  Numbers result;
  auto rule = rules.begin();
  for (const auto text : args) {
    const auto value = number(text, *rule++);
    if (!value) return std::unexpected(value.error());
    result.push_back(static_cast<unsigned>(*value));
  }
  return result;
}

std::expected<Numbers, std::string> list(std::string_view text, char separator, const Rule& rule) {
  Numbers result;
  for (;;) {
    const auto end = text.find(separator);
    const auto name = fmt::format("{}{}", rule.name, result.size() + 1);
    const auto value = number(text.substr(0, end), {name, rule.first, rule.last, rule.even});
    if (!value) return std::unexpected(value.error());
    result.push_back(static_cast<unsigned>(*value));
    if (end == std::string_view::npos) return result;
    text.remove_prefix(end + 1);
  }
}

std::uint64_t times(std::uint64_t a, std::uint64_t b) {
  constexpr auto kMost = std::numeric_limits<std::uint64_t>::max() / 4;  // sums of a few still fit
  return a != 0 && b > kMost / a ? kMost : a * b;
}

std::uint64_t product(std::span<const unsigned> factors) {
  std::uint64_t result = 1;
  for (const auto factor : factors) result = times(result, factor);
  return result;
}

std::string too_large(std::uint64_t switches, std::uint64_t host_ports, std::uint64_t ports_of_a_switch) {
  if (ports_of_a_switch > kMostPorts) {
    return fmt::format("a switch would have {} ports: at most {} are possible", ports_of_a_switch,
                       kMostPorts);
  }
  if (switches > kMostLids || host_ports > kMostLids || switches + host_ports > kMostLids) {
    return fmt::format("{} switches and {} host ports need a LID each: at most {} LIDs are possible",
                       switches, host_ports, kMostLids);
  }
  return {};
}

}  // namespace smd::base::spec
