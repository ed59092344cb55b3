// Package torture_test does to a server all at once what users, networks and
// machines do one after the other: it kills the server and its agents, cuts and
// stalls readers, lets several devices ask, answer and cancel at the same time,
// and makes clocks jump. Afterwards everybody must hold what is stored, and
// nothing may be left.
//
// What happens is drawn from a seed, thread by thread, so that a thread that fails
// can be had again alone: AGENTSTREAM_SEED, AGENTSTREAM_TORTURE (how many runs) and
// AGENTSTREAM_TORTURE_THREAD say which. When it happens depends on the machine, so
// that no check may.
package torture_test
