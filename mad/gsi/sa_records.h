// SPDX-License-Identifier: Apache-2.0
#pragma once
// The answer of a subnet administration to a GetTable: records of one size, one behind the other.

#include <cstddef>
#include <cstdint>
#include <expected>
#include <span>
#include <string>
#include <vector>

#include "mad/wire/codec.h"
#include "mad/wire/sa/sa_mad.h"

namespace smd::mad {

enum class SaFault : std::uint8_t {
  not_sent,   ///< the port could not send it
  no_answer,  ///< in the time that the caller gave
  refused,    ///< with `status`
  malformed,  ///< not an answer that can be read
  closed      ///< the caller was cancelled, or the client has ended
};

/// Why there are no records.
struct SaError {
  SaFault fault = SaFault::closed;
  std::uint16_t status = 0;  ///< of the MAD; of SaFault::refused only
  std::string what{};        ///< further words; may be empty
};
/// One line, for the operator.
std::string to_string(const SaError& error);

/// Records as they came. Of the bytes nothing is checked but their number.
class SaRecords {
 public:
  SaRecords() = default;
  /// `record_bytes`: of one record, not 0. What is left behind the last whole one is dropped.
  SaRecords(std::size_t record_bytes, std::vector<std::uint8_t> bytes)
      : record_bytes_(record_bytes), bytes_(std::move(bytes)) {}

  std::size_t size() const { return record_bytes_ == 0 ? 0 : bytes_.size() / record_bytes_; }
  /// What the record with this number, 0 to size() - 1, has from its byte `at` on. `at` and A::kBytes
  /// together are at most what parse_sa_records() was told.
  template <wire::Layout A>
  A get(std::size_t index, std::size_t at = 0) const {
    return *wire::decode<A>(std::span(bytes_).subspan(index * record_bytes_ + at, record_bytes_ - at));
  }

 private:
  std::size_t record_bytes_ = 0;
  std::vector<std::uint8_t> bytes_;
};

/// What an answer to a GetTable of `attribute` holds, whatever its bytes are. `least`: bytes of a record that
/// are read; a table with a smaller AttributeOffset is malformed. An answer of one packet without RMPP may
/// end in records of zeros. No records (status 0x0300) are an empty table.
std::expected<SaRecords, SaError> parse_sa_records(std::span<const std::uint8_t> answer,
                                                   std::uint16_t attribute, std::size_t least);

}  // namespace smd::mad
