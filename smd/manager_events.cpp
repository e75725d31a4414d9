// SPDX-License-Identifier: Apache-2.0
// What asks for work, and when it is done.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "mad/wire/trap.h"
#include "smd/manager.h"

namespace smd::sm {
namespace {

/// Whether the trap says that something of the node is not as we have read it.
bool changes(std::uint16_t trap) {
  return trap == wire::trap::kLinkStateChange || trap == wire::trap::kLocalChange ||
         trap == wire::trap::kSystemImageGuidChange;
}

/// Whether an operator has to hear of it: errors of links, and keys that do not fit.
bool warns(std::uint16_t trap) {
  return (trap >= wire::trap::kLocalLinkIntegrity && trap <= wire::trap::kFlowControlWatchdog) ||
         (trap >= wire::trap::kBadMKey && trap <= wire::trap::kBadPKeyAtSwitch);
}

}  // namespace

void SubnetManager::resweep(Resweep kind, std::string reason) {
  converging_ = converging_ || kind == Resweep::converge;
  switch (kind) {
    case Resweep::light:
      return agenda_.add(Work::light, std::move(reason));
    case Resweep::heavy:
      return agenda_.add(Work::heavy, std::move(reason));
    case Resweep::converge:
      return agenda_.add(Work::incremental, std::move(reason));
  }
}

void SubnetManager::heard_trap(const wire::Notice& notice, Lid from) {
  if (options_.on_trap) options_.on_trap(notice, from);
  if (!notice.is_generic || !subnet_) return;
  if (!lids_.is_of(subnet_.get())) lids_ = LidIndex(subnet_);
  const auto place = lids_.find(notice.issuer_lid.unicast() ? notice.issuer_lid : from);
  const auto subject = fmt::format("{} {}", notice.trap, from);
  auto&& event = warns(notice.trap) ? parts_.log.warn("trap") : parts_.log.info("trap");
  if (place.node != nullptr) event.port(place.node->guid(), place.node->description, place.port);
  event.kv("number", notice.trap).kv("name", wire::trap_name(notice.trap)).kv("lid", from);
  if (warns(notice.trap)) event.kv("details", wire::describe(notice));
  event.subject(subject);
  if (!changes(notice.trap) || !config_->sweep.on_trap) return;
  auto reason = fmt::format("trap {}", notice.trap);
  if (place.node != nullptr) {
    agenda_.look_at(place.node->guid(), std::move(reason));
  } else {
    agenda_.add(Work::heavy, fmt::format("{} of the unknown LID {}", reason, from));
  }
}

/// When what is asked may be done: the first event after quiet at once; those that follow within the settle
/// window make one sweep together, and a node that goes on reporting waits longer each time.
std::optional<mad::TimePoint> SubnetManager::due() const {
  const auto& asked = agenda_.peek();
  if (asked.work == Work::none) return std::nullopt;
  if (asked.work <= Work::light || !subnet_) return mad::TimePoint{};
  const auto settled = last_sweep_ + config_->sweep.settle;
  if (asked.work == Work::heavy) return std::max(settled, pace_.due(Guid{}));
  auto first = mad::TimePoint::max();
  for (const auto suspect : asked.suspects) first = std::min(first, pace_.due(suspect));
  return std::max(settled, asked.suspects.empty() ? mad::TimePoint{} : first);
}

/// While a sweep goes on: something has happened that asks for another one, at once.
bool SubnetManager::newer_waits() const {
  if (agenda_.peek().work < Work::incremental) return false;
  const auto next = due();
  return next && *next <= parts_.clock.now();
}

/// Links have gone or tables have changed: switches whose way to us was among them have sent their traps in
/// vain, and repeat them after a second or never. They are asked as soon as tables are repaired; where that
/// goes on, not more often than every 300 ms, or a tenth of the time.
void SubnetManager::look_soon() {
  constexpr auto kSoon = std::chrono::milliseconds(30);
  constexpr mad::Duration kGap = std::chrono::milliseconds(300);
  const auto earliest = last_light_ + std::max(kGap, light_took_ * 10);
  next_light_ = std::min(next_light_, std::max(parts_.clock.now() + kSoon, earliest));
  look_soon_ = true;
}

/// Something is due on the agenda, or the interval is over. False when cancelled.
asio::awaitable<bool> SubnetManager::wait_for_work() {
  const auto interval = config_->sweep.interval;
  next_light_ = std::max(next_light_, parts_.clock.now());
  for (;;) {
    const auto now = parts_.clock.now();
    if (interval.count() != 0 && subnet_ && now >= next_light_) {
      next_light_ = now + interval;
      agenda_.add(Work::light, "interval");
    }
    const bool idle = agenda_.peek().work == Work::none;  // else lanes wait until that is done
    if (idle && next_lanes_ && *next_lanes_ <= now) agenda_.add(Work::lanes, "lanes");
    const auto next = due();
    if (next && *next <= now) co_return true;
    auto wake = next.value_or(mad::TimePoint::max());
    if (interval.count() != 0) wake = std::min(wake, next_light_);
    if (idle && next_lanes_) wake = std::min(wake, *next_lanes_);
    mad::Clock::TimerId timer = 0;
    if (wake != mad::TimePoint::max()) timer = parts_.clock.call_at(wake, [this] { agenda_.wake(); });
    const bool woken = co_await agenda_.changed();
    parts_.clock.cancel(timer);
    if (!woken) co_return false;
  }
}

/// What is due now; suspects whose time has not come stay on the agenda.
Asked SubnetManager::take_due() {
  const auto now = parts_.clock.now();
  auto asked = agenda_.take();
  if (asked.work == Work::heavy) pace_.looked(Guid{}, now);
  if (asked.work != Work::incremental) {
    if (asked.work != Work::heavy) return asked;
    asked.suspects.clear();
    return asked;
  }
  for (const auto suspect : std::set<Guid>(asked.suspects)) {
    if (pace_.due(suspect) > now) {
      agenda_.look_at(suspect, asked.reason);
      asked.suspects.erase(suspect);
    } else {
      pace_.looked(suspect, now);
    }
  }
  return asked;
}

}  // namespace smd::sm
