// SPDX-License-Identifier: Apache-2.0
#include "config/policy_codecs.h"

#include "config/partitions_config.h"
#include "config/scalars.h"
#include "mad/base/rate.h"

namespace smd::config {
namespace {

constexpr std::string_view kTermsAllowed =
    "a list of port GUIDs, ranges of them (\"0x10-0x1f\"), names of nodes and patterns (\"h0*\"), "
    "\"NODE:PORT\", "
    "\"group:NAME\", \"level:N\", \"rail:N\", \"ALL\", \"ALL_CAS\", \"ALL_SWITCHES\", \"ALL_ROUTERS\", "
    "\"SELF\"";

constexpr std::uint64_t kLastDecimal = 0xffff;  ///< larger numbers are shown in hexadecimal notation

/// A whole number, or a number or a range in quotes.
std::optional<QosRange> qos_range_of(const Value& item, std::uint64_t most) {
  if (item.kind == Value::Kind::whole && item.whole >= 0) {
    const auto number = static_cast<std::uint64_t>(item.whole);
    return number <= most ? std::optional(QosRange{number, number}) : std::nullopt;
  }
  if (item.kind != Value::Kind::text) return std::nullopt;
  const std::string_view text = item.text;
  const auto dash = text.find('-');
  const auto first = parse_number(trim(text.substr(0, dash)));
  const auto last = dash == std::string_view::npos ? first : parse_number(trim(text.substr(dash + 1)));
  if (!first || !last || *last < *first || *last > most) return std::nullopt;
  return QosRange{*first, *last};
}

}  // namespace

Codec<std::vector<PortTerm>> port_terms(std::string_view more) {
  Codec<std::vector<PortTerm>> codec;
  codec.form = Form::list;
  codec.allowed = fmt::format("{}{}", kTermsAllowed, more);
  codec.read = [allowed = codec.allowed](const Value& value,
                                         const Spot& spot) -> std::optional<std::vector<PortTerm>> {
    if (value.kind != Value::Kind::list) {
      spot.wrong(value, allowed,
                 value.kind == Value::Kind::text ? fmt::format("write [{}]", toml_quoted(value.text)) : "");
      return std::nullopt;
    }
    std::vector<PortTerm> terms;
    const bool good = read_each(value, spot, [&](const Value& item, const Spot& at) {
      if (item.kind != Value::Kind::text)
        return at.wrong(item, "text in quotes",
                        item.kind == Value::Kind::whole ? "a GUID is written as \"0x0002c90300001234\"" : "");
      auto term = parse_port_term(item.text);
      if (term) return terms.push_back(*std::move(term));
      at.wrong(item, std::move(term.error().expected), std::move(term.error().hint));
    });
    return good ? std::optional(std::move(terms)) : std::nullopt;
  };
  codec.show = [](const std::vector<PortTerm>& terms) {
    std::vector<std::string> items;
    for (const auto& term : terms) items.push_back(to_string(term));
    return show_strings(items);
  };
  return codec;
}

Codec<std::string> policy_name(std::string_view what) {
  return text(fmt::format("the name of {}: {}", what, kPolicyNameAllowed),
              [](const std::string& name) { return is_policy_name(name); });
}

Codec<std::string> policy_name_or_none(std::string_view what) {
  return text(fmt::format("the name of {} ({}), or \"\"", what, kPolicyNameAllowed),
              [](const std::string& name) { return name.empty() || is_policy_name(name); });
}

Codec<Mtu> group_mtu(std::string_view else_means, std::string_view else_word) {
  auto codec = one_of<Mtu>({{std::string(else_word), Mtu::none},
                            {"256", Mtu::m256},
                            {"512", Mtu::m512},
                            {"1024", Mtu::m1024},
                            {"2048", Mtu::m2048},
                            {"4096", Mtu::m4096}});
  codec.explain = [else_means](const Mtu& mtu) {
    return mtu == Mtu::none ? std::string(else_means)
                            : fmt::format("mtu={} in OpenSM's file", std::to_underlying(mtu));
  };
  return codec;
}

Codec<std::uint8_t> group_rate(std::string_view else_means, std::string_view else_word) {
  std::vector<std::pair<std::string, std::uint8_t>> choices{{std::string(else_word), std::uint8_t{0}}};
  for (const auto& one : kStaticRates) choices.emplace_back(fmt::format("{}", one.mbps / 1000.0), one.code);
  auto codec = one_of<std::uint8_t>(choices);
  codec.explain = [else_means](const std::uint8_t& code) {
    return code == 0 ? std::string(else_means) : fmt::format("rate={} in OpenSM's file", code);
  };
  return codec;
}

Codec<QosRanges> qos_ranges(std::string_view what, std::uint64_t most, bool pkeys) {
  Codec<QosRanges> codec;
  codec.form = Form::list;
  codec.allowed = fmt::format("a list of {}, and of ranges of them in quotes (\"1-5\")", what);
  codec.read = [most, pkeys, allowed = codec.allowed](const Value& value,
                                                      const Spot& spot) -> std::optional<QosRanges> {
    if (value.kind != Value::Kind::list) {
      spot.wrong(value, allowed);
      return std::nullopt;
    }
    QosRanges ranges;
    const bool good = read_each(value, spot, [&](const Value& item, const Spot& at) {
      auto range = qos_range_of(item, most);
      if (range && pkeys) range = QosRange{range->first & 0x7fffU, range->last & 0x7fffU};
      if (!range || range->last < range->first || (pkeys && range->first == 0))
        return at.wrong(item, allowed);
      ranges.push_back(*range);
    });
    return good ? std::optional(std::move(ranges)) : std::nullopt;
  };
  codec.show = [hexadecimal = most > kLastDecimal || pkeys](const QosRanges& ranges) {
    std::vector<std::string> items;
    for (const auto& range : ranges) items.push_back(to_string(QosRanges{range}, hexadecimal));
    return show_strings(items);
  };
  return codec;
}

}  // namespace smd::config
