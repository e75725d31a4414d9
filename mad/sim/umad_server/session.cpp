// SPDX-License-Identifier: Apache-2.0
#include "mad/sim/umad_server/session.h"

#include <rdma/ib_user_mad.h>
#include <rdma/rdma_user_ioctl.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "mad/sim/console/control.h"
#include "mad/sim/umad_server/seqpacket.h"

namespace smd::sim {
namespace {

using attach::Kind;

constexpr std::size_t kQueue = 16'384;            ///< messages that a program has not read
constexpr std::size_t kLargestMad = 256U << 20U;  ///< of RMPP; more is ENOMEM, as it would be somewhere

constexpr std::size_t kLongestCommand = 16U << 20U;

std::string_view text_of(std::span<const std::uint8_t> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

int code(const std::expected<void, int>& result) { return result ? 0 : result.error(); }

Interface interface_of(std::uint32_t qp) { return qp == 0 ? Interface::smi : Interface::gsi; }

Registration registration_of(const ib_user_mad_reg_req& asked) {
  Registration registration{.interface = interface_of(asked.qpn),
                            .mgmt_class = asked.mgmt_class,
                            .version = asked.mgmt_class_version,
                            .rmpp = asked.rmpp_version != 0};
  std::memcpy(registration.methods.data(), asked.method_mask, sizeof(registration.methods));
  registration.oui = static_cast<std::uint32_t>(asked.oui[0] << 16U | asked.oui[1] << 8U | asked.oui[2]);
  return registration;
}

Registration registration_of(const ib_user_mad_reg_req2& asked) {
  return {.interface = interface_of(asked.qpn),
          .mgmt_class = asked.mgmt_class,
          .version = asked.mgmt_class_version,
          .methods = {asked.method_mask[0], asked.method_mask[1]},
          .oui = asked.oui,
          .rmpp = asked.rmpp_version != 0 && (asked.flags & IB_USER_MAD_USER_RMPP) == 0};
}

bool is_valid(const ib_user_mad_reg_req& asked) { return asked.qpn <= 1 && asked.rmpp_version <= 1; }

bool is_valid(const ib_user_mad_reg_req2& asked) {
  return asked.qpn <= 1 && asked.rmpp_version <= 1 && (asked.oui & 0xFF00'0000U) == 0;
}

/// Both requests; the argument comes back with the agent's number.
template <class Asked>
int add_agent(UmadFile& file, std::span<std::uint8_t, 64> argument) {
  Asked asked{};
  std::memcpy(&asked, argument.data(), sizeof(asked));
  if constexpr (requires { asked.flags; }) {
    if ((asked.flags & ~static_cast<std::uint32_t>(IB_USER_MAD_REG_FLAGS_CAP)) != 0) {
      asked.flags = IB_USER_MAD_REG_FLAGS_CAP;
      std::memcpy(argument.data(), &asked, sizeof(asked));
      return EINVAL;
    }
  }
  if (!is_valid(asked)) return EINVAL;
  const auto agent = file.add_agent(registration_of(asked));
  if (!agent) return agent.error();
  asked.id = *agent;
  std::memcpy(argument.data(), &asked, sizeof(asked));
  return 0;
}

}  // namespace

Session::~Session() {
  if (sm_) fabric_.detach(*sm_);
}

bool Session::reply(int error, std::string_view text) {
  const attach::Reply head{.error = error, .size = static_cast<std::uint32_t>(text.size())};
  const auto file = text.size() > attach::kInlineText ? memory_file(bytes_of(text)) : Descriptor();
  if (file) text = {};
  std::vector<std::uint8_t> bytes(sizeof(head) + text.size());
  std::memcpy(bytes.data(), &head, sizeof(head));
  std::ranges::copy(bytes_of(text), bytes.begin() + sizeof(head));
  return send_message(fd(), bytes, file.get()) == 0;
}

bool Session::receive(std::span<const std::uint8_t> message, Descriptor with, TimePoint now) {
  if (!kind_) return hello(message);
  if (*kind_ == Kind::control) {
    if (!with) return command(message), true;
    const auto whole = read_memory(with.get(), kLongestCommand);
    if (whole) command(*whole);
    return whole.has_value();
  }
  if (*kind_ != Kind::umad) return true;  // nothing is said over issm
  if (!with) {
    write(message, now);
    return true;
  }
  attach::Call asked{};
  if (message.size() != sizeof(asked)) return false;
  std::memcpy(&asked, message.data(), sizeof(asked));
  if (std::memcmp(asked.magic, attach::kCallMagic, sizeof(asked.magic)) != 0) return false;
  call(asked, std::move(with), now);
  return true;
}

bool Session::hello(std::span<const std::uint8_t> message) {
  attach::Hello hello{};
  if (message.size() < sizeof(hello)) return reply(EPROTO), false;
  std::memcpy(&hello, message.data(), sizeof(hello));
  if (std::memcmp(hello.magic, attach::kHelloMagic, sizeof(hello.magic)) != 0) return reply(EPROTO), false;
  if (hello.kind == Kind::control) {
    kind_ = Kind::control;
    return reply(0);
  }
  const auto nodes = attached_nodes(fabric_.state(), text_of(message.subspan(sizeof(hello))));
  if (!nodes) return reply(ENODEV, nodes.error()), false;
  return open(hello, *nodes);
}

bool Session::open(const attach::Hello& hello, const std::vector<AttachedNode>& nodes) {
  kind_ = hello.kind;
  if (hello.kind == Kind::tree) {
    const auto files = device_files(fabric_.state(), nodes);
    const attach::Reply head{.error = 0, .size = static_cast<std::uint32_t>(files.size())};
    const auto memory = memory_file(bytes_of(files));
    if (!memory) return reply(ENOMEM), false;
    std::vector<std::uint8_t> bytes(sizeof(head));
    std::memcpy(bytes.data(), &head, sizeof(head));
    send_message(fd(), bytes, memory.get());
    return false;
  }
  port_ = device_port(nodes, hello.index);
  if (!port_) return reply(ENOENT), false;
  if (hello.kind == Kind::umad) {
    umad_ = std::make_unique<UmadFile>(fabric_, *port_);
    umad_->on_time_out([this] { wake_(*this); });
    return reply(0);
  }
  if (hello.kind != Kind::issm) return reply(EPROTO), false;
  const auto holder = fabric_.attach(*port_, Registration{.interface = Interface::smi});
  if (!holder) return reply(holder.error()), false;
  sm_ = *holder;
  waits_ = true;
  try_sm();
  if (waits_ && hello.wait == 0) return reply(EAGAIN), false;
  return true;
}

void Session::try_sm() {
  if (!waits_ || !sm_ || !fabric_.claim_sm(*sm_)) return;
  waits_ = false;
  reply(0);
}

void Session::call(const attach::Call& call, Descriptor with, TimePoint now) {
  if (call.operation != attach::Operation::write) return control(call, with);
  const auto umad = read_memory(with.get(), kLargestMad);
  if (umad) write(*umad, now);
}

void Session::control(const attach::Call& call, const Descriptor& answer_to) {
  struct {
    attach::Reply head{};
    std::uint8_t argument[sizeof(call.argument)] = {};
  } answer;
  std::memcpy(answer.argument, call.argument, sizeof(answer.argument));
  if (call.operation == attach::Operation::agent) {
    answer.head.error = umad_->has_agent(call.request) ? 0 : EINVAL;
  } else if (call.operation == attach::Operation::control) {
    answer.head.error = ioctl(call.request, call.size, answer.argument);
  } else {
    answer.head.error = ENOTTY;
  }
  clients_ = umad_->clients();
  changed_ = true;
  send_message(answer_to.get(), {reinterpret_cast<const std::uint8_t*>(&answer), sizeof(answer)});
}

int Session::ioctl(std::uint32_t request, std::uint32_t size, std::span<std::uint8_t, 64> argument) {
  if (size != _IOC_SIZE(request)) return EINVAL;
  std::uint32_t agent = 0;
  switch (request) {
    case IB_USER_MAD_REGISTER_AGENT:
      return add_agent<ib_user_mad_reg_req>(*umad_, argument);
    case IB_USER_MAD_REGISTER_AGENT2:
      return add_agent<ib_user_mad_reg_req2>(*umad_, argument);
    case IB_USER_MAD_UNREGISTER_AGENT:
      std::memcpy(&agent, argument.data(), sizeof(agent));
      return code(umad_->remove_agent(agent));
    case IB_USER_MAD_ENABLE_PKEY:
      return code(umad_->enable_pkey());
    default:
      return ENOTTY;
  }
}

/// The program was told already that its MAD was taken, so what is wrong with it comes back as a send that
/// was given up, with the reason.
void Session::write(std::span<const std::uint8_t> umad, TimePoint now) {
  const auto done = umad_->write(umad, now);
  if (done) return;
  ++dropped_;
  if (auto message = umad_->refused(umad, done.error())) out_.push_back(std::move(*message));
}

void Session::command(std::span<const std::uint8_t> message) {
  const auto done = sim::control(fabric_, text_of(message));
  reply(done ? 0 : EINVAL, done ? *done : done.error());
}

/// False: the socket is full.
bool Session::send(const UmadMessage& message) {
  const auto limit = umad_->header_bytes() + attach::kInlineMad;
  if (message.size() <= limit) return send_message(fd(), message) != EAGAIN;
  const auto memory = memory_file(message);
  if (!memory) {
    ++dropped_;
    return true;
  }
  return send_message(fd(), std::span(message).first(limit), memory.get()) != EAGAIN;
}

void Session::flush() {
  if (!umad_) return;
  for (auto& message : umad_->take()) {
    if (out_.size() >= kQueue) {
      ++dropped_;
      continue;
    }
    out_.push_back(std::move(message));
  }
  while (!out_.empty() && send_batch()) {
  }
}

/// As many as fit into one message, which costs both sides as much as a single one. False: the socket is
/// full.
bool Session::send_batch() {
  const auto limit = umad_->header_bytes() + attach::kInlineMad;
  std::vector<std::uint8_t> batch(attach::kBatchMagic, attach::kBatchMagic + sizeof(attach::kBatchMagic));
  std::size_t count = 0;
  for (const auto& message : out_) {
    const attach::Part part{.size = static_cast<std::uint32_t>(message.size())};
    if (message.size() > limit || batch.size() + sizeof(part) + message.size() > attach::kBatchBytes) break;
    const auto at = batch.size();
    batch.resize(at + sizeof(part));
    std::memcpy(batch.data() + at, &part, sizeof(part));
    batch.insert(batch.end(), message.begin(), message.end());
    ++count;
  }
  if (count < 2) {
    if (!send(out_.front())) return false;
    out_.pop_front();
    return true;
  }
  if (send_message(fd(), batch) == EAGAIN) return false;
  out_.erase(out_.begin(), out_.begin() + static_cast<std::ptrdiff_t>(count));
  return true;
}

}  // namespace smd::sim
