// SPDX-License-Identifier: Apache-2.0
// Services that clients have registered.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "config/glob.h"
#include "mad/base/gid.h"
#include "mad/base/parse.h"
#include "smd/api/handlers.h"
#include "smd/api/json_out.h"
#include "smd/api/listing.h"
#include "smd/api/lost.h"
#include "smd/api/not_master.h"
#include "smd/api/places.h"
#include "smd/api/tenant.h"
#include "smd/sweep/end_ports.h"

namespace smd::api {

using sm::Json;
using sm::JsonObject;

namespace {

struct ServiceFilter {
  std::optional<PKey> pkey{};
  std::string match;                            ///< empty: any name
  std::optional<Guid> node{};                   ///< nothing: of all
  std::optional<std::set<sm::LinkEnd>> only{};  ///< a tenant's ports; nothing: it sees all
  std::optional<std::vector<PKey>> pkeys{};     ///< of a tenant's partitions
};

/// Up to the first zero.
std::string service_name(const wire::ServiceRecord& record) {
  const auto end = std::ranges::find(record.name, 0);
  return {record.name.begin(), end};
}

/// Where the ports are that offer something; those that are not in the fabric are left out.
std::map<Guid, sm::LinkEnd> owners_of(const sa::Registry& registry, const SubnetView& view) {
  std::map<Guid, sm::LinkEnd> found;
  if (!view.snapshot) return found;
  std::set<Guid> guids;
  for (const auto& [key, service] : registry.services()) guids.insert(registry.port_of(key.gid.guid()));
  const auto& subnet = *view.snapshot->subnet;
  for (const auto& [port, place] : sm::find_end_ports(subnet, guids))
    found.emplace(port, sm::LinkEnd{subnet.nodes[place.node]->guid(), place.port});
  return found;
}

bool is_own(const std::vector<PKey>& pkeys, PKey pkey) {
  return std::ranges::any_of(pkeys, [&](PKey own) { return own.same_partition(pkey); });
}

bool is_meant(const ServiceFilter& filter, const sa::ServiceKey& key, const std::string& name,
              const std::optional<sm::LinkEnd>& at) {
  if (filter.only && (!at || !filter.only->contains(*at))) return false;
  if (filter.pkeys && !is_own(*filter.pkeys, key.pkey)) return false;
  if (filter.pkey && !filter.pkey->same_partition(key.pkey)) return false;
  if (filter.node && (!at || at->node != *filter.node)) return false;
  return filter.match.empty() || config::matches_glob(filter.match, name);
}

Json service_json(const SubnetView& view, const sa::ServiceKey& key, const sa::Service& service,
                  const std::string& name, const std::optional<sm::LinkEnd>& at, Guid port) {
  const bool has_end = service.ends != 0;
  return Json(JsonObject{{"id", text(fmt::format("0x{:016x}", key.id))},
                         {"name", text(name)},
                         {"gid", text(to_string(key.gid))},
                         {"port_guid", guid(port)},
                         {"at", at ? end_json(*view.snapshot, *at) : Json{}},
                         {"pkey", pkey(key.pkey)},
                         {"lease_s", has_end ? number(service.record.lease) : Json{}},
                         {"ends", has_end ? unix_json(service.ends) : Json{}}});
}

std::expected<ServiceFilter, Answer> service_filter(const Question& question, const SubnetView& view) {
  ServiceFilter filter{.match = question.asked("match")};
  if (const auto words = question.asked("pkey"); !words.empty()) {
    filter.pkey = base::parse_pkey(words);
    if (!filter.pkey || filter.pkey->partition() == 0)
      return std::unexpected(bad_query("pkey", words, "a P_Key, as 0x8001"));
  }
  filter.only = ports_seen(*question.access, view);
  filter.pkeys = pkeys_seen(*question.access, view);
  const auto words = question.asked("node");
  if (words.empty()) return filter;
  if (!view.snapshot) return std::unexpected(not_read(view));
  const auto node = find_node(*view.snapshot->subnet, words, filter.only ? &*filter.only : nullptr);
  if (!node) return std::unexpected(node.error());
  filter.node = (*node)->guid();
  return filter;
}

}  // namespace

Answer get_services(const Question& question, Backend& backend) {
  const auto chosen = choose(question, backend);
  if (!chosen) return chosen.error();
  const auto& view = *chosen->view;
  const auto page = page_of(question);
  if (!page) return page.error();
  constexpr std::size_t kCursor = 16 + 32 + 4;
  const bool is_cursor =
      page->after.empty() || (page->after.size() == kCursor &&
                              page->after.find_first_not_of("0123456789abcdef") == std::string::npos);
  if (!is_cursor) return bad_cursor(page->after);
  const auto filter = service_filter(question, view);
  if (!filter) return filter.error();
  if (!view.registry && !view.snapshot) return not_read(view);
  std::vector<Entry> services;
  if (const auto& registry = view.registry) {
    const auto owners = owners_of(*registry, view);
    for (const auto& [key, service] : registry->services()) {
      const auto port = registry->port_of(key.gid.guid());
      const auto owner = owners.find(port);
      const auto at = owner != owners.end() ? std::optional(owner->second) : std::nullopt;
      const auto name = service_name(service.record);
      if (!is_meant(*filter, key, name, at)) continue;
      services.push_back(
          {service_json(view, key, service, name, at, port),
           fmt::format("{:016x}{:02x}{:04x}", key.id, fmt::join(key.gid.bytes, ""), key.pkey.value())});
    }
  }
  return short_listing("services", *page, std::move(services),
                       {.before = {{"subnet", text(view.name)}}, .after = {}});
}

}  // namespace smd::api
