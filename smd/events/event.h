// SPDX-License-Identifier: Apache-2.0
#pragma once
// What happened, as values. What *is* (the Snapshot, the Registry) travels as the latest value instead, and
// is published before the event that tells of it.

#include <chrono>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "mad/base/id.h"
#include "mad/wire/notice.h"
#include "mad/wire/sm_info.h"
#include "smd/events/packed_fields.h"
#include "smd/log/record.h"

namespace smd::events {

/// A sweep has ended and its snapshot is published.
struct SweepEnded {
  static constexpr std::string_view kName = "sweep_ended";
  std::string sweep{};   ///< "heavy", "incremental"
  std::string reason{};  ///< what asked for it: "start", "trap 128", "interval"
  std::string state{};   ///< "up", "degraded", ...
  double total_ms = 0;
  /// Ports of adapters and routers that were in Init, and were brought up, and ports that were another SM's
  /// while we were master.
  std::vector<Guid> came_up{};
  friend bool operator==(const SweepEnded&, const SweepEnded&) = default;
};
/// No sweep has ended, and the state was judged anew: no switch has more to tell.
struct SubnetSettled {
  static constexpr std::string_view kName = "subnet_settled";
  friend bool operator==(const SubnetSettled&, const SubnetSettled&) = default;
};
/// A snapshot was published between two sweeps, by a part that was reconciled alone.
struct SnapshotPublished {
  static constexpr std::string_view kName = "snapshot_published";
  friend bool operator==(const SnapshotPublished&, const SnapshotPublished&) = default;
};
/// The state of the subnet, or the reason for it, differs from that of the snapshot before.
struct StateChanged {
  static constexpr std::string_view kName = "state_changed";
  std::string was{};  ///< empty: there was no snapshot
  std::string now{};
  std::string why{};  ///< it is not up
  friend bool operator==(const StateChanged&, const StateChanged&) = default;
};
/// A trap has come, and is repressed. Its details may hold an M_Key (trap 256): print them by
/// wire::describe().
struct TrapReceived {
  static constexpr std::string_view kName = "trap_received";
  wire::Notice notice{};
  Lid from{};  ///< the LID that it came from
  friend bool operator==(const TrapReceived&, const TrapReceived&) = default;
};
/// The clients of these ports were asked (PortInfo.ClientReregister) to register again.
struct ClientsReregistered {
  static constexpr std::string_view kName = "clients_reregistered";
  std::vector<Guid> ports{};
  friend bool operator==(const ClientsReregistered&, const ClientsReregistered&) = default;
};
/// The SM's own port does not answer.
struct OwnPortSilent {
  static constexpr std::string_view kName = "own_port_silent";
  std::string reason{};
  bool neighbour = false;  ///< it does; the node at the other end of its link does not
  friend bool operator==(const OwnPortSilent&, const OwnPortSilent&) = default;
};
/// The SM's own port answers again.
struct OwnPortAnswers {
  static constexpr std::string_view kName = "own_port_answers";
  friend bool operator==(const OwnPortAnswers&, const OwnPortAnswers&) = default;
};
/// The SM's state (IBA: Discovering, Standby, Master, Not-active) has changed.
struct SmStateChanged {
  static constexpr std::string_view kName = "sm_state_changed";
  wire::SmState from{}, to{};
  friend bool operator==(const SmStateChanged&, const SmStateChanged&) = default;
};
/// Set(SMInfo) of another SM was accepted.
struct SmControlReceived {
  static constexpr std::string_view kName = "sm_control_received";
  wire::SmControl control{};
  Guid from{};
  std::uint8_t priority = 0;  ///< of the other SM
  friend bool operator==(const SmControlReceived&, const SmControlReceived&) = default;
};
/// Partitions, by name, of the ports that a line names, as they were when it was written; nothing: that is
/// not known of the port, or it names none.
struct MembersOf {
  std::optional<std::vector<std::string>> end{};   ///< of "guid" and "port"
  std::optional<std::vector<std::string>> peer{};  ///< of "peer_guid" and "peer_port"
  friend bool operator==(const MembersOf&, const MembersOf&) = default;
};
/// A line of the log: `link.down`, `node.gone`, `sm.seen`, with its keys.
struct NamedLogEvent {
  static constexpr std::string_view kName = "log";
  log::Level level = log::Level::info;
  std::string name{};
  PackedFields fields{};
  std::vector<Guid> guids{};  ///< of the nodes that it is about
  MembersOf members{};
  friend bool operator==(const NamedLogEvent&, const NamedLogEvent&) = default;
};

using Payload = std::variant<SweepEnded, SubnetSettled, SnapshotPublished, StateChanged, TrapReceived,
                             ClientsReregistered, OwnPortSilent, OwnPortAnswers, SmStateChanged,
                             SmControlReceived, NamedLogEvent>;

/// What an event is known by outside of the process: it goes up over restarts too, and, where the clocks of a
/// pair agree, when another SM becomes master.
struct EventId {
  std::uint64_t epoch = 0;   ///< about when the process started, or became master; seconds since 1970
  std::uint64_t number = 0;  ///< of the ring
  friend auto operator<=>(const EventId&, const EventId&) = default;
};

struct Event {
  std::uint64_t sequence = 0;  ///< 1 and up, without a hole
  std::uint64_t epoch = 0;     ///< never goes down
  std::chrono::system_clock::time_point wall{};
  std::chrono::nanoseconds monotonic{};  ///< by the clock of the ring; only differences mean something
  std::string subnet{};                  ///< empty: of the process
  Payload payload{};
  /// The event's own id.
  EventId id() const { return {.epoch = epoch, .number = sequence}; }
  friend bool operator==(const Event&, const Event&) = default;
};
using EventPtr = std::shared_ptr<const Event>;

/// The log event's name, else that of the payload's type.
std::string_view name_of(const Event& event);

/// Memory that the event takes, about: what the limit of a ring counts.
std::size_t bytes_of(const Event& event);

/// The log line as an event; repetitions that were suppressed before it are in its key `suppressed`.
NamedLogEvent log_event_of(const log::Record& record, MembersOf members = {});

/// Types of payload. `kinds_of<SweepEnded, TrapReceived>`; all by default.
class Kinds {
 public:
  constexpr Kinds() = default;
  /// The payload is of one of these types.
  constexpr bool contains(const Payload& payload) const { return ((bits_ >> payload.index()) & 1U) != 0; }
  friend constexpr bool operator==(const Kinds&, const Kinds&) = default;

  /// These types of payload alone, at least one.
  template <class... T>
  static constexpr Kinds of() {
    Kinds kinds;
    kinds.bits_ = ((1U << index<T>(std::make_index_sequence<std::variant_size_v<Payload>>{})) | ...);
    return kinds;
  }

 private:
  template <class T, std::size_t... I>
  static constexpr std::size_t index(std::index_sequence<I...>) {
    constexpr auto at = ((std::is_same_v<T, std::variant_alternative_t<I, Payload>> ? I : 0U) + ...);
    static_assert(std::is_same_v<T, std::variant_alternative_t<at, Payload>>, "not a payload");
    return at;
  }
  std::uint32_t bits_ = ~0U;
};
static_assert(std::variant_size_v<Payload> <= 32);

template <class... T>
inline constexpr Kinds kinds_of = Kinds::of<T...>();

}  // namespace smd::events
