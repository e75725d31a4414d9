// SPDX-License-Identifier: Apache-2.0
#pragma once
// What is kept of a subnet's policy beside its files: the partitions that the API made, its tokens, and what
// the files said when they were right last.

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "config/config.h"
#include "config/partition_definition.h"
#include "config/partitions.h"
#include "mad/base/id.h"
#include "smd/access/token.h"
#include "smd/policy/disabled_ports.h"

namespace smd::policy {

/// A partition of the API: it has a name and a P_Key, and each of its rules has one term.
using ApiPartition = config::PartitionDefinition;
using ApiPartitionPtr = std::shared_ptr<const ApiPartition>;  ///< never null

/// What a change was answered with: the answer to the same request, should it come again.
struct KeptAnswer {
  std::string digest;  ///< of the body of the request
  unsigned status = 200;
  std::string body;
  std::int64_t made = 0;  ///< seconds since 1970
  friend bool operator==(const KeptAnswer&, const KeptAnswer&) = default;
};
using KeptAnswers = std::map<std::string, std::shared_ptr<const KeptAnswer>>;  ///< none is null
/// How long, and how many.
inline constexpr std::int64_t kAnswerKept = 86'400;
inline constexpr std::size_t kMostAnswers = 1'000;
/// Adds one; those that are too old go, and the oldest ones where there are too many.
void keep_answer(KeptAnswers& answers, const std::string& scope, KeptAnswer answer);

struct Policies {
  /// By name. Also those whose P_Key a file has taken over.
  std::map<std::string, ApiPartitionPtr, std::less<>> api{};
  /// accepted_text() of the files that were in force last; empty: none were.
  std::string accepted{};
  Guid accepted_by{};  ///< port GUID of the SM whose files these were; 0: not known
  /// Answers to changes of partitions that may come again, by Once::scope.
  KeptAnswers answers{};
  /// Who may call the API over the network.
  access::Tokens tokens{};
  DisabledPorts disabled_ports{};
  /// SLs that classes of traffic have or had, by name: classes of the files keep them (config/qos_classes.h).
  config::ClassSls class_sls{};

  friend bool operator==(const Policies& a, const Policies& b) {
    const auto same = [](const auto& x, const auto& y) {
      return x.first == y.first && *x.second == *y.second;
    };
    return a.accepted == b.accepted && a.accepted_by == b.accepted_by && a.tokens == b.tokens &&
           a.disabled_ports == b.disabled_ports && a.class_sls == b.class_sls &&
           std::ranges::equal(a.api, b.api, same) && std::ranges::equal(a.answers, b.answers, same);
  }
};
using PoliciesPtr = std::shared_ptr<const Policies>;  ///< never null
/// Files and API merged. Null: they contradict each other, or are not merged yet.
using MergedPtr = std::shared_ptr<const config::PartitionPolicy>;

/// `files` with the partitions of the API.
config::PartitionSources with_api(config::PartitionSources files, const Policies& policies);
/// What the files of a configuration define.
config::PartitionSources sources_of(const config::SubnetConfig& config);
/// `config` with what is kept of its classes of traffic: their SLs, and the partitions of the API as tenants.
/// The same pointer where it has none. Pure.
std::shared_ptr<const config::SubnetConfig> with_kept(std::shared_ptr<const config::SubnetConfig> config,
                                                      const Policies& policies);
/// The same without tenants of the API: what files alone say, by the SLs that are kept.
config::SubnetConfig with_kept_sls(config::SubnetConfig config, const Policies& policies);
/// `policies` with the SLs that the classes of `config` have; the same pointer where nothing changes. Pure.
PoliciesPtr with_class_sls(const config::SubnetConfig& config, PoliciesPtr policies);
/// What a reload changes where `in_force` becomes `next`, which is of the files: config::differences(). Where
/// an SM that was master before has made what is in force (restore_accepted()), `policies.accepted` says what
/// it is of partitions and QoS: of these the keys are named ("qos: ..."). Pure.
std::vector<std::string> reload_differences(const config::SubnetConfig& in_force,
                                            const config::SubnetConfig& next, const Policies& policies);
/// Both merged; null where the files contradict each other, which those that were read never do. Pure.
MergedPtr merged_policy(const config::SubnetConfig& config, const Policies& policies);
/// Whether merge_partitions() of the sources alone comes to the same: no class has an SL to give, and no
/// number that smd has chosen is kept. Pure.
bool merges_by_sources(const config::SubnetConfig& config);

}  // namespace smd::policy
