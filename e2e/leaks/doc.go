// Package leaks holds tests of what is left when agents and servers end by force:
// nothing.
package leaks
