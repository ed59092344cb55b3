// Package recordings_test plays recorded sessions of real agents, and damaged
// ones, against the whole binary: the agent is a program that plays them. It
// runs with AGENTSTREAM_E2E=1 where AGENTSTREAM_TRACES names a folder of
// recordings, AGENT/NAME.jsonl, one JSON object a line: t, dir (c2a, a2c, stderr,
// exit), line.
package recordings_test
