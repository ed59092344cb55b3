// Package terminal_test looks at the command line as somebody at a terminal sees
// it: the whole binary in tmux, whose screen is captured (issue 5, part B3).
package terminal_test
