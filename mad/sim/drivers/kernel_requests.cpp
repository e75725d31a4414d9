// SPDX-License-Identifier: Apache-2.0
#include "mad/sim/drivers/kernel_requests.h"

#include <cerrno>
#include <utility>

#include "mad/wire/mad.h"

namespace smd::sim {
namespace {

std::uint64_t key_of(const wire::MadHeader& header) {
  return std::uint64_t{std::to_underlying(header.mgmt_class)} << 32U | (header.tid.value() & 0xFFFF'FFFF);
}

}  // namespace

KernelRequests::KernelRequests(mad::Clock& clock, std::size_t places, Send send, Deliver deliver)
    : clock_(clock), flow_(places), send_(std::move(send)), deliver_(std::move(deliver)) {}

KernelRequests::~KernelRequests() {
  for (const auto& [key, request] : requests_) clock_.cancel(request.timer);
}

void KernelRequests::send(Outgoing mad) {
  const auto header = wire::decode<wire::MadHeader>(mad.bytes);
  if (!header || mad.give_up.count() == 0 || wire::is_response(header->method)) return send_(std::move(mad));
  const auto key = key_of(*header);
  if (const auto before = requests_.find(key); before != requests_.end()) {  // user_mad.c would say EINVAL
    clock_.cancel(before->second.timer);
    requests_.erase(before);
    make_way(key);
  }
  requests_[key] = {.mad = std::move(mad)};
  if (flow_.begin(key)) transmit(key);
}

void KernelRequests::transmit(Key key) {
  auto& request = requests_.at(key);
  request.timer = clock_.call_at(clock_.now() + request.mad.give_up, [this, key] { over(key); });
  send_(request.mad);
}

void KernelRequests::over(Key key) {
  const auto found = requests_.find(key);
  mad::Received ended{.bytes = std::move(found->second.mad.bytes), .error = ETIMEDOUT};
  requests_.erase(found);
  make_way(key);
  const auto deliver = deliver_;  // who gets it may detach its client
  deliver(std::move(ended));
}

void KernelRequests::make_way(Key key) {
  if (const auto next = flow_.end(key)) transmit(*next);
}

void KernelRequests::sift(std::vector<mad::Received>& received) {
  std::erase_if(received, [this](const mad::Received& mad) {
    const auto header = wire::decode<wire::MadHeader>(mad.bytes);
    if (!header || mad.error != 0 || !wire::is_answer(header->method)) return false;
    const auto found = requests_.find(key_of(*header));
    if (found == requests_.end()) return true;
    if (found->second.timer == 0) return true;  // still in the backlog: no answer to it
    clock_.cancel(found->second.timer);
    const auto key = found->first;
    requests_.erase(found);
    make_way(key);
    return false;
  });
}

}  // namespace smd::sim
