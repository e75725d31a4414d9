// SPDX-License-Identifier: Apache-2.0
#pragma once
// A store that is copied: as master it gives what it commits to standbys, as standby it takes what the master
// commits. The fabric decides which of both; the network only carries.

#include <chrono>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "mad/clock.h"
#include "mad/task_group.h"
#include "mad/turn.h"
#include "smd/base/compute.h"
#include "smd/base/spare_memory.h"
#include "smd/ha/sm_view.h"
#include "smd/log/log.h"
#include "smd/replica/byte_stream.h"
#include "smd/replica/call.h"
#include "smd/replica/journal.h"
#include "smd/replica/receiver.h"
#include "smd/replica/view.h"
#include "smd/store/store.h"

namespace smd::replica {

/// A master says something at least once a second, and reads what is written to it.
inline constexpr mad::Duration kMasterSilence = std::chrono::seconds(5);

/// When a client is told of what it has changed.
enum class Mode : std::uint8_t {
  async,       ///< when it is on our disk
  sync,        ///< on a standby's too, or after 50 ms
  sync_strict  ///< on a standby's too, else it is to ask again
};

/// As the configuration names it.
std::string_view to_string(Mode mode);

/// All of it outlives the replicator.
struct ReplicatorParts {
  asio::any_io_executor executor;
  mad::Clock& clock;
  sm::Compute& compute;  ///< for work on whole states
  log::Log log;
  store::Store& disk;
  Network& network;
  std::shared_ptr<sm::PublishedSms> sms;  ///< what we are, and who is master
  /// Called where what is kept was replaced by the master's; on the executor's thread.
  std::function<void()> replaced;
  /// What clients had registered with an SM that was master beside us and is our standby now, and what both
  /// had when the fabric was cut (empty: not known). May be null.
  std::function<void(sa::RegistryPtr other, sa::RegistryPtr common)> inherited = {};
  /// The same of what the API had made there; nothing but partitions, and what the files said. `common` is
  /// null where it is not known. May be null.
  std::function<void(policy::PoliciesPtr other, policy::PoliciesPtr common)> inherited_policies = {};
  /// Another SM has a later epoch than ours or the same, and does not take what we commit.
  std::function<void(Guid port)> refused;
  std::function<std::int64_t()> wall;  ///< seconds since 1970
  /// As master: does what a client has asked of the standby with this port. May be null: nothing is done.
  std::function<asio::awaitable<CallAnswer>(Call call, Guid standby)> answer = {};
  std::shared_ptr<PublishedReplica> published = std::make_shared<PublishedReplica>();
};

struct ReplicatorOptions {
  std::string subnet;  ///< as the configuration names it; empty: it does not
  std::string program = "smd";
  Mode mode = Mode::async;
  std::vector<std::string> peers;
};

/// On the executor's thread. No call waits for a peer longer than 50 ms.
class Replicator final : public store::Store {
 public:
  /// Begins nothing before start().
  Replicator(ReplicatorParts parts, ReplicatorOptions options);
  ~Replicator() override;
  /// Accepts standbys and follows `peers` from now on. Once.
  void start();
  /// To be awaited before it dies.
  asio::awaitable<void> stop();

  sm::StoredPtr loaded() const override { return std::get<sm::StoredPtr>(kept_); }
  asio::awaitable<bool> commit(sm::StoredPtr now) override;
  sa::RegistryPtr registry() const override { return std::get<sa::RegistryPtr>(kept_); }
  asio::awaitable<bool> commit_registry(sa::RegistryPtr now) override;
  policy::PoliciesPtr policies() const override { return std::get<policy::PoliciesPtr>(kept_); }
  asio::awaitable<bool> commit_policies(policy::PoliciesPtr now) override;
  asio::awaitable<bool> commit_change(policy::PoliciesPtr now) override;
  store::ReplicaStatePtr replica() const override { return std::get<store::ReplicaStatePtr>(kept_); }
  store::Following following() const override;
  std::shared_ptr<const sm::Stored::MKeys> left_m_keys() const override { return inherited_m_keys_; }
  bool may_answer() const override { return may_answer_; }
  asio::awaitable<void> settle(std::optional<Guid> standby) override;
  bool lags(Guid standby) const override;
  std::optional<std::map<Guid, bool>> copies() const override;

  /// The latest view. From any thread.
  std::shared_ptr<const ReplicaView> view() const { return parts_.published->get(); }
  /// As standby: the master does it. `done` is called once, not within this call, when what has changed is on
  /// our disk too; after 5 s without an answer it is an error.
  void call(Call call, CallDone done);
  /// As standby: the master is told, once, and what it answers does not matter. False: nothing was sent, as
  /// there is no master to tell, or too much to tell it. At once.
  bool tell(Call call);

