package all_test

import (
	"fmt"
	"testing"

	"github.com/agentstream-go/agentstream/source/all"
)

func ExampleNew() {
	s, err := all.New("acp", all.Command{Argv: []string{"opencode", "acp"}})
	fmt.Printf("%T %v\n", s, err)
	_, err = all.New("telex", all.Command{})
	fmt.Println(err)
	// Output:
	// *acp.Command <nil>
	// no agent type "telex"; there is acp
}

func TestEveryTypeCanBeMade(t *testing.T) {
	for _, name := range append(all.Types(), "") {
		if s, err := all.New(name, all.Command{Argv: []string{"x"}}); err != nil || s == nil {
			t.Errorf("type %q: %v, %v", name, s, err)
		}
	}
}
