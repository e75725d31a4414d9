// SPDX-License-Identifier: Apache-2.0
#include "smd/ha/sm_agent.h"

#include <utility>

#include "mad/wire/notice.h"
#include "smd/ha/sm_rank.h"

namespace smd::sm::inline availability {
namespace {

constexpr std::uint64_t kDefaultSmKey = 1;  // OpenSM's too

}  // namespace

SmAgent::SmAgent(mad::Transactions& tx, log::Log log, const machine::State& state, Events events)
    : tx_(tx), log_(std::move(log)), state_(state), events_(std::move(events)) {}

void SmAgent::listen() {
  tx_.on_unsolicited([this](mad::Received&& mad) { received(std::move(mad)); });
}

wire::SmInfo SmAgent::info() const {
  const auto shows = machine::shown(state_);
  return {.guid = state_.self.guid,
          .sm_key = state_.sm_key,
          .act_count = act_count_,
          .priority = shows.rank.priority,
          .state = shows.state};
}

void SmAgent::received(mad::Received&& mad) {
  const auto smp = wire::Smp::from_bytes(mad.bytes);
  if (!smp) return;
  const auto smi_class = smp->mgmt_class();
  if (smi_class != wire::MgmtClass::sm_lid && smi_class != wire::MgmtClass::sm_directed) return;
  if (smp->method() == wire::Method::trap) {
    trap(mad, *smp);
    return;
  }
  const bool asked = smp->method() == wire::Method::get || smp->method() == wire::Method::set;
  if (asked && smp->attribute() == wire::SmInfo::kAttribute) sm_info(mad, *smp);
}

void SmAgent::sm_info(const mad::Received& mad, const wire::Smp& smp) {
  if (smp.method() == wire::Method::set) {
    const auto status = events_.control(mad, smp);
    answer(mad.from, smp, status, smp.get<wire::SmInfo>().sm_key == state_.sm_key);
    return;
  }
  if (!events_.asked) return show(mad, smp);
  events_.asked(mad, smp, [this, mad, smp] { show(mad, smp); });
}

/// The SM_Key makes HANDOVER valid and, where there is no sa_key, opens the trusted view of subnet
/// administration: only ports of SMs are shown it. They need it: OpenSM ignores a master without its own key,
/// and becomes a second one. The default key is public.
void SmAgent::show(const mad::Received& mad, const wire::Smp& smp) {
  if (state_.sm_key == kDefaultSmKey) return answer(mad.from, smp, wire::kStatusOk, true);
  if (!events_.is_sm) return answer(mad.from, smp, wire::kStatusOk, false);
  events_.is_sm(mad, smp,
                [this, from = mad.from, smp](bool is_sm) { answer(from, smp, wire::kStatusOk, is_sm); });
}

void SmAgent::answer(const mad::LidRoute& to, const wire::Smp& request, std::uint16_t status, bool with_key) {
  ++act_count_;
  auto shown = info();
  if (!with_key) shown.sm_key = 0;
  auto reply = request.response(status);
  reply.put(shown);
  if (const auto sent = tx_.respond(reply, to); !sent) {
    log_.warn("sm_info.not_answered").kv("errno", sent.error().error).kv("reason", sent.error().what);
  }
}

void SmAgent::trap(const mad::Received& mad, const wire::Smp& smp) {
  // Only the master answers: a trap without TrapRepress is repeated, and then reaches the master.
  if (state_.sm != wire::SmState::master || smp.attribute() != wire::Notice::kAttribute) return;
  auto repress = smp.response();
  repress.set_m_key(events_.m_key ? events_.m_key(mad.from.lid) : 0);
  if (const auto sent = tx_.respond(std::move(repress), mad.from); !sent) {
    log_.warn("trap.not_repressed").kv("errno", sent.error().error).kv("reason", sent.error().what);
  }
  events_.trap(smp.get<wire::Notice>(), mad.from.lid);
}

}  // namespace smd::sm::inline availability
