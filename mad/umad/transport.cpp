// SPDX-License-Identifier: Apache-2.0
#include "mad/umad/transport.h"

#include <fmt/format.h>
#include <infiniband/umad.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <limits>
#include <system_error>
#include <utility>

#include "mad/umad/access.h"
#include "mad/umad/address.h"
#include "mad/wire/smp.h"

namespace smd::umad {
namespace {

using mad::TransportError;
using wire::Method;
using wire::MgmtClass;

std::string message(int error) { return std::generic_category().message(error); }

TransportError cannot_open(const mad::LocalPort& port, int error) {
  std::string hint;
  switch (error) {
    case EACCES:
    case EPERM:
      hint =
          ": " + why_refused(device_file("/sys/class/infiniband_mad", port.device, port.port.value()), error);
      break;
    case ENOENT:
    case ENXIO:
    case EINVAL:
      hint = ": is the ib_umad module loaded?";
      break;
    case EBUSY:
      hint = ": another process holds the device";
      break;
    default:
      break;
  }
  return {error, fmt::format("cannot open the management device of {}:{}: {}{}", port.device, port.port,
                             message(error), hint)};
}

/// A planarized adapter has an SMI and a GSI as separate devices; virtual functions and Omni-Path have no SMI
/// for us.
TransportError lacks(MgmtClass mgmt_class, const mad::LocalPort& port) {
  const bool smi = mgmt_class == MgmtClass::sm_lid || mgmt_class == MgmtClass::sm_directed;
  return {EPROTONOSUPPORT,
          smi ? fmt::format("port {}:{} has no SMI: it cannot send SMPs", port.device, port.port)
              : fmt::format("port {}:{} has no GSI: it cannot send GMPs", port.device, port.port)};
}

/// Descriptors of umad2sim (ibsim 0.10) are no descriptors to the kernel.
bool is_emulated(int descriptor) {
  struct stat status{};
  return fstat(descriptor, &status) != 0 || !S_ISCHR(status.st_mode);
}

/// umad2sim keeps a lock while it writes to a socket that holds some 277 MADs (Linux' default buffer), and
/// wants that lock to read from it: a sender that fills the socket hangs for ever. SMI and GSI share one
/// socket.
constexpr std::size_t kEmulatedPlaces = 128;

/// Of a real device: what the kernel sends at once. See mad::kSmiPlaces.
std::size_t places_of(const std::vector<ClassRegistration>& classes) {
  const bool sa = std::ranges::any_of(
      classes, [](const ClassRegistration& each) { return each.mgmt_class == MgmtClass::sa; });
  return sa ? mad::kGsiPlaces : mad::kSmiPlaces;
}

/// For the same lock reading and sending at once cost more than one after the other: there each batch is
/// dealt with before the next is read.
std::ptrdiff_t batches_of(bool emulated) { return emulated ? 1 : Delivery::kBatches; }

/// As of a device that was unplugged, or a simulator that ended; anything else may be this MAD's fault.
bool is_gone(int error) {
  return error == ENODEV || error == ENXIO || error == EIO || error == EBADF || error == EPIPE ||
         error == ENOTCONN || error == ESHUTDOWN;
}

bool is_sa_answer(std::span<const std::uint8_t> mad) {
  return mad.size() > 3 && static_cast<MgmtClass>(mad[1]) == MgmtClass::sa &&
         wire::is_response(static_cast<Method>(mad[3]));
}

/// An answer of the SA in one packet or more, which the other side acknowledges.
bool is_by_rmpp(std::span<const std::uint8_t> mad) {
  constexpr std::size_t kFlags = 26;
  constexpr std::uint8_t kActive = 0x01;
  return mad.size() > kFlags && is_sa_answer(mad) && (mad[kFlags] & kActive) != 0;
}

/// The kernel still sends the answer to the same question, which came again (is_duplicate() of user_mad.c).
bool is_under_way(int error, std::span<const std::uint8_t> mad) {
  return error == EINVAL && is_sa_answer(mad);
}

/// Packets by RMPP are sent again where they are not acknowledged in this time, so often. Each
/// acknowledgement of one more packet begins this anew (Linux, mad_rmpp.c). 6 s without any in all. The time
/// must be short: each window of 64 packets with a lost one costs it, and the receiver aborts what takes
/// longer than 40 s: by resends after 1 s, a table of 1.1 MB arrived in one of four cases where 1 % was lost.
/// An emulation has no RMPP.
constexpr auto kAcknowledged = std::chrono::milliseconds(200);
constexpr int kRmppRetries = 29;

/// So many sends in a row before one's end counts as the device's.
constexpr unsigned kLostSends = 8;

}  // namespace

std::vector<ClassRegistration> smi_classes() {
  const std::vector methods{Method::get, Method::set, Method::trap, Method::report, Method::trap_repress};
  return {{.mgmt_class = MgmtClass::sm_lid, .methods = methods},
          {.mgmt_class = MgmtClass::sm_directed, .methods = methods}};
}

std::vector<ClassRegistration> gsi_classes() {
  return {{.mgmt_class = MgmtClass::sa,
           .version = 2,
           .rmpp_version = 1,
           .methods = {Method::get, Method::set, Method::get_table, Method::get_trace_table,
                       Method::get_multi, Method::remove}}};
}

Transport::Transport(asio::io_context& io, mad::LocalPort port, int descriptor, std::size_t places)
    : port_(std::move(port)),
      descriptor_(descriptor),
      emulated_(is_emulated(descriptor)),
      capacity_(emulated_ ? kEmulatedPlaces : places),
      delivery_(std::make_shared<Delivery>(batches_of(emulated_))),
      receiver_(std::make_unique<Receiver>(io, descriptor, delivery_)) {}

Transport::~Transport() {
  delivery_->sink = nullptr;
  receiver_.reset();
  umad_close_port(descriptor_);
}

std::expected<std::unique_ptr<Transport>, TransportError> Transport::open(
    asio::io_context& io, const mad::LocalPort& port, const std::vector<ClassRegistration>& classes) {
  errno = 0;
  const int descriptor = umad_open_port(port.device.c_str(), port.port.value());
  // libibumad says EIO for whatever open() said.
  if (descriptor < 0) return std::unexpected(cannot_open(port, errno != 0 ? errno : -descriptor));
  std::unique_ptr<Transport> transport(new Transport(io, port, descriptor, places_of(classes)));
  for (const auto& registration : classes) {
    auto added = transport->add_class(registration);
    if (!added) return std::unexpected(std::move(added.error()));
  }
  return transport;
}

std::expected<void, TransportError> Transport::add_class(const ClassRegistration& registration) {
  if (delivery_->agents.of(std::to_underlying(registration.mgmt_class)) >= 0) return {};
  std::array<long, 16 / sizeof(long)> mask{};
  constexpr auto kBits = static_cast<unsigned>(std::numeric_limits<unsigned long>::digits);
  for (const auto method : registration.methods) {
    const auto bit = static_cast<unsigned>(std::to_underlying(method));
    mask[bit / kBits] |= static_cast<long>(1UL << (bit % kBits));
  }
  errno = 0;
  const int agent = umad_register(descriptor_, std::to_underlying(registration.mgmt_class),
                                  registration.version, registration.rmpp_version, mask.data());
  if (agent < 0) {
    // The kernel's word for 'another agent has these methods of this class' is EINVAL.
    const int error = errno != 0 ? errno : -agent;
    const bool taken = error == EINVAL || error == EBUSY;
    // ib_register_mad_agent() of a port without the queue pair (rdma_cap_ib_smi, rdma_cap_ib_cm).
    if (error == EPROTONOSUPPORT) return std::unexpected(lacks(registration.mgmt_class, port_));
    return std::unexpected(TransportError{
        taken ? EBUSY : error,
        fmt::format("cannot register management class {} on {}:{}: {}",
                    wire::class_name(registration.mgmt_class), port_.device, port_.port,
                    taken ? "another process has it (a subnet manager on this port?)" : message(error))});
  }
  delivery_->agents.set(std::to_underlying(registration.mgmt_class), agent);
  return {};
}

/// The GSI of an emulated port: the same descriptor, other classes.
class Transport::Shared final : public mad::Transport {
 public:
  explicit Shared(umad::Transport& whole) : whole_(whole) {}
  Shared(const Shared&) = delete;
  Shared& operator=(const Shared&) = delete;
  ~Shared() override {
    whole_.delivery_->gsi_sink = nullptr;
    whole_.delivery_->ahead.set(nullptr);
  }

