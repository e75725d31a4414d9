// SPDX-License-Identifier: Apache-2.0
#include "mad/gsi/sa_client.h"

#include <algorithm>
#include <utility>

namespace smd::mad {
namespace {

std::vector<std::uint8_t> question_of(const SaQuery& query, std::uint32_t transaction) {
  std::vector<std::uint8_t> bytes(wire::kMadBytes);
  wire::encode_over(wire::MadHeader{.mgmt_class = wire::MgmtClass::sa,
                                    .class_version = wire::kSaClassVersion,
                                    .method = wire::Method::get_table,
                                    .tid = Tid{transaction},
                                    .attribute = query.attribute},
                    bytes);
  wire::encode_over(wire::SaHeader{.sm_key = query.sm_key, .component_mask = query.mask},
                    std::span(bytes).subspan(wire::kSaOffset));
  const auto length = std::min(query.record.size(), wire::kSaDataBytes);
  std::copy_n(query.record.begin(), length, bytes.begin() + wire::kSaDataOffset);
  return bytes;
}

}  // namespace

SaClient::SaClient(Clock& clock, Transport& gsi, std::uint64_t seed)
    : clock_(clock), gsi_(gsi), next_(static_cast<std::uint32_t>(seed)) {
  gsi_.on_receive([this](std::span<Received> batch) { receive(batch); });
}

SaClient::~SaClient() { gsi_.on_receive(nullptr); }

void SaClient::receive(std::span<Received> batch) {
  for (auto& received : batch) {
    const auto header = wire::decode<wire::MadHeader>(received.bytes);
    if (!header || received.error != 0) continue;  // its time ends by the clock
    const auto found = open_.find(static_cast<std::uint32_t>(header->tid.value()));
    if (found == open_.end() || found->second->answered) continue;
    found->second->answer = std::move(received.bytes);
    found->second->answered = true;
    if (found->second->waiter) found->second->waiter->resume(true);
  }
}

asio::awaitable<std::expected<SaRecords, SaError>> SaClient::get_table(SaQuery query) {
  const auto transaction = next_++;
  Waiting waiting;
  open_[transaction] = &waiting;
  const auto sent = gsi_.send(question_of(query, transaction), query.to, query.wait);
  if (!sent) {
    open_.erase(transaction);
    co_return std::unexpected(SaError{.fault = SaFault::not_sent, .what = sent.error().what});
  }
  bool timed_out = false;
  Clock::TimerId timer = 0;
  std::move_only_function<void(SuspensionPtr)> begin = [&](const SuspensionPtr& waiter) {
    waiting.waiter = waiter;
    timer = clock_.call_at(clock_.now() + query.wait, [&timed_out, waiter] {
      if (!waiter->pending()) return;
      timed_out = true;
      waiter->resume(false);
    });
    if (waiting.answered) waiter->resume(true);
  };
  co_await suspend(std::move(begin));
  if (timer != 0) clock_.cancel(timer);
  open_.erase(transaction);
  if (waiting.answered) co_return parse_sa_records(waiting.answer, query.attribute, query.least);
  co_return std::unexpected(SaError{.fault = timed_out ? SaFault::no_answer : SaFault::closed});
}

}  // namespace smd::mad
