// SPDX-License-Identifier: Apache-2.0
#include "smd/sweep/incremental_sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "mad/suspend.h"
#include "mad/wire/switch.h"
#include "smd/sweep/discovery_session.h"
#include "smd/sweep/m_key_hints.h"
#include "smd/sweep/merge.h"
#include "smd/sweep/not_sent.h"
#include "smd/sweep/paths.h"

namespace smd::sm::inline sweeping {
namespace {

/// Ways that are tried at once to a switch that may have lost the link by which we would ask it.
constexpr std::size_t kWays = 3;

/// One question by several ways at once: the first good answer counts.
class Race {
 public:
  Race(mad::Transactions& tx, const Node& node, const std::vector<mad::DirectedPath>& ways)
      : tx_(tx), node_(node.guid()), m_key_(m_key_of(node, PortNum{0})) {
    also(ways);
  }
  /// These ways as well, where they have not been tried yet: what is known to be down has grown.
  void also(const std::vector<mad::DirectedPath>& ways) {
    for (const auto& way : ways) {
      if (won_ || closed_ || std::ranges::find(tried_, way) != tried_.end()) continue;
      tried_.push_back(way);
      ++open_;
      auto request = mad::get_request<wire::SwitchInfo>({.route = way, .node = node_, .m_key = m_key_});
      // A silent one has the whole fabric looked at, and is asked by every link then. Where much is lost its
      // silence tells nothing so soon, and to look at all takes long.
      if (!tx_.lossy()) request.life = tx_.soon(node_);
      ids_.push_back(
          tx_.submit(std::move(request), [this, way](mad::Answer answer) { ended(way, std::move(answer)); }));
    }
  }
  Race(const Race&) = delete;
  Race& operator=(const Race&) = delete;
  ~Race() = default;

  struct Won {
    mad::DirectedPath path;
    wire::SwitchInfo info;
  };
  asio::awaitable<std::optional<Won>> result() {
    while (!won_ && open_ != 0) {
      const bool woken = co_await waiters_.wait();
      if (!woken) break;
    }
    cancel();
    // Cancelled requests still deliver their ends, and refer to us.
    while (open_ != 0) co_await asio::post(co_await asio::this_coro::executor, asio::use_awaitable);
    co_return won_;
  }
  void cancel() {
    closed_ = true;
    for (const auto id : std::exchange(ids_, {})) tx_.cancel(id);
  }
  const std::optional<mad::RequestError>& error() const { return error_; }

 private:
  void ended(const mad::DirectedPath& way, mad::Answer answer) {
    --open_;
    if (answer && !won_) won_ = Won{way, answer->get<wire::SwitchInfo>()};
    if (!answer && !was_dropped(answer.error())) error_ = std::move(answer.error());
    waiters_.wake_all();
  }

  mad::Transactions& tx_;
  Guid node_;
  std::uint64_t m_key_ = 0;
  bool closed_ = false;
  std::vector<mad::DirectedPath> tried_;
  std::vector<mad::Transactions::RequestId> ids_;
  std::size_t open_ = 0;
  std::optional<Won> won_;
  std::optional<mad::RequestError> error_;
  mad::WaitList waiters_;
};

class Refresh {
 public:
  Refresh(mad::Transactions* tx, mad::Clock* clock, asio::any_io_executor executor, const Subnet* before,
          const SweepOptions& options)
      : tx_(*tx),
        clock_(*clock),
        options_(options),
        before_(*before),
        paths_(before_),
        survey_(*tx, *clock, std::move(executor), before, options, DiscoveryState({}, before)) {
    survey_.self = PeerPort{before_.sm_node, before_.sm_port};
  }

  asio::awaitable<bool> explore(std::set<Guid> suspects);
  asio::awaitable<void> stop() { return survey_.stop(); }
  /// Why to begin anew; empty: no reason to.
  std::string_view superseded() const { return superseded_; }
  std::expected<Subnet, std::string> result();

