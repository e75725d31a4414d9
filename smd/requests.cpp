// SPDX-License-Identifier: Apache-2.0
#include "smd/requests.h"

#include <utility>

namespace smd::sm {

void Requests::resweep(Resweep kind, std::string reason) {
  using Fresh = DecideInput::Fresh;
  switch (kind) {
    case Resweep::light:
      return parts_.agenda.add(Work::light, std::move(reason));
    case Resweep::heavy:
      return parts_.agenda.add(Work::heavy, std::move(reason), true);
    case Resweep::converge:
    case Resweep::converge_engine:
      parts_.loop.converge(kind == Resweep::converge ? Fresh::new_layers : Fresh::any_engine);
      return parts_.agenda.add(Work::incremental, std::move(reason), true);
  }
}

void Requests::reload(config::SubnetConfig config) {
  parts_.config.give(std::move(config), parts_.loop.decided());
}

void Requests::set_policies(policy::PoliciesPtr policies, policy::MergedPtr merged) {
  parts_.config.give(std::move(policies), std::move(merged), parts_.loop.decided());
}

void Requests::train(const policy::PortAt& port) {
  parts_.loop.train(port);
  parts_.agenda.add(PartSet{Part::ports});
}

void Requests::reindex(const std::set<Guid>& ports) {
  parts_.loop.reindex(ports);
  parts_.agenda.add(PartSet{Part::partitions});
}

void Requests::accept_lost(Guid node) {
  parts_.inventory.accept(node);
  parts_.agenda.add(Work::inventory, "accept");
}

void Requests::set_groups(Groups groups) {
  parts_.loop.set_groups(std::move(groups));
  parts_.agenda.add(PartSet{Part::multicast});
}

void Requests::reregister(const std::vector<Guid>& ports) {
  if (parts_.once) return;  // it ends before it could answer what clients then ask
  parts_.loop.reregister({ports.begin(), ports.end()});
  parts_.agenda.add(PartSet{Part::clients});
}

void Requests::set_guids(const std::vector<GuidBlock>& blocks) {
  parts_.loop.set_guids(blocks);
  parts_.agenda.add(PartSet{Part::guids});
}

}  // namespace smd::sm
