// SPDX-License-Identifier: Apache-2.0
#include "mad/sim/console/command.h"

namespace smd::sim {

Command::Result Command::help() {
  return R"(NODE is a name, an id of the file or a GUID; names with spaces stand in double quotes.
link down|up|flap NODE PORT             cuts the cable, mends it, or both
link flap NODE PORT SECONDS             down and up, each so long, until link up or down
move NODE PORT NODE PORT                the end of a cable to a free port
split NODE...                           cuts every link between these nodes and the rest
join                                    mends all that split has cut
node silent NODE                        its agent answers nothing; packets pass
node nosmi NODE                         programs at its ports have no SMI, as without QP0
node slow MILLISECONDS NODE             its agent answers so much later
node reboot NODE [SECONDS]              tables, LIDs and links are lost
node remove|restore NODE                takes it away, brings it back as after a reboot
node answers NODE ATTRIBUTE...          answers these attributes only
node refuses NODE ATTRIBUTE STATUS      answers Sets of it with the status; 0 ends it
node forgets NODE ATTRIBUTE FIELD       answers Sets well and does not keep the field
node forgets NODE TABLE LID|all         the same of LinearForwardingTable or MulticastForwardingTable
node abovetop NODE HOW                  LFT blocks above LinearFDBTop: accepted, ignored or refused
node bit31 NODE HOW [STATUS]            PortInfo with bit 31 of its modifier: accepted, ignored or refused
node name|guid|image|fdbcap|vls NODE VALUE  shows another value
adaptive NODE on|off|none               adaptive routing of an NVIDIA switch; none: not known there
adaptive NODE LID [PORT...]             while it is on, packets to the LID leave by the first of these
                                        ports that is Active, not by the table's
capability NODE PORT MASK               another capability mask
lid|pkey NODE PORT VALUE                behind the SM's back
enforce NODE PORT off|in|out|both       a switch's port enforces its P_Key table
mkey NODE PORT KEY [LEVEL]              the same; level of protection 0 to 3
counter NODE PORT NAME VALUE[/s]        sets a counter, or lets it grow
trap NODE PORT NUMBER                   129, 130 or 131
smp NODE PORT MKEY                      a Set with this M_Key comes to the port
packet SRC DST SL PKEY [QKEY]           sends a data packet
flow SRC DST SL PKEY                    where a data packet goes, with the VL of each hop;
                                        NODE, NODE:PORT, or as DST a LID
arbitrate [packets N] [warmup N] [buffer N] [delay NS] [json] [blocked END [vl VL]]... FLOW...
                                        data packets by credits and VL arbitration: what each
                                        flow, receiver and link got; FLOW is
                                        flow SRC DST SL PKEY [size BYTES] [rate MBPS]
reach [NODE]                            pairs of adapters that cables join to it, and how many
                                        of them the switches' tables join
loss PERCENT [NODE [PORT]]              of all MADs, at the node, on the port's link
loss rmpp PERCENT                       of segments and acknowledgements of RMPP answers
latency MICROSECONDS [NODE [PORT]]      of a hop, of the node's answers, of the port's link
show NODE [PORT]                        state, LID, rate, other end, what is wrong, counters
show                                    everything that is wrong in the fabric now
clients                                 who is attached)";
}

}  // namespace smd::sim
