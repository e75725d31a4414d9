// SPDX-License-Identifier: Apache-2.0
#pragma once
// Our end of a fabric: what an instance opens, and opens again when it is lost.

#include <expected>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "mad/asio.h"
#include "mad/base/fabric.h"
#include "mad/base/id.h"
#include "mad/clock.h"
#include "mad/transport.h"
#include "mad/umad/port.h"

namespace smd::daemon {

/// How the local side is.
struct Health {
  bool lost = false;               ///< the device is gone: this end is of no use any more
  std::string reason;              ///< why nothing can be done through it now; empty: all is well
  std::string_view what = "link";  ///< what is waited for then: "link", or "device" that does not answer
};

/// One local port, open. On the instance's thread.
class SmPort {
 public:
  SmPort() = default;
  SmPort(const SmPort&) = delete;
  SmPort& operator=(const SmPort&) = delete;
  virtual ~SmPort() = default;

  /// For SMPs; it lives as long as this.
  virtual mad::Transport& smi() = 0;
  /// Opens the GSI, once, tried again after an error; the reason where it cannot be had. It lives as long as
  /// this.
  virtual std::expected<mad::Transport*, std::string> open_gsi() = 0;
  /// Takes the port's SM place (the issm device) and holds it as long as this lives; says why not.
  virtual std::expected<void, std::string> claim_sm() = 0;
  /// The state of the device and of its link, read anew by each call.
  virtual Health look() = 0;
  /// Of the port that was opened; it never changes.
  virtual Guid port_guid() const = 0;
  /// The SM of the fabric as the port knew it when it was opened; LIDs 0 where it knew none.
  virtual mad::LidRoute sm_then() const = 0;
  virtual std::string port_name() const = 0;  ///< "mlx5_0:1"
};

/// Where ends come from. Made anywhere, used on the instance's thread, ended after its io_context has
/// stopped.
class SmPortSource {
 public:
  SmPortSource() = default;
  SmPortSource(const SmPortSource&) = delete;
  SmPortSource& operator=(const SmPortSource&) = delete;
  virtual ~SmPortSource() = default;

  /// One try; the error is the reason why there is none now, in one line. It never blocks for long.
  virtual std::expected<std::unique_ptr<SmPort>, std::string> open(asio::io_context& io) = 0;
  /// The end that was opened last does not answer SMPs. True: it was not asked for by name, and another is
  /// tried next.
  virtual bool pass_over(const std::string& /*reason*/) { return false; }
  /// Ports that would have been taken and cannot be used, and why; empty: there is none.
  virtual std::string passed_over() const { return {}; }
  /// Processor time of simulated nodes.
  virtual mad::Duration nodes_cpu() const { return {}; }
  /// Socket and second node of a fabric that programs can be attached to; empty: none can.
  virtual std::string attach_hint() const { return {}; }
};

/// Ports of this machine. Once one was open it is the same port for ever, whatever others there are.
std::unique_ptr<SmPortSource> local_port(umad::PortSelection selection);
/// Where a simulated fabric is served to other programs.
struct SimSocket {
  std::filesystem::path path;  ///< empty: it is not served
  bool must = false;           ///< without it there is no end
};
/// The port of the first CA, or else the first switch, of a fabric inside this process, in real time.
std::unique_ptr<SmPortSource> simulated(base::Fabric fabric, SimSocket socket = {});

}  // namespace smd::daemon
