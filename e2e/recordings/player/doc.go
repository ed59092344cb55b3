// Package player is an ACP agent that plays a script: what a recorded agent said,
// line by line, waiting for the client where the recorded one did. It imports the
// standard library only, so that hundreds of players start fast.
package player
