// SPDX-License-Identifier: Apache-2.0
#include "smd/sa/answer.h"

#include "mad/wire/class_port_info.h"
#include "mad/wire/sa/path_record.h"
#include "smd/sa/path/path_query.h"
#include "smd/sa/record_kind.h"

namespace smd::sa {
namespace {

using wire::Method;

/// Bits of ClassPortInfo.CapabilityMask of this class: the records beyond those that every SA has.
constexpr std::uint16_t kOptionalRecords = 0x0100;
/// Bits of CapabilityMask2, as libopensm numbers them: MulticastFDBTop, whole PortInfoRecords, extended
/// speeds, 2X width and HDR.
constexpr std::uint32_t kCapability2 = 1U << 3 | 1U << 6 | 1U << 7 | 1U << 13 | 1U << 15;
constexpr std::uint8_t kResponseTime = 0x12;  ///< 1 s: what clients of the SA are used to wait

Answer class_port_info(const Request& request) {
  if (request.mad.method != Method::get) return refuse(wire::kStatusBadMethodAttribute);
  const wire::ClassPortInfo info{.base_version = 1,
                                 .class_version = wire::kSaClassVersion,
                                 .capability_mask = kOptionalRecords,
                                 .capability_mask2 = kCapability2,
                                 .resp_time = kResponseTime};
  const auto bytes = wire::encoded(info);
  return {.status = wire::kStatusOk, .record_bytes = 0, .records = {bytes.begin(), bytes.end()}};
}

Answer records(const Directory& directory, const RecordKind& kind, const Request& request) {
  const Pattern pattern(kind.components, request.sa.component_mask, request.data);
  Only only{.lid = std::nullopt, .request = &request};
  if (kind.begins_with_lid && request.has(0)) {
    only.lid = Lid{static_cast<std::uint16_t>(request.data[0] << 8U | request.data[1])};
  }
  Records found(kind.bytes);
  Emit emit(found, pattern);
  kind.visit(directory, only, emit);
  if (request.mad.method == Method::get) {
    if (found.count() == 0) return refuse(wire::kSaNoRecords);
    if (found.count() > 1) return refuse(wire::kSaTooManyRecords);
  }
  return {.status = wire::kStatusOk, .record_bytes = kind.bytes, .records = found.take()};
}

Answer answer_to(const Directory* directory, const Settings& settings, const Request& request) {
  const auto& mad = request.mad;
  if (mad.base_version != 1 || mad.class_version != wire::kSaClassVersion) {
    return refuse(wire::kStatusBadVersion);
  }
  const auto* kind = find_kind(mad.attribute);
  const bool paths = mad.attribute == wire::PathRecord::kRecord;
  const bool known = kind != nullptr || paths || mad.attribute == wire::ClassPortInfo::kAttribute;
  const bool asks = mad.method == Method::get || mad.method == Method::get_table;
  if (!asks && mad.method != Method::set && mad.method != Method::remove && mad.method != Method::get_multi &&
      mad.method != Method::get_trace_table) {
    return refuse(wire::kStatusBadMethod);
  }
  if (!known || !asks) return refuse(wire::kStatusBadMethodAttribute);
  if (mad.attribute == wire::ClassPortInfo::kAttribute) return class_port_info(request);
  if (directory == nullptr) return refuse(wire::kStatusBusy);  // the fabric is not up yet: ask again
  const bool trusted = request.sa.sm_key != 0;                 // a wrong one does not get here
  if (kind != nullptr && kind->trusted_only && !trusted) return refuse(wire::kSaRequestInvalid);
  if (paths) return path_records(*directory, Policy{}, settings.packet_life, request);
  return records(*directory, *kind, request);
}

}  // namespace

bool is_question(const Request& request) {
  const auto method = request.mad.method;
  return request.mad.mgmt_class == wire::MgmtClass::sa && !wire::is_response(method) &&
         wire::response_to(method) != Method::none;
}

std::optional<std::vector<std::uint8_t>> answer(const Directory* directory, const Settings& settings,
                                                std::span<const std::uint8_t> mad) {
  const auto request = Request::parse(mad);
  if (!request || !is_question(*request)) return std::nullopt;
  if (request->sa.sm_key != 0 && request->sa.sm_key != settings.sm_key) return std::nullopt;
  return reply(*request, answer_to(directory, settings, *request));
}

}  // namespace smd::sa
