// SPDX-License-Identifier: Apache-2.0
#include "mad/gsi/sa_records.h"

#include <fmt/format.h>

#include <algorithm>

namespace smd::mad {
namespace {

std::unexpected<SaError> malformed_answer(std::string what) {
  return std::unexpected(SaError{.fault = SaFault::malformed, .what = std::move(what)});
}

/// The part of a MAD's status that the SA defines, in words; empty: it is none of them.
std::string_view sa_status_words(std::uint16_t status) {
  switch (status) {
    case wire::kSaNoResources:
      return "no resources";
    case wire::kSaRequestInvalid:
      return "request invalid";
    case wire::kSaTooManyRecords:
      return "too many records";
    case wire::kSaInvalidGid:
      return "invalid GID";
    case wire::kSaInsufficientComponents:
      return "insufficient components";
    case wire::kSaDenied:
      return "denied";
    default:
      return {};
  }
}

/// The records' bytes. One packet has zeros behind them up to 256 bytes; RMPP says where they begin.
std::span<const std::uint8_t> records_in(std::span<const std::uint8_t> answer) {
  const auto data = answer.subspan(wire::kSaDataOffset);
  const auto rmpp = wire::decode<wire::RmppHeader>(answer.subspan(wire::kRmppOffset));
  if (!rmpp || !rmpp->active || answer.size() > wire::kMadBytes || rmpp->length < wire::SaHeader::kBytes)
    return data;
  return data.first(std::min<std::size_t>(data.size(), rmpp->length - wire::SaHeader::kBytes));
}

}  // namespace

std::string to_string(const SaError& error) {
  switch (error.fault) {
    case SaFault::not_sent:
      return error.what;
    case SaFault::no_answer:
      return "no answer";
    case SaFault::refused: {
      const auto words = sa_status_words(error.status);
      return fmt::format("status 0x{:04x}: {}", error.status,
                         words.empty() ? wire::status_text(error.status) : std::string(words));
    }
    case SaFault::malformed:
      return error.what;
    case SaFault::closed:
      break;
  }
  return "closed";
}

std::expected<SaRecords, SaError> parse_sa_records(std::span<const std::uint8_t> answer,
                                                   std::uint16_t attribute, std::size_t least) {
  const auto header = wire::decode<wire::MadHeader>(answer);
  if (!header) return malformed_answer(fmt::format("an answer of {} bytes", answer.size()));
  if (header->mgmt_class != wire::MgmtClass::sa || header->method != wire::Method::get_table_resp ||
      header->attribute != attribute) {
    return malformed_answer(fmt::format("an answer of {}, {}, attribute 0x{:04x}",
                                        wire::class_name(header->mgmt_class),
                                        wire::method_name(header->method), header->attribute));
  }
  if (header->status == wire::kSaNoRecords) return SaRecords{};
  if (header->status != wire::kStatusOk)
    return std::unexpected(SaError{.fault = SaFault::refused, .status = header->status});
  const auto behind = answer.subspan(std::min<std::size_t>(answer.size(), wire::kSaOffset));
  const auto sa = wire::decode<wire::SaHeader>(behind);
  if (!sa || answer.size() < wire::kSaDataOffset)
    return malformed_answer(fmt::format("an answer of {} bytes", answer.size()));
  const auto data = records_in(answer);
  const std::size_t offset = std::size_t{sa->attribute_offset} * 8;
  // OpenSM says 0 where it has no record, and still status 0.
  if (offset == 0) return SaRecords{};
  if (offset < least)
    return malformed_answer(fmt::format("records of {} bytes, {} expected at least", offset, least));
  return SaRecords(offset, {data.begin(), data.end()});
}

}  // namespace smd::mad
