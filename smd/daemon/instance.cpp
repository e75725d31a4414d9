// SPDX-License-Identifier: Apache-2.0
#include "smd/daemon/instance.h"

#include <fmt/format.h>

#include <random>
#include <utility>

#include "smd/api/sms.h"
#include "smd/base/unix_time.h"
#include "smd/report/tally.h"

namespace smd::daemon {
namespace {

using namespace std::chrono_literals;

/// Between two looks at the local device.
constexpr mad::Duration kLookAtDevice = 1s;
/// The end of a manager that hands over: a second, and what it needs itself.
constexpr mad::Duration kLeaving = 1200ms;
/// After so long without an answer from its own node a port counts as one that cannot send SMPs.
constexpr mad::Duration kSilent = 10s;
/// After so long the master has made what the API had made here, in another part of the fabric, or makes it
/// no more.
constexpr mad::Duration kInherited = 60s;

/// Whether readers find the same nodes, links, tables and partitions in both.
bool look_alike(const sm::Snapshot* a, const sm::Snapshot* b) {
  if (a == nullptr || b == nullptr) return a == b;
  return a->subnet == b->subnet && a->disabled == b->disabled && a->inventory == b->inventory &&
         a->state == b->state && a->decided.lids == b->decided.lids &&
         a->decided.routes == b->decided.routes && a->decided.partitions == b->decided.partitions;
}

/// With the ports that are disabled by what is kept: a caller was answered by that. The manager's next
/// snapshot has them; a standby makes one when it looks at the fabric.
std::shared_ptr<const sm::Snapshot> with_orders(std::shared_ptr<const sm::Snapshot> now,
                                                const policy::PoliciesPtr& kept) {
  if (!now || !now->disabled || *now->disabled == kept->disabled_ports) return now;
  auto shown = std::make_shared<sm::Snapshot>(*now);
  shown->disabled = std::shared_ptr<const policy::DisabledPorts>(kept, &kept->disabled_ports);
  return shown;
}

}  // namespace

Instance::Instance(InstanceSpec spec, sm::Compute& compute, store::StoreThread* stores, log::Log log,
                   InstanceEvents told, std::function<void()> ended, Answerer answer)
    : spec_(std::move(spec)),
      files_(spec_.config),
      compute_(compute),
      stores_(stores),
      log_(std::move(log)),
      ring_(told.ring),
      members_(told.members),
      ended_(std::move(ended)),
      answer_(std::move(answer)),
      clock_(io_),
      now_{.name = spec_.name, .port = spec_.where},
      group_(io_.get_executor()) {
  if (!spec_.name.empty()) log_ = log_.with_subnet(spec_.name);
  now_.epoch = static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(
                                              std::chrono::system_clock::now().time_since_epoch())
                                              .count());
  view_.set(std::make_shared<api::SubnetView>(now_));
  show_replica();
  group_.spawn(work());
  thread_ = std::jthread([this] {
    const auto keep = asio::make_work_guard(io_);
    io_.run();
  });
}

Instance::~Instance() {
  stop();
  thread_.join();
  members_.forget(spec_.name, snapshot_);
  // On this thread now: nothing else touches them any more.
  subscriber_.reset();
  sa_.reset();
  gsi_.reset();
  manager_.reset();
  replicator_.reset();
  network_.reset();
  store_.reset();
  end_.reset();
  spec_.ends.reset();
}

void Instance::stop() {
  asio::post(io_, [this] { stop_here(); });
}

void Instance::stop_here() {
  asio::co_spawn(io_, end_all(), [this](const std::exception_ptr&) { io_.stop(); });
}

void Instance::leave() {
  asio::post(io_, [this] {
    if (!manager_ || manager_ended_) return stop_here();
    if (leaving_ != 0) return;
    leaving_ = clock_.call_at(clock_.now() + kLeaving, [this] { stop_here(); });
    manager_->leave([this] { stop_here(); });
  });
}

void Instance::hand_over(Guid to) {
  asio::post(io_, [this, to] {
    const auto given = manager_ ? manager_->hand_over(to) : std::unexpected(std::string("there is no port"));
    if (!given) log_.warn("sm.not_handed_over").kv("to_guid", to).kv("reason", given.error()).always();
  });
}

void Instance::set_priority(std::uint8_t priority) {
  asio::post(io_, [this, priority] {
    if (manager_) manager_->set_priority(priority);
  });
}

