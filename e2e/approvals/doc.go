// Package approvals holds tests of what agents ask and how it is answered: by
// AG-UI clients, by REST, by policy, late, twice, wrongly or never, with both
// published clients against the whole binary.
package approvals
