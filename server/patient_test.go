package server

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// A body that does not come costs its client the connection, whether somebody
// reads it or not.
func TestBodiesThatDoNotCome(t *testing.T) {
	ts := httptest.NewServer(New(nil, &Options{NoAuth: true, ReadTimeout: 20 * time.Millisecond}))
	defer ts.Close()
	for name, c := range map[string]struct {
		head   string
		status int
	}{
		"read":          {"POST /agui/demo HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{", http.StatusBadRequest},
		"read, chunked": {"POST /agui/demo HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{", http.StatusBadRequest},
		"not read":      {"POST /nowhere HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n{", http.StatusNotFound},
	} {
		t.Run(name, func(t *testing.T) {
			conn, err := net.Dial("tcp", strings.TrimPrefix(ts.URL, "http://"))
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			_ = conn.SetDeadline(time.Now().Add(time.Minute))
			fmt.Fprint(conn, c.head)
			r := bufio.NewReader(conn)
			resp, err := http.ReadResponse(r, nil)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := io.Copy(io.Discard, resp.Body); err != nil || resp.StatusCode != c.status {
				t.Errorf("%v %s", err, resp.Status)
			}
			if n, err := io.Copy(io.Discard, r); n > 0 || err != nil {
				t.Errorf("the connection does not end: %d more bytes, %v", n, err)
			}
		})
	}
}

// A deadline that was lifted does not end what follows the body.
func TestDeadlineIsLiftedWithTheBody(t *testing.T) {
	limit := 500 * time.Millisecond
	s := New(nil, &Options{NoAuth: true, ReadTimeout: limit})
	ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		data, err := io.ReadAll(s.patient(w, r))
		if err != nil || string(data) != "all" {
			t.Errorf("%q, %v", data, err)
		}
		timer := time.NewTimer(limit * 3 / 2)
		defer timer.Stop()
		select {
		case <-r.Context().Done():
			t.Error("the request ended with the deadline")
		case <-timer.C:
		}
	}))
	defer ts.Close()
	resp, err := http.Post(ts.URL, "text/plain", strings.NewReader("all"))
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
}
