// Package lsptest implements a language server for tests. It uses no library, so that it can violate every rule of
// the protocol. Comments in a file make it report problems:
//
//	x := 1 // bad: the message of an error
//	y := 2 // warn: the message of a warning
//	// breaks other.txt: the message of an error in another file, as long as this line exists
package lsptest

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf16"
)

// Modes of a server. By default it publishes reports with the version of the text.
const (
	Unversioned = "unversioned" // without versions
	Debounced   = "debounced"   // without versions, after a short delay
	Quiet       = "quiet"       // without versions, and nothing for a file that never had problems
	Stale       = "stale"       // repeats the report about the previous text first
	StaleOld    = "staleold"    // like Stale, but without versions, and with half a second between the reports
	Pull        = "pull"        // waits to be asked
	PullLater   = "pulllater"   // like Pull, but announces this only after its start
	Asks        = "asks"        // reports nothing until its own questions are answered
	Silent      = "silent"      // never reports anything
	Slow        = "slow"        // answers after five seconds
	Mute        = "mute"        // answers no request at all
	Huge        = "huge"        // announces a message of 2 GiB
	Header      = "header"      // sends a header without an end
	Flood       = "flood"       // sends messages without end
	Garbage     = "garbage"     // sends invalid JSON
	Dies        = "dies"        // exits with the first change
	DiesOnce    = "diesonce"    // exits with the first change of its first run; the argument is a file that marks later runs
	Stubborn    = "stubborn"    // ignores all requests to exit
	Deaf        = "deaf"        // stops reading
)

// Server is one run of a server.
type Server struct {
	Mode, Arg string
	Log       func(method string) // receives the methods of messages; nil drops them
	// Answer replaces the answers to requests about code, as JSON; "" is no answer, ever. A nil Answer replaces none.
	Answer func(method string) (result string, replaced bool)

	root      string
	mu        sync.Mutex
	out       *bufio.Writer
	docs      map[string]document
	asked     int // unanswered questions
	published map[string]bool
}

type document struct {
	version int
	text    string
}

type message struct {
	ID     json.RawMessage `json:"id,omitempty"`
	Method string          `json:"method,omitempty"`
	Params json.RawMessage `json:"params,omitempty"`
	Result any             `json:"result,omitempty"`
	Error  any             `json:"error,omitempty"`
}

// Serve runs until an exit message or the end of its input. It reports whether there was an exit message.
func (s *Server) Serve(in io.Reader, out io.Writer) (exited bool) {
	s.out, s.docs, s.published = bufio.NewWriter(out), make(map[string]document), make(map[string]bool)
	if s.Log == nil {
		s.Log = func(string) {}
	}
	r := bufio.NewReader(in)
	for {
		m, err := read(r)
		if err != nil {
			return false
		}
		s.Log(m.Method)
		if m.Method == "exit" && s.Mode != Stubborn {
			return true
		}
		if !s.handle(m) {
			return false
		}
	}
}

func read(r *bufio.Reader) (m message, err error) {
	size := 0
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			return m, err
		}
		line = strings.TrimSpace(line)
		if line == "" {
			break
		}
		if value, ok := strings.CutPrefix(line, "Content-Length: "); ok {
			if size, err = strconv.Atoi(value); err != nil {
				return m, err
			}
		}
	}
	body := make([]byte, size)
	if _, err := io.ReadFull(r, body); err != nil {
		return m, err
	}
	return m, json.Unmarshal(body, &m)
}