void Instance::ping(std::move_only_function<void()> pong) {
  asio::post(io_, [answer = std::move(pong)]() mutable { answer(); });
}

void Instance::resweep(sm::Resweep kind, std::string reason) {
  asio::post(io_, [this, kind, why = std::move(reason)]() mutable {
    if (manager_) manager_->requests().resweep(kind, std::move(why));
  });
}

void Instance::accept_lost(Guid node) {
  asio::post(io_, [this, node] {
    if (manager_) manager_->requests().accept_lost(node);
  });
}

std::shared_ptr<const api::SubnetView> Instance::view() const {
  auto view = std::make_shared<api::SubnetView>(*view_.get());
  if (view->policy_state)
    view->snapshot = with_orders(std::move(view->snapshot), view->policy_state->policies);
  view->epoch += registry_.changes();  // before what it counts: a tag may be too old, never too new
  view->registry = registry_.get();
  view->groups_read = groups_read_->get();
  view->sms = sms_->get();
  view->activity = activity_->get();
  view->sa_counts = sa_counts_;
  view->replica = replica_->get();
  return view;
}

void Instance::reload(config::SubnetConfig config) {
  asio::post(io_, [this, next = std::move(config)]() mutable {
    files_ = std::move(next);
    spec_.config = files_;
    now_.config_differs.clear();
    differs_ = {};
    compared_ = {};
    adopt_replica_policy();
    say_expiry(true);
    if (now_.policy_state) {
      set_policy_state(now_.policy_state->policies);
      group_.spawn(remember_accepted());
    }
    if (manager_) manager_->requests().reload(spec_.config);
    if (sa_) sa_->set(sa::settings_of(spec_.config));
  });
}

asio::awaitable<void> Instance::work() {
  // Tokens are to be known while there is no port. Without a name the port's GUID says which state it is.
  bool kept = true;
  if (!spec_.name.empty()) kept = co_await open_store();
  while (kept) {
    const bool opened = co_await open();
    if (!opened) break;
    kept = co_await open_store();
    kept = kept && adopt_store();
    if (!kept) break;
    const bool again = co_await manage();
    sa_.reset();
    gsi_.reset();
    manager_.reset();
    subscriber_.reset();
    end_.reset();
    if (!again) break;
    // A device that can be opened and is of no use all the same.
    if (now_.snapshot) continue;
    const bool time = co_await back_off();
    if (!time) break;
  }
  ended_();
}

/// Nothing here is fatal: devices appear late, cables are pulled, another program may hold the port. The
/// reason is said once each time that it changes. False when cancelled.
asio::awaitable<bool> Instance::open() {
  for (;;) {
    auto opened = spec_.ends->open(io_);
    say_passed_over();
    if (opened) {
      end_ = std::move(*opened);
      break;
    }
    wait_for("port", opened.error());
    const bool time = co_await back_off();
    if (!time) co_return false;
  }
  if (spec_.name.empty()) {
    spec_.name = fmt::format("{}", end_->port_guid());
    log_ = log_.with_subnet(spec_.name);
  }
  members_.watch(spec_.name, snapshot_);
  now_.name = spec_.name;
  now_.port = end_->port_name();
  sweeps_on("the port was opened anew");
  ++now_.epoch;
  now_.snapshot.reset();  // of before: what the fabric is now is not known yet
  snapshot_->set(nullptr);
  activity_->set(nullptr);
  waited_for("port");
  log_.info("port.opened").kv("device", now_.port).kv("port_guid", end_->port_guid()).subject(now_.port);
  co_return true;
}

/// Ports that cannot send SMPs are not waited for while there are others.
void Instance::say_passed_over() {
  const auto reason = spec_.ends->passed_over();
  if (std::exchange(passed_over_, reason) == reason || reason.empty()) return;
  log_.warn("port.no_smi").kv("reason", reason).kv("action", "the next port is tried").always();
}

/// A port whose own node has not answered one SMP since it was opened: a virtual function or Omni-Path, which
/// nothing in sysfs tells. A fabric that was seen once is not left.
bool Instance::is_of_no_use() {
  if (own_port_silent_.empty() || now_.snapshot || clock_.now() - silent_since_ < kSilent) return false;
  return spec_.ends->pass_over(std::exchange(own_port_silent_, {}));
}

/// False when cancelled.
asio::awaitable<bool> Instance::back_off() { co_return co_await clock_.sleep(pause_.next()); }

