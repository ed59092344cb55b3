// Package guides_test does what the guides and the README say: commands run in
// order in a shell with a home of its own, programs are compiled and run,
// components are type-checked with the packages they are for, and files are given
// to the programs that read them.
//
// The language of a block says how it is tried. A text block after it says what
// is printed: its lines come in this order, digits stand for any number and … for
// anything. What cannot be run has a comment before it that says why.
package guides_test
