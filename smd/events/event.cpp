// SPDX-License-Identifier: Apache-2.0
#include "smd/events/event.h"

#include <utility>

namespace smd::events {
namespace {

/// Heap memory of a string; short ones have none.
std::size_t heap(const std::string& text) { return text.capacity() > 15 ? text.capacity() + 1 : 0; }
template <class T>
std::size_t heap(const std::vector<T>& values) {
  return values.capacity() * sizeof(T);
}

std::size_t heap(const std::optional<std::vector<std::string>>& names) {
  if (!names) return 0;
  std::size_t bytes = heap(*names);
  for (const auto& name : *names) bytes += heap(name);
  return bytes;
}

struct Heap {
  std::size_t operator()(const SweepEnded& e) const {
    return heap(e.sweep) + heap(e.reason) + heap(e.state) + heap(e.came_up);
  }
  std::size_t operator()(const StateChanged& e) const { return heap(e.was) + heap(e.now) + heap(e.why); }
  std::size_t operator()(const ClientsReregistered& e) const { return heap(e.ports); }
  std::size_t operator()(const OwnPortSilent& e) const { return heap(e.reason); }
  std::size_t operator()(const NamedLogEvent& e) const {
    return heap(e.name) + e.fields.bytes() + heap(e.guids) + heap(e.members.end) + heap(e.members.peer);
  }
  std::size_t operator()(const auto&) const { return 0; }
};

}  // namespace

std::string_view name_of(const Event& event) {
  if (const auto* line = std::get_if<NamedLogEvent>(&event.payload)) return line->name;
  return std::visit([](const auto& payload) { return payload.kName; }, event.payload);
}

std::size_t bytes_of(const Event& event) {
  constexpr std::size_t kControlBlock = 32;  // of the shared_ptr, and what malloc adds
  return sizeof(Event) + kControlBlock + heap(event.subnet) + std::visit(Heap{}, event.payload);
}

NamedLogEvent log_event_of(const log::Record& record, MembersOf members) {
  return {.level = record.level,
          .name = record.event,
          .fields = PackedFields(record.fields),
          .guids = record.guids,
          .members = std::move(members)};
}

}  // namespace smd::events
