// SPDX-License-Identifier: Apache-2.0
#include "smd/cli/check_host.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>
#include <ostream>

#include "smd/daemon/certificates.h"

namespace smd::cli {
namespace {

constexpr std::string_view kDropIn = "/usr/share/doc/smd/examples/network.conf";

std::string_view value_of(std::string_view shown, std::string_view key) {
  while (!shown.empty()) {
    const auto line = shown.substr(0, shown.find('\n'));
    shown.remove_prefix(std::min(shown.size(), line.size() + 1));
    if (line.size() > key.size() && line.starts_with(key) && line[key.size()] == '=')
      return line.substr(key.size() + 1);
  }
  return {};
}

bool has_word(std::string_view text, std::string_view word) {
  for (std::size_t at = 0; (at = text.find(word, at)) != std::string_view::npos; at += word.size()) {
    const auto after = at + word.size();
    if ((at == 0 || text[at - 1] == ' ') && (after == text.size() || text[after] == ' ')) return true;
  }
  return false;
}

bool is_word(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-' || c == '@' || c == ':';
  });
}

/// What systemd says of the unit; empty where there is no systemd.
std::string show(const std::string& unit) {
  if (!is_word(unit)) return {};
  const auto command = fmt::format(
      "systemctl show -p LoadState -p RestrictAddressFamilies -p IPAddressAllow -p IPAddressDeny -- {} "
      "2>/dev/null",
      unit);
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> pipe(::popen(command.c_str(), "r"), ::pclose);
  std::string text;
  std::array<char, 1024> piece{};
  while (pipe && std::fgets(piece.data(), static_cast<int>(piece.size()), pipe.get()) != nullptr)
    text += piece.data();
  return text;
}

/// What of the configuration needs the network; empty: nothing.
std::string needs_network(const config::Config& config) {
  std::string keys;
  if (!config.api.listen.empty()) keys = "[api] listen";
  const bool copies = std::ranges::any_of(config.subnets, [](const auto& one) { return one.ha.copies(); });
  if (copies) keys += keys.empty() ? "[ha] listen, peers or etcd" : " and [ha]";
  return keys;
}

}  // namespace

UnitNetwork parse_unit(std::string_view shown) {
  UnitNetwork unit{.known = value_of(shown, "LoadState") == "loaded"};
  const auto families = value_of(shown, "RestrictAddressFamilies");
  const bool named = has_word(families, "AF_INET") || has_word(families, "~AF_INET");
  if (!families.empty()) unit.families = families.starts_with('~') ? !named : named;
  const auto denied = value_of(shown, "IPAddressDeny");
  const auto allowed = value_of(shown, "IPAddressAllow");
  const auto is_any = [](std::string_view list) {
    return has_word(list, "0.0.0.0/0") || has_word(list, "any");
  };
  unit.addresses = !is_any(denied) || !allowed.empty();
  return unit;
}

std::vector<std::string> disagreements(const config::Config& config, const UnitNetwork& unit,
                                       std::string_view unit_name, bool* good) {
  *good = true;
  const auto needs = needs_network(config);
  if (!unit.known) return {};
  const bool open = unit.families && unit.addresses;
  if (!needs.empty() && !open) {
    *good = false;
    return {fmt::format(
        "{} is configured, but {} keeps smd from the network ({}): copy {} to "
        "/etc/systemd/system/{}.d/, then `systemctl daemon-reload` and restart",
        needs, unit_name, unit.families ? "IPAddressDeny" : "RestrictAddressFamilies", kDropIn, unit_name)};
  }
  if (needs.empty() && open)
    return {
        fmt::format("{} lets smd use the network, and nothing that is configured needs it: neither [api] "
                    "listen nor [ha] listen, peers or etcd",
                    unit_name)};
  return {};
}

int check_host(const config::Config& config, const std::string& unit, std::ostream& out) {
  bool good = true;
  const auto seen = parse_unit(show(unit));
  if (!seen.known) out << fmt::format("host: no unit {} is loaded here\n", unit);
  const auto lines = disagreements(config, seen, unit, &good);
  for (const auto& line : lines) out << "host: " << line << '\n';
  if (seen.known && lines.empty()) out << fmt::format("host: {} and the configuration agree\n", unit);
  const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  for (const auto& fault : daemon::certificate_faults(config, now)) {
    out << "host: " << fault << '\n';
    good = false;
  }
  return good ? 0 : 3;
}

}  // namespace smd::cli
