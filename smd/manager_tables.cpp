// SPDX-License-Identifier: Apache-2.0
// Tables of ports that smd does not decide: who lost or changed them.
#include <utility>

#include "smd/manager.h"
#include "smd/report/tables.h"
#include "smd/sweep/enforcement.h"

namespace smd::sm {

/// With each look at the fabric. What it had when we became master is what counts.
void SubnetManager::note_tables(Subnet& found) {
  const auto* before = mastership_.adopting() ? nullptr : subnet_.get();
  if (mastership_.adopting()) baseline_.reset();
  if (before != nullptr) found.unanswered = before->unanswered;
  baseline_.look(found, before);
  note_enforcement(found, before);
  log_altered(parts_.log, before, found);
}

/// What smd has written itself is as it should be.
void SubnetManager::take_written(Subnet after, const Applied& applied) {
  log_enforcement(parts_.log, *subnet_, after, applied);
  if (!applied.answers<wire::PKeyTable>().empty()) {
    baseline_.wrote(after, applied);
    baseline_.look(after, subnet_.get());
    log_altered(parts_.log, subnet_.get(), after);
  }
  subnet_ = std::make_shared<const Subnet>(std::move(after));
}

/// Between two sweeps.
void SubnetManager::take_lanes(Subnet after) {
  baseline_.look(after, subnet_.get());
  log_altered(parts_.log, subnet_.get(), after);
  const bool other = after.altered != subnet_->altered;
  subnet_ = std::make_shared<const Subnet>(std::move(after));
  if (other && !mastership_.contested() && !unsettled_) judge_again();
}

}  // namespace smd::sm
