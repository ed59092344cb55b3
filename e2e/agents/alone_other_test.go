//go:build !linux

package agents_test

import (
	"errors"
	"testing"
)

func runAlone() (int, error) { return 0, errors.New("only Linux has network namespaces") }

func isolate(*testing.T) {}