 private:
  /// What two SMs had when both had the same. Null: not known.
  struct Common {
    sa::RegistryPtr registry{};
    policy::PoliciesPtr policies{};
  };
  using CommitPolicies = asio::awaitable<bool> (store::Store::*)(policy::PoliciesPtr);
  asio::awaitable<bool> commit_by(CommitPolicies commit, policy::PoliciesPtr now);
  /// An end that gives.
  struct Outgoing {
    ByteStreamPtr stream;
    Sender sender;
    Hello peer;
    bool greeted = false, gone = false;
    Image left{};  ///< what it leaves us, so far
    std::uint32_t left_chunks = 0;
    mad::TimePoint since{};  ///< when it has connected
    mad::WaitList wake{};
    std::size_t calls = 0;           ///< that are not answered
    std::deque<BytesPtr> answers{};  ///< to be sent
  };
  /// An end that takes, greeted.
  struct Link {
    std::shared_ptr<ByteStream> stream;
    std::uint16_t version = 0;
    Guid said{};  ///< the port that it was told again; 0: none
  };
  /// What a connection to a master has brought.
  struct Intake {
    bool changed = false;  ///< there is something to keep
    bool ended = false;    ///< nothing more comes
    bool kept = false;     ///< nothing more is kept
    std::string wrong{};   ///< why it was not kept
    mad::WaitList wake{};
  };
  /// A call that is under way.
  struct Asked {
    std::string peer;
    CallDone done;
    mad::Clock::TimerId timer = 0;
    std::optional<CallAnswer> answer{};  ///< waits for our disk
  };
  struct Part {
    bool master = false;
    Guid self{};
    std::optional<Guid> follows;  ///< the master that we are standby of
    bool alone = false;           ///< master of a port without a link
  };
  // replicator.cpp: the store
  Part role() const;
  bool follows() const;
  bool drops();
  void changed();
  asio::awaitable<void> begin_term();
  void end_term();
  void take_whole();
  asio::awaitable<void> write_journal();
  asio::awaitable<void> wait_for_standby();
  void lost_sync(bool lost);
  asio::awaitable<void> tick();
  void publish();
  std::chrono::nanoseconds lag_of(Position acked) const;
  bool has_all(Position acked) const;
  void say_port(Guid self);
  // outgoing.cpp: to standbys
  asio::awaitable<void> accept();
  asio::awaitable<void> serve(std::shared_ptr<Outgoing> end);
  asio::awaitable<void> give(std::shared_ptr<Outgoing> end);
  asio::awaitable<bool> make_snapshot_now();
  bool inherit(Outgoing& end, const SnapshotChunk& chunk);
  asio::awaitable<void> read_left(Image left, Guid source);
  void note_copied(Guid standby, Position at);
  Common common_with(Guid other) const;
  asio::awaitable<bool> give_digests(std::shared_ptr<Outgoing> end);
  bool hear(Outgoing& end, const Frame& frame);
  void say_refused(const Outgoing& end, const Refuse& refuse);
  void wake_all();
  // incoming.cpp: from the master
  asio::awaitable<void> follow(std::string peer);
  void say_self(const std::string& peer) const;
  asio::awaitable<void> leave_clients(std::shared_ptr<ByteStream> stream, Guid master);
  asio::awaitable<std::string> receive(std::string peer, std::shared_ptr<ByteStream> stream);
  asio::awaitable<std::string> read_all(std::string peer, std::shared_ptr<ByteStream> stream,
                                        std::shared_ptr<Intake> intake);
  asio::awaitable<void> keep_all(std::shared_ptr<ByteStream> stream, std::shared_ptr<Intake> intake);
  asio::awaitable<std::string> take_all(std::string peer, std::shared_ptr<ByteStream> stream,
                                        FrameReader* reader, bool* greeted, bool* changed);
  asio::awaitable<std::string> take_role(std::string peer, std::shared_ptr<ByteStream> stream,
                                         replica::Role word, bool* changed);
  asio::awaitable<std::string> take(std::string peer, std::shared_ptr<ByteStream> stream, Frame frame,
                                    bool* changed);
  asio::awaitable<std::string> compare(DigestsAt word);
  asio::awaitable<std::expected<std::optional<Frame>, std::string>> next_frame(FrameReader* reader);
  asio::awaitable<std::string> with_receiver(bool long_work, std::move_only_function<void(Receiver&)> work);
  bool accepts(Guid source) const;
  asio::awaitable<void> leave_copy();
  asio::awaitable<std::expected<Kept, std::string>> read_image(Changes* changed);
  asio::awaitable<std::string> keep(std::shared_ptr<ByteStream> stream);
  bool is_current() const;
  bool has_copy() const;
  Bytes hello() const;
  // calls.cpp
  std::string no_link() const;
  std::string why_unlinked() const;
  bool forwards() const;
  bool is_no_peer(Guid master) const;
  asio::awaitable<void> send_frame(std::shared_ptr<ByteStream> stream, BytesPtr frame);
  void answered(CallAnswer answer);
  void finish_call(std::uint64_t id, std::expected<CallAnswer, std::string> result);
  void finish_calls();
  void lose_calls(const std::string& peer);
  void end_calls(std::string_view reason);
  void call_is_late(std::uint64_t id);
  bool take_call(const std::shared_ptr<Outgoing>& end, const Call& call);
  asio::awaitable<void> do_call(std::shared_ptr<Outgoing> end, Call call);
  void give_answer(Outgoing& end, const CallAnswer& answer);

