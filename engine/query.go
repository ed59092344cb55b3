package engine

// ThreadQuery selects threads, newest first.
type ThreadQuery struct {
	Limit  int    // default 50, at most 200
	Before string // a ThreadPage's Next
	Text   string // part of a title or id, case ignored
}

// ThreadPage is one page of threads.
type ThreadPage struct {
	Threads []Thread `json:"threads"`
	Next    string   `json:"next,omitempty"`
}

// ThreadPatch changes a thread; nil leaves a field as it is.
type ThreadPatch struct {
	Title, Mode, Model *string
}
