// Package source is what every way to talk to an agent has in common: a Source
// opens a Session, a Session runs one Turn after the other and drives a
// StreamHandler meanwhile.
//
// Each source promises the following; package sourcetest checks it.
//
//   - G1. Every call on the handler happens between the start and the return of
//     Run, never two at once.
//   - G2. None happens after Run returned, cancelled or not. The turn ends with
//     the agent's answer, after everything said before it; there is no grace
//     period. What comes later is a Fact for the observer.
//   - G3. OnToolCall precedes any other call for its id, except a ToolCallInfo;
//     ids are unique in a run. A wire that announces late or never gets its
//     declaration on first sight, a permission included; one that announces
//     twice is merged. An update that names a call of an earlier turn is no
//     first sight unless it announces.
//   - G4. A call has at most one terminal update. A call that the user refused
//     has its failed terminal before the next chunk, declaration or end.
//   - G5. The text chunks joined are the text: valid UTF-8, no rune split, no
//     character added. Boundaries that the wire shows are Segment events, status
//     lines are Notice events.
//   - G6. OnTokenUsage is the occupancy of the context window now, never a sum.
//   - G7. On cancel Run returns within the grace time, and its error matches
//     context.Cause(ctx).
//   - G8. After Close no goroutine and no child process is left, grandchildren
//     included.
//   - G9. What the source does not know is passed on as Raw or skipped: never a
//     panic, never a lost turn.
package source
