// SPDX-License-Identifier: Apache-2.0
#pragma once
// What systemd is told (sd_notify(3)); nothing happens where it did not start us.

#include <optional>
#include <string>

#include "mad/clock.h"

namespace smd::daemon {

/// sd_notify(3): READY=1. These calls do nothing where systemd has not set NOTIFY_SOCKET.
void notify_ready();
/// STOPPING=1.
void notify_stopping();
/// Of Type=notify-reload's words also older systemds understand these; notify_ready() ends it.
void notify_reloading();
/// STATUS=, for `systemctl status`; line ends become blanks.
void notify_status(const std::string& status);
/// WATCHDOG=1: the process is well.
void notify_alive();
/// The longest time between two notify_alive() (WatchdogSec=); nothing: systemd does not watch.
std::optional<mad::Duration> watchdog();

}  // namespace smd::daemon