  std::expected<void, TransportError> add_class(const ClassRegistration& registration) override {
    return whole_.add_class(registration);
  }
  void on_receive(Sink sink) override { whole_.delivery_->gsi_sink = std::move(sink); }
  void on_receive_ahead(const std::shared_ptr<const Ahead>& ahead) override {
    whole_.on_receive_ahead(ahead);
  }
  std::expected<void, TransportError> send(std::span<const std::uint8_t> mad, const mad::Route& route,
                                           std::chrono::milliseconds give_up) override {
    return whole_.send(mad, route, give_up);
  }
  std::expected<mad::LocalPort, TransportError> local() const override { return whole_.local(); }
  std::optional<TransportError> broken() const override { return whole_.broken(); }
  std::size_t places() const override { return whole_.places(); }
  std::size_t room() const override { return whole_.room(); }

 private:
  umad::Transport& whole_;
};

std::expected<std::unique_ptr<mad::Transport>, TransportError> Transport::open_gsi(asio::io_context& io) {
  if (!emulated_) {
    auto opened = open(io, port_, gsi_classes());
    if (!opened) return std::unexpected(std::move(opened.error()));
    return std::move(*opened);
  }
  for (const auto& registration : gsi_classes()) {
    auto added = add_class(registration);
    if (!added) return std::unexpected(std::move(added.error()));
  }
  return std::make_unique<Shared>(*this);
}

void Transport::on_receive(Sink sink) { delivery_->sink = std::move(sink); }

void Transport::on_receive_ahead(const std::shared_ptr<const Ahead>& ahead) { delivery_->ahead.set(ahead); }

std::expected<void, TransportError> Transport::send(std::span<const std::uint8_t> mad,
                                                    const mad::Route& route,
                                                    std::chrono::milliseconds give_up) {
  if (auto gone = broken()) return std::unexpected(std::move(*gone));
  if (mad.size() < 4) return std::unexpected(TransportError{EINVAL, "a MAD has a header"});
  const int agent = delivery_->agents.of(mad[1]);
  if (agent < 0) {
    return std::unexpected(
        TransportError{EPROTONOSUPPORT, fmt::format("class 0x{:02x} is not registered", mad[1])});
  }
  const bool answered = give_up > std::chrono::milliseconds(0);
  if (answered && room() == 0) return std::unexpected(TransportError{EAGAIN, "too much on the way"});
  const auto* to = std::get_if<mad::LidRoute>(&route);
  if (!answered && to != nullptr && is_by_rmpp(mad) && !emulated_) {
    return send_by_rmpp(agent, mad, *to);
  }
  fill(buffer_, mad, route);
  if (answered) ++delivery_->awaited;
  const int error = put(agent, mad.size(), give_up, 0);
  if (error == 0) return {};
  if (answered) --delivery_->awaited;
  if (is_under_way(error, mad)) return {};
  return std::unexpected(not_sent(error));
}

std::expected<void, TransportError> Transport::send_by_rmpp(int agent, std::span<const std::uint8_t> mad,
                                                            const mad::LidRoute& to) {
  auto& answers = delivery_->answers;
  if (!answers.has_room(to.lid, mad.size())) {
    return std::unexpected(TransportError{EAGAIN, "too many answers under way"});
  }
  fill(buffer_, mad, to);
  const int error = put(agent, mad.size(), kAcknowledged, kRmppRetries);
  if (is_under_way(error, mad)) return {};
  if (error != 0) return std::unexpected(not_sent(error));
  if (const auto header = wire::decode<wire::MadHeader>(mad)) {
    answers.begin({.tid = header->tid, .lid = to.lid}, mad.size());
  }
  return {};
}

/// 0, or the errno.
int Transport::put(int agent, std::size_t bytes, std::chrono::milliseconds give_up, int retries) {
  const auto timeout = std::min<std::int64_t>(give_up.count(), std::numeric_limits<int>::max());
  if (umad_send(descriptor_, agent, buffer_.data(), static_cast<int>(bytes), static_cast<int>(timeout),
                retries) == 0) {
    lost_sends_ = 0;
    return 0;
  }
  const int error = errno;
  lost_sends_ = is_gone(error) ? lost_sends_ + 1 : 0;
  if (lost_sends_ >= kLostSends) delivery_->broken.store(error);
  return error;
}

TransportError Transport::not_sent(int error) const {
  return {error, fmt::format("send on {}:{}: {}", port_.device, port_.port, message(error))};
}

std::optional<TransportError> Transport::broken() const {
  const int error = delivery_->broken.load();
  if (error == 0) return std::nullopt;
  return TransportError{error, fmt::format("{}:{} is gone: {}", port_.device, port_.port, message(error))};
}

/// An emulation says itself what is lost, and has no time-outs.
std::size_t Transport::places() const { return emulated_ ? mad::Transport::places() : capacity_; }

std::size_t Transport::room() const {
  const auto awaited = static_cast<std::size_t>(std::max<std::int64_t>(delivery_->awaited.load(), 0));
  if (awaited < capacity_) return capacity_ - awaited;
  // Answers that an emulation lost are not awaited for ever.
  if (std::chrono::steady_clock::now() - delivery_->last_received.load() < std::chrono::seconds(3)) return 0;
  delivery_->awaited.store(0);
  return capacity_;
}

std::expected<mad::LocalPort, TransportError> Transport::local() const {
  return watch_ ? watch_->latest() : port_;
}

void Transport::watch_port(const std::string& root) {
  watch_ = std::make_unique<PortWatch>(port_, [root, device = port_.device, port = port_.port] {
    return read_local_port(root, device, port);
  });
}

std::optional<std::string> Transport::stalled() const {
  if (!watch_ || watch_->reading_for() < PortWatch::kStalled) return std::nullopt;
  return fmt::format("{}:{} does not answer: its state cannot be read from sysfs (firmware or driver hangs)",
                     port_.device, port_.port);
}

}  // namespace smd::umad
