// Package agentstreamtest helps whoever implements or wraps the contract of
// package agentstream: [Recorder] keeps what a source says, [Script] plays
// what a source might say, [TestHandler] and [TestDecorator] check handlers and
// wrappers against the rules H1 to H5 of the contract.
package agentstreamtest
