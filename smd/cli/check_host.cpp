// SPDX-License-Identifier: Apache-2.0
#include "smd/cli/check_host.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <boost/asio/ip/network_v4.hpp>
#include <boost/asio/ip/network_v6.hpp>
#include <cstdio>
#include <memory>
#include <ostream>
#include <utility>

#include "mad/asio.h"
#include "smd/api/webhook.h"
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

/// Something of the configuration that needs the network.
struct NetworkUse {
  std::string_view group;  ///< how all of its kind are named
  std::string name;
  std::string host;  ///< address or name, without brackets
  bool listens = false;
};

/// Of "HOST:PORT" and "[ADDRESS]:PORT".
std::string host_of(std::string_view end) {
  auto host = end.substr(0, end.rfind(':'));
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  return std::string(host);
}

std::vector<NetworkUse> uses_of(const config::Config& config) {
  constexpr std::string_view kHa = "[ha] listen, peers or etcd";
  std::vector<NetworkUse> uses;
  const auto add_web = [&](std::string_view group, std::string_view key, const std::string& url) {
    // The path of a URL may be a secret.
    const auto address = api::parse_web_address(url);
    uses.push_back({group, fmt::format("{} {}", key, address ? address->shown : ""),
                    address ? address->host : std::string(), false});
  };
  const auto& api = config.api;
  if (!api.listen.empty())
    uses.push_back({"[api] listen", "[api] listen " + api.listen, host_of(api.listen), true});
  for (const auto& webhook : api.webhook) add_web("[[api.webhook]]", "[[api.webhook]]", webhook.url);
  for (const auto& subnet : config.subnets) {
    const auto& ha = subnet.ha;
    if (!ha.listen.empty()) uses.push_back({kHa, "[ha] listen " + ha.listen, host_of(ha.listen), true});
    for (const auto& peer : ha.peers) uses.push_back({kHa, "[ha] peer " + peer, host_of(peer), false});
    for (const auto& member : ha.etcd) add_web(kHa, "[ha] etcd", member);
  }
  return uses;
}

/// "[api] listen and [[api.webhook]]"; empty: nothing needs the network.
std::string groups_of(const std::vector<NetworkUse>& uses) {
  std::vector<std::string_view> groups;
  for (const auto& use : uses) {
    if (std::ranges::find(groups, use.group) == groups.end()) groups.push_back(use.group);
  }
  return fmt::format("{}", fmt::join(groups, " and "));
}

/// "10.0.0.0/8", as systemd prints it.
bool is_in(const asio::ip::address& address, const std::string& network) {
  error_code error;
  if (network == "any") return true;
  if (address.is_v4()) {
    const auto net = asio::ip::make_network_v4(network, error);
    return !error &&
           asio::ip::make_network_v4(address.to_v4(), net.prefix_length()).canonical() == net.canonical();
  }
  const auto net = asio::ip::make_network_v6(network, error);
  return !error &&
         asio::ip::make_network_v6(address.to_v6(), net.prefix_length()).canonical() == net.canonical();
}

bool permits(const UnitNetwork& unit, const asio::ip::address& address) {
  return !unit.denies ||
         std::ranges::any_of(unit.allowed, [&](const auto& network) { return is_in(address, network); });
}

/// It may reach no other machine.
bool is_local_only(const UnitNetwork& unit) {
  return unit.denies && std::ranges::all_of(unit.allowed, [](const std::string& network) {
           return network.starts_with("127.") || network == "::1/128" || network == "::1";
         });
}

/// What keeps smd from it, else an empty text. `good`: some of it works all the same.
std::string fault_of(const NetworkUse& use, const UnitNetwork& unit, std::string_view unit_name, bool* good) {
  error_code error;
  const auto address = asio::ip::make_address(use.host, error);
  const bool is_name = static_cast<bool>(error);
  *good = false;
  if (!is_name && !(address.is_v4() ? unit.ipv4 : unit.ipv6))
    return fmt::format("{}: RestrictAddressFamilies of {} is without {}", use.name, unit_name,
                       address.is_v4() ? "AF_INET" : "AF_INET6");
  const auto allowed = fmt::format("{}", fmt::join(unit.allowed, " "));
  const bool is_here = is_name ? use.host == "localhost" : address.is_loopback();
  if (is_local_only(unit) && !is_here)
    return fmt::format("{}: IPAddressAllow of {} has addresses of this machine only ({})", use.name,
                       unit_name, allowed);
  if (is_name || address.is_unspecified() || permits(unit, address)) return {};
  // The list is of the addresses at the other end: clients of other networks may be meant.
  *good = use.listens && !is_here;
  return fmt::format("{}: IPAddressAllow of {} ({}) is without {}{}", use.name, unit_name, allowed, use.host,
                     *good ? ": clients of other networks only can reach it" : "");
}

}  // namespace

UnitNetwork parse_unit(std::string_view shown) {
  UnitNetwork unit{.known = value_of(shown, "LoadState") == "loaded"};
  const auto families = value_of(shown, "RestrictAddressFamilies");
  const auto has_family = [&](const std::string& family) {
    const bool named = has_word(families, family) || has_word(families, "~" + family);
    return families.empty() || (families.starts_with('~') ? !named : named);
  };
  unit.ipv4 = has_family("AF_INET"), unit.ipv6 = has_family("AF_INET6");
  const auto denied = value_of(shown, "IPAddressDeny");
  unit.denies = has_word(denied, "0.0.0.0/0") || has_word(denied, "any");
  auto allowed = value_of(shown, "IPAddressAllow");
  while (!allowed.empty()) {
    const auto word = allowed.substr(0, allowed.find(' '));
    allowed.remove_prefix(std::min(allowed.size(), word.size() + 1));
    if (!word.empty()) unit.allowed.emplace_back(word);
  }
  return unit;
}

std::vector<std::string> disagreements(const config::Config& config, const UnitNetwork& unit,
                                       std::string_view unit_name, bool* good) {
  *good = true;
  if (!unit.known) return {};
  const auto uses = uses_of(config);
  const bool families = unit.ipv4 || unit.ipv6, addresses = !unit.denies || !unit.allowed.empty();
  if (!uses.empty() && !(families && addresses)) {
    *good = false;
    return {
        fmt::format("{} is configured, but {} keeps smd from the network ({}): copy {} to "
                    "/etc/systemd/system/{}.d/, then `systemctl daemon-reload` and restart",
                    groups_of(uses), unit_name, families ? "IPAddressDeny" : "RestrictAddressFamilies",
                    kDropIn, unit_name)};
  }
  if (uses.empty() && families && addresses)
    return {
        fmt::format("{} lets smd use the network, and nothing that is configured needs it: neither [api] "
                    "listen, [[api.webhook]] nor [ha] listen, peers or etcd",
                    unit_name)};
  std::vector<std::string> lines;
  for (const auto& use : uses) {
    bool works = true;
    auto fault = fault_of(use, unit, unit_name, &works);
    if (fault.empty()) continue;
    *good = *good && works;
    lines.push_back(std::move(fault));
  }
  return lines;
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
