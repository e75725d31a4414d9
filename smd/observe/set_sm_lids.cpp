// SPDX-License-Identifier: Apache-2.0
// MasterSMLID of all end ports, before anything else is written or read.
#include <memory>
#include <vector>

#include "mad/transactions/ask.h"
#include "smd/apply/request_pipeline.h"
#include "smd/observe/standby.h"
#include "smd/plan/desired.h"
#include "smd/sweep/end_ports.h"
#include "smd/sweep/m_key_hints.h"
#include "smd/sweep/paths.h"

namespace smd::sm::inline observing {
namespace {

/// Handed to the transactions, whose windows are smaller.
constexpr std::size_t kAtOnce = 512;

/// The ports of one takeover, each read and then Set. All that it refers to outlives it.
class SmLidUpdate {
 public:
  SmLidUpdate(const Subnet& subnet, Lid own) : subnet_(subnet), own_(own), paths_(subnet) {
    for (std::size_t index = 0; index < subnet.nodes.size(); ++index) {
      const auto& node = *subnet.nodes[index];
      for (std::size_t number = 0; number < node.ports.size(); ++number) {
        const PortNum port{static_cast<std::uint8_t>(number)};
        if (is_end_port(node, port) && node.ports[number].info.lid.unicast()) ports_.push_back({index, port});
      }
    }
  }

  std::optional<Job> next() {
    while (at_ < ports_.size()) {
      if (auto job = read_job(ports_[at_++])) return job;
    }
    return std::nullopt;
  }
  std::size_t done() const { return done_; }

 private:
  struct Place {
    std::size_t node = 0;
    PortNum port;
  };
  std::uint32_t modifier(const Place& at) const {
    return wire::port_info_modifier(at.port, !subnet_.nodes[at.node]->refuses_extended_speeds);
  }
  std::optional<Job> read_job(const Place& at) {
    const auto path = paths_.to_port(subnet_, at.node, at.port);
    if (!path) return std::nullopt;
    const auto target = target_of(*subnet_.nodes[at.node], at.port, *path);
    return Job{mad::get_request<wire::PortInfo>(target, modifier(at)),
               [this, at, target](mad::Answer answer) { return write_job(at, target, answer); }};
  }
  /// A port that is another one than we know is the sweep's.
  std::optional<Job> write_job(const Place& at, const mad::Target& target, const mad::Answer& answer) {
    if (!answer) return std::nullopt;
    const auto now = answer->get<wire::PortInfo>();
    if (now.lid != subnet_.nodes[at.node]->ports[at.port.value()].info.lid) return std::nullopt;
    if (now.sm_lid == own_) {
      ++done_;
      return std::nullopt;
    }
    auto desired = now;
    desired.sm_lid = own_;
    return Job{mad::set_request(target, port_info_to_set(desired, now, PortState::no_change), modifier(at)),
               [this](const mad::Answer& set) -> std::optional<Job> {
                 if (set) ++done_;
                 return std::nullopt;
               }};
  }

  const Subnet& subnet_;
  Lid own_;
  Paths paths_;
  std::vector<Place> ports_;
  std::size_t at_ = 0, done_ = 0;
};

}  // namespace

/// How many have it.
asio::awaitable<std::size_t> Standby::set_sm_lids(Lid own) {
  const auto subnet = parts_.loop.subnet();
  const auto update = std::make_shared<SmLidUpdate>(*subnet, own);
  // Where nothing is answered for 50 ms the rest is left to the sweep.
  RequestPipeline pipeline(parts_.tx, parts_.scheduler.clock(), kAtOnce, [] { return true; });
  const bool all = co_await pipeline.run([update] { return update->next(); });
  co_return all ? update->done() : 0;
}

}  // namespace smd::sm::inline observing
