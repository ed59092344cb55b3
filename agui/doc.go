// Package agui is the server's side of AG-UI: the events of protocol 1.0 as
// values, an encoder and a tolerant decoder, an Emitter that turns an agent's
// turn into a stream that ends properly on every path, a List that holds what a
// stock client holds, and a Verifier that says what such a client would refuse.
//
// It is checked against the published clients 0.0.59 and 1.0.0; where the two
// differ, the package writes only what both accept (see ForReader for what is
// added to readers that know more).
//
// The package knows neither agents nor rounds nor logs.
package agui

// Version names a published client whose rules are known.
type Version string

// The clients whose rules the Verifier knows. V0 is the 0.0.59 that CopilotKit
// and assistant-ui embed, V1 the 1.0.0 that npm calls latest.
const (
	V0 Version = "0.0.59"
	V1 Version = "1.0.0"
)

// ProtocolVersion is the version of the protocol that this package speaks, as
// it stands in RUN_STARTED and in inputs.
const ProtocolVersion = "1.0"
