package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/agentstream-go/agentstream/engine"
	"github.com/agentstream-go/agentstream/server"
)

const defaultListen = "127.0.0.1:7117"

type serve struct {
	setup
	listen  string
	token   string
	noAuth  bool
	origins []string
	hosts   []string
	verify  bool
}

func serveCommand() *cobra.Command {
	var s serve
	c := &cobra.Command{
		Use:   "serve",
		Short: "Serve agents over HTTP: AG-UI, REST and a web page",
		Long: "serve runs agents for AG-UI clients, keeps what they say, and shows it on a web page.\n" +
			"The first line on stdout says where it listens, the second is the address to open.\n" +
			"SIGTERM and Ctrl-C let running turns finish for shutdown_timeout, then end them;\n" +
			"a second one ends them at once.",
		Example: "  agentstream serve\n  agentstream serve --listen 127.0.0.1:0 --agent 'mine=my-agent --acp'",
		Args:    cobra.NoArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return s.run(c) },
	}
	s.flags(c)
	f := c.Flags()
	f.StringVar(&s.listen, "listen", "", "address to listen on, port 0 picks one (default "+defaultListen+")")
	f.StringVar(&s.token, "token", "", "token that clients send (default: the data folder's)")
	f.BoolVar(&s.noAuth, "no-auth", false, "let everybody in who reaches the address")
	f.StringArrayVar(&s.origins, "allow-origin", nil, "origin whose pages may use the server (repeatable)")
	f.StringArrayVar(&s.hosts, "allow-host", nil, "host name under which the server is reached (repeatable)")
	f.BoolVar(&s.verify, "verify", false, "check every outgoing stream against the rules of AG-UI clients")
	f.BoolVar(&s.record, "record", false, "keep the agents' raw lines as notes in the log")
	f.BoolVar(&s.debug, "debug", false, "log more")
	return c
}

func (s *serve) run(c *cobra.Command) error {
	if err := s.load(c); err != nil {
		return err
	}
	s.listen = first(s.listen, os.Getenv("AGENTSTREAM_LISTEN"), s.file.Listen, defaultListen)
	if err := checkListen(s.listen); err != nil {
		return usage("cannot listen on %w", err)
	}
	f, err := openFolder(s.data)
	if err != nil {
		return &exitError{code: exitFailed, err: err}
	}
	lock, err := f.lock()
	if errors.Is(err, errLocked) {
		at := ""
		if info, ok := f.announced(); ok {
			at = " at " + info.URL
		}
		return usage("another agentstream%s uses the data folder %s; stop it, or choose another folder with --data", at, f)
	}
	if err != nil {
		return &exitError{code: exitFailed, err: err}
	}
	defer func() { _ = lock.Close() }()
	if err := s.serve(c, f, lock); err != nil {
		return &exitError{code: exitFailed, err: err}
	}
	return nil
}

func (s *serve) serve(c *cobra.Command, f folder, lock *os.File) error {
	ctx, stop := signal.NotifyContext(c.Context(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	token := first(s.token, os.Getenv("AGENTSTREAM_TOKEN"))
	if token == "" && !s.noAuth {
		var err error
		if token, err = f.token(); err != nil {
			return err
		}
	}
	listener, err := net.Listen("tcp", s.listen)
	if err != nil {
		return fmt.Errorf("cannot listen on %s: %w; choose another address with --listen", s.listen, err)
	}
	defer func() { _ = listener.Close() }()
	m, err := s.open(ctx, f, lock, engine.Policy(s.file.Permissions.Default), c.ErrOrStderr())
	if err != nil {
		return err
	}
	srv := &http.Server{Handler: s.handler(m, token), ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute}
	failed := make(chan error, 1)
	go func() { failed <- srv.Serve(listener) }()
	at := address(listener)
	if err := f.announce(serverInfo{URL: at, PID: os.Getpid(), Version: version}); err != nil {
		return errors.Join(err, srv.Close(), m.close(ctx))
	}
	s.greet(c, at, token)
	select {
	case <-ctx.Done():
	case err = <-failed:
	}
	return errors.Join(err, s.stop(f, srv, m))
}

func (s *serve) handler(m *machinery, token string) http.Handler {
	host, _, _ := net.SplitHostPort(s.listen)
	hosts := s.hosts
	if host != "" {
		hosts = append(hosts[:len(hosts):len(hosts)], host)
	}
	return server.New(m.engine, &server.Options{
		Token: token, NoAuth: s.noAuth, AllowOrigins: s.origins, AllowHosts: hosts,
		BodyBytes: s.file.Limits.BodyBytes, Verify: s.verify, Version: version,
		Agents: func(context.Context) []server.Agent { return s.listed(m.engine.Agents()) },
	})
}

func (s *serve) greet(c *cobra.Command, at, token string) {
	open := at + "/"
	if !s.noAuth {
		open += "?token=" + url.QueryEscape(token)
	}
	fmt.Fprintf(c.OutOrStdout(), "agentstream listening on %s\nopen %s\n", at, open)
	host, _, _ := net.SplitHostPort(s.listen)
	if ip := net.ParseIP(host); s.noAuth && host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		fmt.Fprintln(c.ErrOrStderr(), "agentstream: --no-auth on an address that other machines reach: whoever reaches it can run agents here")
	} else if ip != nil && ip.IsUnspecified() && len(s.hosts) == 0 {
		fmt.Fprintln(c.ErrOrStderr(), "agentstream: other machines reach this server by its IP address; to be reached by a name, it needs --allow-host NAME")
	}
}

// stop ends the runs first, while their readers still stand, then the readers. A
// second signal ends the patience with running turns, a third the process.
func (s *serve) stop(f folder, srv *http.Server, m *machinery) error {
	patient, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(patient, func() { signal.Reset(os.Interrupt, syscall.SIGTERM) })
	err := m.close(patient)
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if srv.Shutdown(ctx) != nil {
		_ = srv.Close() // what still streams has nothing more to come
	}
	_ = os.Remove(f.path("server.json"))
	return err
}

func address(l net.Listener) string {
	host, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		return "http://" + l.Addr().String()
	}
	if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
		host = "localhost"
	}
	return "http://" + net.JoinHostPort(host, port)
}

func first(values ...string) string {
	for _, v := range values {
		if v != "" {
			return v
		}
	}
	return ""
}
