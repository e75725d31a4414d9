// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a kind of record is: how long, which components, and where its records come from. A kind is one file
// in smd/sa/records/ and one line in record_kinds().

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "mad/wire/codec.h"
#include "smd/registry/registry.h"
#include "smd/sa/component_mask.h"
#include "smd/sa/directory.h"
#include "smd/sa/request.h"
#include "smd/sa/search.h"
#include "smd/sa/viewer.h"

namespace smd::sa {

/// Longest table that is made, in bytes. One of more (a large fabric's forwarding tables, or the SL to VL of
/// all pairs of its ports) is refused with kSaNoResources: it can be asked for by LID.
inline constexpr std::size_t kLongestTable = std::size_t{64} << 20U;

/// Of what a kind's records come from (nodes, end ports, rows of the registry), in their order.
struct Part {
  std::size_t from = 0, to = std::numeric_limits<std::size_t>::max();
  bool has(std::size_t place) const { return from <= place && place < to; }  ///< in [from, to)
};

/// How far a visit has come.
struct Progress {
  std::size_t work = 0;  ///< records that were compared, and ports of the nodes that were looked at
  std::size_t next = 0;  ///< the first place that was not looked at
  static constexpr std::size_t kEnough = 1024;  ///< work after which a visit of nodes ends early
};

/// What of a question narrows the search; a kind may look at it or leave all to the pattern.
struct RecordFilter {
  Part part;                     ///< what is looked at in this visit
  Progress* progress = nullptr;  ///< of this visit; may be null
  std::optional<Lid>
      lid;  ///< the first component, of kinds that begin with a LID: a port's base LID, or of no port
  const Request* request = nullptr;
  const Registry* registry = nullptr;
  bool trusted = false;                ///< the request shows the SM_Key
  const EndPort* requester = nullptr;  ///< null where it is not known
  Viewer viewer{};                     ///< of nodes and links, by the last two
  std::int64_t now = 0;                ///< Unix time in seconds
  std::uint32_t act_count = 0;         ///< our own SM's
};

/// Calls with each record that may match: fill, then keep() it or not.
class RecordSink {
 public:
  /// Adds to `records` what matches `pattern`; `progress` may be null. References outlive it.
  RecordSink(Records& records, const Pattern& pattern, Progress* progress = nullptr)
      : records_(records), pattern_(pattern), progress_(progress) {}
  /// fill(span of the new record's bytes).
  template <class Fill>
  void operator()(Fill&& fill) {
    if (progress_ != nullptr) ++progress_->work;
    overflows_ = overflows_ || records_.bytes() + records_.record_bytes() > kLongestTable;
    if (overflows_) return;
    fill(records_.add());
    if (!pattern_.matches(records_.last())) records_.drop();
  }
  /// The same for a record that is not known yet, but will be: fill() writes what the question can name of
  /// it.
  template <class Fill>
  void later(Fill&& fill) {
    const auto count = records_.count();
    (*this)(fill);
    if (records_.count() == count) return;
    records_.drop();
    waits_ = true;
  }

  bool overflows() const { return overflows_; }  ///< there are more than an answer holds
  bool waits() const { return waits_; }          ///< some that match are not known yet

 private:
  Records& records_;
  const Pattern& pattern_;
  Progress* progress_;
  bool overflows_ = false, waits_ = false;
};

/// How many places a kind's parts are of.
std::size_t all_nodes(const Directory& directory, const Registry& registry);
/// In the order of Directory::end_ports().
std::size_t all_end_ports(const Directory& directory, const Registry& registry);
/// 1: a kind that is always visited as a whole.
std::size_t one_place(const Directory& directory, const Registry& registry);

struct RecordKind {
  std::uint16_t attribute = 0;
  std::string_view name;
  std::size_t bytes = 0;  ///< of a record, a multiple of 8
  Components components;
  bool begins_with_lid = true;
  bool trusted_only = false;                        ///< shown to requesters with the SM_Key only
  std::span<const std::size_t> capability_masks{};  ///< components of which a question may name some bits
  /// Shows the records of `only.part`; where `only.lid` is given, all of that LID.
  void (*visit)(const Directory& directory, const RecordFilter& only, RecordSink& sink) = nullptr;
  std::size_t (*places)(const Directory& directory, const Registry& registry) = all_nodes;
};

/// Ascending by attribute.
std::span<const RecordKind> record_kinds();
/// Null where no kind has this attribute. Static storage.
const RecordKind* find_kind(std::uint16_t attribute);

/// Calls fn(node) for the nodes that records of one LID are about: those of the part, or the one that has it.
template <class Fn>
void for_each_node(const Directory& directory, const RecordFilter& only, Fn&& fn) {
  if (only.lid) {
    if (const auto* port = directory.by_lid(*only.lid)) fn(*port->node);
    return;
  }
  const auto& nodes = directory.subnet().nodes;
  for (auto i = only.part.from; i < std::min(only.part.to, nodes.size()); ++i) {
    fn(*nodes[i]);
    if (only.progress == nullptr) continue;
    only.progress->work += nodes[i]->ports.size();
    if (only.progress->work < Progress::kEnough) continue;
    only.progress->next = i + 1;
    return;
  }
}

/// Calls fn(end port) for those of the part, or for the one that has the LID, as far as they are shown.
template <class Fn>
void for_each_end_port(const Directory& directory, const RecordFilter& only, Fn&& fn) {
  const auto show = [&](const EndPort& port) {
    if (only.viewer.sees(port)) fn(port);
  };
  if (only.lid) {
    if (const auto* port = directory.by_lid(*only.lid)) show(*port);
    return;
  }
  const auto& ports = directory.end_ports();
  for (auto i = only.part.from; i < std::min(only.part.to, ports.size()); ++i) show(ports[i]);
}

/// Calls fn(key, value) for the rows of a part of a SharedMap's places.
template <class Map, class Fn>
void for_each_row(const Map& map, const Part& part, Fn&& fn) {
  for (auto i = part.from; i < std::min(part.to, map.places()); ++i) {
    if (const auto* row = map.at(i)) fn(row->first, row->second);
  }
}

/// Calls fn(switch, LID of its port 0) for the switches of the part, or the one that has the LID, whose port
/// 0 is shown.
template <class Fn>
void for_each_switch(const Directory& directory, const RecordFilter& only, Fn&& fn) {
  for_each_node(directory, only, [&](const sm::Node& node) {
    if (!node.is_switch() || !only.viewer.sees(node, PortNum{0})) return;
    if (const auto lid = directory.lid_of(node, PortNum{0})) fn(node, *lid);
  });
}

/// Writes the identifier at the record's start and the attribute behind it.
template <wire::Layout Id, wire::Layout A>
void put_record(std::span<std::uint8_t> record, const Id& id, const A& attribute) {
  wire::encode_over(id, record);
  wire::encode_over(attribute, record.subspan(Id::kAttributeAt));
}

}  // namespace smd::sa
