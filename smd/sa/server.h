// SPDX-License-Identifier: Apache-2.0
#pragma once
// Subnet administration as its clients see it: MADs of class SA come in, answers go out.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "mad/task_group.h"
#include "mad/transport.h"
#include "smd/base/compute.h"
#include "smd/base/guid_block.h"
#include "smd/decide/fabric_requests.h"
#include "smd/events/subscriber.h"
#include "smd/log/log.h"
#include "smd/registry/request_counts.h"
#include "smd/sa/answer.h"
#include "smd/sa/arrived.h"
#include "smd/sa/fair_queue.h"
#include "smd/sa/fast_path.h"
#include "smd/sa/group_reader.h"
#include "smd/sa/lost_subscribers.h"
#include "smd/sa/pending_queries.h"
#include "smd/sa/registry/prior_groups.h"
#include "smd/sa/registry/subscriptions.h"
#include "smd/sa/registry/write.h"
#include "smd/sa/reports.h"
#include "smd/store/store.h"

namespace smd::sa {

/// What a server stands on; all of it outlives the server.
struct ServerParts {
  asio::any_io_executor executor;
  mad::Transport& gsi;
  /// The end for our own requests to the SA of a master whose standby we are (Dispatcher::asking). Null: it
  /// is not asked.
  mad::Transport* asking = nullptr;
  /// Makes the answers, a batch at a time and one piece of work after the other, so that neither waits for
  /// the sweeps.
  sm::Compute& compute;
  /// Makes the Directory of each new Snapshot while questions are answered from the one before.
  sm::Compute& indexing;
  /// The latest snapshot, from any thread; null before the first sweep.
  std::function<std::shared_ptr<const sm::Snapshot>()> source;
  /// What SMInfo says of us (ActCount) now, from any thread. May be null.
  std::function<std::uint32_t()> act_count = {};
  /// What clients have registered. Null at first: then it is what the store has.
  sm::Published<Registry>& registry;
  store::Store* store = nullptr;  ///< none: what is registered ends with the process
  log::Log log;
  mad::Clock& clock;
  std::function<std::int64_t()> wall;  ///< Unix time in seconds, by which leases end
  /// The manager of the fabric. Null: nothing is asked of it.
  sm::FabricRequests* fabric = nullptr;
  /// Events of `subnet`, which the server subscribes to: sweeps, traps, ports that were asked to register
  /// again. Null: its owner calls refresh(), look_again(), asked() and forward().
  events::EventRing* events = nullptr;
  std::string subnet = {};
  std::uint64_t seed = 1;  ///< of transactions of `asking`
  /// What was read of the groups of a master that is not copied. Null: it is not shown.
  std::shared_ptr<PublishedGroupsRead> groups_read = {};
  /// Where requests are counted.
  std::shared_ptr<SaCounts> counts = std::make_shared<SaCounts>();
};

/// On the thread of the transport. Questions are answered from what is published: those about one thing where
/// they are received, others on `compute`, those that take long a slice at a time behind the others. Requests
/// that change the registry are looked at in batches, kept by one commit a batch, published, and then
/// answered. stop() ends before it dies.
class Server {
 public:
  /// Serves from now on; what `parts` refers to outlives it.
  Server(ServerParts parts, Settings settings);
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  ~Server();

  /// Ends all that is under way; what was not answered yet stays so.
  asio::awaitable<void> stop();
  /// New settings, for requests from now on.
  void set(Settings settings);
  /// A snapshot is published: what ports had registered that are gone ends, subscribers get their
  /// reports, and ports that have to register again are asked to, also those that `came_up` in this sweep.
  void refresh(std::span<const Guid> came_up = {});
  /// There is a newer snapshot, from between two sweeps.
  void look_again();
  /// These ports were asked to register again.
  void asked(std::span<const Guid> ports);
  /// What clients had registered with the master of another part of the fabric is registered here, too:
  /// sa::unite().
  void unite(RegistryPtr other, RegistryPtr common);
  /// Before this SM shows itself on the fabric: reads the groups of the SM at `to`, which may hand over at
  /// once. Nothing changes where it does not answer within 2 s, or its state is copied.
  asio::awaitable<void> read_groups(mad::LidRoute to);
  /// What the master of whom we are standby has of groups; they are so when we become master. Null: not
  /// known.
  void know_before(PriorGroupsPtr groups);
  /// A trap has come, which subscribers want to be told of. `from`: the LID that it came from.
  void forward(const wire::Notice& notice, Lid from);

