// SPDX-License-Identifier: Apache-2.0
#include "mad/sim/umad_server/umad_file.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "mad/sim/agents/dispatch.h"
#include "mad/sim/packets/segments.h"
#include "mad/sim/umad_server/umad_header.h"
#include "mad/wire/mad.h"

namespace smd::sim {
namespace {

using wire::MadHeader;

constexpr std::size_t kShortestMad = 36;  ///< header and RMPP header, which the kernel always looks at
constexpr std::size_t kHeaderOfMad = 24;  ///< what comes back of a send that was given up

/// As ib_response_mad() of Linux.
bool answers(const MadHeader& header) {
  const bool bm = header.mgmt_class == wire::MgmtClass::bm && (header.modifier & 1U) != 0;
  return wire::is_response(header.method) || header.method == wire::Method::trap_repress || bm;
}

std::uint8_t class_of(const MadHeader& header) { return static_cast<std::uint8_t>(header.mgmt_class); }

/// Which requests flow control counts: those of these classes, without RMPP.
bool is_controlled(const MadHeader& header, bool rmpp) {
  using wire::MgmtClass;
  const auto mgmt_class = header.mgmt_class;
  return !rmpp && (mgmt_class == MgmtClass::sm_lid || mgmt_class == MgmtClass::sm_directed ||
                   mgmt_class == MgmtClass::sa || mgmt_class == MgmtClass::cm);
}

std::uint64_t key_tid(ClientId client, const MadHeader& header) {
  return (std::uint64_t{client} << 32U) | (header.tid.value() & 0xFFFF'FFFFU);
}

}  // namespace

struct UmadFile::Written {
  UmadHeader header;
  MadHeader mad;
  std::vector<std::uint8_t> bytes;
  bool rmpp = false;  ///< a MAD of one segment or more, of an agent that leaves RMPP to the kernel
};

UmadFile::UmadFile(Fabric& fabric, PortIndex port)
    : fabric_(fabric),
      port_(port),
      random_(fabric.state().options.seed * base::kSplitmixStep + port),
      self_(std::make_shared<UmadFile*>(this)) {}

UmadFile::~UmadFile() {
  *self_ = nullptr;
  for (const auto client : clients()) fabric_.detach(client);
}

std::expected<std::uint32_t, int> UmadFile::add_agent(const Registration& registration) {
  if (!is_valid(registration)) return std::unexpected(EINVAL);
  const auto free = std::ranges::find_if(agents_, [](const Agent& agent) { return agent.client == 0; });
  if (free == agents_.end()) return std::unexpected(ENOMEM);
  const auto client = fabric_.attach(port_, registration);
  if (!client) return std::unexpected(client.error());
  *free = Agent{
      .client = *client, .registration = registration, .requests = FlowControl<Key>(places_of(registration))};
  used_ = true;
  return static_cast<std::uint32_t>(free - agents_.begin());
}

std::size_t UmadFile::places_of(const Registration& registration) const {
  const auto& places = fabric_.state().options.kernel;
  const bool sa = registration.mgmt_class == static_cast<std::uint8_t>(wire::MgmtClass::sa);
  return sa ? places.gsi : places.smi;
}

std::expected<void, int> UmadFile::remove_agent(std::uint32_t agent) {
  if (!has_agent(agent)) return std::unexpected(EINVAL);
  fabric_.detach(agents_[agent].client);
  agents_[agent] = {};
  std::erase_if(pending_, [&](const auto& each) {
    if (each.second.agent != agent) return false;
    deadlines_.erase({each.second.deadline, each.first});
    return true;
  });
  return {};
}

bool UmadFile::has_agent(std::uint32_t agent) const { return agent < kAgents && agents_[agent].client != 0; }

std::expected<void, int> UmadFile::enable_pkey() {
  if (used_) return std::unexpected(EINVAL);
  header_bytes_ = kUmadHeader;
  return {};
}

std::vector<ClientId> UmadFile::clients() const {
  std::vector<ClientId> ids;
  for (const auto& agent : agents_) {
    if (agent.client != 0) ids.push_back(agent.client);
  }
  return ids;
}

std::expected<UmadFile::Written, int> UmadFile::parse(std::span<const std::uint8_t> umad) const {
  const auto header = read_header(umad, header_bytes_);
  if (!header || umad.size() < header_bytes_ + kShortestMad) return std::unexpected(EINVAL);
  if (!has_agent(header->agent)) return std::unexpected(EINVAL);
  const auto mad = umad.subspan(header_bytes_);
  const auto decoded = wire::decode<MadHeader>(mad);
  if (!decoded) return std::unexpected(EINVAL);
  Written written{.header = *header, .mad = *decoded, .bytes = {mad.begin(), mad.end()}};
  written.rmpp = agents_[header->agent].registration.rmpp && is_rmpp(mad);
  return written;
}

std::expected<void, int> UmadFile::check(const Written& written) const {
  const auto& agent = agents_[written.header.agent];
  if (!written.rmpp && written.bytes.size() > wire::kMadBytes) return std::unexpected(EINVAL);
  if (answers(written.mad)) {
    const auto held = pending_.find({written.mad.tid.value(), class_of(written.mad)});
    const bool same = held != pending_.end() && held->second.is_answer() &&
                      held->second.mad.route == mad::Route(written.header.address);
    if (same) return std::unexpected(EINVAL);  // is_duplicate(): the answer before is still under way
    return {};
  }
  const Key key{key_tid(agent.client, written.mad), class_of(written.mad)};
  // Two requests that no answer could be told apart by.
  if (pending_.contains(key)) return std::unexpected(EINVAL);
  return {};
}

std::expected<void, int> UmadFile::write(std::span<const std::uint8_t> umad, TimePoint now) {
  auto written = parse(umad);
  if (!written) return std::unexpected(written.error());
  if (const auto good = check(*written); !good) return good;
  const auto& agent = agents_[written->header.agent];
  if (written->rmpp) {
    complete_rmpp(written->bytes);
  } else {
    written->bytes.resize(wire::kMadBytes);
  }
  const bool request = !answers(written->mad);
  if (request) {
    written->mad.tid = Tid{key_tid(agent.client, written->mad)};
    wire::encode_over(written->mad, written->bytes);
  }
  const Key answer_key{written->mad.tid.value(), class_of(written->mad)};
  // Another client's question may have the same transaction: the second answer is not followed.
  if (!request && written->rmpp && !pending_.contains(answer_key)) {
    send_answer(std::move(*written), umad, now);
    return {};
  }
  Outgoing mad{.bytes = std::move(written->bytes), .route = written->header.address};
  if (request && written->header.timeout_ms != 0) {
    const Key key{written->mad.tid.value(), class_of(written->mad)};
    pending_[key] = {.agent = written->header.agent,
                     .mad = mad,
                     .header = {umad.begin(), umad.begin() + static_cast<std::ptrdiff_t>(header_bytes_)},
                     .timeout = std::chrono::milliseconds(written->header.timeout_ms),
                     .retries = written->header.retries,
                     .controlled = is_controlled(written->mad, written->rmpp)};
    begin_request(key, now);
    return {};
  }
  fabric_.send(agent.client, std::move(mad), now);
  return {};
}

/// By segments, which may be lost (Faults::rmpp_loss). It comes back when its time-out is over after the last
/// acknowledgement, or after its retries without one (process_rmpp_ack(), retry_send() and ib_retry_rmpp() of
/// Linux). Without a time-out the kernel waits for 2 s, and one that is acknowledged is at its end at once.
void UmadFile::send_answer(Written&& written, std::span<const std::uint8_t> umad, TimePoint now) {
  constexpr auto kWithout = std::chrono::milliseconds(2000);
  const Key key{written.mad.tid.value(), class_of(written.mad)};
  const auto asked = std::chrono::milliseconds(written.header.timeout_ms);
  const auto segments = segments_of(written.bytes);
  auto& pending = pending_[key];
  pending = {.agent = written.header.agent,
             .mad = {.bytes = std::move(written.bytes), .route = written.header.address},
             .header = {umad.begin(), umad.begin() + static_cast<std::ptrdiff_t>(header_bytes_)},
             .timeout = asked == asked.zero() || asked > kWithout ? kWithout : asked,
             .retries = written.header.retries,
             .retries_left = written.header.retries,
             .transfer = RmppTransfer(segments),
             .begun = now};
  if (go_on(pending, false) && asked == asked.zero()) {
    pending_.erase(key);
    return;
  }
  wait_for_answer(key, now);
}

/// True: all is acknowledged. The receiver's program gets a MAD when it is whole.
bool UmadFile::go_on(Pending& pending, bool again) {
  if (!pending.transfer) return true;
  auto& transfer = *pending.transfer;
  const bool had_all = transfer.received();
  const auto loss = fabric_.state().rmpp_loss;
  const bool progress = again ? transfer.resend(random_, loss) : transfer.send(random_, loss);
  if (progress) pending.retries_left = pending.retries;
  if (!had_all && transfer.received()) {
    fabric_.send(agents_[pending.agent].client, pending.mad, fabric_.state().now);
    pending.mad.bytes.resize(kHeaderOfMad);  // what may come back of it
  }
  return transfer.acknowledged();
}

void UmadFile::answer_timed_out(const Key& key) {
  constexpr auto kReceiverWaits = std::chrono::seconds(40);
  auto& pending = pending_.at(key);
  const auto& transfer = pending.transfer;
  if (!transfer || transfer->acknowledged() || pending.retries_left == 0) return give_up(key, ETIMEDOUT);
  const auto now = fabric_.state().now;
  if (!transfer->received() && now - pending.begun >= kReceiverWaits) {
    pending_.erase(key);  // aborted by the receiver, of which no program is told
    return;
  }
  --pending.retries_left;
  const auto header = read_header(pending.header, header_bytes_);
  if (go_on(pending, true) && header && header->timeout_ms == 0) {
    pending_.erase(key);
    return;
  }
  wait_for_answer(key, now);
}

/// Now, or when the kernel has a place for it; its time begins then.
void UmadFile::begin_request(const Key& key, TimePoint now) {
  auto& pending = pending_.at(key);
  auto& agent = agents_[pending.agent];
  pending.sent = !pending.controlled || agent.requests.begin(key);
  if (!pending.sent) return;
  auto mad = pending.mad;
  wait_for_answer(key, now);
  fabric_.send(agent.client, std::move(mad), now);
}

/// `ended` has been answered, or its time is over: the next one of its agent is sent.
void UmadFile::make_way(const Key& key, const Pending& ended) {
  auto& agent = agents_[ended.agent];
  const auto next = ended.controlled ? agent.requests.end(key) : std::nullopt;
  if (!next) return;
  auto& pending = pending_.at(*next);
  pending.sent = true;
  auto mad = pending.mad;
  const auto now = fabric_.state().now;
  wait_for_answer(*next, now);
  fabric_.send(agent.client, std::move(mad), now);
}

void UmadFile::wait_for_answer(const Key& key, TimePoint now) {
  auto& pending = pending_.at(key);
  pending.deadline = now + pending.timeout;
  deadlines_.insert({pending.deadline, key});
  arm();
}

/// False: nothing waits for it.
bool UmadFile::forget(const Key& key) {
  const auto found = pending_.find(key);
  if (found == pending_.end() || !found->second.sent) return false;
  deadlines_.erase({found->second.deadline, key});
  const auto ended = std::move(found->second);
  pending_.erase(found);
  make_way(key, ended);
  return true;
}

/// One timer for all sends: most are answered long before, and the fabric's timers cannot be taken back.
void UmadFile::arm() {
  if (deadlines_.empty()) return;
  const auto first = deadlines_.begin()->first;
  if (armed_ && *armed_ <= first) return;
  armed_ = first;
  fabric_.at(first, [self = self_, first] {
    if (*self != nullptr && (*self)->armed_ == first) (*self)->look();
  });
}

void UmadFile::look() {
  armed_.reset();
  collect();  // an answer that has come in and is not read yet is an answer
  const auto now = fabric_.state().now;
  while (!deadlines_.empty() && deadlines_.begin()->first <= now) {
    const auto key = deadlines_.begin()->second;
    deadlines_.erase(deadlines_.begin());
    timed_out(key);
  }
  arm();
}

void UmadFile::timed_out(const Key& key) {
  auto& pending = pending_.at(key);
  if (pending.is_answer()) return answer_timed_out(key);
  if (pending.retries == 0) return give_up(key, ETIMEDOUT);
  --pending.retries;
  const auto client = agents_[pending.agent].client;
  auto again = pending.mad;
  const auto now = fabric_.state().now;
  wait_for_answer(key, now);
  fabric_.send(client, std::move(again), now);
}

/// The send comes back: its header with the reason, and the header of its MAD.
void UmadFile::give_up(const Key& key, int error) {
  const auto found = pending_.find(key);
  auto sent = found->second.header;
  const auto& mad = found->second.mad.bytes;
  sent.insert(sent.end(), mad.begin(), mad.begin() + kHeaderOfMad);
  if (auto message = refused(sent, error)) inbox_.push_back(std::move(*message));
  const auto ended = std::move(found->second);
  pending_.erase(found);
  make_way(key, ended);
  if (time_out_) time_out_();
}

std::optional<UmadMessage> UmadFile::refused(std::span<const std::uint8_t> umad, int error) const {
  auto header = read_header(umad, header_bytes_);
  if (!header || umad.size() < header_bytes_ + kHeaderOfMad) return std::nullopt;
  header->status = static_cast<std::uint32_t>(error);
  auto message = write_header(*header, header_bytes_);
  const auto mad = umad.subspan(header_bytes_, kHeaderOfMad);
  message.insert(message.end(), mad.begin(), mad.end());
  return message;
}

std::optional<UmadMessage> UmadFile::receive(std::uint32_t agent, const mad::Received& mad) {
  const auto header = wire::decode<MadHeader>(mad.bytes);
  if (!header) return std::nullopt;
  // An answer that nothing waits for (any more) is dropped.
  if (answers(*header) && !forget({header->tid.value(), class_of(*header)})) return std::nullopt;
  auto bytes = mad.bytes;
  const bool rmpp = agents_[agent].registration.rmpp && is_rmpp(bytes);
  if (!rmpp) bytes.resize(wire::kMadBytes);  // without RMPP there is but the first segment
  auto message = write_header({.agent = agent,
                               .length = static_cast<std::uint32_t>(header_bytes_ + bytes.size()),
                               .address = mad.from},
                              header_bytes_);
  message.insert(message.end(), bytes.begin(), bytes.end());
  return message;
}

void UmadFile::collect() {
  for (std::uint32_t agent = 0; agent < kAgents; ++agent) {
    if (!has_agent(agent)) continue;
    for (const auto& mad : fabric_.take(agents_[agent].client)) {
      if (auto message = receive(agent, mad)) inbox_.push_back(std::move(*message));
    }
  }
}

std::vector<UmadMessage> UmadFile::take() {
  collect();
  return std::exchange(inbox_, {});
}

}  // namespace smd::sim