 private:
  asio::awaitable<void> check_switch(FoundNode* found, std::vector<mad::DirectedPath> ways);
  asio::awaitable<void> check_port(FoundNode* found, PortNum port, mad::DirectedPath path, bool hint);
  bool begin_checks();
  void begin_check(Guid guid, const Paths& paths);
  bool compare();
  void lost(FoundNode& found, PortNum port);
  void look_from_around(Guid node, const Paths& paths, bool again = false);
  void look_again();
  void give_up_cut_off();
  void ask_around(const Paths& around);
  std::string_view reason_to_restart(mad::Duration quiet) const;
  std::optional<std::string> still_linked(const Subnet& after) const;

  mad::Transactions& tx_;
  mad::Clock& clock_;
  SweepOptions options_;
  const Subnet& before_;
  Paths paths_;
  DiscoverySession survey_;
  std::set<Guid> to_check_, checked_;
  std::vector<FoundNode*> to_compare_;  ///< answered since the last wave
  std::set<Guid> doubtful_;             ///< switches that lost a link and have not answered since
  Paths::Avoid avoid_;
  std::string_view superseded_;
  unsigned waited_ = 0, next_look_ = 1;  ///< times that nothing came in while we waited; of the next look
  std::map<Guid, Race*> races_;
  std::set<Guid> reading_;              ///< switches that have answered and are being read
  std::map<Guid, std::string> silent_;  ///< switches that did not answer by any way, and why
};

/// Asks by several ways, then reads all that the switch says of itself by the one that answered first.
asio::awaitable<void> Refresh::check_switch(FoundNode* found, std::vector<mad::DirectedPath> ways) {
  const auto guid = found->node.guid();
  Race race(tx_, found->node, ways);
  races_[guid] = &race;
  const auto won = co_await race.result();
  races_.erase(guid);
  doubtful_.erase(guid);
  if (!won) {
    found->silent = true;
    silent_[guid] = race.error() ? to_string(*race.error()) : "every way there is down";
    co_return;
  }
  if (std::exchange(found->read, true)) co_return;  // a probe came in meanwhile and reads it
  found->path = won->path;
  found->node.switch_info = won->info;
  for (std::size_t p = 1; p < found->node.ports.size(); ++p)
    found->outdated.insert(PortNum{static_cast<std::uint8_t>(p)});
  survey_.may_probe.push_back(found);
  survey_.start(survey_.read_node_info(found));
  survey_.start(survey_.read_description(found));
  reading_.insert(guid);
  co_await survey_.clear_change(found);
  co_await survey_.read_switch_rest(found);
  reading_.erase(guid);
  to_compare_.push_back(found);
}

asio::awaitable<void> Refresh::check_port(FoundNode* found, PortNum port, mad::DirectedPath path, bool hint) {
  co_await survey_.read_port(found, port, path, hint);
  to_compare_.push_back(found);
}

void Refresh::begin_check(Guid guid, const Paths& paths) {
  const auto index = before_.index_of(guid);
  if (!index || !checked_.insert(guid).second) return;
  auto* found = survey_.findings.touch(guid);
  if (found->read) {
    doubtful_.erase(guid);
    return;
  }
  if (found->node.is_switch() && !paths.to(*index)) {
    found->silent = true;
    silent_[guid] = "every way there is down";
    doubtful_.erase(guid);
    return;
  }
  if (found->node.is_switch()) {
    survey_.start(check_switch(found, paths.ways(before_, *index, kWays)));
    return;
  }
  if (guid == before_.sm_node) survey_.may_probe.push_back(found);
  for (std::size_t p = 1; p < found->node.ports.size(); ++p) {
    const PortNum port{static_cast<std::uint8_t>(p)};
    const auto path = paths.to_port(before_, *index, port);
    if (!path) continue;
    found->read = true;
    if (found->arrivals.empty()) {
      found->path = *path;
      survey_.start(survey_.read_node_info(found));
      survey_.start(survey_.read_description(found));
    }
    found->arrivals.push_back(port);
    survey_.start(check_port(found, port, *path, false));
  }
}

/// A switch that lost a link may be gone: its neighbours know, and sooner than its silence tells. `again`:
/// those as well that have been asked, because more links may have gone since.
void Refresh::look_from_around(Guid node, const Paths& paths, bool again) {
  const auto* was = before_.find(node);
  for (const auto& port : was->ports) {
    const auto index = port.peer ? before_.index_of(port.peer->node) : std::nullopt;
    if (!index || !before_.nodes[*index]->is_switch() || doubtful_.contains(port.peer->node)) continue;
    auto* neighbour = survey_.findings.touch(port.peer->node);
    const auto path = paths.to(*index);
    const bool up = neighbour->node.ports[port.peer->port.value()].peer.has_value();
    if ((neighbour->read && !again) || !path || !up) continue;
    survey_.start(check_port(neighbour, port.peer->port, *path, true));
  }
}

/// Switches that do not answer at once are awaited, and nothing else: those that told us of something and
/// died after it as well.
void Refresh::look_again() {
  if (races_.empty() || ++waited_ < next_look_) return;
  next_look_ = 2 * waited_;
  for (const auto& [guid, race] : races_) doubtful_.insert(guid);
  const Paths around(before_, {.nodes = doubtful_, .ports = avoid_.ports});
  for (const auto guid : doubtful_) look_from_around(guid, around, true);
  ask_around(around);
  give_up_cut_off();
}

/// Switches whose answer is awaited, by ways around what is known to be down or doubtful by now.
void Refresh::ask_around(const Paths& around) {
  for (const auto& [guid, race] : races_) {
    if (const auto index = before_.index_of(guid); index) race->also(around.ways(before_, *index, kWays));
  }
}

bool Refresh::begin_checks() {
  const auto asked = std::exchange(to_check_, {});
  if (asked.empty()) return false;
  avoid_.nodes = doubtful_;
  const Paths around = avoid_.nodes.empty() && avoid_.ports.empty() ? paths_ : Paths(before_, avoid_);
  avoid_.nodes.clear();
  const Paths through = avoid_.ports.empty() ? paths_ : Paths(before_, avoid_);
  for (const auto guid : asked) {
    const auto index = before_.index_of(guid);
    const bool by_others = index && around.to(*index).has_value();
    begin_check(guid, by_others ? around : through);
    if (doubtful_.contains(guid)) look_from_around(guid, around);
  }
  return true;
}

/// The link is down, or came up anew. What was at its other end is looked at too.
void Refresh::lost(FoundNode& found, PortNum port) {
  avoid_.ports.insert({found.node.guid(), port});
  const auto peer = survey_.findings.unlink(found, port);
  const auto* other = peer ? before_.find(peer->node) : nullptr;
  if (other == nullptr || !other->is_switch()) return;
  if (checked_.contains(peer->node) && !races_.contains(peer->node)) return;
  doubtful_.insert(peer->node);
  to_check_.insert(peer->node);
}

/// Switches that no link leads to any more, not even by others whose answer is awaited, are not waited for.
void Refresh::give_up_cut_off() {
  if (races_.empty()) return;
  const Paths left(before_, {.nodes = {}, .ports = avoid_.ports});
  for (const auto& [guid, race] : races_) {
    const auto index = before_.index_of(guid);
    if (doubtful_.contains(guid) && index && !left.to(*index)) race->cancel();
  }
}

/// A switch that is silent although a link to it is up; nothing where there is none.
std::optional<std::string> Refresh::still_linked(const Subnet& after) const {
  for (const auto& [guid, reason] : silent_) {
    for (const auto& port : before_.find(guid)->ports) {
      const auto* neighbour = port.peer ? after.find(port.peer->node) : nullptr;
      if (neighbour != nullptr && neighbour->ports[port.peer->port.value()].linked())
        return fmt::format("{} does not answer: {}", guid, reason);
    }
  }
  return std::nullopt;
}

/// True where something was compared.
bool Refresh::compare() {
  const auto answered = std::exchange(to_compare_, {});
  const auto gone = avoid_.ports.size();
  for (auto* found : answered) {
    const auto& was = *before_.find(found->node.guid());
    if (found->read && !same_incarnation(was, found->node)) found->node.not_kept.clear();
    for (std::size_t p = 1; p < found->node.ports.size(); ++p) {
      const auto& now = found->node.ports[p];
      // A port that has never told its state does not say that its link is down.
      if (!now.known || !now.peer || was.ports[p].peer != now.peer) continue;
      // Down, or down and up again since we looked.
      const bool came_back = now.linked() && now.info.port_state < was.ports[p].info.port_state;
      if (!now.linked() || came_back) lost(*found, PortNum{static_cast<std::uint8_t>(p)});
    }
  }
  if (avoid_.ports.size() != gone) ask_around(Paths(before_, {.nodes = {}, .ports = avoid_.ports}));
  if (!answered.empty()) give_up_cut_off();
  return !answered.empty();
}

std::string_view Refresh::reason_to_restart(mad::Duration quiet) const {
  if (options_.urgent && options_.urgent()) return kNewerWaits;
  // The way by which a switch answered a moment ago may have gone since: others are tried.
  const auto lost = [&](Guid node) { return quiet >= tx_.soon(node); };
  return options_.restart_lost && std::ranges::any_of(reading_, lost) ? kLostOnTheWay : std::string_view{};
}

asio::awaitable<bool> Refresh::explore(std::set<Guid> suspects) {
  to_check_ = std::move(suspects);
  auto last_news = clock_.now();
  bool going = true;
  while (going) {
    const bool checks = begin_checks();
    const bool reads = survey_.begin_reads();
    // Nodes that may be gone are not waited for as long as others answer.
    if (checks || reads) going = co_await survey_.settle(doubtful_.size());
    const bool compared = going && compare();
    const bool probes = going && to_check_.empty() && survey_.begin_probes();
    if (probes) going = co_await survey_.settle(doubtful_.size());
    if (checks || reads || compared || probes) continue;
    if (survey_.idle()) break;
    const auto completed = survey_.completed();
    going = co_await survey_.settle();
    if (survey_.completed() != completed) last_news = clock_.now();
    if (!going || !to_compare_.empty()) continue;
    superseded_ = reason_to_restart(clock_.now() - last_news);
    if (!superseded_.empty()) break;
    look_again();
  }
  co_return going;
}

std::expected<Subnet, std::string> Refresh::result() {
  if (!survey_.own_port_error.empty()) return std::unexpected(survey_.own_port_error);
  if (!survey_.other_node.empty()) return std::unexpected(survey_.other_node);
  for (const auto& duplicate : before_.duplicates) {
    const bool met = survey_.findings.find(duplicate.guid) != nullptr;
    if (met) return std::unexpected(fmt::format("{} was in two places", duplicate.guid));
  }
  if (!survey_.findings.conflicts().empty()) {
    return std::unexpected(fmt::format("{} is in two places", survey_.findings.conflicts().begin()->first));
  }
  auto after = merge(before_, std::move(survey_.findings), std::move(survey_.unresponsive),
                     std::move(survey_.other_sms));
  if (auto reason = still_linked(after); reason) return std::unexpected(*std::move(reason));
  return after;
}

}  // namespace

asio::awaitable<std::expected<Subnet, std::string>> incremental_sweep(mad::Transactions* tx,
                                                                      mad::Clock* clock, const Subnet* before,
                                                                      std::set<Guid> suspects,
                                                                      SweepOptions options) {
  const auto executor = co_await asio::this_coro::executor;
  Refresh part(tx, clock, executor, before, options);
  const bool whole = co_await part.explore(std::move(suspects));
  co_await part.stop();
  if (!whole) co_return std::unexpected("cancelled");
  if (!part.superseded().empty()) co_return std::unexpected(std::string(part.superseded()));
  co_return part.result();
}

}  // namespace smd::sm::inline sweeping
