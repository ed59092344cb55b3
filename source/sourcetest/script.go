// Package sourcetest checks a source against the guarantees G1 to G9 of package
// source. Whoever writes a source gives it an agent that plays a Script on the
// source's wire, and calls Run.
package sourcetest

// Verb is what the agent of a Script does in one Step.
type Verb string

// The verbs. ID names a tool call, Text is what is said.
const (
	Say    Verb = "say"    // a piece of the answer
	Think  Verb = "think"  // a piece of reasoning
	Halves Verb = "halves" // a piece of the answer whose last rune is cut between two messages, if the wire can do that
	Call   Verb = "call"   // announces a call with Text as its title
	Args   Verb = "args"   // the call's arguments, as far as known, are Text: a JSON object
	Done   Verb = "done"   // the call has succeeded with Text as its result
	Fail   Verb = "fail"   // the call has failed with Text as its result
	Ask    Verb = "ask"    // asks whether the call is allowed and waits for the answer
	Usage  Verb = "usage"  // the context window holds Text (a number) tokens now
	Odd    Verb = "odd"    // something that no source knows
	Hang   Verb = "hang"   // waits until the turn is cancelled
	Deaf   Verb = "deaf"   // never does anything again, whatever comes
	Die    Verb = "die"    // the agent ends, without another word, after Text on its stderr
	Spawn  Verb = "spawn"  // starts a process that leaves the agent's group and lives on
	End    Verb = "end"    // the turn is over, with Text as the stop reason; what follows comes too late
)

// Step is one thing that the agent does.
type Step struct {
	Do   Verb
	ID   string `json:",omitempty"`
	Text string `json:",omitempty"`
}

// Script is what the agent does, turn by turn. Every turn ends with End, Deaf
// or Die.
type Script [][]Step