/// Once: it stays open when the device is lost. Another process that manages this subnet from the same
/// directory is a mistake that waiting does not mend.
asio::awaitable<bool> Instance::open_store() {
  if (store_ || stores_ == nullptr) co_return true;
  auto opened = co_await stores_->open(spec_.name, &clock_);
  if (!opened) {
    refused_ = opened.error();
    wait_for("state", refused_);
    co_return false;
  }
  store_ = std::move(*opened);
  now_.kept = store_->policies();
  view_.set(std::make_shared<api::SubnetView>(now_));
  co_return true;
}

/// Once, with the first port: what is kept is in force. False: it cannot be.
bool Instance::adopt_store() {
  if (now_.policy_state) return true;
  // Where we were master until a process before this one ended, the copy that comes may lack what that kept.
  if (store_ && store_->replica()->source == end_->port_guid()) left_policies_ = store_->policies();
  open_replica();
  return adopt_policy();
}

/// Until the manager has ended (false) or its device is lost (true).
asio::awaitable<bool> Instance::manage() {
  manager_ended_ = false;
  own_port_silent_.clear();
  subscribe();
  manager_ = std::make_unique<sm::SubnetManager>(parts(), spec_.name, spec_.config, spec_.options);
  open_sa();
  // OpenSM hands over as soon as it sees a newcomer that outranks it: later there is no time for this.
  const auto sm = end_->sm_then();
  if (sa_ && sm.lid != Lid{}) co_await sa_->read_groups(sm);
  mad::TaskGroup running(io_.get_executor());
  running.spawn(run_manager());
  bool lost = false;
  while (!manager_ended_ && !lost) {
    const auto timer = clock_.call_at(clock_.now() + kLookAtDevice, [this] { wake_.wake_all(); });
    const bool woken = co_await wake_.wait();
    clock_.cancel(timer);
    if (!woken) break;
    lost = !manager_ended_ && (look() || is_of_no_use());
    if (!lost && !sa_) open_sa();
  }
  co_await running.stop();
  if (sa_) co_await sa_->stop();
  co_return lost;
}

/// Subnet administration of the fabric that the manager looks after. A dry run has none.
void Instance::open_sa() {
  if (spec_.options.dry_run) return;
  auto gsi = end_->open_gsi();
  if (!gsi) {
    if (std::exchange(no_sa_, gsi.error()) != gsi.error())
      log_.error("sa.no_port").kv("reason", gsi.error()).kv("action", "asked again every second").always();
    if (!now_.waiting || now_.waiting->what == "sa") wait_for("sa", gsi.error());
    return;
  }
  if (!std::exchange(no_sa_, {}).empty()) log_.info("sa.opened").kv("port", now_.port).always();
  waited_for("sa");
  gsi_ = std::make_unique<mad::Dispatcher>(**gsi);
  sa_ = std::make_unique<sa::Server>(
      sa::ServerParts{.executor = io_.get_executor(),
                      .gsi = gsi_->of(wire::MgmtClass::sa),
                      .asking = &gsi_->asking(wire::MgmtClass::sa),
                      .compute = answering_,
                      .indexing = compute_,
                      .source = [manager = manager_.get()] { return manager->published(); },
                      .act_count = [manager = manager_.get()] { return manager->act_count(); },
                      .registry = registry_,
                      .store = kept(),
                      .log = log_,
                      .clock = clock_,
                      .wall = sm::unix_now,
                      .fabric = &manager_->requests(),
                      .events = &ring_,
                      .subnet = spec_.name,
                      .seed = std::random_device{}(),
                      .groups_read = groups_read_,
                      .counts = sa_counts_},
      sa::settings_of(spec_.config));
}

asio::awaitable<void> Instance::run_manager() {
  co_await manager_->run();
  manager_ended_ = true;
  wake_.wake_all();
}

/// True: the end is lost.
bool Instance::look() {
  const auto health = end_->look();
  if (health.lost) {
    wait_for("port", health.reason);
    return true;
  }
  if (health.what != "device") waited_for("device");
  if (!health.reason.empty()) {
    const bool loses_link = health.what == "link" && (!now_.waiting || now_.waiting->what != "link");
    wait_for(health.what, health.reason);
    // A master that is replaced meanwhile is to know, when it has a link again, that it had none.
    if (loses_link && manager_) manager_->requests().resweep(sm::Resweep::heavy, "own port");
  } else if (now_.snapshot && sm::is_cut_off(*now_.snapshot->subnet)) {
    wait_for("link", fmt::format("port {} has no link", end_->port_name()));
    // There is one again: until the next interval no other SM would hear from us, and no host.
    if (manager_) manager_->requests().resweep(sm::Resweep::light, "own port");
  } else {
    waited_for("link");
  }
  return false;
}

