// SPDX-License-Identifier: Apache-2.0
#include "smd/store/subnet_states.h"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>
#include <utility>
#include <vector>

#include "mad/base/file.h"
#include "smd/store/private.h"

namespace smd::store {
namespace {

/// Read from the file as it is.
SqlResult<Kept> read_all(Database& database, const std::string& subnet) {
  auto rows = database.load(subnet);
  if (!rows) return std::unexpected(rows.error());
  auto registry = database.load_registry(subnet);
  if (!registry) return std::unexpected(registry.error());
  auto policies = database.load_policies(subnet);
  if (!policies) return std::unexpected(policies.error());
  auto replica = database.load_replica(subnet);
  if (!replica) return std::unexpected(replica.error());
  return Kept{std::make_shared<const sm::Stored>(*std::move(rows)),
              std::make_shared<const sa::Registry>(*std::move(registry)),
              std::make_shared<const policy::Policies>(*std::move(policies)),
              std::make_shared<const ReplicaState>(*std::move(replica))};
}

}  // namespace

Kept nothing_kept() {
  return {std::make_shared<const sm::Stored>(), std::make_shared<const sa::Registry>(),
          std::make_shared<const policy::Policies>(), std::make_shared<const ReplicaState>()};
}

SubnetStates::SubnetStates(Place place, log::Log log)
    : place_(std::move(place)),
      log_(std::move(log)),
      failure_(std::make_shared<OngoingFailure>(place_.directory, log_)) {}

void SubnetStates::failed(const std::string& reason) {
  forget_file();
  failure_->begin(reason);
}

/// What the file holds is not known any more.
void SubnetStates::forget_file() {
  database_.reset();
  for (auto& [subnet, state] : states_) state.held = {};
}

/// `taken`: by another process; then the text says by which.
std::expected<void, std::string> SubnetStates::lock(const std::string& subnet, SubnetState& state,
                                                    bool& taken) {
  taken = false;
  if (state.lock) return {};
  if (const auto error = make_private_directories(place_.directory); error)
    return std::unexpected(error.message());
  auto lock = FileLock::take(place_.directory / (base::file_name_of(subnet) + ".lock"));
  if (lock) {
    state.lock.emplace(std::move(*lock));
    return {};
  }
  taken = lock.error().held;
  if (!taken) return std::unexpected(lock.error().text);
  return std::unexpected(fmt::format("{}: the state of subnet {} is in use by {}", place_.directory.string(),
                                     subnet, lock.error().text));
}

/// The file is open, and is the one that has our rows.
bool SubnetStates::ready() {
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

void SubnetStates::say_set_aside(const SetAside& aside) {
  log_.error("store.set_aside")
      .kv("file", place_.file().string())
      .kv("reason", aside.reason)
      .kv("kept_as", aside.kept_as.string())
      .kv("action", "a new one is made from the fabric")
      .always();
}

/// What SQLite's own check passed and what turned out wrong all the same. A new file is open afterwards.
bool SubnetStates::set_aside(const std::string& reason) {
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
bool SubnetStates::load(const std::string& subnet, SubnetState& state) {
  auto read = read_all(*database_, subnet);
  if (!read && read.error().kind == SqlError::Kind::corrupt && set_aside(read.error().text))
    read = read_all(*database_, subnet);
  if (!read) {
    failed(read.error().text);
    return false;
  }
  state.wanted = state.held = *std::move(read);
  return true;
}

/// A look at the state of a daemon that may be running, or at a directory that cannot be written.
std::expected<void, std::string> SubnetStates::peek(const std::string& subnet, SubnetState& state) {
  auto place = place_;
  place.read_only = true;
  std::error_code ignored;
  if (!std::filesystem::exists(place.file(), ignored)) return {};
  auto opened = Database::open(place);
  if (!opened) return std::unexpected(opened.error().text);
  auto read = read_all(*opened, subnet);
  if (!read) return std::unexpected(read.error().text);
  state.wanted = *std::move(read);
  return {};
}

std::expected<sm::StoredPtr, std::string> SubnetStates::open(const std::string& subnet) {
  if (place_.read_only) {
    SubnetState seen;
    const auto read = peek(subnet, seen);
    if (!read) log_.warn("store.unreadable").kv("file", place_.file().string()).kv("reason", read.error());
    seen.held = seen.wanted;
    auto loaded = std::get<sm::StoredPtr>(seen.wanted);
    states_.insert_or_assign(subnet, std::move(seen));
    return loaded;
  }
  if (states_.contains(subnet)) {
    return std::unexpected(
        fmt::format("{}: two subnets of this process are named {}", place_.directory.string(), subnet));
  }
  SubnetState state;
  bool taken = false;
  const auto locked = lock(subnet, state, taken);
  if (taken) return std::unexpected(locked.error());
  if (!locked) failed(locked.error());
  const bool read = locked && ready() && load(subnet, state);
  if (read) failure_->end();
  if (!read) {
    // What can only be read is better than nothing: LIDs stay what they were.
    if (const auto seen = peek(subnet, state); !seen) state.wanted = nothing_kept();
  }
  auto loaded = std::get<sm::StoredPtr>(state.wanted);
  states_.emplace(subnet, std::move(state));
  return loaded;
}

void SubnetStates::close(const std::string& subnet) { states_.erase(subnet); }

Kept SubnetStates::kept(const std::string& subnet) const {
  const auto it = states_.find(subnet);
  return it != states_.end() ? it->second.wanted : nothing_kept();
}

bool SubnetStates::behind() const {
  return std::ranges::any_of(states_, [](const auto& row) { return row.second.behind(); });
}

SqlResult<void> SubnetStates::write_once() {
  std::vector<Batch> batches;
  for (const auto& [subnet, state] : states_) {
    if (!state.behind()) continue;
    batches.push_back({.subnet = subnet,
                       .before = std::get<sm::StoredPtr>(state.held).get(),
                       .now = std::get<sm::StoredPtr>(state.wanted).get(),
                       .registry_before = std::get<sa::RegistryPtr>(state.held).get(),
                       .registry_now = std::get<sa::RegistryPtr>(state.wanted).get(),
                       .policies_before = std::get<policy::PoliciesPtr>(state.held).get(),
                       .policies_now = std::get<policy::PoliciesPtr>(state.wanted).get(),
                       .replica_before = std::get<ReplicaStatePtr>(state.held).get(),
                       .replica_now = std::get<ReplicaStatePtr>(state.wanted).get()});
  }
  if (batches.empty()) return {};
  auto written = database_->write(batches);
  if (!written) return written;
  for (auto& [subnet, state] : states_) state.held = state.wanted;
  return {};
}

bool SubnetStates::write() {
  if (place_.read_only) return false;
  for (auto& [subnet, state] : states_) {
    bool taken = false;
    if (const auto locked = lock(subnet, state, taken); !locked) {
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
  if (!written && written.error().kind == SqlError::Kind::busy) {
    failure_->begin(written.error().text);  // another process has it; what the file holds is known
    return false;
  }
  if (!written) {
    failed(written.error().text);
    return false;
  }
  failure_->end();
  return true;
}

}  // namespace smd::store
