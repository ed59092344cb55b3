package agentstream

import (
	"fmt"
	"slices"
)

var statusNames = []string{"pending", "in_progress", "completed", "failed"}

// String returns pending, in_progress, completed or failed; the form in JSON.
func (s ToolCallStatus) String() string {
	if s < 0 || int(s) >= len(statusNames) {
		return fmt.Sprintf("status(%d)", int(s))
	}
	return statusNames[s]
}

// MarshalText returns the String form; it never fails.
func (s ToolCallStatus) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText takes one of the four names.
func (s *ToolCallStatus) UnmarshalText(text []byte) error {
	i := slices.Index(statusNames, string(text))
	if i < 0 {
		return fmt.Errorf("unknown tool call status %q", text)
	}
	*s = ToolCallStatus(i)
	return nil
}
