package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/agentstream-go/agentstream/engine"
)

// limitsConfig bounds what is used. What is not written has its default; of the
// pointers a written 0 is no limit.
type limitsConfig struct {
	Processes   int    `yaml:"processes"`
	BodyBytes   int64  `yaml:"body_bytes"`
	RunEvents   *int   `yaml:"run_events"`
	RunBytes    *int64 `yaml:"run_bytes"`
	ThreadBytes *int64 `yaml:"thread_bytes"`
	TotalBytes  int64  `yaml:"total_bytes"`
}

// retentionConfig says when closed runs take less room; a written 0 is never.
type retentionConfig struct {
	CompactAfter  *duration `yaml:"compact_after"`
	CollapseAfter *duration `yaml:"collapse_after"`
}

func (l *limitsConfig) check() error {
	if l.Processes < 0 || l.BodyBytes < 0 || below(l.RunEvents) || below(l.RunBytes) || below(l.ThreadBytes) || l.TotalBytes < 0 {
		return errors.New("limits must not be negative; 0 is no limit")
	}
	if l.ThreadBytes != nil && l.RunBytes != nil && *l.ThreadBytes > 0 && *l.RunBytes > *l.ThreadBytes {
		return fmt.Errorf("limits.run_bytes is %d, which is more than limits.thread_bytes, %d: a thread has to hold a run", *l.RunBytes, *l.ThreadBytes)
	}
	return nil
}

func (l *limitsConfig) engine() engine.Limits {
	return engine.Limits{
		Processes: l.Processes, RunEvents: unbounded(l.RunEvents), RunBytes: unbounded(l.RunBytes),
		ThreadBytes: unbounded(l.ThreadBytes), TotalBytes: l.TotalBytes,
	}
}

func (r *retentionConfig) engine() engine.Retention {
	return engine.Retention{
		CompactAfter: time.Duration(unbounded(r.CompactAfter)), CollapseAfter: time.Duration(unbounded(r.CollapseAfter)),
	}
}

func below[T int | int64](v *T) bool { return v != nil && *v < 0 }

// unbounded is 0, the default, for what is not written and -1 for 0.
func unbounded[T ~int | ~int64](v *T) T {
	switch {
	case v == nil:
		return 0
	case *v == 0:
		return -1
	}
	return *v
}
