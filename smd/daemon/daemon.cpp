// SPDX-License-Identifier: Apache-2.0
#include "smd/daemon/daemon.h"

#include <fmt/format.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <map>
#include <ostream>
#include <utility>

#include "smd/daemon/no_core.h"
#include "smd/daemon/systemd.h"
#include "smd/events/log_sink.h"

namespace smd::daemon {
namespace {

using namespace std::chrono_literals;

/// An end that takes longer than this is made short: every answer that was given is kept already, and a
/// fabric forwards without us.
constexpr timeval kEnd{.tv_sec = 0, .tv_usec = 500'000};
/// The same where a standby is to have the fabric first.
constexpr timeval kEndAfterHandover{.tv_sec = 1, .tv_usec = 700'000};
/// Between two looks at what systemd is to be told.
constexpr mad::Duration kTellSystemd = 500ms;
/// Nothing that a subnet's thread does takes so long but a call that does not return.
constexpr mad::Duration kStuck = 30s;
constexpr std::string_view kStuckReason =
    "the thread of the subnet has not answered for 30 s: a call into libibumad does not return, or smd has a "
    "defect";

/// A unit of systemd may write to its own directory only.
std::string state_directory(const config::StoreConfig& config) {
  const char* of_unit = std::getenv("STATE_DIRECTORY");
  if (config.directory != config::StoreConfig{}.directory || of_unit == nullptr) return config.directory;
  const std::string_view list = of_unit;
  return std::string(list.substr(0, list.find(':')));
}

/// In a signal handler, with threads at work: nothing may look after them, as sanitizers do in _exit().
void end_now(int status) { syscall(SYS_exit_group, status); }
void end_well(int) { end_now(0); }
void end_undone(int) { end_now(3); }

}  // namespace

Daemon::Daemon(DaemonParts parts, unsigned threads)
    : parts_(std::move(parts)),
      info_{.version = SMD_VERSION,
            .configuration = parts_.config_file,
            .started = std::chrono::system_clock::now(),
            .loaded = std::chrono::system_clock::now()},
      log_config_(parts_.config.log),
      compute_(threads) {
  parts_.log.set_sink(events::log_sink(
      events_, [members = members_](const log::Record& record) { return members->of(record); }));
  subscribe();
}

Daemon::~Daemon() = default;

int Daemon::run(std::vector<InstanceSpec> specs) {
  int failed = 0;
  const bool stays = !parts_.options.once && !parts_.options.dry_run;
  if (stays && std::ranges::any_of(specs, [this](const InstanceSpec& spec) { return keeps(spec); }))
    event_log_.open(state_folder(), parts_.log);
  if (!listen(&failed)) return failed;
  for (const int one : {SIGINT, SIGTERM, SIGHUP, SIGUSR1}) signals_.add(one);
  std::signal(SIGUSR2, SIG_IGN);  // its default ends the process, and log rotation confuses it with SIGUSR1
  std::signal(SIGPIPE, SIG_IGN);  // the reader of our log or output may go: the fabric does not
  hear_signals();
  log_warnings(parts_.config);
  if (holds_keys(parts_.config)) write_no_core();
  for (auto& spec : specs) start(std::move(spec));
  tasks_.spawn(watch());
  if (parts_.options.once || parts_.options.dry_run) tasks_.spawn(give_up_in_time());
  asio::co_spawn(io_, live(), [this](const std::exception_ptr&) { io_.stop(); });
  io_.run();
  parts_.log.finish();
  say_why();
  return status();
}

/// False: it does not start, and `status` says with which exit status.
bool Daemon::listen(int* status) {
  const auto& options = parts_.options;
  const auto& given = options.socket.empty() ? parts_.config.api.socket : options.socket;
  const bool passing = options.once || options.dry_run;
  if (passing && options.socket.empty()) return true;
  const auto network = passing ? config::ApiConfig{} : parts_.config.api;
  const auto path = given.empty() ? api::default_socket() : std::filesystem::path(given);
  const auto listens = path.empty()
                           ? std::unexpected(std::string("neither /run/smd nor $XDG_RUNTIME_DIR can be "
                                                         "written; --socket names another place"))
                           : service_.listen_at(path);
  if (!listens && !given.empty()) {
    parts_.err << fmt::format("smd run: {}\n", listens.error());
    *status = 1;
    return false;
  }
  if (!listens) parts_.log.warn("api.not_served").kv("reason", listens.error()).always();
  service_.start(network);
  return true;
}

void Daemon::start(InstanceSpec spec) {
  const auto subnet = std::make_shared<Subnet>();
  if (spec.is_simulated) subnet->fabric = spec.name;
  subnet->where = spec.where;
  subnet->config = spec.config;
  spec.options.once = parts_.options.once;
  spec.options.dry_run = parts_.options.dry_run;
  auto* keeper = stores(spec);
  auto end = [this, weak = std::weak_ptr(subnet)] {
    asio::post(io_, [this, weak] {
      if (const auto alive = weak.lock()) ended(alive);
    });
  };
  auto answer = [this](api::Request request) { return answer_handed_on(std::move(request)); };
  subnet->instance = std::make_unique<Instance>(std::move(spec), compute_, keeper, parts_.log,
                                                InstanceEvents{.ring = *events_, .members = *members_},
                                                std::move(end), std::move(answer));
  ++running_;
  ping(subnet);
  const std::scoped_lock lock(lock_);
  subnets_.push_back(subnet);
}

/// Not of a simulated subnet, unless a directory was named on the command line.
bool Daemon::keeps(const InstanceSpec& spec) const {
  return !spec.is_simulated || !parts_.options.state_dir.empty();
}

std::filesystem::path Daemon::state_folder() const {
  const auto& given = parts_.options.state_dir;
  return given.empty() ? state_directory(parts_.config.store) : given;
}

/// Null for a subnet that keeps nothing.
store::StoreThread* Daemon::stores(const InstanceSpec& spec) {
  if (!keeps(spec)) return nullptr;
  if (!stores_) {
    const auto& config = parts_.config.store;
    const store::Place place{.directory = state_folder(), .read_only = parts_.options.dry_run};
    auto made = std::make_unique<store::StoreThread>(
        store::StoreThread::Options{.place = place, .retry = config.retry}, parts_.log);
    const std::scoped_lock lock(lock_);
    stores_ = std::move(made);
  }
  return stores_.get();
}

void Daemon::ended(const SubnetPtr& subnet) {
  subnet->ended = true;
  --running_;
  if (!subnet->summary.empty()) parts_.out << subnet->summary << '\n' << std::flush;
  if (subnet->leaving) {
    {
      const std::scoped_lock lock(lock_);
      std::erase(subnets_, subnet);
    }
    start_missing();  // what waited for its port or its state
  } else if (const auto& why = subnet->instance->refused(); !why.empty()) {
    // Beside others it stays in `smd status` with its reason; alone there is nothing to stay for.
    if (running_ != 0) parts_.log.error("store.refused").kv("reason", why).always();
    if (running_ == 0 || parts_.options.once || parts_.options.dry_run) {
      failed_ = true;
      failed_status_ = std::max(failed_status_, subnet->instance->refused_status());
      // In one piece: the log writes to the same place from a thread of its own.
      parts_.err << fmt::format("{}{}\n", failed_status_ == 1 ? "smd run: " : "", why);
    }
  }
  if (running_ == 0) all_ended_.wake_all();
}

/// From the start to the end.
asio::awaitable<void> Daemon::live() {
  while (running_ != 0) {
    const bool woken = co_await all_ended_.wait();
    if (!woken) break;
  }
  notify_stopping();
  if (!interrupted_) co_await reports_.join();
  service_.stop();
  co_await reports_.stop();
  co_await tasks_.stop();
  for (const auto& subnet : subnets_) subnet->instance->stop();
}

void Daemon::hear_signals() {
  signals_.async_wait([this](const error_code& error, int signal) {
    if (error) return;
    if (signal == SIGHUP) {
      take_files();
    } else if (signal == SIGUSR1) {
      reopen_log();
    } else {
      interrupt();
    }
    hear_signals();
  });
}

/// For logrotate: the file has another name now, and the next line belongs into a new one.
void Daemon::reopen_log() {
  auto filter = parts_.log.filter();  // with what `smd log` changed
  const auto opened = parts_.log.configure(parts_.config.log);
  if (opened) {
    parts_.log.set_filter(std::move(filter));
  } else {
    parts_.log.error("log.not_reopened")
        .kv("reason", opened.error())
        .kv("action", "the log's previous target stays")
        .always();
  }
}

/// Whatever is going on (a sweep of silent nodes, a computation, a dump) has to be over soon.
void Daemon::interrupt() {
  if (std::exchange(interrupted_, true)) return;
  const bool undone = parts_.options.once || parts_.options.dry_run;
  std::signal(SIGALRM, undone ? end_undone : end_well);
  const bool hands_over = !undone && std::ranges::any_of(subnets_, [](const SubnetPtr& subnet) {
    const auto sms = subnet->instance->view()->sms;
    return sms && sm::successor(*sms, std::nullopt);
  });
  const itimerval end{.it_interval = {}, .it_value = hands_over ? kEndAfterHandover : kEnd};
  setitimer(ITIMER_REAL, &end, nullptr);
  service_.close();
  for (const auto& subnet : subnets_) {
    if (undone) subnet->instance->stop();
    if (!undone) subnet->instance->leave();
  }
}

/// Tells systemd how it goes, and that we are alive as long as every subnet's loop is.
asio::awaitable<void> Daemon::watch() {
  const auto limit = watchdog();
  auto fed = clock_.now(), heard = fed;
  for (;;) {
    const bool time = co_await clock_.sleep(limit ? std::min(kTellSystemd, *limit / 4) : kTellSystemd);
    if (!time) co_return;
    if (auto text = status_text(); text != said_) {
      notify_status(text);
      said_ = std::move(text);
    }
    const auto now = clock_.now();
    if (!all_alive()) {
      if (now >= heard + kStuck) stuck(), heard = now;
      continue;
    }
    heard = now;
    if (limit && now >= fed + *limit / 3) {
      fed = now;
      notify_alive();
    }
    for (const auto& subnet : subnets_) ping(subnet);
  }
}

/// Calls into libibumad return at once on hardware; in ibsim's client library they wait for ibsim. What else
/// keeps the thread is a defect of ours, which its stack shows.
void Daemon::stuck() {
  for (const auto& subnet : subnets_) {
    if (subnet->alive) continue;
    const auto where = subnet->instance->view()->port;
    parts_.log.error("subnet.stuck")
        .kv("port", where)
        .kv("reason", kStuckReason)
        .kv("action",
            fmt::format("keep its stack: gdb -p {} -batch -ex 'thread apply all bt'; then restart smd",
                        getpid()))
        .always();
    if (!parts_.options.once && !parts_.options.dry_run) continue;
    parts_.err << fmt::format("smd run: {}: {}\n", where, kStuckReason) << std::flush;
    parts_.log.finish();
    end_now(3);
  }
}

void Daemon::ping(const SubnetPtr& subnet) {
  subnet->alive = false;
  subnet->instance->ping([this, weak = std::weak_ptr(subnet)] {
    asio::post(io_, [this, weak] {
      if (const auto answers = weak.lock()) answers->alive = true;
      if (!ready_ && all_alive()) {
        ready_ = true;
        notify_ready();
      }
    });
  });
}

bool Daemon::all_alive() const {
  return std::ranges::all_of(subnets_, [](const SubnetPtr& subnet) { return subnet->alive; });
}

std::string Daemon::status_text() const {
  std::string text;
  for (const auto& subnet : subnets_) {
    const auto view = subnet->instance->view();
    if (!text.empty()) text += "; ";
    if (subnets_.size() > 1) text += (view->name.empty() ? view->port : view->name) + ": ";
    if (view->waiting) {
      text += "waiting: " + view->waiting->reason;
    } else if (!view->snapshot) {
      text += "first sweep";
    } else {
      const auto& now = *view->snapshot;
      text += fmt::format("{}, {}, {} switches, {} CAs, {} ports not Active", to_string(now.state),
                          to_string(now.summary.state), now.summary.switches, now.summary.cas,
                          now.summary.ports_not_active);
    }
  }
  return text;
}

/// A daemon waits for what may pass: a device that appears late, a cable. A script that has asked for one
/// sweep must get its answer.
asio::awaitable<void> Daemon::give_up_in_time() {
  const std::chrono::seconds limit{parts_.options.wait.value_or(kWaitForPort)};
  std::map<SubnetPtr, mad::TimePoint> waiting;
  for (;;) {
    const bool time = co_await clock_.sleep(limit == limit.zero() ? 50ms : 250ms);
    if (!time) co_return;
    for (const auto& subnet : subnets_) {
      const auto view = subnet->instance->view();
      if (subnet->ended || subnet->gave_up || !view->waiting || view->snapshot) {
        waiting.erase(subnet);
        continue;
      }
      const auto since = waiting.try_emplace(subnet, clock_.now()).first->second;
      if (clock_.now() - since < limit || view->waiting->what == "state") continue;
      gave_up_ += fmt::format("{}smd run: gave up: {}", gave_up_.empty() ? "" : "\n", view->waiting->reason);
      failed_ = true;
      subnet->gave_up = true;
      subnet->instance->stop();
    }
  }
}

/// What a run that was to end has come to, as its user wants it.
bool Daemon::is_good(const Subnet& subnet) const {
  return parts_.options.dry_run ? subnet.state && *subnet.state != sm::SweepState::failed
                                : subnet.state == sm::SweepState::up;
}

/// The last line, behind all of the log, for a reader that has only that one.
void Daemon::say_why() {
  const auto& options = parts_.options;
  if (!gave_up_.empty() && !interrupted_) parts_.err << gave_up_ << '\n';
  if (interrupted_ || failed_ || (!options.once && !options.dry_run)) return;
  for (const auto& subnet : subnets_) {
    if (is_good(*subnet)) continue;
    const auto view = subnet->instance->view();
    const auto why = view->waiting ? view->waiting->reason : std::string("no sweep came to its end");
    parts_.err << (subnet->state ? fmt::format("smd run: {}: {}: {}\n", subnet->where,
                                               to_string(*subnet->state), subnet->why)
                                 : fmt::format("smd run: {}: {}\n", subnet->where, why));
  }
}

int Daemon::status() const {
  if (failed_) return failed_status_;
  if (!parts_.options.once && !parts_.options.dry_run) return 0;
  if (interrupted_ || (disrupts_ && parts_.options.fail_on_disruption)) return 3;
  return std::ranges::all_of(subnets_, [&](const SubnetPtr& subnet) { return is_good(*subnet); }) ? 0 : 3;
}

}  // namespace smd::daemon
