package agui

import "encoding/json"

// RunStarted opens a run. Input, if given, is written complete; its messages
// are the new ones only, which a client appends if it lacks them.
type RunStarted struct {
	Base
	ThreadID        string `json:"threadId"`
	RunID           string `json:"runId"`
	ProtocolVersion string `json:"protocolVersion,omitzero"`
	ParentRunID     string `json:"parentRunId,omitzero"`
	Input           *Input `json:"input,omitzero"`
}

// RunFinished is the terminal of a run that did not fail. Outcome nil means
// success.
type RunFinished struct {
	Base
	ThreadID string          `json:"threadId"`
	RunID    string          `json:"runId"`
	Result   json.RawMessage `json:"result,omitzero"`
	Outcome  *Outcome        `json:"outcome,omitzero"`
	Usage    []TokenUsage    `json:"usage,omitzero"`
}

// RunError is the terminal of a run that failed.
type RunError struct {
	Base
	Message string       `json:"message"`
	Code    string       `json:"code,omitzero"`
	Usage   []TokenUsage `json:"usage,omitzero"`
}

// StepStarted opens a named step; a name may not be open twice.
type StepStarted struct {
	Base
	StepName string `json:"stepName"`
}

// StepFinished closes a step.
type StepFinished struct {
	Base
	StepName string `json:"stepName"`
}

// OutcomeType says how a run or a sub-agent ended.
type OutcomeType string

// The outcomes. Cancelled is known to 1.0 only (see ForReader); Suspended is a
// sub-agent's, the others a run's.
const (
	OutcomeSuccess   OutcomeType = "success"
	OutcomeInterrupt OutcomeType = "interrupt"
	OutcomeCancelled OutcomeType = "cancelled"
	OutcomeSuspended OutcomeType = "suspended"
)

// Outcome is how a run ended, or a sub-agent. Interrupts (at least one) belong
// to OutcomeInterrupt, PendingToolCallIDs (1.0 only) to OutcomeSuccess,
// InterruptIDs to OutcomeSuspended.
type Outcome struct {
	Type               OutcomeType `json:"type"`
	Interrupts         []Interrupt `json:"interrupts,omitzero"`
	PendingToolCallIDs []string    `json:"pendingToolCallIds,omitzero"`
	InterruptIDs       []string    `json:"interruptIds,omitzero"`
}

// Interrupt is one question that ended a run. The next input answers it by a
// Resume entry of the same id.
type Interrupt struct {
	ID             string          `json:"id"`
	Reason         string          `json:"reason"`
	Message        string          `json:"message,omitzero"`
	ToolCallID     string          `json:"toolCallId,omitzero"`
	ResponseSchema json.RawMessage `json:"responseSchema,omitzero"` // an object
	ExpiresAt      string          `json:"expiresAt,omitzero"`      // RFC 3339; a 0.0.59 client can never leave a thread with an expired one
	SubagentRunID  string          `json:"subagentRunId,omitzero"`
	Metadata       json.RawMessage `json:"metadata,omitzero"` // an object
}

// TokenUsage is what a run used of one model. Counts are tokens; a zero count
// is left out.
type TokenUsage struct {
	Provider              string `json:"provider,omitzero"`
	Model                 string `json:"model,omitzero"`
	InputTokens           int64  `json:"inputTokens,omitzero"`
	OutputTokens          int64  `json:"outputTokens,omitzero"`
	TotalTokens           int64  `json:"totalTokens,omitzero"`
	ReasoningTokens       int64  `json:"reasoningTokens,omitzero"`
	CachedInputTokens     int64  `json:"cachedInputTokens,omitzero"`
	CacheWriteInputTokens int64  `json:"cacheWriteInputTokens,omitzero"`
}

// Type is RUN_STARTED.
func (*RunStarted) Type() Type { return TypeRunStarted }

// Type is RUN_FINISHED.
func (*RunFinished) Type() Type { return TypeRunFinished }

// Type is RUN_ERROR.
func (*RunError) Type() Type { return TypeRunError }

// Type is STEP_STARTED.
func (*StepStarted) Type() Type { return TypeStepStarted }

// Type is STEP_FINISHED.
func (*StepFinished) Type() Type { return TypeStepFinished }
