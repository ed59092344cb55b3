// Package bench compares agentstream with what else there is, on one machine
// and in one run: go test -run '^$' -bench . -benchmem ./... in this folder. It
// is a module of its own, so that nobody who uses agentstream gets its
// dependencies.
package bench
