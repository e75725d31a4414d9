// SPDX-License-Identifier: Apache-2.0
#include "mad/gsi/sa_client.h"

#include <algorithm>
#include <cerrno>
#include <memory>
#include <utility>

namespace smd::mad {
namespace {

wire::Mad question_of(const SaQuery& query) {
  wire::Mad mad;
  wire::encode_over(wire::MadHeader{.mgmt_class = wire::MgmtClass::sa,
                                    .class_version = wire::kSaClassVersion,
                                    .method = wire::Method::get_table,
                                    .attribute = query.attribute},
                    mad.bytes());
  wire::encode_over(wire::SaHeader{.sm_key = query.sm_key, .component_mask = query.mask},
                    mad.bytes().subspan(wire::kSaOffset));
  const auto length = std::min(query.record.size(), wire::kSaDataBytes);
  std::copy_n(query.record.begin(), length, mad.bytes().begin() + wire::kSaDataOffset);
  return mad;
}

SaError error_of(const RequestError& error) {
  if (error.fault == Fault::timeout) return {.fault = SaFault::no_answer};
  if (error.fault == Fault::closed && (error.error == ECANCELED || error.error == 0))
    return {.fault = SaFault::closed};
  return {.fault = SaFault::not_sent, .what = to_string(error)};
}

}  // namespace

asio::awaitable<std::expected<SaRecords, SaError>> SaClient::get_table(SaQuery query) {
  Request request{
      .mad = question_of(query), .route = query.to, .whole = std::make_shared<std::vector<std::uint8_t>>()};
  const auto tries = std::clamp(query.tries, 1U, kSaTries);
  (tries == 1 ? request.single_try : request.life) = query.wait * tries;
  const auto whole = request.whole;
  const auto answer = co_await tx_.request(std::move(request));
  // What an SA refuses with may be an empty table.
  const bool answered = answer || answer.error().fault == Fault::refused;
  if (answered) co_return parse_sa_records(*whole, query.attribute, query.least);
  co_return std::unexpected(error_of(answer.error()));
}

}  // namespace smd::mad
