// SPDX-License-Identifier: Apache-2.0
#pragma once
// From a question to its answer: the attribute decides which code answers. Pure: the same directory and the
// same bytes give the same answer, on any thread.

#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <variant>
#include <vector>

#include "smd/registry/registry.h"
#include "smd/sa/directory.h"
#include "smd/sa/record_search.h"
#include "smd/sa/request.h"
#include "smd/sa/search.h"
#include "smd/sa/settings.h"

namespace smd::sa {

/// True of MADs of this class that want an answer.
bool is_question(const Request& request);

/// True of requests that must not be answered: their SM_Key is neither 0 nor ours.
bool has_wrong_key(const Request& request, const Settings& settings);

/// Whole tables as they were told, until the next Snapshot. Several questions may make one together. Not
/// thread-safe.
class TableCache {
 public:
  class Table;
  /// Of viewers that all have the P_Keys `keys`; null: that see all.
  struct Key {
    std::uint16_t attribute = 0;
    const HeldPKeys* keys = nullptr;
    friend auto operator<=>(const Key&, const Key&) = default;
  };
  /// Null where it is not made yet.
  std::shared_ptr<Table> find(const Key& key) const;
  /// Replaces one of the same key; not kept where there are many already.
  void put(const Key& key, std::shared_ptr<Table> table);
  void clear() { tables_.clear(); }  ///< questions that are being answered keep theirs

 private:
  std::map<Key, std::shared_ptr<Table>> tables_;
};

/// What an answer is made from; all of it outlives the search. `tables` are of this directory.
struct AnswerContext {
  const Directory* directory = nullptr;  ///< null: the fabric is not up yet
  const Registry& registry;
  const Settings& settings;
  TableCache& tables;
};

/// The search for the answer to a question, or what is told at once. `request` outlives the search. The
/// question may be answered: is_question(), and not has_wrong_key().
std::variant<Found, std::unique_ptr<Search>> search_for(const AnswerContext& context, const Request& request,
                                                        const RequestContext& asking);

/// The reply's bytes into `out`, whose memory is used again; false where there is none, or none within the
/// slice.
bool answer(const AnswerContext& context, std::span<const std::uint8_t> mad, const RequestContext& asking,
            Slice slice, std::vector<std::uint8_t>& out);
/// The same without a limit of the slice.
bool answer(const Directory* directory, const Registry& registry, const Settings& settings,
            std::span<const std::uint8_t> mad, const RequestContext& asking, TableCache& tables,
            std::vector<std::uint8_t>& out);

/// The reply's bytes; nothing where the MAD must not be answered: it is an answer itself, it is no MAD of
/// this class, or its SM_Key is neither 0 nor ours. Requests that change the registry are not for this
/// (smd/sa/registry/write.h).
std::optional<std::vector<std::uint8_t>> answer(const Directory* directory, const Registry& registry,
                                                const Settings& settings, std::span<const std::uint8_t> mad,
                                                const RequestContext& asking = {});

}  // namespace smd::sa
