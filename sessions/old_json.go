package sessions

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"buddy/agent/action"
	"buddy/agent/event"
	"buddy/agent/model"
)

// Sessions of the first programs are JSON files <id>.json with the messages in the form of Chat Completions:
//
//	{"version":1, "id":"…", "updated_at_millis":…, "state":{"messages":[…], "tokens":{…}}}
const (
	oldExt     = ".json"
	oldVersion = 1
	maxOld     = 256 << 20 // bytes of a file
)

// oldSession is the content of an old file. The first files have Name in place of ID.
type oldSession struct {
	Version int
	Updated int64 `json:"updated_at_millis"`
	State   struct {
		Messages []json.RawMessage
		Tokens   struct {
			Prompt     int `json:"total_prompt_tokens"`
			Completion int `json:"total_completion_tokens"`
		}
	}
}

// importOld turns the old JSON files in a folder into sessions of a store. Like every session that this machine did not
// sign, they open read-only until the person trusts them, because a cloned repository may contain them. The old file
// moves into the session's own folder. Damaged files are left; a file of another version is a problem.
func importOld(s, from Store, m *Moved) error {
	d, err := os.Open(from.dir)
	if err != nil {
		return ignoreMissing(err)
	}
	names, err := d.Readdirnames(-1)
	_ = d.Close() // only read
	if err != nil {
		return err
	}
	for _, name := range names {
		id, ok := strings.CutSuffix(name, oldExt)
		if !ok || CheckID(id) != nil || exists(s.file(id)) {
			continue
		}
		path := filepath.Join(from.dir, name)
		switch err := importOne(s, path, id, folderOf(from)); {
		case errors.Is(err, errNotOld):
		case err != nil:
			m.Problem = fmt.Sprintf("the old session %s can't be read: %v", path, err)
		default:
			m.Imported++
		}
	}
	return nil
}

// errNotOld means that a file is no old session, or damaged.
var errNotOld = errors.New("not an old session")

func importOne(s Store, path, id, cwd string) error {
	old, used, err := readOld(path)
	if err != nil {
		return err
	}
	text, err := old.journal(id, cwd)
	if err != nil {
		return err
	}
	if err := s.makeDir(); err != nil {
		return err
	}
	part := s.file(id) + ".part" // the next call replaces it
	if err := os.WriteFile(part, text, 0o600); err != nil {
		return err
	}
	if err := os.Chtimes(part, used, used); err != nil { // lists are sorted by it
		return err
	}
	if err := os.Link(part, s.file(id)); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	own := filepath.Join(s.dir, id)
	return errors.Join(os.Remove(part), os.MkdirAll(own, 0o700), moveTree(path, filepath.Join(own, "old"+oldExt), keep))
}

// readOld reads an old file, and when its session was last used.
func readOld(path string) (old oldSession, used time.Time, err error) {
	f, err := OpenPlain(path, os.O_RDONLY)
	if err != nil {
		return old, used, errNotOld // such as a link, which a cloned repository may contain
	}
	defer f.Close() //nolint:errcheck // only read
	fi, err := f.Stat()
	if err != nil {
		return old, used, err
	}
	data, err := io.ReadAll(io.LimitReader(f, maxOld+1))
	switch {
	case err != nil:
		return old, used, err
	case len(data) > maxOld:
		return old, used, fmt.Errorf("has more than %d MB", maxOld>>20)
	}
	if old, err = parseOld(data); err != nil {
		return old, used, err
	}
	if used = fi.ModTime(); old.Updated > 0 {
		used = time.UnixMilli(old.Updated)
	}
	return old, used, nil
}

func parseOld(data []byte) (old oldSession, err error) {
	switch {
	case json.Unmarshal(data, &old) != nil || old.Version == 0:
		return old, errNotOld
	case old.Version != oldVersion:
		return old, fmt.Errorf("version %d, this program reads %d", old.Version, oldVersion)
	}
	return old, nil
}

// journal returns the session's file.
func (o oldSession) journal(id, cwd string) ([]byte, error) {
	w := oldWriter{id: id, at: o.Updated}
	head, err := Header{Format: formatPlain, ID: id, Created: o.Updated, Cwd: cwd, Target: local}.line(nil)
	if err != nil {
		return nil, err
	}
	w.text.Write(head)
	w.add(event.SessionCreated{Cwd: cwd, Target: local})
	for _, raw := range o.State.Messages {
		m, err := oldMessage(raw)
		if err != nil {
			return nil, errNotOld
		}
		w.message(m)
	}
	w.endTask()
	if t := o.State.Tokens; t.Prompt > 0 || t.Completion > 0 {
		w.add(event.MetricsUsage{SessionPrompt: t.Prompt, SessionCompletion: t.Completion})
	}
	w.add(event.SessionClosed{})
	return w.text.Bytes(), w.err
}

