// SPDX-License-Identifier: Apache-2.0
#include "smd/store/event_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/string.hpp>
#include <boost/json/value_from.hpp>
#include <boost/json/value_to.hpp>
#include <limits>
#include <optional>
#include <utility>

#include "smd/store/private.h"
#include "smd/store/sql_values.h"

namespace smd::store {
namespace {

namespace json = boost::json;
using events::EventId;
using events::NamedLogEvent;

/// "smde"
constexpr std::int64_t kEventsId = 0x736d6465;
constexpr std::int64_t kEventsVersion = 2;
/// Of files of version 1.
constexpr std::string_view kAddMembers = "ALTER TABLE events ADD COLUMN members TEXT NOT NULL DEFAULT ''";
/// Older files are without it. Ids do not follow the time: clocks are set back.
constexpr std::string_view kIndexByTime =
    "CREATE INDEX IF NOT EXISTS events_by_time ON events (time, epoch, number)";
constexpr std::string_view kFirstSince =
    "SELECT epoch, number FROM events INDEXED BY events_by_time WHERE time >= ? "
    "ORDER BY epoch, number LIMIT 1";
/// Rows in memory at a time.
constexpr std::size_t kPageRows = 500;
/// To compare a row with more of them takes longer than to read it.
constexpr std::size_t kMostPartitions = 32;

constexpr std::string_view kTables =
    "CREATE TABLE IF NOT EXISTS events (place INTEGER PRIMARY KEY AUTOINCREMENT, subnet TEXT NOT NULL, "
    "epoch INTEGER NOT NULL, number INTEGER NOT NULL, time INTEGER NOT NULL, level INTEGER NOT NULL, "
    "name TEXT NOT NULL, fields TEXT NOT NULL, guids TEXT NOT NULL, members TEXT NOT NULL DEFAULT '');"
    "CREATE UNIQUE INDEX IF NOT EXISTS events_by_id ON events (epoch, number, subnet);"
    "CREATE TABLE IF NOT EXISTS receivers (name TEXT PRIMARY KEY, epoch INTEGER NOT NULL, "
    "number INTEGER NOT NULL) WITHOUT ROWID;";

/// [["guid", "0x0002c90000000001", false], ["port", "3", true]]: text of any bytes and whether it is a
/// number.
std::string fields_json(const NamedLogEvent& line) {
  json::array fields;
  for (auto& field : line.fields.unpack())
    fields.push_back(json::array{json::string(field.key), json::string(field.value), field.bare});
  return json::serialize(fields);
}

std::optional<events::PackedFields> packed_of(const std::string& text) {
  json::parse_options any_bytes;
  any_bytes.allow_invalid_utf8 = true;
  boost::system::error_code error;
  const auto value = json::parse(text, error, {}, any_bytes);
  const auto* list = error ? nullptr : value.if_array();
  if (list == nullptr) return std::nullopt;
  std::vector<log::Field> fields;
  for (const auto& one : *list) {
    const auto* row = one.if_array();
    if (row == nullptr || row->size() != 3) return std::nullopt;
    const auto* key = row->at(0).if_string();
    const auto* text_of_value = row->at(1).if_string();
    const auto* bare = row->at(2).if_bool();
    if (key == nullptr || text_of_value == nullptr || bare == nullptr) return std::nullopt;
    fields.push_back({.key = std::string(*key), .value = std::string(*text_of_value), .bare = *bare});
  }
  return events::PackedFields(fields);
}

/// [["blue"], null]: of the end, and of its peer; empty: nothing is known of either.
std::string members_text(const events::MembersOf& members) {
  if (!members.end && !members.peer) return {};
  const auto of = [](const std::optional<std::vector<std::string>>& names) {
    return names ? json::value_from(*names) : json::value();
  };
  return json::serialize(json::array{of(members.end), of(members.peer)});
}

std::optional<std::vector<std::string>> names_of(const json::value& value) {
  auto names = json::try_value_to<std::vector<std::string>>(value);
  return names ? std::optional(*std::move(names)) : std::nullopt;
}

events::MembersOf members_of(const std::string& text) {
  boost::system::error_code error;
  const auto value = json::parse(text, error);
  const auto* ends = error ? nullptr : value.if_array();
  if (ends == nullptr || ends->size() != 2) return {};
  return {.end = names_of(ends->at(0)), .peer = names_of(ends->at(1))};
}

std::string guids_text(const std::vector<Guid>& guids) {
  std::string words;
  for (const auto one : guids) words += fmt::format("{}{}", words.empty() ? "" : " ", one);
  return words;
}

std::int64_t microseconds_of(std::chrono::system_clock::time_point time) {
  return std::chrono::duration_cast<std::chrono::microseconds>(time.time_since_epoch()).count();
}

Cells cells_of(const events::Event& event) {
  const auto& line = std::get<NamedLogEvent>(event.payload);
  return {event.subnet,
          number(event.epoch),
          number(event.sequence),
          microseconds_of(event.wall),
          number(static_cast<std::uint64_t>(line.level)),
          line.name,
          fields_json(line),
          guids_text(line.guids),
          members_text(line.members)};
}

/// Null: the row makes no sense.
events::EventPtr event_of(const Cells& row) {
  constexpr auto kLast = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  auto event = std::make_shared<events::Event>();
  const auto word = [&](std::size_t i) { return std::get_if<std::string>(&row[i]); };
  const auto* time = std::get_if<std::int64_t>(&row[3]);
  std::uint8_t level = 0;
  if (word(0) == nullptr || word(5) == nullptr || word(6) == nullptr || word(7) == nullptr ||
      word(8) == nullptr || time == nullptr)
    return nullptr;
  if (!read_number(row[1], kLast, event->epoch) || !read_number(row[2], kLast, event->sequence))
    return nullptr;
  if (!read_number(row[4], static_cast<std::uint64_t>(log::Level::debug), level)) return nullptr;
  auto fields = packed_of(*word(6));
  if (!fields) return nullptr;
  event->subnet = *word(0);
  event->wall = std::chrono::system_clock::time_point(std::chrono::microseconds(*time));
  NamedLogEvent line{.level = static_cast<log::Level>(level), .name = *word(5), .fields = *std::move(fields)};
  line.members = members_of(*word(8));
  for (std::string_view rest = *word(7); !rest.empty();) {
    if (const auto found = base::parse_guid(base::take_word(rest))) line.guids.push_back(*found);
  }
  event->payload = std::move(line);
  return event;
}

/// What SQLite leaves out by itself: to hand over a row takes most of the time.
struct Conditions {
  std::string sql{};
  Cells values{};
};

std::string places(std::size_t count) {
  return fmt::format("{}", fmt::join(std::vector<std::string_view>(count, "?"), ", "));
}

void add_about(const AboutPartitions& about, Conditions& conditions) {
  if (about.partitions.size() > kMostPartitions) return;
  conditions.sql += fmt::format(
      " AND (subnet NOT IN ({}) OR members = '' OR instr(members, 'null') > 0 OR instr(fields, ?) > 0",
      places(about.subnets.size()));
  for (const auto& subnet : about.subnets) conditions.values.emplace_back(subnet);
  conditions.values.emplace_back(std::string(R"(["partition",)"));
  for (const auto& partition : about.partitions) {
    conditions.sql += " OR instr(members, ?) > 0";
    conditions.values.emplace_back(json::serialize(json::string(partition)));
  }
  conditions.sql += ")";
}

Conditions conditions_of(const EventFile::Range& range) {
  Conditions conditions;
  if (range.subnet) {
    conditions.sql += " AND subnet = ?";
    conditions.values.emplace_back(*range.subnet);
  }
  if (range.from) {
    conditions.sql += " AND time >= ?";
    conditions.values.emplace_back(microseconds_of(*range.from));
  }
  if (range.about) add_about(*range.about, conditions);
  return conditions;
}

void add_names(const std::vector<std::string>& names, Conditions& conditions) {
  conditions.sql += fmt::format(" AND name IN ({})", places(names.size()));
  for (const auto& name : names) conditions.values.emplace_back(name);
}

std::string page_sql(const Conditions& conditions, bool backwards) {
  return fmt::format(
      "SELECT subnet, epoch, number, time, level, name, fields, guids, members FROM events "
      "WHERE (epoch, number) > (?, ?) AND (epoch, number) < (?, ?){} "
      "ORDER BY epoch {order}, number {order} LIMIT {rows}",
      conditions.sql, fmt::arg("order", backwards ? "DESC" : "ASC"), fmt::arg("rows", kPageRows));
}

Cell bounded(std::uint64_t value) {
  constexpr auto kLast = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  return number(std::min(value, kLast));
}

/// To read the fields takes most of the time: those of other rows stay as they are.
bool is_meant(const Cells& row, const EventFile::Range& range) {
  const auto* name = std::get_if<std::string>(&row[5]);
  return !range.named || (name != nullptr && range.named(*name));
}

SqlError not_ours(std::string text) { return {SqlError::Kind::corrupt, std::move(text)}; }

}  // namespace

SqlResult<EventFile> EventFile::open(const std::filesystem::path& path) {
  make_private_file(path, true);
  for (const auto* suffix : {"-wal", "-shm"}) make_private_file(path.string() + suffix, false);
  auto connection = Connection::open(path.string(), Connection::Mode::create);
  if (!connection) return std::unexpected(connection.error());
  const auto application = connection->number("PRAGMA application_id");
  if (!application) return std::unexpected(application.error());
  const auto version = connection->number("PRAGMA user_version");
  if (!version) return std::unexpected(version.error());
  const auto tables = connection->number("SELECT count(*) FROM sqlite_schema");
  if (!tables) return std::unexpected(tables.error());
  const bool fresh = *application == 0 && *tables == 0;
  if (!fresh && *application != kEventsId) return std::unexpected(not_ours("not a file of smd's events"));
  if (*version > kEventsVersion) return std::unexpected(not_ours("of a newer smd"));
  // What a power failure takes are the latest events: the file itself stays whole.
  auto ready = connection->execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL");
  if (ready && fresh) {
    ready = connection->execute(
        fmt::format("BEGIN IMMEDIATE; {} PRAGMA application_id = {}; PRAGMA user_version = {}; COMMIT",
                    kTables, kEventsId, kEventsVersion));
  } else if (ready && *version < kEventsVersion) {
    ready = connection->execute(
        fmt::format("BEGIN IMMEDIATE; {}; PRAGMA user_version = {}; COMMIT", kAddMembers, kEventsVersion));
  }
  if (ready) ready = connection->execute(std::string(kIndexByTime));
  if (!ready) return std::unexpected(ready.error());
  return EventFile(std::move(*connection));
}

SqlResult<void> EventFile::append_all(std::span<const events::EventPtr> added, std::size_t most) {
  auto put = connection_.prepare(
      "INSERT OR REPLACE INTO events (subnet, epoch, number, time, level, name, fields, guids, members) "
      "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)");
  if (!put) return std::unexpected(put.error());
  for (const auto& event : added) {
    if (auto done = put->run(cells_of(*event)); !done) return done;
  }
  auto trim = connection_.prepare("DELETE FROM events WHERE place <= (SELECT max(place) FROM events) - ?");
  if (!trim) return std::unexpected(trim.error());
  return trim->run({number(most)});
}

SqlResult<void> EventFile::append(std::span<const events::EventPtr> added, std::size_t most) {
  auto done = connection_.execute("BEGIN IMMEDIATE");
  if (!done) return done;
  done = append_all(added, most);
  if (done) done = connection_.execute("COMMIT");
  if (!done) connection_.roll_back();
  return done;
}

/// Those names of events in the file that are meant.
SqlResult<std::vector<std::string>> EventFile::names_like(
    const std::function<bool(std::string_view)>& named) {
  const auto rows = connection_.rows("SELECT DISTINCT name FROM events");
  if (!rows) return std::unexpected(rows.error());
  std::vector<std::string> names;
  for (const auto& row : *rows) {
    const auto* name = std::get_if<std::string>(&row[0]);
    if (name != nullptr && named(*name)) names.push_back(*name);
  }
  return names;
}

/// What the events since then all follow: without it all rows before them would be compared. Nothing: there
/// are none.
SqlResult<std::optional<EventId>> EventFile::before_first(std::chrono::system_clock::time_point from) {
  const auto rows = connection_.rows(kFirstSince, {microseconds_of(from)});
  if (!rows) return std::unexpected(rows.error());
  if (rows->empty()) return std::optional<EventId>();
  EventId first;
  const auto& row = rows->front();
  constexpr auto kAny = ~std::uint64_t{0};
  if (!read_number(row[0], kAny, first.epoch) || !read_number(row[1], kAny, first.number))
    return std::unexpected(not_ours("the id of an event is no number"));
  // No id is between these two.
  return first.number > 0 ? EventId{.epoch = first.epoch, .number = first.number - 1} : EventId{};
}

SqlResult<void> EventFile::read(const Range& range, const Take& take) {
  auto conditions = conditions_of(range);
  auto after = range.after, before = range.before;
  if (range.from) {
    const auto edge_of_time = before_first(*range.from);
    if (!edge_of_time) return std::unexpected(edge_of_time.error());
    if (!*edge_of_time) return {};
    after = std::max(after, **edge_of_time);
  }
  for (std::size_t pages = 0;; ++pages) {
    // To look for the names takes longer than most questions, which one page answers.
    if (pages == 1 && range.named) {
      const auto names = names_like(range.named);
      if (!names) return std::unexpected(names.error());
      if (names->empty()) return {};
      add_names(*names, conditions);
    }
    Cells values{bounded(after.epoch), bounded(after.number), bounded(before.epoch), bounded(before.number)};
    values.insert(values.end(), conditions.values.begin(), conditions.values.end());
    const auto page = connection_.rows(page_sql(conditions, range.backwards), values);
    if (!page) return std::unexpected(page.error());
    for (const auto& row : *page) {
      if (!is_meant(row, range)) continue;
      auto event = event_of(row);
      if (event && !take(std::move(event))) return {};
    }
    if (page->size() < kPageRows) return {};
    EventId& edge = range.backwards ? before : after;
    const auto& last = page->back();
    if (!read_number(last[1], ~std::uint64_t{0}, edge.epoch) ||
        !read_number(last[2], ~std::uint64_t{0}, edge.number))
      return std::unexpected(not_ours("the id of an event is no number"));
  }
}

SqlResult<std::optional<EventFile::Ends>> EventFile::ends() {
  const auto rows = connection_.rows(
      "SELECT a.epoch, a.number, b.epoch, b.number FROM "
      "(SELECT epoch, number FROM events ORDER BY epoch, number LIMIT 1) a, "
      "(SELECT epoch, number FROM events ORDER BY epoch DESC, number DESC LIMIT 1) b");
  if (!rows) return std::unexpected(rows.error());
  if (rows->empty()) return std::optional<Ends>();
  Ends found;
  constexpr auto kAny = ~std::uint64_t{0};
  const auto& row = rows->front();
  if (!read_number(row[0], kAny, found.first.epoch) || !read_number(row[1], kAny, found.first.number) ||
      !read_number(row[2], kAny, found.last.epoch) || !read_number(row[3], kAny, found.last.number))
    return std::unexpected(not_ours("the id of an event is no number"));
  return std::optional(found);
}

SqlResult<bool> EventFile::has_epoch(std::uint64_t epoch) {
  const auto rows = connection_.rows("SELECT 1 FROM events WHERE epoch = ? LIMIT 1", {bounded(epoch)});
  if (!rows) return std::unexpected(rows.error());
  return !rows->empty();
}

SqlResult<std::optional<EventId>> EventFile::position(const std::string& receiver) {
  const auto rows = connection_.rows("SELECT epoch, number FROM receivers WHERE name = ?", {receiver});
  if (!rows) return std::unexpected(rows.error());
  if (rows->empty()) return std::optional<EventId>();
  EventId at;
  const auto& row = rows->front();
  if (!read_number(row[0], ~std::uint64_t{0}, at.epoch) || !read_number(row[1], ~std::uint64_t{0}, at.number))
    return std::optional<EventId>();
  return std::optional(at);
}

SqlResult<void> EventFile::set_position(const std::string& receiver, EventId at) {
  const auto done =
      connection_.rows("INSERT OR REPLACE INTO receivers (name, epoch, number) VALUES (?, ?, ?)",
                       {receiver, bounded(at.epoch), bounded(at.number)});
  if (!done) return std::unexpected(done.error());
  return {};
}

SqlResult<void> EventFile::keep_positions(std::span<const std::string> receivers) {
  const auto rows = connection_.rows("SELECT name FROM receivers");
  if (!rows) return std::unexpected(rows.error());
  for (const auto& row : *rows) {
    const auto* name = std::get_if<std::string>(&row[0]);
    if (name != nullptr && std::ranges::find(receivers, *name) != receivers.end()) continue;
    if (auto gone = connection_.rows("DELETE FROM receivers WHERE name = ?", {row[0]}); !gone)
      return std::unexpected(gone.error());
  }
  return {};
}

}  // namespace smd::store
