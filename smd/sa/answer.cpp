// SPDX-License-Identifier: Apache-2.0
#include "smd/sa/answer.h"

#include <algorithm>
#include <array>

#include "mad/wire/class_port_info.h"
#include "mad/wire/sa/path_record.h"
#include "mad/wire/sa/records.h"
#include "mad/wire/sa/trace_record.h"
#include "smd/sa/path/multicast_path.h"
#include "smd/sa/path/path_query.h"
#include "smd/sa/record_kind.h"

namespace smd::sa {
namespace {

using wire::Method;

/// Bits of ClassPortInfo.CapabilityMask: notices are told to who subscribes; and of this class:
/// PortInfoRecords by some bits of their capability mask, the records beyond those that every SA has,
/// multicast groups, MultiPathRecord.
constexpr std::uint16_t kNotices = 0x0002, kMaskMatch = 0x2000, kOptionalRecords = 0x0100,
                        kMulticast = 0x0200, kMultiPath = 0x0400;
/// Bits of CapabilityMask2, as libopensm numbers them: MulticastFDBTop, alias GUIDs, whole PortInfoRecords,
/// extended speeds, services of groups, PortInfoRecords by some bits of CapabilityMask2, send-only full
/// members, 2X width and HDR.
constexpr std::uint32_t kCapability2 =
    1U << 3 | 1U << 5 | 1U << 6 | 1U << 7 | 1U << 8 | 1U << 10 | 1U << 12 | 1U << 13 | 1U << 15;
/// Of the AttributeModifier: capability masks need the bits that are asked for, whatever else they have.
constexpr std::uint32_t kMatchMaskOnly = 1U << 31;
constexpr std::uint8_t kResponseTime = 0x12;  ///< 1 s: what clients of the SA are used to wait

Answer class_port_info(const Request& request) {
  if (request.mad.method != Method::get) return refuse(wire::kStatusBadMethodAttribute);
  const wire::ClassPortInfo info{
      .base_version = 1,
      .class_version = wire::kSaClassVersion,
      .capability_mask = kNotices | kMaskMatch | kOptionalRecords | kMulticast | kMultiPath,
      .capability_mask2 = kCapability2,
      .resp_time = kResponseTime};
  const auto bytes = wire::encoded(info);
  return {.status = wire::kStatusOk, .record_bytes = 0, .records = {bytes.begin(), bytes.end()}};
}

/// Records are under their ports' base LIDs; a question may name any LID of a port. The question as if it had
/// named the base LID, in `changed` where it had not.
Request with_base_lid(const Directory& directory, const Request& request,
                      std::vector<std::uint8_t>& changed) {
  const Lid asked{static_cast<std::uint16_t>(request.data[0] << 8U | request.data[1])};
  const auto* port = directory.by_lid(asked);
  if (port == nullptr || port->lid == asked) return request;
  changed.assign(request.data.begin(), request.data.end());
  changed[0] = static_cast<std::uint8_t>(port->lid.value() >> 8U);
  changed[1] = static_cast<std::uint8_t>(port->lid.value());
  auto based = request;
  based.data = changed;
  return based;
}

Answer records(const Directory& directory, const Registry& registry, const RecordKind& kind,
               const Request& asked, const Asking& asking) {
  std::vector<std::uint8_t> changed;
  const bool by_lid = kind.begins_with_lid && asked.has(0);
  const auto request = by_lid ? with_base_lid(directory, asked, changed) : asked;
  Pattern pattern(kind.components, request.sa.component_mask, request.data);
  if ((request.mad.modifier & kMatchMaskOnly) != 0) {
    for (const auto mask : kind.capability_masks) pattern.only_ones_of(kind.components[mask]);
  }
  Only only{.lid = std::nullopt,
            .request = &request,
            .registry = &registry,
            .trusted = request.sa.sm_key != 0,
            .asker = directory.by_lid(asking.lid),
            .now = asking.now,
            .act_count = asking.act_count};  // a wrong one does not get here
  if (by_lid) {
    only.lid = Lid{static_cast<std::uint16_t>(request.data[0] << 8U | request.data[1])};
  }
  Records found(kind.bytes);
  Emit emit(found, pattern);
  kind.visit(directory, only, emit);
  if (emit.overflows()) return refuse(wire::kSaNoResources);
  if (found.count() == 0 && emit.waits()) return refuse(wire::kStatusBusy);  // it is being read: ask again
  if (request.mad.method == Method::get) {
    if (found.count() == 0) return refuse(wire::kSaNoRecords);
    if (found.count() > 1) return refuse(wire::kSaTooManyRecords);
  }
  return {.status = wire::kStatusOk, .record_bytes = kind.bytes, .records = found.take()};
}

Answer answer_to(const Directory* directory, const Registry& registry, const Settings& settings,
                 const Request& request, const Asking& asking) {
  const auto& mad = request.mad;
  if (mad.base_version != 1 || mad.class_version != wire::kSaClassVersion) {
    return refuse(wire::kStatusBadVersion);
  }
  const auto* kind = find_kind(mad.attribute);
  const bool paths = mad.attribute == wire::PathRecord::kRecord;
  const bool known = kind != nullptr || paths || mad.attribute == wire::ClassPortInfo::kAttribute;
  const bool multi = mad.attribute == wire::MultiPathRecord::kRecord && mad.method == Method::get_multi;
  // The question is a PathRecord by either number.
  const bool trace =
      (mad.attribute == wire::TraceRecord::kRecord || paths) && mad.method == Method::get_trace_table;
  const bool asks = mad.method == Method::get || mad.method == Method::get_table;
  if (!asks && mad.method != Method::set && mad.method != Method::remove && mad.method != Method::get_multi &&
      mad.method != Method::get_trace_table) {
    return refuse(wire::kStatusBadMethod);
  }
  if (!multi && !trace && (!known || !asks)) return refuse(wire::kStatusBadMethodAttribute);
  if (mad.attribute == wire::ClassPortInfo::kAttribute) return class_port_info(request);
  if (directory == nullptr) return refuse(wire::kStatusBusy);  // the fabric is not up yet: ask again
  if (kind != nullptr && kind->trusted_only && request.sa.sm_key == 0) return refuse(wire::kSaRequestInvalid);
  const PathGround ground{*directory, registry, settings};
  if (multi) return multi_path_records(ground, request);
  if (trace) return trace_records(ground, request);
  if (paths && is_to_group(request)) {
    return multicast_path(*directory, registry, request, directory->by_lid(asking.lid));
  }
  if (paths) return path_records(ground, request);
  return records(*directory, registry, *kind, request, asking);
}

bool speaks_our_version(const Request& request) {
  return request.mad.base_version == 1 && request.mad.class_version == wire::kSaClassVersion;
}

/// What clients ask for most.
bool is_one_path(const Request& request) {
  return speaks_our_version(request) && request.mad.attribute == wire::PathRecord::kRecord &&
         request.mad.method == Method::get && !is_to_group(request);
}

/// A table that the Snapshot alone makes, whoever asks. It is kept, as is that it is too long to be told.
bool is_whole_table(const Request& request) {
  constexpr std::array kTables{wire::NodeRecordId::kRecord, wire::PortInfoRecordId::kRecord,
                               wire::SwitchInfoRecordId::kRecord, wire::LinkRecord::kRecord};
  return speaks_our_version(request) && request.mad.method == Method::get_table &&
         request.sa.component_mask == 0 && std::ranges::find(kTables, request.mad.attribute) != kTables.end();
}

}  // namespace

bool is_question(const Request& request) {
  const auto method = request.mad.method;
  return request.mad.mgmt_class == wire::MgmtClass::sa && !wire::is_response(method) &&
         wire::response_to(method) != Method::none;
}

bool has_wrong_key(const Request& request, const Settings& settings) {
  return request.sa.sm_key != 0 && request.sa.sm_key != settings.sm_key;
}

bool answer(const Directory* directory, const Registry& registry, const Settings& settings,
            std::span<const std::uint8_t> mad, const Asking& asking, TableCache& tables,
            std::vector<std::uint8_t>& out) {
  const auto request = Request::parse(mad);
  if (!request || !is_question(*request) || has_wrong_key(*request, settings)) return false;
  if (directory != nullptr && is_one_path(*request)) {
    const auto path = one_path({*directory, registry, settings}, *request);
    std::array<std::uint8_t, wire::PathRecord::kBytes> record{};
    if (path) wire::encode_over(*path, record);
    const auto told = std::span(record).first(path ? record.size() : 0);
    reply(*request, path ? wire::kStatusOk : path.error(), told.size(), told, out);
    return true;
  }
  if (directory != nullptr && is_whole_table(*request)) {
    const auto attribute = request->mad.attribute;
    const auto* table = tables.find(attribute);
    if (table == nullptr)
      table = &tables.put(attribute, answer_to(directory, registry, settings, *request, asking));
    reply(*request, table->status, table->record_bytes, table->records, out);
    return true;
  }
  const auto made = answer_to(directory, registry, settings, *request, asking);
  reply(*request, made.status, made.record_bytes, made.records, out);
  return true;
}

std::optional<std::vector<std::uint8_t>> answer(const Directory* directory, const Registry& registry,
                                                const Settings& settings, std::span<const std::uint8_t> mad,
                                                const Asking& asking) {
  std::vector<std::uint8_t> out;
  TableCache tables;
  if (!answer(directory, registry, settings, mad, asking, tables, out)) return std::nullopt;
  return out;
}

}  // namespace smd::sa