  ReplicatorParts parts_;
  ReplicatorOptions options_;
  Kept kept_;
  // As master.
  Journal journal_;
  Kept told_;                       ///< what the journal's last transaction leads to
  std::uint64_t changes_ = 0;       ///< of kept_, as master
  std::uint64_t told_changes_ = 0;  ///< of these, those that are in the journal
  /// A transaction of the journal.
  struct Committed {
    std::uint64_t changes = 0;  ///< that it and those before it cover
    mad::TimePoint at{};
  };
  std::map<std::uint64_t, Committed> covers_;  ///< by number; the last 100,000
  std::uint64_t later_epoch_ = 0;              ///< of a replica that has refused ours
  mad::TimePoint refused_at_{};                ///< by a standby
  bool raise_ = false;   ///< our epoch is to be higher than later_epoch_, if we stay master
  bool unsaid_ = false;  ///< something was committed after our mastership, and is in no transaction
  bool beginning_ = false, sync_lost_ = false, may_answer_ = true;
  std::list<std::shared_ptr<Outgoing>> outgoing_;
  mad::WaitList journal_wake_, acked_;
  /// A connection without the right certificate or key.
  struct Refusal {
    std::string what;
    mad::TimePoint at{};
  };
  Refusal turned_away_{};
  /// A state that another SM has, too.
  struct Copied {
    Position at{};    ///< the last one
    Common common{};  ///< when it last had all
  };
  std::map<Guid, Copied> copied_by_;  ///< standbys that had a state of our last mastership
  std::set<Guid> copiers_;            ///< SMs that have ever connected to copy from us
  Guid began_with_{};                 ///< the SM whose state that began with
  Common began_common_;               ///< of that state
  bool began_current_ = false;        ///< that state was a copy, and current
  /// Of the last SM that has left us some; null: none has.
  std::shared_ptr<const sm::Stored::MKeys> inherited_m_keys_;
  // As standby.
  /// Of our last mastership, until the next master has it: what clients had registered with us, the M_Keys of
  /// our part, and partitions of the API.
  std::optional<Kept> left_;
  Position left_at_{};
  std::optional<Receiver> receiver_;
  bool much_taken_ = false;        ///< by it, since the last state was kept
  std::uint64_t terms_ended_ = 0;  ///< another receiver_ since each
  mad::Turn image_;                ///< who reads or changes the receiver's
  sa::RegistryPtr copied_;         ///< what its rows say; null: not known
  sm::StoredPtr copied_stored_;    ///< the same
  bool refused_ = false;           ///< the master's epoch is lower than that of our copy
  bool following_ = false;         ///< kept_ is the master's
  /// Our port has had no link since: what the manager goes by may be another state.
  bool strayed_ = false;
  /// Another SM has been master since, and what it has committed is not here.
  bool not_copied_ = false;
  bool stale_ = false;  ///< it was not current when we became master
  std::uint64_t replaced_ = 0;
  Position latest_{};                            ///< of the master
  std::string master_;                           ///< where it is connected; empty: nowhere
  std::map<std::string, std::string> unlinked_;  ///< peers without a connection, and why
  mad::TimePoint lost_at_{};
  std::optional<mad::TimePoint> foreign_since_;  ///< the master is an SM that is never copied
  bool left_copy_ = false;                       ///< then what is kept became ours again
  mad::TimePoint heard_at_{};                    ///< of the master's last word of where it is
  mad::TimePoint heard_up_{};                    ///< the same by Clock::uptime()
  mad::Duration heard_every_{};                  ///< it says so this often
  std::int64_t heard_ = 0;
  Digests digests_;
  std::map<std::string, Link> links_;  ///< by peer
  /// By peer the port of its SM, as it has said last.
  std::map<std::string, Guid> peer_ports_;
  std::map<std::uint64_t, Asked> asked_;  ///< by the id of the call
  std::uint64_t next_call_ = 1;
  std::size_t tells_ = 0;         ///< calls that the master was told in the second after `tells_since_`
  mad::TimePoint tells_since_{};  ///< long ago: none yet
  mad::TaskGroup tasks_;
  sm::SpareMemory spare_;
};

}  // namespace smd::replica
