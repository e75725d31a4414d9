// SPDX-License-Identifier: Apache-2.0
#include "smd/sa/request.h"

#include <algorithm>

namespace smd::sa {
namespace {

bool by_rmpp(wire::Method method) {
  return method == wire::Method::get_table_resp || method == wire::Method::get_multi_resp;
}

}  // namespace

std::optional<Request> Request::parse(std::span<const std::uint8_t> bytes) {
  if (bytes.size() < wire::kMadBytes) return std::nullopt;
  const auto mad = wire::decode<wire::MadHeader>(bytes);
  const auto sa = wire::decode<wire::SaHeader>(bytes.subspan(wire::kSaOffset));
  if (!mad || !sa) return std::nullopt;
  return Request{.mad = *mad, .sa = *sa, .bytes = bytes, .data = bytes.subspan(wire::kSaDataOffset)};
}

std::vector<std::uint8_t> reply(const Request& request, const Answer& answer) {
  auto mad = request.mad;
  mad.method = wire::response_to(request.mad.method);
  mad.status = answer.status;
  const bool rmpp = by_rmpp(mad.method);

  std::span<const std::uint8_t> records(answer.records);
  if (!rmpp) records = records.first(std::min(records.size(), wire::kSaDataBytes));
  std::vector<std::uint8_t> bytes(std::max(wire::kSaDataOffset + records.size(), wire::kMadBytes));
  // What was asked for comes back with a refusal, as the field's tools print it.
  if (answer.status != wire::kStatusOk) {
    std::ranges::copy(request.bytes.first(wire::kMadBytes), bytes.begin());
  }
  wire::encode(mad, bytes);
  const wire::RmppHeader header{
      .version = static_cast<std::uint8_t>(rmpp ? 1 : 0),
      .type = rmpp ? wire::RmppType::data : wire::RmppType::none,
      .last = rmpp,
      .first = rmpp,
      .active = rmpp,
      .segment = rmpp ? 1U : 0U,
      .length = rmpp ? static_cast<std::uint32_t>(wire::SaHeader::kBytes + records.size()) : 0U};
  wire::encode(header, std::span(bytes).subspan(wire::kRmppOffset));
  auto sa = request.sa;
  sa.sm_key = 0;  // nobody needs it who does not have it
  sa.attribute_offset = static_cast<std::uint16_t>(answer.record_bytes / 8);
  wire::encode(sa, std::span(bytes).subspan(wire::kSaOffset));
  if (answer.status == wire::kStatusOk) {
    std::ranges::copy(records, bytes.begin() + wire::kSaDataOffset);
  }
  // The kernel takes the length of a MAD by RMPP as it is, and sends what is behind the last record too.
  if (rmpp) bytes.resize(wire::kSaDataOffset + records.size());
  return bytes;
}

}  // namespace smd::sa
