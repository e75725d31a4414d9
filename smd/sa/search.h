// SPDX-License-Identifier: Apache-2.0
#pragma once
// The search for the records of an answer, a slice at a time.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "mad/wire/sa/sa_mad.h"
#include "smd/sa/request.h"
#include "smd/sa/slice.h"

namespace smd::sa {

/// Records one behind the other, each `bytes` long, behind room for a MAD's headers: so an answer of many
/// megabytes is sent without a copy of it.
class Records {
 public:
  /// `bytes` of a record; 0: count() is always 0.
  explicit Records(std::size_t bytes) : record_bytes_(bytes) {}
  /// A new record, all zero.
  std::span<std::uint8_t> add();
  /// Takes the last one back.
  void drop() { mad_.resize(mad_.size() - record_bytes_); }
  /// There must be one.
  std::span<const std::uint8_t> last() const { return std::span(mad_).last(record_bytes_); }
  std::size_t count() const { return record_bytes_ == 0 ? 0 : bytes() / record_bytes_; }  ///< records
  std::size_t record_bytes() const { return record_bytes_; }
  /// Of the records, without the headers.
  std::size_t bytes() const { return mad_.empty() ? 0 : mad_.size() - wire::kSaDataOffset; }
  /// The bytes with the room for headers; empty where no record was added.
  std::vector<std::uint8_t> take() { return std::move(mad_); }

 private:
  std::size_t record_bytes_;
  std::vector<std::uint8_t> mad_;
};

/// What a search has come to. Several answers may share the bytes.
struct Found {
  std::uint16_t status = wire::kStatusOk;
  std::size_t record_bytes = 0;
  /// kSaDataOffset bytes for the headers, then the records; null: there are none.
  std::shared_ptr<std::vector<std::uint8_t>> mad{};
  /// Of status BUSY, where tables of one port's node were asked for that are not read yet: that port; else 0.
  Lid unread{};

  /// Without the headers. Valid as long as `mad`.
  std::span<const std::uint8_t> records() const {
    return mad ? std::span<const std::uint8_t>(*mad).subspan(wire::kSaDataOffset)
               : std::span<const std::uint8_t>();
  }
};

/// An answer that is a status only.
inline Found refused(std::uint16_t status) { return {.status = status}; }
/// Takes the records over.
Found found(std::uint16_t status, Records records, std::size_t record_bytes);
/// Status and records of an Answer, copied.
Found found(const Answer& answer);

/// Looks into the fabric and the question, which outlive it. Of one thread at a time.
class Search {
 public:
  Search() = default;
  Search(const Search&) = delete;
  Search& operator=(const Search&) = delete;
  virtual ~Search() = default;

  /// Goes on until the slice is over (false: there is more to do) or all is found (true).
  virtual bool go_on(Slice& slice) = 0;
  /// Once, after go_on() has said that all is found.
  virtual Found take() = 0;
  /// Bytes of the records that are found already.
  virtual std::size_t bytes() const = 0;
};

}  // namespace smd::sa
