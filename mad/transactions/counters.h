// SPDX-License-Identifier: Apache-2.0
#pragma once
// What went over the wire, by class, attribute and method; a value that one reads before and after and
// subtracts.

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "mad/wire/packet.h"

namespace smd::mad {

struct AttributeCounters {
  std::uint16_t attribute = 0;
  wire::Method method{};                                 ///< of the request
  wire::MgmtClass mgmt_class = wire::MgmtClass::sm_lid;  ///< of both classes of SMPs sm_lid
  std::uint64_t requests = 0;                            ///< begun: at least one try was sent
  std::uint64_t sent = 0;                                ///< MADs: first tries and resends
  std::uint64_t answered = 0;    ///< requests that ended with an answer, also with a refusal
  std::uint64_t retries = 0;     ///< resends, of `sent`
  std::uint64_t timeouts = 0;    ///< resend times that passed without an answer
  std::uint64_t unanswered = 0;  ///< requests that ended without any answer
  std::uint64_t refused = 0;     ///< requests that ended with a status
  std::uint64_t busy = 0;        ///< answers with status busy
  std::uint64_t late = 0;        ///< answers after the request had ended without one
  std::uint64_t duplicate = 0;   ///< answers after the request was answered
  friend bool operator==(const AttributeCounters&, const AttributeCounters&) = default;
};

struct Counters {
  std::vector<AttributeCounters> by_attribute;  ///< by (class, attribute, method), ascending
  std::uint64_t unsolicited = 0;                ///< handed to on_unsolicited
  std::uint64_t unsolicited_dropped = 0;        ///< above Policy::unsolicited_rate, or without a receiver
  std::uint64_t unknown = 0;      ///< answers to a transaction that never was, or that is too long ago
  std::uint64_t mismatched = 0;   ///< answers whose class, method or attribute is not the request's
  std::uint64_t malformed = 0;    ///< shorter than a MAD
  std::uint64_t send_failed = 0;  ///< tries that the transport could not send or gave up early
  std::uint64_t replies = 0;      ///< MADs of ours that want no answer
  friend bool operator==(const Counters&, const Counters&) = default;

  /// Sum of one counter over the requests with this method: total(&AttributeCounters::sent, Method::get) is
  /// all Gets.
  std::uint64_t total(std::uint64_t AttributeCounters::* counter, wire::Method method) const;
  /// The same over all methods.
  std::uint64_t total(std::uint64_t AttributeCounters::* counter) const;
};

/// What was counted since `before`, an earlier value of the same counters.
Counters operator-(const Counters& now, const Counters& before);

/// Rows by (class, attribute, method), found fast; only requests of ours make new rows.
class AttributeTable {
 public:
  /// Index of the row for requests like this one; stays valid.
  std::uint32_t row(const wire::Mad& request);
  AttributeCounters& operator[](std::uint32_t row) { return rows_[row]; }  ///< `row` is an index from row()
  /// A copy of all rows in the order of class, attribute and method.
  std::vector<AttributeCounters> sorted() const;

 private:
  std::vector<AttributeCounters> rows_;
  std::unordered_map<std::uint32_t, std::uint32_t> index_;
};

}  // namespace smd::mad
