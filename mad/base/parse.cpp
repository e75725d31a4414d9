// SPDX-License-Identifier: Apache-2.0
#include "mad/base/parse.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>

namespace smd::base {
namespace {

std::optional<std::uint64_t> digits(std::string_view text, int radix) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.begin(), text.end(), value, radix);
  if (text.empty() || error != std::errc() || end != text.end()) return std::nullopt;
  return value;
}

bool has_hex_prefix(std::string_view text) { return text.starts_with("0x") || text.starts_with("0X"); }

bool same_letters(std::string_view a, std::string_view b) {
  const auto upper = [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; };
  return std::ranges::equal(a, b, {}, upper, upper);
}

constexpr std::array kWidths{LinkWidth::x1, LinkWidth::x2,  LinkWidth::x4,
                             LinkWidth::x8, LinkWidth::x12, LinkWidth::unknown};
constexpr std::array kSpeeds{LinkSpeed::unknown, LinkSpeed::sdr, LinkSpeed::ddr, LinkSpeed::qdr,
                             LinkSpeed::fdr10,   LinkSpeed::fdr, LinkSpeed::edr, LinkSpeed::hdr,
                             LinkSpeed::ndr,     LinkSpeed::xdr};

}  // namespace

std::optional<std::uint64_t> parse_number(std::string_view text, std::uint64_t last) {
  const auto value = has_hex_prefix(text) ? digits(text.substr(2), 16) : digits(text, 10);
  if (!value || *value > last) return std::nullopt;
  return value;
}

std::optional<std::uint64_t> parse_hex(std::string_view text) {
  return digits(has_hex_prefix(text) ? text.substr(2) : text, 16);
}

std::optional<Guid> parse_guid(std::string_view text) {
  std::optional<std::uint64_t> value;
  if (has_hex_prefix(text)) {
    value = digits(text.substr(2), 16);
  } else if (text.size() == 19 && text[4] == ':' && text[9] == ':' && text[14] == ':') {
    std::string plain(text);
    std::erase(plain, ':');
    if (plain.size() == 16) value = digits(plain, 16);
  } else if (text.size() == 16) {
    value = digits(text, 16);
  }
  if (!value) return std::nullopt;
  return Guid{*value};
}

std::optional<Lid> parse_lid(std::string_view text) {
  const auto value = parse_number(text, 0xffff);
  if (!value) return std::nullopt;
  return Lid{static_cast<std::uint16_t>(*value)};
}

std::optional<PortNum> parse_port(std::string_view text) {
  const auto value = digits(text, 10);
  if (!value || *value > 255) return std::nullopt;
  return PortNum{static_cast<std::uint8_t>(*value)};
}

std::optional<PKey> parse_pkey(std::string_view text) {
  const auto value = parse_number(text, 0xffff);
  if (!value) return std::nullopt;
  return PKey{static_cast<std::uint16_t>(*value)};
}

std::optional<LinkWidth> parse_link_width(std::string_view text) {
  const auto known = std::ranges::find_if(kWidths, [&](LinkWidth width) { return to_string(width) == text; });
  if (known == kWidths.end()) return std::nullopt;
  return *known;
}

std::optional<LinkSpeed> parse_link_speed(std::string_view text) {
  const auto known =
      std::ranges::find_if(kSpeeds, [&](LinkSpeed speed) { return same_letters(to_string(speed), text); });
  if (known == kSpeeds.end()) return std::nullopt;
  return *known;
}

LinkRate parse_link_rate(std::string_view text) {
  if (text.empty()) return {};
  auto split = text.find('x');
  split = split == std::string_view::npos ? std::min<std::size_t>(2, text.size()) : split + 1;
  if (text.starts_with("??")) split = 2;
  LinkRate rate;
  rate.width = parse_link_width(text.substr(0, split)).value_or(LinkWidth::unknown);
  rate.speed = parse_link_speed(text.substr(split)).value_or(LinkSpeed::unknown);
  if (to_string(rate) != text) rate.text = text;
  return rate;
}

std::string to_string(const LinkRate& rate) {
  if (!rate.text.empty()) return rate.text;
  std::string text(to_string(rate.width));
  text += to_string(rate.speed);
  return text;
}

std::optional<HostPort> parse_host_port(std::string_view text) {
  const auto colon = text.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  auto host = text.substr(0, colon);
  const bool bracketed = host.starts_with('[') && host.ends_with(']');
  if (bracketed) host = host.substr(1, host.size() - 2);
  const auto port = digits(text.substr(colon + 1), 10);
  if (host.empty() || (!bracketed && host.contains(':')) || !port || *port > 65535) return std::nullopt;
  return HostPort{.host = std::string(host), .port = static_cast<std::uint16_t>(*port)};
}

std::string_view trim(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  const auto first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

std::string_view take_word(std::string_view& text) {
  text = trim(text);
  const auto word = text.substr(0, text.find_first_of(" \t"));
  text = trim(text.substr(word.size()));
  return word;
}

}  // namespace smd::base
