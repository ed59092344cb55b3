package acp

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/agentstream-go/agentstream/internal/acpwire"
	"github.com/agentstream-go/agentstream/source"
)

// open leads the agent from its start to an open session.
func (c *Command) open(ctx context.Context, o source.Options, l link) (*session, error) {
	s := c.newSession(o, l)
	bounded, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	expired := &source.Error{Code: source.CodeTimeout}
	s.opening.begin(func() { cancel(expired) })
	step, err := s.handshake(bounded)
	s.opening.end()
	if err == nil {
		return s, nil
	}
	if err = s.openError(step, err, expired); context.Cause(ctx) != nil {
		err = context.Cause(ctx)
	}
	s.Close()
	return nil, err
}

// handshake reports the step that failed.
func (s *session) handshake(ctx context.Context) (step string, err error) {
	if err := s.initialize(ctx); err != nil {
		return "initialize", err
	}
	if s.cmd.Auth != "" {
		// An agent without the method needs no login.
		if err := s.authenticate(ctx); err != nil && !unknownMethod(err) {
			return "authenticate", err
		}
	}
	err = s.openSession(ctx)
	if authMissing(err) && s.cmd.Auth != "" {
		// Some agents forget, or need the session's answer first: once more.
		if err = s.authenticate(ctx); err == nil {
			err = s.openSession(ctx)
		}
	}
	if err != nil {
		return "opening a session", err
	}
	if s.o.Mode != "" {
		if err := s.choose(ctx, modeChoice, s.o.Mode, true); err != nil {
			return "setting the mode", err
		}
	}
	if s.o.Model != "" {
		if err := s.choose(ctx, modelChoice, s.o.Model, true); err != nil {
			return "setting the model", err
		}
	}
	return "", nil
}

func (s *session) initialize(ctx context.Context) error {
	version := s.cmd.Version
	if version == "" {
		version = "0"
	}
	client := map[string]any{
		"fs":       map[string]bool{"readTextFile": false, "writeTextFile": false},
		"terminal": false,
		// Agents that run commands tell their output only to clients that say so.
		"_meta": map[string]bool{"terminal_output": true},
	}
	if s.cmd.Elicitation {
		client["elicitation"] = map[string]any{"form": struct{}{}, "url": struct{}{}}
	}
	params := map[string]any{
		"protocolVersion":    1,
		"clientCapabilities": client,
		"clientInfo":         map[string]string{"name": "agentstream", "title": "agentstream", "version": version},
	}
	var wrong error
	err := s.conn.Call(ctx, "initialize", params, func(result []byte) {
		s.caps = readCapabilities(result)
		s.tr = newTranslator(s.caps.agent)
		if n, ok := number(field(result, "protocolVersion")); !ok || n != 1 {
			wrong = &source.Error{
				Code:    source.CodeAgentProtocol,
				Message: fmt.Sprintf("%s speaks version %s of the protocol, not 1", s.cmd.name(), field(result, "protocolVersion")),
			}
		}
	})
	return errors.Join(err, wrong)
}

func (s *session) authenticate(ctx context.Context) error {
	return s.conn.Call(ctx, "authenticate", map[string]string{"methodId": s.cmd.Auth}, nil)
}

type sessionParams struct {
	SessionID   string   `json:"sessionId,omitempty"`
	Cwd         string   `json:"cwd"`
	MCPServers  []any    `json:"mcpServers"`
	Directories []string `json:"additionalDirectories,omitempty"`
}

func (s *session) openSession(ctx context.Context) error {
	params := sessionParams{SessionID: s.o.Resume, Cwd: s.o.Cwd, MCPServers: s.mcpServers()}
	if s.caps.directories {
		params.Directories = s.o.Roots
	}
	switch {
	case s.o.Resume == "":
		return s.openBy(ctx, "session/new", params)
	case !s.caps.resume && !s.caps.load:
		return fmt.Errorf("%w: it cannot go on with one", source.ErrNoSession)
	}
	s.id = s.o.Resume
	var err error
	if s.caps.resume {
		err = s.openBy(ctx, "session/resume", params)
	}
	if s.caps.load && (!s.caps.resume || unknownMethod(err)) {
		s.conn.Post(func() { s.opening.phase = replay })
		err = s.openBy(ctx, "session/load", params)
	}
	var rpc *acpwire.Error
	if errors.As(err, &rpc) && !authMissing(err) {
		return fmt.Errorf("%w: %w", source.ErrNoSession, err)
	}
	return err
}

func (s *session) openBy(ctx context.Context, method string, params sessionParams) error {
	nameless := false
	err := s.conn.Call(ctx, method, params, func(result []byte) {
		if s.o.Resume == "" {
			s.id = text(field(result, "sessionId"))
			nameless = s.id == ""
		}
		s.options.read(result)
		s.observeAll(s.tr.opened(result))
		s.opening.named(s)
	})
	if nameless {
		return &source.Error{Code: source.CodeAgentProtocol, Message: s.cmd.name() + " opened a session without an id"}
	}
	return err
}

func authMissing(err error) bool {
	var rpc *acpwire.Error
	return errors.As(err, &rpc) && rpc.Code == acpwire.CodeAuthRequired
}

func unknownMethod(err error) bool {
	var rpc *acpwire.Error
	return errors.As(err, &rpc) && rpc.Code == acpwire.CodeMethodNotFound
}

// openError says why the session could not be opened.
func (s *session) openError(step string, err error, expired *source.Error) error {
	var rpc *acpwire.Error
	var own *source.Error
	name := s.cmd.name()
	switch {
	case errors.Is(err, expired):
		expired.Message = fmt.Sprintf("%s said nothing for %s while %s was under way", name, s.opening.limit, step)
		expired.Detail = lastLines(s.process.Stderr(), 20)
		return expired
	case errors.Is(err, source.ErrNoSession):
		return err
	case errors.As(err, &own):
		return own
	case step == "authenticate" && errors.As(err, &rpc), authMissing(err):
		return s.authError(err)
	case errors.As(err, &rpc):
		out := rpcError(rpc)
		out.Message = fmt.Sprintf("%s: %s failed: %s", name, step, out.Message)
		return s.withFix(out)
	case s.gone(err):
		out := s.exitError(err)
		out.Code = source.CodeAgentStartFailed
		return out
	}
	return err
}

func (s *session) authError(err error) error {
	out := &source.Error{Code: source.CodeAuthRequired, Message: s.cmd.name() + " asks for a login", Err: err}
	var rpc *acpwire.Error
	if errors.As(err, &rpc) {
		out.Detail = rpcError(rpc).Message
	}
	if len(s.caps.authMethods) > 0 {
		out.Detail = strings.TrimSpace(out.Detail + "\nmethods: " + strings.Join(s.caps.authMethods, ", "))
	}
	return s.withFix(out)
}

// withFix says what to do about a missing login.
func (s *session) withFix(e *source.Error) *source.Error {
	if e.Code != source.CodeAuthRequired || e.Fix != "" {
		return e
	}
	switch {
	case s.cmd.Login != "":
		e.Fix = "log in: " + s.cmd.Login
	case s.cmd.Auth == "" && len(s.caps.authMethods) > 0:
		e.Fix = "log in with the agent itself, or set auth to one of its methods"
	default:
		e.Fix = "log in with the agent itself"
	}
	return e
}
