// SPDX-License-Identifier: Apache-2.0
#include "smd/store/event_log.h"

#include <algorithm>
#include <iterator>
#include <system_error>
#include <utility>

#include "smd/store/private.h"

namespace smd::store {
namespace {

using events::EventId;
using events::EventPtr;

constexpr std::size_t kReadAtOnce = 256;
/// A batch is written when it is as long as that; what a file cannot take is dropped beyond the second.
constexpr std::size_t kBatchEvents = 5'000, kMostWaiting = 100'000;

/// Renames a file that cannot be used, and SQLite's own with it.
void put_aside(const std::filesystem::path& path) {
  std::error_code ignored;
  std::filesystem::remove(path.string() + "-wal", ignored);
  std::filesystem::remove(path.string() + "-shm", ignored);
  std::filesystem::rename(path, path.string() + ".set-aside", ignored);
}

bool has_name_and_time(const EventQuery& query, const events::Event& event) {
  if (query.from && event.wall < *query.from) return false;
  return !query.named || query.named(std::get<events::NamedLogEvent>(event.payload).name);
}

/// Adds the event where it counts; true: the limit is reached.
bool look(const EventQuery& query, const EventPtr& event, EventsFound& found) {
  if (!has_name_and_time(query, *event) || (query.wanted && !query.wanted(*event))) return false;
  found.events.push_back(event);
  return found.events.size() >= query.limit;
}

/// The ring has all that follows the id.
bool is_of_ring(EventId id, const events::EventRing::Extent& held) {
  return id.epoch == held.first.epoch ? id.number + 1 >= held.first.number : id >= held.first;
}

}  // namespace

EventLog::~EventLog() {
  if (!thread_.joinable()) return;
  thread_.request_stop();
  thread_.join();
  reader_.reset();
}

void EventLog::open(const std::filesystem::path& directory, log::Log log, EventLogOptions options) {
  path_ = directory / "events.db";
  log_ = std::move(log);
  options_ = options;
  if (make_file(writes_)) {
    // Ids go up although the clock may have been set back.
    if (const auto ends = writes_->ends(); ends && *ends) ring_.begin_epoch((*ends)->last.epoch + 1);
  }
  woken_ = true;  // for what is there already
  reader_.emplace(ring_, events::Start::at_oldest(),
                  events::Wants{.kinds = events::kinds_of<events::NamedLogEvent>}, [this] {
                    const std::scoped_lock lock(wake_mutex_);
                    woken_ = true;
                    wake_.notify_all();
                  });
  thread_ = std::jthread([this](const std::stop_token& stop) { work(stop); });
}

/// False: it cannot be used at present, which is said.
bool EventLog::make_file(std::optional<EventFile>& file) {
  if (const auto error = make_private_directories(path_.parent_path()); error) {
    failed(error.message());
    return false;
  }
  auto opened = EventFile::open(path_);
  if (!opened && opened.error().kind == SqlError::Kind::corrupt) {
    put_aside(path_);
    failed(opened.error().text);
    opened = EventFile::open(path_);
  }
  if (!opened) {
    failed(opened.error().text);
    return false;
  }
  file.emplace(std::move(*opened));
  const std::scoped_lock lock(mutex_);
  auto questions = EventFile::open(path_);
  file_.reset();
  if (questions) file_.emplace(std::move(*questions));
  return true;
}

void EventLog::failed(const std::string& reason) {
  if (std::exchange(failed_, true)) return;
  log_.warn("store.events_failed")
      .kv("file", path_.string())
      .kv("reason", reason)
      .kv("action", "the latest events are in memory only")
      .always();
}

/// A receiver gets events again after a restart: no more than that comes of it.
void EventLog::say(const SqlResult<void>& kept) const {
  if (kept) return;
  log_.warn("store.events_failed")
      .kv("file", path_.string())
      .kv("reason", kept.error().text)
      .subject("positions");
}

void EventLog::work(const std::stop_token& stop) {
  std::vector<EventPtr> waiting;
  bool good = true;
  for (bool more = true; more;) {
    {
      std::unique_lock lock(wake_mutex_);
      wake_.wait(lock, stop, [this, &waiting] { return woken_ || !waiting.empty(); });
      woken_ = false;
      // What comes within this time is one transaction.
      wake_.wait_for(lock, stop, good ? options_.batch : options_.retry, [] { return false; });
    }
    more = !stop.stop_requested();
    for (bool at_end = false; !at_end;) {
      auto batch = reader_->read(kReadAtOnce);
      std::ranges::move(batch.events, std::back_inserter(waiting));
      at_end = batch.at_end;
      if (good && waiting.size() >= kBatchEvents) good = write(waiting);
    }
    good = write(waiting);
  }
}

bool EventLog::write(std::vector<EventPtr>& waiting) {
  if (waiting.empty()) return true;
  if (writes_ || make_file(writes_)) {
    const auto written = writes_->append(waiting, options_.most);
    if (written) {
      waiting.clear();
      if (std::exchange(failed_, false))
        log_.info("store.events_kept_again").kv("file", path_.string()).always();
      return true;
    }
    failed(written.error().text);
    if (written.error().kind != SqlError::Kind::busy) writes_.reset();
  }
  if (waiting.size() > kMostWaiting)
    waiting.erase(waiting.begin(), waiting.end() - static_cast<std::ptrdiff_t>(kMostWaiting));
  return false;
}

EventLog::Known EventLog::known(const events::EventRing::Extent& held, std::uint64_t epoch) {
  Known known{.epoch = std::ranges::find(held.epochs, epoch) != held.epochs.end()};
  const std::scoped_lock lock(mutex_);
  if (!file_) return known;
  if (const auto ends = file_->ends(); ends && *ends) known.first_kept = (*ends)->first;
  if (const auto there = file_->has_epoch(epoch); there && *there) known.epoch = true;
  return known;
}

EventsFound EventLog::find(const EventQuery& query) {
  EventsFound found;
  if (query.after) {
    find_after(query, found);
  } else {
    find_latest(query, found);
  }
  return found;
}

void EventLog::find_after(const EventQuery& query, EventsFound& found) {
  const auto after = *query.after;
  const auto held = ring_.extent();
  if (after > held.last) {  // of an SM whose clock is ahead of ours: waiting for it would be for ever
    found.gap = true;
    found.next = held.last;
    return;
  }
  if (!is_of_ring(after, held) || std::ranges::find(held.epochs, after.epoch) == held.epochs.end()) {
    const auto kept = known(held, after.epoch);
    found.gap = !kept.epoch || !kept.first_kept || after < *kept.first_kept;
  }
  // Who sees few events asks from the same place again and again.
  const auto begin = empty_searches_.end_of(query.asker, after);
  found.next = begin;
  const bool whole = is_of_ring(begin, held) || find_in_file(query, begin, held.first, found);
  if (found.more) {
    found.gap = found.gap || !whole;
    return;
  }
  const bool unbroken = find_in_ring(query, begin, held, found) && whole;
  found.gap = found.gap || !unbroken;
  if (unbroken && found.events.empty()) empty_searches_.keep(query.asker, after, found.next);
}

/// Those that follow `after`. False: the ring has dropped some since `held` was taken.
bool EventLog::find_in_ring(const EventQuery& query, EventId after, const events::EventRing::Extent& held,
                            EventsFound& found) {
  const bool here = is_of_ring(after, held) && after.epoch == held.last.epoch;
  events::Reader reader(ring_, events::Start::after(here ? after.number : held.first.number - 1),
                        {.kinds = events::kinds_of<events::NamedLogEvent>, .subnet = query.subnet});
  bool unbroken = true;
  for (bool at_end = false; !at_end;) {
    const auto batch = reader.read(kReadAtOnce);
    unbroken = unbroken && !batch.gap;
    for (const auto& event : batch.events) {
      if (event->id() <= after) continue;
      found.next = std::max(found.next, event->id());
      found.more = look(query, event, found);
      if (found.more) return unbroken;
    }
    at_end = batch.at_end;
  }
  found.next = std::max(found.next, held.last);
  return unbroken;
}

/// Those between `after` and the ring's. False: the file could not be read to its end.
bool EventLog::find_in_file(const EventQuery& query, EventId after, EventId before, EventsFound& found) {
  const std::scoped_lock lock(mutex_);
  if (!file_) return true;
  const EventFile::Range range{.after = after,
                               .before = before,
                               .subnet = query.subnet,
                               .from = query.from,
                               .named = query.named,
                               .about = query.about};
  const auto read = file_->read(range, [&](const EventPtr& event) {
    found.next = event->id();
    found.more = look(query, event, found);
    return !found.more;
  });
  return read.has_value();
}

std::vector<EventPtr> EventLog::all_of_ring(const EventQuery& query) {
  events::Reader reader(ring_, events::Start::at_oldest(),
                        {.kinds = events::kinds_of<events::NamedLogEvent>, .subnet = query.subnet});
  std::vector<EventPtr> all;
  for (bool at_end = false; !at_end;) {
    auto batch = reader.read(kReadAtOnce);
    std::ranges::move(batch.events, std::back_inserter(all));
    at_end = batch.at_end;
  }
  return all;
}

/// From the end on: most of 100,000 events are not looked at. True: the file was read, and could be.
bool EventLog::look_back(const EventQuery& query, EventsFound& found) {
  const auto held = ring_.extent();
  const auto recent = all_of_ring(query);
  found.next = recent.empty() ? held.last : std::max(held.last, recent.back()->id());
  std::size_t looked = 0;
  const auto goes_on = [&](const EventPtr& event) {
    if (!has_name_and_time(query, *event)) return true;
    if (!query.wanted || query.wanted(*event)) found.events.push_front(event);
    return ++looked < query.most && found.events.size() < query.limit;
  };
  for (auto at = recent.rbegin(); at != recent.rend(); ++at) {
    if (!goes_on(*at)) return false;
  }
  const std::scoped_lock lock(mutex_);
  if (!file_) return false;
  const EventFile::Range range{.before = held.first,
                               .subnet = query.subnet,
                               .from = query.from,
                               .named = query.named,
                               .about = query.about,
                               .backwards = true};
  found.gap = !file_->read(range, goes_on);
  return !found.gap;
}

/// What was found before that is still kept, and what has come since. False: some of the latter is lost, or
/// it is much.
bool EventLog::find_since(const EventQuery& query, LatestSearches::Found kept, EventsFound& found) {
  auto newer = query;
  newer.after = kept.end;
  newer.limit = kMostWaiting;
  newer.asker.clear();
  EventsFound since;
  find_after(newer, since);
  if (since.gap || since.more) return false;
  const auto held = ring_.extent();
  const auto first = std::min(known(held, held.last.epoch).first_kept.value_or(held.first), held.first);
  std::ranges::move(since.events, std::back_inserter(kept.events));
  while (!kept.events.empty() && (kept.events.size() > query.limit || kept.events.front()->id() < first))
    kept.events.pop_front();
  kept.end = since.next;
  found.next = kept.end;
  found.events = kept.events;
  latest_searches_.keep(query.asker, query.limit, std::move(kept));
  return true;
}

void EventLog::find_latest(const EventQuery& query, EventsFound& found) {
  auto kept = latest_searches_.of(query.asker, query.limit);
  if (kept && find_since(query, *std::move(kept), found)) return;
  if (look_back(query, found))
    latest_searches_.keep(query.asker, query.limit, {.end = found.next, .events = found.events});
}

std::optional<EventId> EventLog::position(const std::string& receiver) {
  const std::scoped_lock lock(mutex_);
  if (const auto at = positions_.find(receiver); at != positions_.end()) return at->second;
  if (!file_) return std::nullopt;
  const auto kept = file_->position(receiver);
  return kept ? *kept : std::nullopt;
}

void EventLog::set_position(const std::string& receiver, EventId at) {
  const std::scoped_lock lock(mutex_);
  positions_[receiver] = at;
  if (file_) say(file_->set_position(receiver, at));
}

void EventLog::keep_positions(const std::vector<std::string>& receivers) {
  const std::scoped_lock lock(mutex_);
  std::erase_if(positions_,
                [&](const auto& row) { return std::ranges::find(receivers, row.first) == receivers.end(); });
  if (file_) say(file_->keep_positions(receivers));
}

}  // namespace smd::store
