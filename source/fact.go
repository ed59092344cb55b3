package source

import "github.com/agentstream-go/agentstream"

// Fact is something about a session that belongs to no turn's answer. Only the
// fields that are set say something; nil means nothing new.
type Fact struct {
	Title    *string
	Modes    *Choices
	Models   *Choices
	Commands *[]Command // the whole list, replacing the one before

	// Late is what the agent said while no turn was open.
	Late agentstream.Event

	// Diagnostic is something odd on the wire, or a line of the agent that is
	// no protocol; for a log, never for the answer.
	Diagnostic string

	// Line is one raw line of the wire, only with Options.Record.
	Line *Line
}

// Choices is a list of which one is selected.
type Choices struct {
	Current   string   `json:"current"` // id of the selected one, empty if unknown
	Available []Choice `json:"available"`
}

// Choice is one mode or model.
type Choice struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	Description string `json:"description,omitzero"`
}

// Command is a slash command that the agent offers.
type Command struct {
	Name        string `json:"name"`
	Description string `json:"description,omitzero"`
	Hint        string `json:"hint,omitzero"`
}

// Line is one line as it crossed the wire.
type Line struct {
	FromAgent bool
	Text      []byte // without its newline; the receiver's own
}