/// Publishes what is waited for. What the manager itself says in the log is not said here again.
void Instance::wait_for(std::string_view what, std::string_view reason) {
  auto& waiting = now_.waiting;
  if (!waiting || waiting->what != what || waiting->reason != reason) {
    const bool said = what == "port" || what == "link" || what == "device";
    if (said)
      log_.warn("port.waiting")
          .kv("reason", reason)
          .kv("port", now_.port)
          .subject(now_.port + ": " + std::string(reason));
    waiting = api::Waiting{
        .what = std::string(what), .reason = std::string(reason), .since = std::chrono::system_clock::now()};
  }
  view_.set(std::make_shared<api::SubnetView>(now_));
}

void Instance::waited_for(std::string_view what) {
  if (now_.waiting && now_.waiting->what == what) {
    if (what == "device") log_.info("port.device_answers").kv("port", now_.port).always();
    if (what == "link") log_.info("port.link_is_back").kv("port", now_.port).always();
    now_.waiting.reset();
  }
  view_.set(std::make_shared<api::SubnetView>(now_));
}

sm::ManagerParts Instance::parts() {
  return {.executor = io_.get_executor(),
          .clock = clock_,
          .smi = end_->smi(),
          .compute = compute_,
          .log = log_,
          .claim_sm = [this]() -> std::expected<void, std::string> {
            auto claimed = end_->claim_sm();
            if (!claimed) {
              wait_for("sm_place", claimed.error());
            } else {
              waited_for("sm_place");
            }
            return claimed;
          },
          .seed = std::random_device{}(),
          .store = kept(),
          .policies = now_.policy_state->policies,
          .events = &ring_,
          .published = snapshot_,
          .activity = activity_,
          .sms = sms_};
}

void Instance::subscribe() {
  const auto kinds = events::kinds_of<events::SweepEnded, events::SubnetSettled, events::SnapshotPublished,
                                      events::OwnPortSilent, events::OwnPortAnswers, events::SmStateChanged>;
  // A gap needs no care: each event shows the latest snapshot, and the next sweep tells of the port again.
  subscriber_.emplace(
      io_.get_executor(), ring_, events::Wants{.kinds = kinds, .subnet = spec_.name},
      events::Subscriber::Calls{.event = [this](const events::Event& event) { hear(event); }});
}

void Instance::hear(const events::Event& event) {
  if (const auto* silent = std::get_if<events::OwnPortSilent>(&event.payload))
    return heard_own_port(silent->reason, silent->neighbour);
  if (std::holds_alternative<events::OwnPortAnswers>(event.payload)) return heard_own_port({}, false);
  if (const auto* state = std::get_if<events::SmStateChanged>(&event.payload)) {
    if (state->from == wire::SmState::master || state->to == wire::SmState::master)
      sweeps_on(fmt::format("the SM has become {}", api::state_word(state->to)));
    if (state->from == wire::SmState::master && now_.policy_state) {
      left_policies_ = now_.policy_state->policies;
      left_wait_ = kInherited;
    }
    if (state->to == wire::SmState::master)
      say_policy_differs(
          "the values of the master before are in force; smd check --running says what a reload changes");
    return;
  }
  if (!std::holds_alternative<events::SnapshotPublished>(event.payload)) {
    now_.swept = std::chrono::system_clock::now();
    pause_.reset();
    wake_.wake_all();
  }
  heard_snapshot();
}

void Instance::heard_snapshot() {
  auto next = snapshot_->get();
  if (!look_alike(now_.snapshot.get(), next.get())) ++now_.epoch;
  now_.snapshot = std::move(next);
  view_.set(std::make_shared<api::SubnetView>(now_));
}

/// `reason`: it does not answer (or its neighbour does not); empty: it does again.
void Instance::heard_own_port(const std::string& reason, bool neighbour) {
  own_port_silent_ = neighbour ? std::string() : reason;
  silent_since_ = clock_.now();
  if (reason.empty()) {
    waited_for("own_port");
  } else {
    wait_for("own_port", reason);
  }
}

}  // namespace smd::daemon
