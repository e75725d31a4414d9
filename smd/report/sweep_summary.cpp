// SPDX-License-Identifier: Apache-2.0
#include "smd/report/sweep_summary.h"

#include "smd/log/format.h"
#include "smd/log/log.h"
#include "smd/report/sweep_json.h"

namespace smd::sm::inline reports {

std::string to_line(const SweepSummary& summary) {
  log::Record record;
  for_each_field(summary,
                 [&](std::string_view key, auto value) { record.fields.push_back(log::field(key, value)); });
  return log::to_text(record).substr(1);  // the event, which is empty, and the blank after it
}

std::string to_json(const SweepSummary& summary) { return to_text(sweep_json(summary)); }

}  // namespace smd::sm::inline reports
