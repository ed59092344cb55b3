// Package agentstream is the contract between agents and whoever consumes
// what they say. An event source, whatever wire its agent speaks, calls the six
// methods of [StreamHandler]; a consumer implements them. Rich events travel
// beside them as [Event] values, through [Send]. The package imports the
// standard library alone and knows no wire, no front end and no store.
//
// What follows is the specification of a stream. Rules S bind whoever calls
// a handler, rules H whoever implements or wraps one.
//
// # What the calls mean
//
// A turn is one prompt of an agent. What it says is a series of rounds: text
// and thought, then tool calls with their results.
//
//	OnMessageChunk          a fragment of the answer, appended
//	OnThoughtChunk          a fragment of reasoning, appended
//	OnToolCall              declares a call; what follows for its id belongs to it
//	OnToolCallUpdate        not terminal: a delta of the call's arguments (empty and
//	                        in progress: they are complete); terminal: its result
//	OnToolCallArgsSnapshot  the call's arguments, whole; replaces what was collected
//	OnTokenUsage            how full the context window is now
//
// A non-empty chunk after calls says that the round before it is complete and
// is to be flushed. An empty chunk says nothing.
//
// # What a source owes
//
// S1. All calls for a turn happen between the start and the return of the
// function that runs it, never two at once. None comes after, cancelled or not.
//
// S2. OnToolCall comes before any update or snapshot for its id, and ids are
// unique in a turn. A wire that announces a call late, or never, gets its
// declaration on first sight; one that announces it twice is merged.
//
// S3. A call gets at most one terminal update. It may get none: the turn can
// end first.
//
// S4. What the tool prints while it runs is an [Output], never an update that is
// not terminal: those are arguments.
//
// S5. Chunks joined are the text, byte for byte. Each is valid UTF-8, no
// character is split over two. A boundary between messages is a [Segment],
// never a character in the text; a status line is a [Notice], never text.
//
// S6. OnTokenUsage is a gauge. What a turn costs is [Usage], once, at its end.
//
// S7. Every value is a snapshot, not an edit: a [Plan] replaces the plan. The
// first [ToolCallInfo] for an id comes just before its OnToolCall.
//
// S8. Rich events may be lost. Everything a consumer must not miss (text, calls,
// results) is said by the six methods; permission, cancel, error and the end of
// a turn are no events at all but calls with a reply, contexts and return values.
//
// S9. What a source does not understand it passes on as [Raw] or skips. It
// never panics and never gives up the turn for it.
//
// S10. A sender that cares whether a rich event arrived looks at Send's result
// and does the fallback itself. Nobody else asserts optional interfaces.
//
// # What a handler owes
//
// H1. It is safe for concurrent calls, although S1 makes them rare: a tee or
// a test may drive it from several goroutines.
//
// H2. It returns soon and never blocks on a reader. It has no way to fail the
// turn: what goes wrong inside is its own to keep and to report.
//
// H3. It takes every call in any state without a panic: updates for ids that it
// does not know or that have their result, second declarations, second
// terminals. Such calls change nothing that it has handed on.
//
// H4. It may keep the values it is given, and changes none of them.
//
// H5. A wrapper or a tee implements [Forwarder], passes on every event,
// those of kinds that it does not know included, in the order in which they
// came, and reports what its target reports. There is no way to look through a
// wrapper to what is beneath: one that locks, orders or counts must not be
// skipped.
//
// # JSON form
//
// [AppendEvent] and [ParseEvent] give every event a form as one line of JSON,
// for files, pipes and tests.
//
// Package agentstreamtest checks handlers and wrappers against these rules.
package agentstream