// local is the name of this machine as a target.
const local = "local"

// oldMessage reads a message, whose content may be a list of parts.
func oldMessage(raw json.RawMessage) (m model.Message, err error) {
	if err = json.Unmarshal(raw, &m); err == nil {
		return m, nil
	}
	var fields map[string]json.RawMessage
	var parts []struct{ Text string }
	if json.Unmarshal(raw, &fields) != nil || json.Unmarshal(fields["content"], &parts) != nil {
		return m, err
	}
	var texts []string
	for _, p := range parts {
		texts = append(texts, p.Text)
	}
	if fields["content"], err = json.Marshal(strings.Join(texts, "\n")); err != nil {
		return m, err
	}
	if raw, err = json.Marshal(fields); err != nil {
		return m, err
	}
	return m, json.Unmarshal(raw, &m)
}

// oldWriter writes the events that would have led to the messages of an old session.
type oldWriter struct {
	id         string
	at         int64 // Unix milliseconds, of all events
	text       bytes.Buffer
	seq        uint64
	task, turn int
	running    bool // a task is open
	open       bool // a turn is open
	calls      []model.ToolCall
	err        error
}

func (w *oldWriter) add(e event.Event) {
	w.seq++
	env := event.Envelope{Seq: w.seq, Time: w.at, Session: w.id, Payload: e}
	switch e.(type) {
	case event.SessionCreated, event.MetricsUsage, event.SessionClosed:
	default:
		env.Task = w.task
		if w.open {
			env.Turn = w.turn
		}
	}
	line, err := env.AppendJSON(nil)
	if err == nil && len(line) >= maxLine {
		err = fmt.Errorf("a message has more than %d bytes", maxLine)
	}
	if w.err == nil && err != nil {
		w.err = err
	}
	w.text.Write(append(line, '\n'))
}

// message writes one message. System prompts are left out, because a resumed session has its own.
func (w *oldWriter) message(m model.Message) {
	switch m.Role {
	case model.User:
		w.endTask()
		w.startTask(m.Content)
	case model.Assistant:
		if !w.running { // a session that begins with an answer
			w.startTask("")
		}
		w.endTurn()
		w.turn++
		w.open = true
		w.add(event.TurnStarted{TurnID: w.turnID(), Number: w.turn})
		w.add(event.ModelMessage{Message: m})
		for _, c := range m.ToolCalls {
			w.add(event.ToolRequested{CallID: c.ID, Name: c.Name, Arguments: c.Arguments, Action: oldAction(c), Target: local})
		}
		w.calls = m.ToolCalls
	case model.Tool:
		for i, c := range w.calls {
			if c.ID == m.ToolCallID {
				w.add(event.ToolResult{CallID: c.ID, Name: c.Name, Result: m.Content, IsError: event.OldFailure(m.Content)})
				w.calls = append(w.calls[:i:i], w.calls[i+1:]...)
				break
			}
		}
	}
}

func (w *oldWriter) turnID() string { return fmt.Sprintf("%s-%d", w.id, w.turn) }

// oldAction describes a call of an old session, for the screen.
func oldAction(c model.ToolCall) action.Action {
	var args struct{ Command, Path, URL string }
	_ = json.Unmarshal([]byte(c.Arguments), &args) // other arguments describe nothing here
	act := action.Action{Kind: action.Generic, Tool: c.Name, Target: local, Command: args.Command}
	switch {
	case args.Command != "":
		act.Kind = action.Shell
	case args.Path != "" && strings.HasPrefix(c.Name, "read"):
		act.Kind, act.Path = action.FileRead, args.Path
	case args.URL != "":
		act.Kind, act.URL = action.Network, args.URL
	}
	return act
}

func (w *oldWriter) startTask(prompt string) {
	w.task++
	w.running = true
	title := shorten(prompt)
	w.add(event.PromptSubmitted{ID: w.task, Text: prompt, Kind: event.Opening})
	w.add(event.TaskQueued{ID: w.task, Kind: event.MainTask, Title: title})
	w.add(event.TaskStarted{ID: w.task, Kind: event.MainTask, Title: title})
}

// endTurn ends a turn. Calls without a result get one, because every call needs one.
func (w *oldWriter) endTurn() {
	for _, c := range w.calls {
		w.add(event.ToolResult{CallID: c.ID, Name: c.Name, Result: "the session has no result of this call", IsError: true})
	}
	w.calls = nil
	if w.open {
		w.add(event.TurnFinished{TurnID: w.turnID(), Number: w.turn})
	}
	w.open = false
}

func (w *oldWriter) endTask() {
	w.endTurn()
	if w.running {
		w.add(event.TaskFinished{ID: w.task, Outcome: event.Completed})
		w.running = false
	}
}
