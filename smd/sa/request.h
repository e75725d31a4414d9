// SPDX-License-Identifier: Apache-2.0
#pragma once
// A question to subnet administration as it came, and the bytes that answer it.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "mad/wire/mad.h"
#include "mad/wire/sa/sa_mad.h"

namespace smd::sa {

/// Looks into the MAD, which must outlive it.
struct Request {
  wire::MadHeader mad;
  wire::SaHeader sa;
  std::span<const std::uint8_t> bytes;  ///< the whole MAD
  std::span<const std::uint8_t> data;   ///< 200 bytes or, of a request in several packets, more

  /// Whatever the bytes are; nothing where they are no MAD of 256 bytes at least.
  static std::optional<Request> parse(std::span<const std::uint8_t> bytes);

  /// True where the request is answered at all. Older class versions are taken for the one that we speak, as
  /// OpenSM does; Linux does not deliver them.
  bool has_known_version() const {
    return mad.base_version == 1 && mad.class_version <= wire::kSaClassVersion;
  }
  /// True where this component of the record counts.
  bool has(unsigned component) const { return (sa.component_mask >> component & 1U) != 0; }
};

/// The status in the header of a MAD; kStatusOk where it is too short for one.
inline std::uint16_t status_of(std::span<const std::uint8_t> mad) {
  const auto header = wire::decode<wire::MadHeader>(mad);
  return header ? header->status : wire::kStatusOk;
}

/// What is said: a status, and records of one size one behind the other.
struct Answer {
  std::uint16_t status = wire::kStatusOk;
  std::size_t record_bytes = 0;  ///< a multiple of 8; 0 of an attribute that is no record
  std::vector<std::uint8_t> records;
};

/// An answer that is a status only.
inline Answer refuse(std::uint16_t status) { return {.status = status, .record_bytes = 0, .records = {}}; }

/// Bytes of the reply to `request`: the request's headers with the method and status of a response. Records
/// of a GetTable go by RMPP, as the kernel (or the simulated one) cuts them; of any other answer the first
/// record only is there. A refusal is one packet, which needs no acknowledgement, and without records brings
/// back what was asked for.
std::vector<std::uint8_t> reply(const Request& request, const Answer& answer);
/// The same into `out`, whose memory is used again. It is not the request's own.
void reply(const Request& request, std::uint16_t status, std::size_t record_bytes,
           std::span<const std::uint8_t> records, std::vector<std::uint8_t>& out);
/// BUSY in the place of a reply by RMPP that there is no room for; no RMPP, and without data.
std::vector<std::uint8_t> busy_instead_of(std::span<const std::uint8_t> reply);
/// Whether a reply with this status goes by RMPP: kStatusOk, and the response is a GetTableResp or
/// GetMultiResp.
bool is_by_rmpp(const Request& request, std::uint16_t status);
/// The first kSaDataOffset bytes of such a reply, in front of `records` bytes of records.
void reply_headers(const Request& request, std::uint16_t status, std::size_t record_bytes,
                   std::size_t records, std::span<std::uint8_t> out);

}  // namespace smd::sa
