// SPDX-License-Identifier: Apache-2.0
#include "smd/sa/registry/services.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "smd/sa/policy.h"
#include "smd/sa/record_kind.h"
#include "smd/sa/registry/aliases.h"
#include "smd/sa/registry/group_parameters.h"

namespace smd::sa {
namespace {

using ServiceFields = wire::ServiceRecord;

bool same_key(const std::array<std::uint8_t, 16>& a, const std::array<std::uint8_t, 16>& b) {
  unsigned different = 0;  // of all bytes: how long it takes tells nothing
  for (std::size_t i = 0; i < a.size(); ++i) different |= static_cast<unsigned>(a[i] ^ b[i]);
  return different == 0;
}

struct ServiceRequest {
  ServiceFields asked;
  ServiceKey key;
};

std::expected<ServiceRequest, Refusal> service_request(const Directory& directory, const Request& request) {
  // The record is longer than what one packet has of it only in requests by RMPP, which no known client
  // sends.
  auto asked = wire::decode<ServiceFields>(request.data);
  if (!asked) return std::unexpected(make_refusal({}, {}, {}, "the record is too short"));
  asked->gid = directory.here(asked->gid);
  for (const auto& [component, name] :
       {std::pair{ServiceFields::kId, "ServiceID"}, std::pair{ServiceFields::kGid, "ServiceGID"}}) {
    if (!request.has(component)) {
      return std::unexpected(
          make_refusal(name, {}, {}, "a service is named by it", wire::kSaInsufficientComponents));
    }
  }
  ServiceRequest part{
      *asked,
      {asked->id, asked->gid, request.has(ServiceFields::kPKey) ? service_pkey(asked->pkey) : kDefaultPKey}};
  if (!request.has(ServiceFields::kKey)) part.asked.key = {};
  return part;
}

/// A port offers what is its own; for another one offers who shows the SM_Key, or shares a partition with it.
std::optional<Refusal> may_not_speak(const Writing& writing, const Requester& requester,
                                     const ServiceKey& key) {
  if (requester.trusted) return std::nullopt;
  if (requester.port == nullptr) {
    return make_refusal("ServiceGID", to_string(key.gid), {},
                        "the request comes from a LID that no port has");
  }
  if (!has_pkey(*requester.port, key.pkey)) {
    return make_refusal("ServiceP_Key", fmt::format("{}", key.pkey), {},
                        "the asking port is not in this partition");
  }
  if (key.gid.multicast()) return std::nullopt;
  const auto* port = find_port(writing.directory, writing.registry, key.gid);
  if (port == nullptr) return std::nullopt;  // of another subnet
  if (port->guid == requester.port->guid || Policy{}.pkey(*requester.port, *port, PathConstraints{})) {
    return std::nullopt;
  }
  return make_refusal("ServiceGID", to_string(key.gid), {},
                      "the request comes from another port, without the SM_Key or a common partition");
}

/// The port that registered a service changes it as it likes; another one by its ServiceKey, where it has
/// one.
std::optional<Refusal> may_not_change(const Requester& requester, const Service& there,
                                      const ServiceFields& asked) {
  if (requester.trusted || (requester.port != nullptr && requester.port->guid == there.owner))
    return std::nullopt;
  if (there.record.key == std::array<std::uint8_t, 16>{}) {
    return make_refusal("ServiceGID", to_string(there.record.gid), {},
                        "another port has registered it, without a ServiceKey");
  }
  if (same_key(there.record.key, asked.key)) return std::nullopt;
  return make_refusal("ServiceKey", {}, {}, "another port has registered it, with another ServiceKey");
}

/// The services that a request's components name, whatever their keys are.
std::vector<ServiceKey> meant(const Registry& registry, const Request& request, const ServiceFields& asked,
                              const Gid& gid) {
  const Pattern pattern(find_kind(ServiceFields::kRecord)->components, request.sa.component_mask,
                        request.data);
  std::vector<ServiceKey> found;
  for (const auto& [key, service] : registry.services()) {
    const bool of_pkey =
        !request.has(ServiceFields::kPKey) || service_pkey(key.pkey) == service_pkey(asked.pkey);
    const bool there = of_pkey && (!request.has(ServiceFields::kGid) || key.gid == gid);
    if (there && pattern.matches(wire::encoded(service.record))) found.push_back(key);
  }
  return found;
}

}  // namespace

ServiceAnswer offer(Writing& writing, const Requester& requester, const Request& request) {
  auto part = service_request(writing.directory, request);
  if (!part) return std::unexpected(std::move(part.error()));
  auto& [asked, key] = *part;
  if (auto refused = may_not_speak(writing, requester, key)) return std::unexpected(*std::move(refused));
  const auto* there = writing.registry.services().find(key);
  if (there != nullptr) {
    if (auto refused = may_not_change(requester, *there, asked)) return std::unexpected(*std::move(refused));
  }
  const auto owner = requester.port != nullptr ? requester.port->guid : key.gid.guid();
  const auto used = writing.registry.uses(owner).services;
  if (there == nullptr && used >= writing.settings.services_per_port) {
    return std::unexpected(make_refusal("ServiceID", fmt::format("0x{:016x}", key.id),
                                        fmt::format("{} services", used),
                                        "the port has as many as one may have", wire::kSaNoResources));
  }
  asked.pkey = key.pkey;
  if (!request.has(ServiceFields::kLease)) asked.lease = kNoEnd;
  Service service{.record = asked, .owner = there != nullptr ? there->owner : owner};
  if (asked.lease != kNoEnd) service.ends = std::max<std::int64_t>(1, writing.now + asked.lease);
  writing.registry.put_service(key, std::move(service));
  if (!requester.trusted) asked.key = {};
  return asked;
}

ServiceAnswer withdraw(Writing& writing, const Requester& requester, const Request& request) {
  const auto asked = wire::decode<ServiceFields>(request.data);
  if (!asked) return std::unexpected(make_refusal({}, {}, {}, "the record is too short"));
  const auto found = meant(writing.registry, request, *asked, writing.directory.here(asked->gid));
  if (found.empty()) {
    return std::unexpected(make_refusal("ServiceID", fmt::format("0x{:016x}", asked->id), {},
                                        "there is no such service", wire::kSaNoRecords));
  }
  if (found.size() > 1) {
    return std::unexpected(
        make_refusal("ServiceID", {}, {}, "several services are meant by it", wire::kSaTooManyRecords));
  }
  const auto& key = found.front();
  const auto& there = *writing.registry.services().find(key);
  if (auto refused = may_not_speak(writing, requester, key)) return std::unexpected(*std::move(refused));
  if (auto refused = may_not_change(requester, there, *asked)) return std::unexpected(*std::move(refused));
  auto gone = shown(there, writing.now);
  if (!requester.trusted) gone.key = {};
  writing.registry.drop_service(key);
  return gone;
}

void expire(Writing& writing) {
  std::vector<ServiceKey> over;
  for (const auto& [key, service] : writing.registry.services()) {
    if (service.ends != 0 && service.ends <= writing.now) over.push_back(key);
  }
  for (const auto& key : over) writing.registry.drop_service(key);
}

PKey service_pkey(PKey asked) { return asked.partition() == 0 ? kDefaultPKey : asked; }

ServiceFields shown(const Service& service, std::int64_t now) {
  auto record = service.record;
  if (service.ends != 0) {
    const auto left = std::clamp<std::int64_t>(service.ends - now, 0, kNoEnd - 1);
    record.lease = static_cast<std::uint32_t>(left);
  }
  return record;
}

}  // namespace smd::sa
