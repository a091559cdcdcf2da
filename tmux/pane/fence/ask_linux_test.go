//go:build linux && (amd64 || arm64)

package fence

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
)

// askingFence returns a fence whose commands may ask for hosts. All names lead to one local server, except
// inner.example.com.
func askingFence(t *testing.T, s Settings) *Fence {
	t.Helper()
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip(err)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, "hello "+r.Host+"\n") }))
	t.Cleanup(server.Close)
	f := newFence(t, s)
	f.net = network{
		lookup: func(_ context.Context, _, host string) ([]netip.Addr, error) {
			if host == "inner.example.com" {
				return []netip.Addr{netip.MustParseAddr("10.0.0.1")}, nil
			}
			return []netip.Addr{netip.MustParseAddr("8.8.8.8")}, nil
		},
		dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, strings.TrimPrefix(server.URL, "http://"))
		},
	}
	return f
}

// runAsking runs a command line in a fence; ask decides about hosts, nil asks nobody.
func runAsking(t *testing.T, f *Fence, line string, ask Ask) string {
	t.Helper()
	out, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := &exec.Cmd{Path: "/bin/sh", Args: []string{"sh", "-c", "read go; " + line}, Dir: f.config.Work[0], Env: f.Environ(os.Environ(), nil), Stdin: r, Stdout: out, Stderr: out}
	if err := f.Start(cmd); err != nil {
		t.Fatal(err)
	}
	if ask != nil {
		f.Ask(cmd.Process.Pid, ask)
	}
	_ = errors.Join(r.Close(), w.Close()) // the command starts
	_ = cmd.Wait()
	if err := f.Sweep(cmd.Process.Pid); err != nil {
		t.Error(err)
	}
	text, err := os.ReadFile(out.Name())
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestHostsThatAreAskedAbout: a command reaches only approved hosts.
func TestHostsThatAreAskedAbout(t *testing.T) {
	const refused = "is not among allow_hosts"
	allow := func(names ...string) (Ask, func() []string) {
		var mu sync.Mutex
		var asked []string
		return func(_ context.Context, host, port string) error {
				mu.Lock()
				defer mu.Unlock()
				asked = append(asked, host+":"+port)
				if slices.Contains(names, host) {
					return nil
				}
				return errors.New("the user said no")
			}, func() []string {
				mu.Lock()
				defer mu.Unlock()
				return asked
			}
	}
	f := askingFence(t, Settings{Work: []string{t.TempDir()}, Asks: true, Hosts: []string{"listed.example.com"}})
	for line, tt := range map[string]struct{ want, asked string }{
		"curl -s http://good.example.com/":                                  {"hello good.example.com", "good.example.com:80"},
		"curl -s http://GOOD.example.com./":                                 {"hello ", "good.example.com:80"},
		"curl -s -p -m 5 -v http://good.example.com:443/ 2>&1":              {"Connection established", "good.example.com:443"},
		"curl -s http://bad.example.com/":                                   {refused + " of [sandbox]; the user said no", "bad.example.com:80"},
		"curl -s http://sub.good.example.com/":                              {refused, "sub.good.example.com:80"},
		"curl -s http://listed.example.com/":                                {"hello listed.example.com", ""},
		"curl -s http://good.example.com:8080/":                             {refused, ""},
		"curl -s http://8.8.8.8/":                                           {refused, ""},
		"curl -s --noproxy none http://10.0.0.1/":                           {refused, ""},
		"curl -s http://printer.local/":                                     {refused, ""},
		"curl -s http://intranet/":                                          {refused, ""},
		"curl -s http://inner.example.com/":                                 {refused, "inner.example.com:80"},
		"curl -s -H 'Host: good.example.com' http://bad.example.com/":       {refused, "bad.example.com:80"},
		"curl -s --noproxy '*' -m 2 http://good.example.com/ || echo alone": {"alone", ""},
	} {
		ask, asked := allow("good.example.com")
		out := runAsking(t, f, line, ask)
		if got := strings.Join(asked(), " "); !strings.Contains(out, tt.want) || got != tt.asked {
			t.Errorf("%s: %q, asked about %q, want %q and %q", line, out, got, tt.want, tt.asked)
		}
	}
	ask, _ := allow("inner.example.com")
	if out := runAsking(t, f, "curl -s http://inner.example.com/", ask); !strings.Contains(out, "has no public internet address") {
		t.Errorf("an allowed name that leads to a private network: %q", out)
	}
	if out := runAsking(t, f, "curl -s http://good.example.com/", nil); out != "buddy: \"good.example.com\" is not among allow_hosts of [sandbox]\n" {
		t.Errorf("nobody is asked: %q", out)
	}
	silent := askingFence(t, Settings{Work: []string{t.TempDir()}, Hosts: []string{"listed.example.com"}})
	ask, asked := allow("good.example.com")
	if out := runAsking(t, silent, "curl -s http://good.example.com/", ask); !strings.Contains(out, refused) || len(asked()) > 0 {
		t.Errorf("the settings of the fence ask nobody: %q, asked about %q", out, asked())
	}
}

// TestHeldConnections: a disconnected client is not waited for, the end of the command ends waiting connections, and
// their number is limited.
func TestHeldConnections(t *testing.T) {
	f := askingFence(t, Settings{Work: []string{t.TempDir()}, Asks: true})
	waits, left := make(chan string, proxyMost), make(chan string, proxyMost)
	hold := func(ctx context.Context, host, _ string) error {
		waits <- host
		<-ctx.Done()
		left <- host
		return ctx.Err()
	}
	runAsking(t, f, "curl -s -m 1 http://a.example.com/; exit 0", hold)
	runAsking(t, f, "curl -s http://b.example.com/ & sleep 1; exit 0", hold)
	if a, b := <-left, <-left; a != "a.example.com" || b != "b.example.com" {
		t.Errorf("%s and %s are not waited for", a, b)
	}
	p := newProxy(nil, internet)
	ask := Ask(hold)
	p.ask.Store(&ask)
	ctx, stop := context.WithCancel(t.Context())
	var all sync.WaitGroup
	for range proxyHeld {
		all.Go(func() { _ = p.permit(ctx, "c.example.com", "443") })
	}
	for range proxyHeld + 2 {
		<-waits
	}
	if err := p.permit(ctx, "d.example.com", "443"); err == nil || !strings.Contains(err.Error(), "16 connections are already waiting for an answer") {
		t.Errorf("one more than wait: %v", err)
	}
	stop()
	all.Wait()
}

// TestNamesThatAreAskedAbout: nobody is asked about an address, a name of this machine or a name with unusual
// characters.
func TestNamesThatAreAskedAbout(t *testing.T) {
	for name, want := range map[string]bool{
		"example.com": true, "a_b.c-d.example.com": true, "xn--80ak6aa92e.com": true, "co.uk": true,
		"localhost": false, "x.localhost": false, "printer.local": false, "metadata.google.internal": false, "intranet": false, "": false, ".": false, "a..com": false,
		"127.0.0.1": false, "127.1": false, "1.2.3.4": false, "::1": false, "fe80::1%eth0": false, "2130706433": false,
		"evil\x1b[31m.com": false, "a b.com": false, "аpple.com": false, "*.com": false, "-a.com": false, "a\n.com": false, "\u202ea.com": false,
		strings.Repeat("a", 64) + ".com": false, strings.Repeat("a.", 130) + "com": false,
	} {
		if got := askable(name); got != want {
			t.Errorf("%q: asked about %v, want %v", name, got, want)
		}
	}
}