func (s *Server) send(m message) {
	body, err := json.Marshal(struct {
		Version string `json:"jsonrpc"`
		message
	}{"2.0", m})
	if err != nil {
		panic(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	_, _ = fmt.Fprintf(s.out, "Content-Length: %d\r\n\r\n%s", len(body), body)
	_ = s.out.Flush() // the client may be gone
}

func (s *Server) raw(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, _ = s.out.WriteString(text)
	_ = s.out.Flush()
}

func (s *Server) notify(method string, params any) {
	text, err := json.Marshal(params)
	if err != nil {
		panic(err)
	}
	s.send(message{Method: method, Params: text})
}

// handle processes one message; false ends the server.
func (s *Server) handle(m message) bool {
	switch m.Method {
	case "":
		if s.asked--; s.asked == 0 && s.Mode == Asks {
			s.publishAll()
		}
	case "initialize":
		return s.initialize(m)
	case "initialized":
		s.register()
	case "shutdown":
		s.send(message{ID: m.ID, Result: map[string]any{}})
	case "textDocument/didOpen", "textDocument/didChange":
		return s.changed(m.Params)
	case "textDocument/didClose":
		s.closed(m.Params)
	case "textDocument/diagnostic":
		var p struct {
			Document struct{ URI string } `json:"textDocument"`
		}
		_ = json.Unmarshal(m.Params, &p)
		s.send(message{ID: m.ID, Result: map[string]any{"kind": "full", "items": diagnostics(s.docs[p.Document.URI].text)}})
	default:
		if result, ok := s.answer(m); ok {
			s.reply(m, result)
		} else if m.ID != nil {
			s.send(message{ID: m.ID, Error: map[string]any{"code": -32601, "message": "unknown"}})
		}
	}
	return true
}

// reply answers a request about code.
func (s *Server) reply(m message, result any) {
	if s.Answer != nil {
		if text, replaced := s.Answer(m.Method); replaced {
			if text != "" {
				s.send(message{ID: m.ID, Result: json.RawMessage(text)})
			}
			return
		}
	}
	s.send(message{ID: m.ID, Result: result})
}

// initialize answers the first request, depending on the mode.
func (s *Server) initialize(m message) bool {
	var p struct{ RootURI string }
	_ = json.Unmarshal(m.Params, &p)
	if u, err := url.Parse(p.RootURI); err == nil {
		s.root = u.Path
	}
	caps := map[string]any{"textDocumentSync": 1}
	switch s.Mode {
	case Mute:
		return true
	case Huge:
		s.raw("Content-Length: 2147483648\r\n\r\n{")
		return true
	case Header:
		s.raw("X: " + strings.Repeat("x", 1<<20))
		return true
	case Garbage:
		s.raw("Content-Length: 3\r\n\r\n{]}")
		return true
	case Pull:
		caps["diagnosticProvider"] = map[string]any{}
	}
	s.send(message{ID: m.ID, Result: map[string]any{"capabilities": caps}})
	if s.Mode == Flood {
		for {
			s.notify("window/logMessage", map[string]any{"message": strings.Repeat("x", 100)})
			if s.out.Available() == 0 {
				return false
			}
		}
	}
	return true
}

// register sends the requests of a mode after the start.
func (s *Server) register() {
	ask := func(method, params string) {
		s.asked++
		s.send(message{ID: fmt.Appendf(nil, "%d", s.asked), Method: method, Params: json.RawMessage(params)})
	}
	switch s.Mode {
	case PullLater:
		ask("client/registerCapability", `{"registrations": [{"id": "x", "method": "textDocument/diagnostic"}]}`)
	case Asks:
		ask("workspace/configuration", `{"items": [{"section": "a.b"}, {}]}`)
		ask("client/registerCapability", `{"registrations": [{"id": "y", "method": "workspace/didChangeWatchedFiles"}]}`)
		ask("window/workDoneProgress/create", `{"token": 1}`)
	}
}

func (s *Server) changed(params json.RawMessage) bool {
	var p struct {
		Document struct {
			URI, Text string
			Version   int
		} `json:"textDocument"`
		Changes []struct{ Text string } `json:"contentChanges"`
	}
	_ = json.Unmarshal(params, &p)
	for _, c := range p.Changes {
		p.Document.Text = c.Text
	}
	uri, before := p.Document.URI, s.docs[p.Document.URI]
	s.docs[uri] = document{p.Document.Version, p.Document.Text}
	if !s.survives(p.Changes != nil) {
		return false
	}
	if s.speaks(uri, before) {
		s.publish(uri, s.docs[uri])
		s.others(uri)
	}
	return true
}

// survives misbehaves as the mode demands, and reports whether the server keeps running.
func (s *Server) survives(changed bool) bool {
	switch s.Mode {
	case Dies:
		return !changed
	case DiesOnce:
		if _, err := os.Stat(s.Arg); err != nil && changed {
			_ = os.WriteFile(s.Arg, nil, 0o600)
			return false
		}
	case Deaf:
		time.Sleep(time.Hour)
	case Slow:
		time.Sleep(5 * time.Second)
	}
	return true
}

// speaks reports whether the server publishes a report of a file by itself now.
func (s *Server) speaks(uri string, before document) bool {
	switch s.Mode {
	case Stale:
		s.publish(uri, before)
	case StaleOld:
		s.publish(uri, before)
		time.Sleep(500 * time.Millisecond)
	case Debounced:
		now := s.docs[uri]
		time.AfterFunc(100*time.Millisecond, func() { s.publish(uri, now) })
		return false
	case Pull, PullLater, Silent:
		return false
	case Quiet:
		wrong := len(diagnostics(s.docs[uri].text)) > 0
		was := s.published[uri]
		s.published[uri] = wrong
		return wrong || was
	case Asks:
		return s.asked == 0
	}
	return true
}

func (s *Server) closed(params json.RawMessage) {
	var p struct {
		Document struct{ URI string } `json:"textDocument"`
	}
	_ = json.Unmarshal(params, &p)
	delete(s.docs, p.Document.URI)
	s.others(p.Document.URI)
}

func (s *Server) publishAll() {
	for uri, d := range s.docs {
		s.publish(uri, d)
	}
}

// publish reports the problems in a text of a file.
func (s *Server) publish(uri string, d document) {
	p := map[string]any{"uri": uri, "diagnostics": diagnostics(d.text)}
	if s.Mode != Unversioned && s.Mode != Debounced && s.Mode != Quiet && s.Mode != StaleOld {
		p["version"] = d.version
	}
	s.notify("textDocument/publishDiagnostics", p)
}

// others reports the problems that open files cause in other files. A file whose problems are gone gets an empty
// report.
func (s *Server) others(uri string) {
	u, err := url.Parse(uri)
	if err != nil {
		return
	}
	dir := filepath.Dir(u.Path)
	found := map[string][]any{}
	for _, d := range s.docs {
		for line := range strings.Lines(d.text) {
			if _, rest, ok := strings.Cut(line, "breaks "); ok {
				name, text, _ := strings.Cut(strings.TrimSpace(rest), ": ")
				found[name] = append(found[name], diagnostic(0, 0, 1, text))
			}
		}
	}
	for name := range s.published {
		if strings.HasSuffix(name, ".other") && found[strings.TrimSuffix(name, ".other")] == nil {
			found[strings.TrimSuffix(name, ".other")] = []any{}
		}
	}
	for name, all := range found {
		s.published[name+".other"] = true
		path := name
		if !filepath.IsAbs(path) {
			path = filepath.Join(dir, name)
		}
		s.notify("textDocument/publishDiagnostics", map[string]any{"uri": (&url.URL{Scheme: "file", Path: path}).String(), "diagnostics": all})
	}
}

// diagnostics returns the problems in a text.
func diagnostics(text string) []any {
	all := []any{}
	n := 0
	for line := range strings.Lines(text) {
		for mark, severity := range map[string]int{"bad: ": 1, "warn: ": 2, "hint: ": 4} {
			if before, rest, ok := strings.Cut(line, mark); ok {
				all = append(all, diagnostic(n, len(utf16.Encode([]rune(before))), severity, unquoted(strings.TrimRight(rest, "\r\n"))))
			}
		}
		n++
	}
	return all
}

// unquoted unquotes a message that may be a Go string literal.
func unquoted(text string) string {
	if plain, err := strconv.Unquote(text); err == nil {
		return plain
	}
	return text
}

func diagnostic(line, character, severity int, text string) any {
	at := map[string]any{"line": line, "character": character}
	return map[string]any{"range": map[string]any{"start": at, "end": at}, "severity": severity, "message": text}
}
