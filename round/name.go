package round

import (
	"strings"

	"github.com/agentstream-go/agentstream"
)

const nameLength = 64

// functionName gives a call a name that model APIs accept, from the best that is
// known when it is declared: it cannot be corrected later.
func functionName(info agentstream.ToolCallInfo) string {
	switch {
	case info.Name != "":
		return identifier(info.Name)
	case info.Kind != "" && info.Kind != "other":
		return identifier(info.Kind)
	case isIdentifier(info.Title):
		return info.Title
	}
	return "tool"
}

func identifier(name string) string {
	var b strings.Builder
	for _, r := range name {
		if b.Len() == nameLength {
			break
		}
		switch {
		case isLetter(r), b.Len() > 0 && (r == '-' || r >= '0' && r <= '9'):
			b.WriteRune(r)
		case r >= '0' && r <= '9':
			b.WriteByte('_')
			b.WriteRune(r)
		default:
			b.WriteByte('_')
		}
	}
	return b.String()
}

func isIdentifier(name string) bool {
	return name != "" && len(name) <= nameLength && identifier(name) == name
}

func isLetter(r rune) bool {
	return r == '_' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
}
