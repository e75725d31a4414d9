// SPDX-License-Identifier: Apache-2.0
#include "smd/sa/record_search.h"

#include <utility>

namespace smd::sa {
namespace {

/// Of the AttributeModifier: capability masks need the bits that are asked for, whatever else they have.
constexpr std::uint32_t kMatchMaskOnly = 1U << 31;

/// Places that are looked at before the slice is asked again: enough that asking costs nothing.
constexpr std::size_t kAtOnce = 64;

Lid first_lid(const Request& request) {
  return Lid{static_cast<std::uint16_t>(request.data[0] << 8U | request.data[1])};
}

/// Records are under their ports' base LIDs; a question may name any LID of a port. The question as if it had
/// named the base LID, in `changed` where it had not.
Request with_base_lid(const Directory& directory, const Request& request,
                      std::vector<std::uint8_t>& changed) {
  const auto asked = first_lid(request);
  const auto* port = directory.by_lid(asked);
  if (port == nullptr || port->lid == asked) return request;
  changed.assign(request.data.begin(), request.data.end());
  changed[0] = static_cast<std::uint8_t>(port->lid.value() >> 8U);
  changed[1] = static_cast<std::uint8_t>(port->lid.value());
  auto based = request;
  based.data = changed;
  return based;
}

}  // namespace

RecordSearch::RecordSearch(const Directory& directory, const Registry& registry, const RecordKind& kind,
                           const Request& asked, const RequestContext& asking)
    : directory_(directory),
      registry_(registry),
      kind_(kind),
      request_(kind.begins_with_lid && asked.has(0) ? with_base_lid(directory, asked, changed_) : asked),
      pattern_(kind.components, request_.sa.component_mask, request_.data),
      records_(kind.bytes),
      sink_(records_, pattern_, &progress_),
      filter_{.part = {},
              .progress = &progress_,
              .lid = std::nullopt,
              .request = &request_,
              .registry = &registry,
              .trusted = request_.sa.sm_key != 0,
              .requester = directory.by_lid(asking.lid),
              .viewer = Viewer::of_fabric(directory, asking.lid, request_.sa.sm_key != 0),
              .now = asking.now,
              .act_count = asking.act_count} {
  if ((request_.mad.modifier & kMatchMaskOnly) != 0) {
    for (const auto mask : kind.capability_masks) pattern_.only_ones_of(kind.components[mask]);
  }
  if (kind.begins_with_lid && asked.has(0)) filter_.lid = first_lid(request_);
}

bool RecordSearch::go_on(Slice& slice) {
  while (visit_some(slice)) {
    if (slice.over()) return false;
  }
  return true;
}

/// False: that was all, or no more is needed.
bool RecordSearch::visit_some(Slice& slice) {
  const auto places = by_lid() ? 1 : kind_.places(directory_, registry_);
  if (next_ >= places) return false;
  filter_.part = {.from = next_, .to = next_ + kAtOnce};
  progress_ = {.work = 0, .next = filter_.part.to};
  kind_.visit(directory_, filter_, sink_);
  slice.spend(progress_.work + (progress_.next - next_));
  next_ = progress_.next;
  return next_ < places && !sink_.overflows();
}

Found RecordSearch::take() {
  if (sink_.overflows()) return refused(wire::kSaNoResources);
  if (sink_.waits()) {  // some of it is being read: ask again
    auto busy = refused(wire::kStatusBusy);
    busy.unread = filter_.lid.value_or(Lid{});
    return busy;
  }
  if (request_.mad.method == wire::Method::get) {
    if (records_.count() == 0) return refused(wire::kSaNoRecords);
    if (records_.count() > 1) return refused(wire::kSaTooManyRecords);
  }
  return found(wire::kStatusOk, std::move(records_), kind_.bytes);
}

}  // namespace smd::sa
