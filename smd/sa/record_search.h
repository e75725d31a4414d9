// SPDX-License-Identifier: Apache-2.0
#pragma once
// The records of one kind that a question asks for.

#include <cstdint>
#include <vector>

#include "smd/sa/record_kind.h"
#include "smd/sa/search.h"

namespace smd::sa {

/// Whose question it is, and when.
struct RequestContext {
  Lid lid;               ///< 0: not known
  std::int64_t now = 0;  ///< Unix time in seconds
  /// Of our own SM, as SMInfo tells it: it counts on while the Snapshot stands.
  std::uint32_t act_count = 0;
};

class RecordSearch final : public Search {
 public:
  /// All of it outlives the search. A wrong SM_Key was refused before.
  RecordSearch(const Directory& directory, const Registry& registry, const RecordKind& kind,
               const Request& asked, const RequestContext& asking);

  bool go_on(Slice& slice) override;
  Found take() override;
  std::size_t bytes() const override { return records_.bytes(); }

 private:
  bool visit_some(Slice& slice);
  bool by_lid() const { return filter_.lid.has_value(); }

  const Directory& directory_;
  const Registry& registry_;
  const RecordKind& kind_;
  std::vector<std::uint8_t> changed_;  ///< the question's data where a base LID takes another one's place
  Request request_;
  Pattern pattern_;
  Records records_;
  Progress progress_;
  RecordSink sink_;
  RecordFilter filter_;
  std::size_t next_ = 0;
};

}  // namespace smd::sa
