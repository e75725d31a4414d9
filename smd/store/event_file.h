// SPDX-License-Identifier: Apache-2.0
#pragma once
// The file events.db of a state directory: the latest named events. It is apart from smd.db because it may be
// lost: nothing rests on it, and what is written to it must not hold up what a client waits for.

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "smd/events/event.h"
#include "smd/store/sqlite.h"

namespace smd::store {

/// Of events of some subnets those that may be about some partitions, so that the others need not be read:
/// they name a partition, or a port that was in one of these, or one of which that is not known. Events of
/// other subnets all may.
struct AboutPartitions {
  std::vector<std::string> subnets{};
  std::vector<std::string> partitions{};
};

/// Used by one thread at a time; several may be open on one file.
class EventFile {
 public:
  /// Makes the file, in a folder that is there, or opens it. `corrupt`: it is not one of ours, or damaged.
  static SqlResult<EventFile> open(const std::filesystem::path& path);

  /// Adds these, which all are NamedLogEvents, and drops the oldest beyond `most`: in one transaction.
  SqlResult<void> append(std::span<const events::EventPtr> added, std::size_t most);

  /// A part of the file.
  struct Range {
    events::EventId after{};                                      ///< not itself
    events::EventId before{};                                     ///< the same
    std::optional<std::string> subnet{};                          ///< nothing: of all, and of the process
    std::optional<std::chrono::system_clock::time_point> from{};  ///< what happened before is left out
    std::function<bool(std::string_view)> named{};                ///< names that are meant; empty: all
    std::optional<AboutPartitions> about{};  ///< others may be left out; of many partitions they are not
    bool backwards = false;                  ///< the latest first
  };
  /// Takes an event; false: no more of them.
  using Take = std::function<bool(events::EventPtr)>;
  /// Hands over the events of the range in the order of their ids. Rows that make no sense are left out.
  SqlResult<void> read(const Range& range, const Take& take);

  /// The oldest and the latest; nothing: there is none.
  struct Ends {
    events::EventId first, last;
  };
  /// The ids of the first and the last event in the order of ids.
  SqlResult<std::optional<Ends>> ends();
  /// An event of this epoch is there.
  SqlResult<bool> has_epoch(std::uint64_t epoch);

  /// How far the receiver of that name has got; nothing: it is not known.
  SqlResult<std::optional<events::EventId>> position(const std::string& receiver);
  /// Keeps how far the receiver of that name has got, instead of what was kept before.
  SqlResult<void> set_position(const std::string& receiver, events::EventId at);
  /// Forgets the positions of all but these receivers.
  SqlResult<void> keep_positions(std::span<const std::string> receivers);

 private:
  explicit EventFile(Connection connection) : connection_(std::move(connection)) {}
  SqlResult<std::optional<events::EventId>> before_first(std::chrono::system_clock::time_point from);
  SqlResult<std::vector<std::string>> names_like(const std::function<bool(std::string_view)>& named);
  SqlResult<void> append_all(std::span<const events::EventPtr> added, std::size_t most);

  Connection connection_;
};

}  // namespace smd::store
