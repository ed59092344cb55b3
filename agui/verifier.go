package agui

// Verifier says whether a stock client would accept a stream, event by event,
// and adds what the protocol's draft makes fatal later. Several runs may follow
// each other in one stream. Not for concurrent use.
type Verifier struct{ version Version }

// NewVerifier returns a verifier with the rules of one published client.
func NewVerifier(v Version) *Verifier { return &Verifier{version: v} }

// Check takes the next event of the stream and says what is wrong with it. After
// an error the verifier's further answers mean nothing.
func (v *Verifier) Check(e Event) error { return nil }

// End says whether the stream may end here: after a terminal, or empty.
func (v *Verifier) End() error { return nil }
