// Package proc starts agents as child processes and makes sure that nothing of
// them is left: each has a process group of its own and a mark in its
// environment by which processes that left the group are found again.
//
// Linux and macOS are served in full. Elsewhere the child itself is ended, but
// what it started may stay.
package proc
