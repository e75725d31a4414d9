// SPDX-License-Identifier: Apache-2.0
// ServiceRecord: what ports offer, in the partitions of who asks.
#include "smd/sa/records/kinds.h"
#include "smd/sa/registry/group_parameters.h"
#include "smd/sa/registry/services.h"

namespace smd::sa {
namespace {

using ServiceFields = wire::ServiceRecord;

/// The ServiceKey is not shown to every client, a GID may have the default prefix, and a P_Key of no
/// partition is the default one: visit() looks at them.
constexpr auto kServiceComponents =
    consecutive<64, -128, -16, -16, 32, -128, 512, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 16, 16, 16,
                16, 16, 16, 16, 16, 32, 32, 32, 32, 64, 64>();

void service_visit(const Directory& directory, const RecordFilter& only, RecordSink& sink) {
  const auto asked = wire::decode<ServiceFields>(only.request->data);
  if (!asked) return;
  const auto show = [&](const ServiceKey& key, const Service& service) {
    const bool of_asker = only.trusted || only.requester == nullptr || has_pkey(*only.requester, key.pkey);
    if (!of_asker) return;
    const bool by_pkey = only.request->has(ServiceFields::kPKey);
    if (by_pkey && service_pkey(key.pkey) != service_pkey(asked->pkey)) return;
    if (only.request->has(ServiceFields::kGid) && key.gid != directory.here(asked->gid)) return;
    auto record = shown(service, only.now);
    if (only.request->has(ServiceFields::kKey) && record.key != asked->key) return;
    if (!only.trusted) record.key = {};
    sink([&](std::span<std::uint8_t> bytes) { wire::encode_over(record, bytes); });
  };
  const auto& services = only.registry->services();
  if (!only.request->has(ServiceFields::kId)) {
    for_each_row(services, only.part, show);
    return;
  }
  if (!only.part.has(0)) return;
  for (auto row = services.lower_bound({asked->id, Gid{}, PKey{}});
       row != services.end() && row->first.id == asked->id; ++row) {
    show(row->first, row->second);
  }
}

std::size_t service_places(const Directory& /*directory*/, const Registry& registry) {
  return std::max<std::size_t>(registry.services().places(), 1);
}

}  // namespace

RecordKind service_records() {
  return {.attribute = ServiceFields::kRecord,
          .name = "ServiceRecord",
          .bytes = ServiceFields::kBytes,
          .components = kServiceComponents,
          .begins_with_lid = false,
          .visit = service_visit,
          .places = service_places};
}

}  // namespace smd::sa
