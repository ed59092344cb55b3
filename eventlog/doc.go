// Package eventlog says what an engine needs of a durable store: one ordered
// log of opaque records a thread, opaque keys beside it, and leases that fence
// off producers that lost their right to write.
//
// # Rules
//
//  1. A thread's records carry consecutive sequence numbers, starting at 1.
//     No number is ever missing, given twice or given in another order.
//  2. A batch is all or nothing: its events, its keys and its global keys
//     become visible together, or none does.
//  3. What [Log.Append] acknowledged survives the death of the process and of
//     the machine. What it refused has changed nothing.
//  4. Nothing reaches a reader before it is durable.
//  5. A reader gets every record after its cursor exactly once and in order,
//     first what is stored, then what is appended while it waits. A reader
//     that is slow costs nobody but itself; nothing is dropped for it.
//  6. A cursor that can not be served exactly is refused with [ErrGone]; there
//     is never a silent gap.
//  7. An epoch is never given twice in a store, not even to another thread.
//
// Whether another store keeps these rules is checked by package eventlogtest.
package eventlog
