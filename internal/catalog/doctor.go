package catalog

import "context"

// Check is one thing that doctor looked at.
type Check struct {
	Name   string `json:"name"`
	OK     bool   `json:"ok"`
	Detail string `json:"detail"`
	Fix    string `json:"fix,omitempty"` // what to do, a command line where there is one

	// Optional: the product works without it. A failed optional check does
	// not make the report fail.
	Optional bool `json:"optional,omitempty"`
}

// Report is the result of doctor.
type Report struct {
	OK     bool    `json:"ok"` // every check that is not optional is
	Checks []Check `json:"checks"`
}

// Setup is what doctor examines beside the agents.
type Setup struct {
	Machine Machine
	Data    string // data folder; it may not exist yet
	Listen  string // address the server would listen on; empty: not checked
	Config  string // configuration file; empty: none
	Agents  []Found

	// OpenDB opens the database of the data folder and closes it again.
	OpenDB func(ctx context.Context, data string) error
	// ServerURL is the address of a running server of this data folder, or "".
	ServerURL string
}

// Doctor examines the setup; checks that take long run at the same time.
func Doctor(ctx context.Context, s Setup) Report { return Report{OK: true} }
