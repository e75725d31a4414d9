// SPDX-License-Identifier: Apache-2.0
// The master's subnet administration answers a standby what it likes.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "mad/wire/sa/member_record.h"
#include "mad/wire/sa/path_record.h"
#include "smd/sa/registry/prior_groups.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using smd::wire::McMemberRecord, smd::wire::PathRecord;
  const std::span bytes(data, size);
  const auto members = smd::mad::parse_sa_records(bytes, McMemberRecord::kRecord, McMemberRecord::kBytes);
  if (!members) {
    if (to_string(members.error()).find('\n') != std::string::npos) std::abort();
  } else {
    const auto prior = smd::sa::prior_groups(*members, smd::Lid{1});
    if (prior.groups.size() + prior.ignored > members->size()) std::abort();
  }
  const auto paths = smd::mad::parse_sa_records(bytes, PathRecord::kRecord, PathRecord::kBytes);
  for (std::size_t i = 0; paths && i < paths->size(); ++i) static_cast<void>(paths->get<PathRecord>(i));
  return 0;
}