 private:
  struct ReadBatch {
    std::vector<Reply> replies;
    std::vector<Arrived> writes;
  };
  /// What a batch of writes has come to.
  struct Written {
    Registry registry;
    std::vector<Reply> replies;
    Effects effects;
    ReportBatch reports;
    std::vector<Guid> to_ask;
    std::vector<sm::GuidBlock> guids;
    std::int64_t silence_ends = 0;
    bool took_over = false;
    std::optional<Inherited> inherited;  ///< groups and members of the master before, at the takeover
    std::optional<Inherited> ended;      ///< of them those that end with the grace
  };
  /// What the writer has to do beside requests.
  struct PendingTasks {
    bool refresh = false;
    bool expire = false;
    std::vector<Addressee> unheard;  ///< subscribers that do not answer
    std::vector<Guid> came_up, asked;
    /// Ports that lost subscriptions: their clients are to be asked to register again, and not yet
    /// (ascending).
    std::vector<Guid> lost, not_yet;
    std::vector<Guid> sls_moved;  ///< ports with a path whose SL is another one now
    std::vector<std::pair<wire::Notice, Lid>> traps;
    /// Of other parts of the fabric, and what was common.
    std::vector<std::pair<RegistryPtr, RegistryPtr>> others;
    PriorGroupsPtr prior;     ///< of the master before; null: not known
    bool grace_over = false;  ///< of what was inherited from it
    store::Following copy;    ///< what the registry is made from
    RegistryPtr before;       ///< the registry
    bool any() const {
      return refresh || expire || !unheard.empty() || !asked.empty() || !lost.empty() || !sls_moved.empty() ||
             !traps.empty() || !others.empty() || grace_over;
    }
  };
  void subscribe();
  void begin_reading();
  void hear(const events::Event& event);
  void missed();
  void received(std::span<mad::Received> batch);
  std::vector<Arrived> next_batch();
  bool has_work() const;
  asio::awaitable<void> index();
  bool first_view_is_awaited();
  asio::awaitable<void> compare_sls(ViewPtr before);
  asio::awaitable<void> serve();
  asio::awaitable<void> write();
  asio::awaitable<bool> keep(RegistryPtr before, Written* done);
  asio::awaitable<void> tick();
  void ask_fabric(const Written& done, bool groups);
  void look_for_lost();
  // Work of `compute`; `view` is null where none is made yet.
  ReadBatch look_at(std::vector<Arrived> batch, const Round& round);
  Written written(const std::vector<Arrived>& batch, const PendingTasks& tasks, const Settings& settings,
                  const View* view, std::size_t room_for_reports);
  void take_over(Writing& writing, const PendingTasks& tasks, Written& done);
  void write_batch(Writing& writing, const std::vector<Arrived>& batch, Written& done);
  std::vector<sm::GuidBlock> guids_to_write(const Directory& directory, const Written& done,
                                            const PendingTasks& tasks, bool all) const;
  std::vector<Event> port_events(const Directory& directory);
  void publish_fast_path();
  void deafen();
  void queue(std::vector<Arrived> writes);
  void tell_unread(const Reply& reply) const;
  void send(const Reply& reply);
  void count(const Reply& reply, std::uint16_t status);
  void say(const Effects& effects) const;
  void say_inherited(const Written& done);
  void heard(Lid from);
  void forged(const wire::Notice& notice, Lid from) const;

  ServerParts parts_;
  std::shared_ptr<const Settings> settings_;  ///< never null
  FairQueue queue_;
  PendingQueries pending_;  ///< of serve(), and of the work of `compute` that it waits for
  std::vector<Arrived> writes_;
  PendingTasks pending_tasks_;
  ViewPtr view_;            ///< of the latest snapshot, or of one before while that is looked at
  bool look_again_ = true;  ///< there may be a newer snapshot
  PendingTasks of_next_;    ///< what has to be done as soon as it is looked at
  bool told_ = false;       ///< the manager knows where groups are
  LostSubscribers lost_;
  std::int64_t silence_ends_ = 0;  ///< when a silent port's grace is over; 0: none is silent
  mad::WaitList wake_, wake_writer_, wake_indexer_;
  // Of the work in hand only:
  struct KnownPort {
    Guid guid;
    std::shared_ptr<const HeldPKeys> keys;  ///< null: not known
  };
  std::vector<KnownPort> ports_;  ///< those that were told of, ascending
  Liveness liveness_;
  WaitingTerms waiting_terms_;
  bool taken_over_ = false;
  Inherited inherited_;  ///< and not confirmed yet
  PriorGroupsPtr prior_;
  std::optional<mad::TimePoint> grace_ends_;  ///< of what was inherited; nothing: nothing was
  Reports reports_;
  std::shared_ptr<FastPath> fast_path_;  ///< the receiver's thread has it too
  std::optional<mad::SaClient> client_;
  std::optional<GroupReader> reader_;
  mad::TaskGroup tasks_;
  std::optional<events::Subscriber> subscriber_;
};

}  // namespace smd::sa
