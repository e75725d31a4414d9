// SPDX-License-Identifier: Apache-2.0
#pragma once
// One connection to the server: what a program has opened, and what it asks for over it. Bytes come from
// programs of any kind; nothing is believed.

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "mad/base/descriptor.h"
#include "mad/sim/attach/protocol.h"
#include "mad/sim/fabric/fabric.h"
#include "mad/sim/umad_server/device_tree.h"
#include "mad/sim/umad_server/umad_file.h"

namespace smd::sim {

using base::Descriptor;

class Session {
 public:
  static constexpr std::size_t kMessage = 4352;  ///< longest message that a program sends

  /// `wake` is called when there is something to flush that no client of the fabric got.
  Session(Fabric& fabric, Descriptor socket, std::function<void(Session&)> wake)
      : fabric_(fabric), socket_(std::move(socket)), wake_(std::move(wake)) {}
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// The connected socket, owned by the session.
  int fd() const { return socket_.get(); }

  /// One message, with the descriptor that came with it. False: the connection is to be ended.
  bool receive(std::span<const std::uint8_t> message, Descriptor with, TimePoint now);
  /// What has come for the program since goes to its socket, as far as that takes it.
  void flush();
  /// True while flush() has left something: the socket cannot be written now.
  bool blocked() const { return !out_.empty(); }

  /// Clients of the fabric that this program has opened and not closed.
  const std::vector<ClientId>& clients() const { return clients_; }
  /// Whether clients() has changed since the last call.
  bool clients_changed() { return std::exchange(changed_, false); }
  /// The umad file that the program has opened; null: none.
  UmadFile* umad() { return umad_.get(); }

  /// The port whose issm device it waits for; nothing: it waits for none.
  std::optional<PortIndex> waits_for() const { return waits_ ? port_ : std::nullopt; }
  /// Takes the issm device that it waits for, if that is free now.
  void try_sm();

  std::uint64_t dropped() const { return dropped_; }

 private:
  bool hello(std::span<const std::uint8_t> message);
  bool open(const attach::Hello& hello, const std::vector<AttachedNode>& nodes);
  void call(const attach::Call& call, Descriptor with, TimePoint now);
  void control(const attach::Call& call, const Descriptor& answer_to);
  int ioctl(std::uint32_t request, std::uint32_t size, std::span<std::uint8_t, 64> argument);
  void write(std::span<const std::uint8_t> umad, TimePoint now);
  void command(std::span<const std::uint8_t> message);
  bool reply(int error, std::string_view text = {});
  bool send(const UmadMessage& message);
  bool send_batch();

  Fabric& fabric_;
  Descriptor socket_;
  std::function<void(Session&)> wake_;
  std::optional<attach::Kind> kind_;
  std::optional<PortIndex> port_;
  std::unique_ptr<UmadFile> umad_;
  std::optional<ClientId> sm_;
  bool waits_ = false, changed_ = false;
  std::vector<ClientId> clients_;
  std::deque<UmadMessage> out_;
  std::uint64_t dropped_ = 0;
};

}  // namespace smd::sim
