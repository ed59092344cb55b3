// Package doctor_test looks at machines made of folders, as `agents`, `doctor`,
// `serve` and `run` of the whole binary see them.
package doctor_test
