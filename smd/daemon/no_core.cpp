// SPDX-License-Identifier: Apache-2.0
#include "smd/daemon/no_core.h"

#include <sys/prctl.h>
#include <sys/resource.h>

#include <algorithm>

namespace smd::daemon {
namespace {

bool has_keys(const config::SubnetConfig& subnet) {
  const auto& keys = subnet.keys;
  const bool in_files = !keys.sm_key_file.empty() || !keys.sa_key_file.empty() || !keys.m_key_file.empty() ||
                        !keys.import_guid2mkey.empty();
  return in_files || !subnet.sm.key_file.empty() || subnet.ha.copies();
}

}  // namespace

bool holds_keys(const config::Config& config) {
  return has_keys(config.base) || std::ranges::any_of(config.subnets, has_keys);
}

void write_no_core() {
  const rlimit none{.rlim_cur = 0, .rlim_max = 0};
  setrlimit(RLIMIT_CORE, &none);
  prctl(PR_SET_DUMPABLE, 0);
}

}  // namespace smd::daemon
