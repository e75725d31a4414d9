// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a kind of record is: how long, which components, and where its records come from. A kind is one file
// in smd/sa/records/ and one line in record_kinds().

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "mad/wire/codec.h"
#include "smd/sa/components.h"
#include "smd/sa/directory.h"
#include "smd/sa/registry/registry.h"
#include "smd/sa/request.h"

namespace smd::sa {

/// Longest table that is made, in bytes. One of more (a large fabric's forwarding tables, or the SL to VL of
/// all pairs of its ports) is refused with kSaNoResources: it can be asked for by LID.
inline constexpr std::size_t kLongestTable = std::size_t{64} << 20U;

/// Records one behind the other, each `bytes` long.
class Records {
 public:
  explicit Records(std::size_t bytes) : record_bytes_(bytes) {}
  /// A new record, all zero.
  std::span<std::uint8_t> add() {
    bytes_.resize(bytes_.size() + record_bytes_);
    return std::span(bytes_).last(record_bytes_);
  }
  /// Takes the last one back.
  void drop() { bytes_.resize(bytes_.size() - record_bytes_); }
  std::span<const std::uint8_t> last() const { return std::span(bytes_).last(record_bytes_); }
  std::size_t count() const { return record_bytes_ == 0 ? 0 : bytes_.size() / record_bytes_; }
  bool full() const { return bytes_.size() + record_bytes_ > kLongestTable; }
  std::vector<std::uint8_t> take() { return std::move(bytes_); }

 private:
  std::size_t record_bytes_;
  std::vector<std::uint8_t> bytes_;
};

/// What of a question narrows the search; a kind may look at it or leave all to the pattern.
struct Only {
  std::optional<Lid>
      lid;  ///< the first component, of kinds that begin with a LID: a port's base LID, or nobody's
  const Request* request = nullptr;
  const Registry* registry = nullptr;
  bool trusted = false;            ///< the request shows the SM_Key
  const EndPort* asker = nullptr;  ///< whose question it is; null where nobody knows
  std::int64_t now = 0;            ///< Unix time in seconds
  std::uint32_t act_count = 0;     ///< our own SM's
};

/// Calls with each record that may match: fill, then keep() it or not.
class Emit {
 public:
  Emit(Records& records, const Pattern& pattern) : records_(records), pattern_(pattern) {}
  /// fill(span of the new record's bytes).
  template <class Fill>
  void operator()(Fill&& fill) {
    overflows_ = overflows_ || records_.full();
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
  bool overflows_ = false, waits_ = false;
};

struct RecordKind {
  std::uint16_t attribute = 0;
  std::string_view name;
  std::size_t bytes = 0;  ///< of a record, a multiple of 8
  Components components;
  bool begins_with_lid = true;
  bool trusted_only = false;                        ///< shown to those who know the SM_Key
  std::span<const std::size_t> capability_masks{};  ///< components of which a question may name some bits
  void (*visit)(const Directory& directory, const Only& only, Emit& emit) = nullptr;
};

/// Ascending by attribute.
std::span<const RecordKind> record_kinds();
const RecordKind* find_kind(std::uint16_t attribute);

/// Calls fn(node, lid) for the nodes that records of one LID are about: all, or the one that has it.
template <class Fn>
void for_each_node(const Directory& directory, const Only& only, Fn&& fn) {
  if (only.lid) {
    if (const auto* port = directory.by_lid(*only.lid)) fn(*port->node);
    return;
  }
  for (const auto& node : directory.subnet().nodes) fn(*node);
}

/// Calls fn(end port) for all, or for the one that has the LID.
template <class Fn>
void for_each_end_port(const Directory& directory, const Only& only, Fn&& fn) {
  if (only.lid) {
    if (const auto* port = directory.by_lid(*only.lid)) fn(*port);
    return;
  }
  for (const auto& port : directory.end_ports()) fn(port);
}

/// Calls fn(switch, LID of its port 0).
template <class Fn>
void for_each_switch(const Directory& directory, const Only& only, Fn&& fn) {
  for_each_node(directory, only, [&](const sm::Node& node) {
    if (!node.is_switch()) return;
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
