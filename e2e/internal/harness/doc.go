// Package harness runs the whole binary for tests: one server a data folder, killed,
// stopped and restarted as the test likes, read over HTTP as users do, and looked
// after at the end: what it printed is shown when the test fails, and nothing of
// it may be left.
//
// Tests run with AGENTSTREAM_E2E=1 and are skipped without. AGENTSTREAM_BIN names
// a binary to test instead of building one, AGENTSTREAM_SEED another seed.
package harness
