// SPDX-License-Identifier: Apache-2.0
#include "smd/store/shelves.h"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>
#include <utility>
#include <vector>

namespace smd::store {
namespace {

sm::StoredPtr empty() { return std::make_shared<const sm::Stored>(); }

}  // namespace

Shelves::Shelves(Place place, log::Log log) : place_(std::move(place)), log_(std::move(log)) {}

void Shelves::failed(const std::string& reason) {
  forget_file();
  if (std::exchange(failing_, true)) return;
  log_.error("store.failed")
      .kv("directory", place_.directory.string())
      .kv("reason", reason)
      .kv("action", "going on from memory, which a restart loses; tried again")
      .always();
}

void Shelves::works() {
  if (!std::exchange(failing_, false)) return;
  log_.info("store.works_again").kv("directory", place_.directory.string()).always();
}

/// What the file holds is not known any more.
void Shelves::forget_file() {
  database_.reset();
  for (auto& [subnet, shelf] : shelves_) shelf.held = nullptr;
}

/// `taken`: by somebody else; then the text says by whom.
std::expected<void, std::string> Shelves::lock(const std::string& subnet, Shelf& shelf, bool& taken) {
  taken = false;
  if (shelf.lock) return {};
  std::error_code error;
  std::filesystem::create_directories(place_.directory, error);
  if (error) return std::unexpected(error.message());
  auto lock = FileLock::take(place_.directory / lock_name(subnet));
  if (lock) {
    shelf.lock.emplace(std::move(*lock));
    return {};
  }
  taken = lock.error().held;
  if (!taken) return std::unexpected(lock.error().text);
  return std::unexpected(fmt::format("{}: the state of subnet {} is in use by {}", place_.directory.string(),
                                     subnet, lock.error().text));
}

/// The file is open, and is the one that has our rows.
bool Shelves::ready() {
  if (database_ && database_->replaced()) {
    log_.warn("store.file_gone").kv("file", place_.file().string()).kv("action", "written anew").always();
    forget_file();
  }
  if (database_) return true;
  auto opened = Database::open(place_);
  if (!opened) {
    failed(opened.error().text);
    return false;
  }
  database_.emplace(std::move(*opened));
  if (const auto& aside = database_->set_aside()) say_set_aside(*aside);
  return true;
}

void Shelves::say_set_aside(const SetAside& aside) {
  log_.error("store.set_aside")
      .kv("file", place_.file().string())
      .kv("reason", aside.reason)
      .kv("kept_as", aside.kept_as.string())
      .kv("action", "a new one is made from the fabric")
      .always();
}

/// What SQLite's own check passed and what turned out wrong all the same. A new file is open afterwards.
bool Shelves::set_aside(const std::string& reason) {
  forget_file();
  auto kept_as = set_file_aside(place_);
  if (!kept_as) {
    failed(fmt::format("{}, and it cannot be renamed: {}", reason, kept_as.error()));
    return false;
  }
  say_set_aside({reason, std::move(*kept_as)});
  return ready();
}

/// False where the file cannot be read.
bool Shelves::load(const std::string& subnet, Shelf& shelf) {
  auto rows = database_->load(subnet);
  if (!rows && rows.error().kind == SqlError::Kind::corrupt && set_aside(rows.error().text)) {
    rows = database_->load(subnet);
  }
  if (!rows) {
    failed(rows.error().text);
    return false;
  }
  shelf.held = std::make_shared<const sm::Stored>(std::move(*rows));
  shelf.wanted = shelf.held;
  return true;
}

/// A look at the state of a daemon that may be running, or at a directory that cannot be written.
std::expected<sm::StoredPtr, std::string> Shelves::peek(const std::string& subnet) {
  auto place = place_;
  place.read_only = true;
  std::error_code ignored;
  if (!std::filesystem::exists(place.file(), ignored)) return empty();
  auto opened = Database::open(place);
  if (!opened) return std::unexpected(opened.error().text);
  auto rows = opened->load(subnet);
  if (!rows) return std::unexpected(rows.error().text);
  return std::make_shared<const sm::Stored>(std::move(*rows));
}

std::expected<sm::StoredPtr, std::string> Shelves::open(const std::string& subnet) {
  if (place_.read_only) {
    auto seen = peek(subnet);
    if (!seen) log_.warn("store.unreadable").kv("file", place_.file().string()).kv("reason", seen.error());
    return seen ? *seen : empty();
  }
  if (shelves_.contains(subnet)) {
    return std::unexpected(
        fmt::format("{}: two subnets of this process are named {}", place_.directory.string(), subnet));
  }
  Shelf shelf;
  shelf.wanted = empty();
  bool taken = false;
  const auto locked = lock(subnet, shelf, taken);
  if (taken) return std::unexpected(locked.error());
  if (!locked) failed(locked.error());
  const bool read = locked && ready() && load(subnet, shelf);
  if (read) works();
  if (!read) {
    // What can only be read is better than nothing: LIDs stay what they were.
    if (auto seen = peek(subnet)) shelf.wanted = *std::move(seen);
  }
  auto loaded = shelf.wanted;
  shelves_.emplace(subnet, std::move(shelf));
  return loaded;
}

void Shelves::close(const std::string& subnet) { shelves_.erase(subnet); }

void Shelves::put(const std::string& subnet, sm::StoredPtr now) {
  const auto it = shelves_.find(subnet);
  if (it != shelves_.end()) it->second.wanted = std::move(now);
}

bool Shelves::behind() const {
  return std::ranges::any_of(shelves_, [](const auto& row) { return row.second.wanted != row.second.held; });
}

SqlResult<void> Shelves::write_once() {
  std::vector<Batch> batches;
  for (const auto& [subnet, shelf] : shelves_) {
    if (shelf.wanted != shelf.held) batches.push_back({subnet, shelf.held.get(), shelf.wanted.get()});
  }
  if (batches.empty()) return {};
  auto written = database_->write(batches);
  if (!written) return written;
  for (auto& [subnet, shelf] : shelves_) shelf.held = shelf.wanted;
  return {};
}

bool Shelves::write() {
  if (place_.read_only) return false;
  for (auto& [subnet, shelf] : shelves_) {
    bool taken = false;
    if (const auto locked = lock(subnet, shelf, taken); !locked) {
      failed(locked.error());
      return false;
    }
  }
  if (!ready()) return false;
  auto written = write_once();
  if (!written && written.error().kind == SqlError::Kind::corrupt) {
    if (!set_aside(written.error().text)) return false;
    written = write_once();
  }
  if (!written) {
    failed(written.error().text);
    return false;
  }
  works();
  return true;
}

}  // namespace smd::store
