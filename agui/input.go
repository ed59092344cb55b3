package agui

import "encoding/json"

// Input is a RunAgentInput: what a client posts to start a run.
type Input struct {
	ThreadID        string          `json:"threadId"`
	RunID           string          `json:"runId"`
	ParentRunID     string          `json:"parentRunId,omitzero"`
	ProtocolVersion string          `json:"protocolVersion,omitzero"` // "" from clients before 1.0
	Messages        []Message       `json:"messages"`
	State           json.RawMessage `json:"state,omitzero"`
	Tools           []Tool          `json:"tools"`
	Context         []ContextEntry  `json:"context"`
	ForwardedProps  json.RawMessage `json:"forwardedProps,omitzero"`
	Resume          []Resume        `json:"resume,omitzero"`
}

// Tool is a tool that the client runs itself.
type Tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters,omitzero"` // JSON Schema
	Metadata    json.RawMessage `json:"metadata,omitzero"`
}

// ContextEntry is a piece of context that the application gives the agent.
type ContextEntry struct {
	Description string `json:"description"`
	Value       string `json:"value"`
}

// Resume answers one interrupt. Status is "resolved" (Payload has the answer)
// or "cancelled" (the user walked away).
type Resume struct {
	InterruptID string          `json:"interruptId"`
	Status      string          `json:"status"`
	Payload     json.RawMessage `json:"payload,omitzero"`
	Metadata    json.RawMessage `json:"metadata,omitzero"`
}
