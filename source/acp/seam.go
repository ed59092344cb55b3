package acp

// agentInfo is what the agent says about itself in its answer to initialize.
// The translator chooses its profile by it.
type agentInfo struct{ Name, Version string }

// The translator is pure: no I/O, no clock, no goroutine. There
// is one a session, and its methods are never called two at once:
//
//	newTranslator(agent agentInfo) *translator
//	begin(h agentstream.StreamHandler)      a turn begins
//	update(params) []source.Fact            one session/update; in a turn it drives h
//	history(params)                         an update replayed by session/load: ids are remembered, nothing comes out
//	ask(params) (source.Request, error)     session/request_permission; declares the call on first sight
//	answered(toolCallID, kind)              kind of the chosen option, empty: cancelled
//	elicit(params) (source.Request, error)  elicitation/create
//	end(result, rpc, cancelled) (source.StopReason, error)
//	                                        the prompt's answer, or neither if there is none; closes the turn
//
// params are valid during the call only.
