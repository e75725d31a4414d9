// SPDX-License-Identifier: Apache-2.0
#include "smd/sa/request.h"

#include <algorithm>

#include "mad/wire/sa/path_record.h"

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
  std::vector<std::uint8_t> bytes;
  reply(request, answer.status, answer.record_bytes, answer.records, bytes);
  return bytes;
}

bool is_by_rmpp(const Request& request, std::uint16_t status) {
  return status == wire::kStatusOk && by_rmpp(wire::response_to(request.mad.method));
}

void reply_headers(const Request& request, std::uint16_t status, std::size_t record_bytes,
                   std::size_t records, std::span<std::uint8_t> out) {
  auto mad = request.mad;
  mad.method = wire::response_to(request.mad.method);
  mad.status = status;
  const bool rmpp = is_by_rmpp(request, status);
  if (rmpp && mad.method == wire::Method::get_multi_resp) mad.attribute = wire::PathRecord::kRecord;
  wire::encode(mad, out);
  const wire::RmppHeader header{
      .version = static_cast<std::uint8_t>(rmpp ? 1 : 0),
      .type = rmpp ? wire::RmppType::data : wire::RmppType::none,
      .last = rmpp,
      .first = rmpp,
      .active = rmpp,
      .segment = rmpp ? 1U : 0U,
      .length = rmpp ? static_cast<std::uint32_t>(wire::SaHeader::kBytes + records) : 0U};
  wire::encode(header, out.subspan(wire::kRmppOffset));
  auto sa = request.sa;
  sa.sm_key = 0;  // a client that needs it has it
  sa.attribute_offset = static_cast<std::uint16_t>(record_bytes / 8);
  wire::encode(sa, out.subspan(wire::kSaOffset));
}

std::vector<std::uint8_t> busy_instead_of(std::span<const std::uint8_t> reply) {
  std::vector<std::uint8_t> busy(wire::kMadBytes);
  auto mad = *wire::decode<wire::MadHeader>(reply);
  auto sa = *wire::decode<wire::SaHeader>(reply.subspan(wire::kSaOffset));
  mad.status = wire::kStatusBusy;
  if (mad.method == wire::Method::get_multi_resp) mad.attribute = wire::MultiPathRecord::kRecord;
  sa.attribute_offset = 0;
  wire::encode(mad, busy);
  wire::encode(sa, std::span(busy).subspan(wire::kSaOffset));
  return busy;
}

void reply(const Request& request, std::uint16_t status, std::size_t record_bytes,
           std::span<const std::uint8_t> records, std::vector<std::uint8_t>& out) {
  const bool rmpp = is_by_rmpp(request, status);
  if (!rmpp) records = records.first(std::min(records.size(), wire::kSaDataBytes));
  // What was asked for comes back with a refusal, as the field's tools print it, where nothing else is told.
  const bool good = status == wire::kStatusOk;
  const auto data = good || !records.empty() ? records : request.data.first(wire::kSaDataBytes);
  // The kernel takes the length of a MAD by RMPP as it is, and sends what is behind the last record too.
  const auto length = rmpp ? wire::kSaDataOffset + records.size() : wire::kMadBytes;
  out.clear();
  if (data.size() > wire::kSaDataBytes) out.reserve(length);
  out.resize(wire::kSaDataOffset);
  const auto some = data.first(std::min(data.size(), length - wire::kSaDataOffset));
  out.insert(out.end(), some.begin(), some.end());
  out.resize(length);
  reply_headers(request, status, record_bytes, records.size(), out);
}

}  // namespace smd::sa
