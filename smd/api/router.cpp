// SPDX-License-Identifier: Apache-2.0
#include "smd/api/router.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <iterator>
#include <utility>

#include "smd/api/handlers.h"

namespace smd::api {
namespace {

constexpr std::array kRoutes{
    Route{"GET", "/v1/status", get_status},
    Route{"GET", "/v1/subnets/{subnet}/status", get_subnet_status},
    Route{"GET", "/v1/subnets/{subnet}/ports", get_ports},
    Route{"GET", "/v1/subnets/{subnet}/partitions", get_partitions},
    Route{"POST", "/v1/subnets/{subnet}/partitions/reindex", post_reindex},
    Route{"GET", "/v1/subnets/{subnet}/partitions/{partition}", get_partition},
    Route{"PUT", "/v1/subnets/{subnet}/partitions/{partition}", put_partition},
    Route{"DELETE", "/v1/subnets/{subnet}/partitions/{partition}", delete_partition},
    Route{"POST", "/v1/subnets/{subnet}/partitions/{partition}/members", post_members},
    Route{"DELETE", "/v1/subnets/{subnet}/partitions/{partition}/members", delete_members},
    Route{"DELETE", "/v1/subnets/{subnet}/partitions/{partition}/members/{member}", delete_member},
    Route{"POST", "/v1/subnets/{subnet}/resweep", post_resweep},
    Route{"POST", "/v1/subnets/{subnet}/accept", post_accept},
    Route{"GET", "/v1/subnets/{subnet}/sms", get_sms},
    Route{"POST", "/v1/subnets/{subnet}/handover", post_handover},
    Route{"PUT", "/v1/subnets/{subnet}/priority", put_priority},
    Route{"GET", "/v1/subnets/{subnet}/dump", get_dump},
    Route{"GET", "/v1/log", get_log},
    Route{"PUT", "/v1/log", put_log},
};

/// The first part of a path and what follows its '/'.
std::pair<std::string_view, std::string_view> split(std::string_view path) {
  const auto slash = path.find('/');
  if (slash == std::string_view::npos) return {path, {}};
  return {path.substr(0, slash), path.substr(slash + 1)};
}

using Parts = decltype(Question::path);

/// Whether `path` is of the form `pattern`; then what stands in the place of each "{name}".
std::optional<Parts> match(std::string_view pattern, std::string_view path) {
  Parts found;
  while (!pattern.empty() || !path.empty()) {
    const auto [wanted, patterns] = split(pattern);
    const auto [part, parts] = split(path);
    if (wanted.starts_with('{')) {
      auto value = percent_decoded(part);
      if (!value || value->empty()) return std::nullopt;
      found.emplace(wanted.substr(1, wanted.size() - 2), *std::move(value));
    } else if (wanted != part) {
      return std::nullopt;
    }
    pattern = patterns;
    path = parts;
  }
  return found;
}

std::optional<std::map<std::string, std::string>> parse_query(std::string_view query) {
  std::map<std::string, std::string> found;
  while (!query.empty()) {
    const auto item = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(query.size(), item.size() + 1));
    const auto equals = item.find('=');
    auto key = percent_decoded(item.substr(0, equals));
    auto value = percent_decoded(equals == std::string_view::npos ? "" : item.substr(equals + 1));
    if (!key || !value) return std::nullopt;
    if (!key->empty()) found[*std::move(key)] = *std::move(value);
  }
  return found;
}

}  // namespace

std::span<const Route> routes() { return kRoutes; }

std::optional<std::string> percent_decoded(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    const auto digits = text.substr(i + 1, 2);
    unsigned value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
    if (digits.size() != 2 || error != std::errc{} || end != digits.data() + 2) return std::nullopt;
    out += static_cast<char>(value);
    i += 2;
  }
  return out;
}

std::string percent_encoded(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '.' || c == '_' || c == '~';
    if (plain) {
      out += c;
    } else {
      fmt::format_to(std::back_inserter(out), "%{:02X}",
                     static_cast<unsigned>(static_cast<unsigned char>(c)));
    }
  }
  return out;
}

Answer answer(const Request& request, Backend& backend) {
  const std::string_view target = request.target;
  const auto mark = target.find('?');
  const auto path = target.substr(0, mark);
  std::string allow;
  for (const auto& route : kRoutes) {
    auto parts = match(route.path, path);
    if (!parts) continue;
    if (route.method != request.method) {
      allow += (allow.empty() ? "" : ", ") + std::string(route.method);
      continue;
    }
    auto query = parse_query(mark == std::string_view::npos ? "" : target.substr(mark + 1));
    if (!query) return error_of(400, "bad_query", "the query has a '%' without two hexadecimal digits");
    return route.answer({.path = *std::move(parts), .query = *std::move(query), .body = request.body},
                        backend);
  }
  if (allow.empty())
    return error_of(404, "no_such_path", fmt::format("no {}; docs/openapi.json has the paths", path));
  auto refusal = error_of(405, "method_not_allowed", fmt::format("{} takes {}", path, allow));
  refusal.allow = std::move(allow);
  return refusal;
}

}  // namespace smd::api
