package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/cloudwego/eino/schema"
	"github.com/spf13/cobra"

	"github.com/agentstream-go/agentstream/agui"
	"github.com/agentstream-go/agentstream/engine"
	"github.com/agentstream-go/agentstream/round"
)

// lintFrom has, for each --from, what reads the input and says what it is. Its
// error tells every fault that it found, a line each.
var lintFrom = map[string]func(io.Reader) (string, error){
	"rounds": lintRounds,
	"agui":   lintAGUI,
}

func lintCommand() *cobra.Command {
	var from string
	c := &cobra.Command{
		Use:   "lint --from rounds|agui [FILE | -]",
		Short: "Check a stream or a history in a file",
		Long: "lint reads FILE, or standard input, and says whether others would take it.\n\n" +
			"  rounds   a thread's rounds, as 'export --format eino' and 'run --format rounds'\n" +
			"           print them: would OpenAI, Anthropic, Gemini and eino take the history?\n" +
			"  agui     AG-UI events, one a line or as server-sent events: would the clients\n" +
			"           0.0.59 and 1.0.0 take the stream?\n\n" +
			"It exits with 1 if not, and says where and why.",
		Example: "  agentstream export t-abc --format eino | agentstream lint --from rounds\n  agentstream tail t-abc --format agui | agentstream lint --from agui",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			check, ok := lintFrom[from]
			if !ok {
				return usage("--from %q: use rounds or agui", from)
			}
			in := c.InOrStdin()
			if len(args) == 1 && args[0] != "-" {
				f, err := os.Open(args[0])
				if err != nil {
					return usage("%w", err)
				}
				defer func() { _ = f.Close() }()
				in = f
			}
			found, err := check(in)
			if err != nil {
				for line := range strings.Lines(err.Error()) {
					fmt.Fprintln(c.ErrOrStderr(), "agentstream: lint: "+strings.TrimSuffix(line, "\n"))
				}
				return &exitError{code: exitFailed}
			}
			fmt.Fprintln(c.OutOrStdout(), found)
			return nil
		},
	}
	c.Flags().StringVar(&from, "from", "", "what the input is: rounds or agui")
	_ = c.RegisterFlagCompletionFunc("from", fixed("rounds", "agui"))
	return c
}

// lintRounds takes {"rounds": […]}, or rounds one after another, in which a later
// one with the same number replaces the earlier (issue 4, part B5).
func lintRounds(in io.Reader) (string, error) {
	var rounds []engine.Round
	for d := json.NewDecoder(in); ; {
		var value struct {
			Rounds *[]engine.Round `json:"rounds"`
			engine.Round
		}
		err := d.Decode(&value)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return "", fmt.Errorf("no rounds, at byte %d: %w", d.InputOffset(), err)
		}
		if value.Rounds == nil {
			if value.Round.Round == 0 {
				return "", fmt.Errorf("no round, before byte %d: it has no number; 'agentstream export --format eino' prints rounds", d.InputOffset())
			}
			value.Rounds = &[]engine.Round{value.Round}
		}
		for _, r := range *value.Rounds {
			if i := slices.IndexFunc(rounds, func(o engine.Round) bool { return o.Round == r.Round }); i >= 0 {
				rounds[i] = r
			} else {
				rounds = append(rounds, r)
			}
		}
	}
	if len(rounds) == 0 {
		return "", errors.New("the input is empty")
	}
	var history []*schema.Message
	for _, r := range rounds {
		history = append(history, r.History()...)
	}
	var faults []error
	for _, provider := range []string{round.OpenAI, round.Anthropic, round.Gemini, round.Eino} {
		faults = append(faults, round.Validate(provider, history))
	}
	return fmt.Sprintf("%d rounds, %d messages: openai, anthropic, gemini and eino take them", len(rounds), len(history)), errors.Join(faults...)
}

// lintAGUI takes events as lines, and as server-sent events, of which it reads
// the data. Each verifier tells its first fault: what follows one means little.
func lintAGUI(in io.Reader) (string, error) {
	verifiers := []struct {
		version string
		*agui.Verifier
		fault error
	}{{"0.0.59", agui.NewVerifier(agui.V0), nil}, {"1.0.0", agui.NewVerifier(agui.V1), nil}}
	events := 0
	r := bufio.NewReader(in)
	for n, more := 1, true; more; n++ {
		line, err := r.ReadBytes('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return "", err
		}
		more = err == nil
		line = bytes.TrimSpace(line)
		if data, ok := bytes.CutPrefix(line, []byte("data:")); ok {
			line = bytes.TrimSpace(data)
		} else if len(line) == 0 || line[0] != '{' && isFrame(line) {
			continue
		}
		e, err := agui.Decode(line)
		if err == nil && e.Type() == "" {
			err = errors.New("it has no type")
		}
		if err != nil {
			return "", fmt.Errorf("line %d: no AG-UI event: %w", n, err)
		}
		events++
		for i := range verifiers {
			v := &verifiers[i]
			if v.fault == nil {
				if err := v.Check(e); err != nil {
					v.fault = fmt.Errorf("line %d: client %s refuses %s: %w", n, v.version, e.Type(), err)
				}
			}
		}
	}
	if events == 0 {
		return "", errors.New("the input has no events")
	}
	return fmt.Sprintf("%d events: the clients 0.0.59 and 1.0.0 take them", events), errors.Join(verifiers[0].fault, verifiers[1].fault)
}

// isFrame says whether a line is what a server-sent event has beside its data.
func isFrame(line []byte) bool {
	return line[0] == ':' || bytes.HasPrefix(line, []byte("id:")) || bytes.HasPrefix(line, []byte("event:")) || bytes.HasPrefix(line, []byte("retry:"))
}
