// Package round turns what an agent says in one turn into complete rounds and
// into AG-UI calls, both from one state.
//
// A round is one assistant message and then exactly one tool message for each
// of its calls, adjacent, in the order of declaration. What holds of it:
//
//	R1  Assistant message, then its tool messages, in the order of declaration.
//	R2  Nothing unpaired leaves the Builder, on any path. A missing result is a
//	    marked placeholder with its reason.
//	R3  A round ends when a non-empty chunk comes after calls, when a call is
//	    declared while every call of the round has its result, and at the end of
//	    the turn. It is handed out as soon as all its calls have results, or when
//	    it is superseded, then with placeholders. A round with an open approval
//	    is not handed out.
//	R4  A late result heals: the same round comes again with a higher revision,
//	    of a round of more than 64 calls for several results at once.
//	R5  A second declaration merges, the first terminal wins, a placeholder is no
//	    terminal, updates of unknown or closed calls change nothing. Only
//	    semantically different arguments are a change.
//	R6  Arguments cost what their bytes cost. Snapshots replace.
//	R7  A function's name is one that model APIs accept, fixed at the
//	    declaration. Arguments are a JSON object: none is {}, another value is
//	    {"input": value}, a cut one is {} with the raw text kept beside.
//	R8  A failed result is marked as failed in data, in its text only if the
//	    agent gave none.
//	R9  The order of thought and text segments is kept, with an id each, live and
//	    stored the same.
//	R10 Callbacks come in order, never two at once.
//
// The AG-UI calls are made so that a client that applies them holds the list
// that the calls describe, without a correcting snapshot (see agui.List), except
// for arguments that changed after their call had ended.
//
// What AG-UI has no field for stands in metadata, under "agentstream": of a call
// {id, title, kind, locations, rawArguments}, id being the agent's own; of a
// result {status, exitCode, partial, placeholder, title, diffs, output, media,
// subagent}, the last being the id of the one that the call started; of a
// sub-agent {id}. Plans, notices and media of a message are activities of their
// own. What no message holds is CUSTOM, for who is there: agentstream.tool,
// .arguments, .output, .diff, .media (each with toolCallId), .context and .raw.
// agentstream.arguments {toolCallId, from, text} says that the arguments known so
// far are, from byte from on, now text; it tells what is not yet, or cannot be,
// said by TOOL_CALL_ARGS, so that no crash loses it.
//
// Every id that the Builder makes is Prefix, a dash, a letter for the kind (m
// text, r reasoning, c call, t tool message, a activity, s sub-agent) and a
// number of one counter a turn.
package round
