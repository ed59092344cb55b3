// Package badinput holds tests of the whole binary with input that is wrong: of
// agents, of clients and of the disk. What cannot be taken is refused with a
// clear error, all else is taken in stride, and nothing that others do ends or is
// lost.
package badinput
