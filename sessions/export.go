package sessions

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"buddy/agent/event"
	"buddy/agent/record"
	"buddy/texts"
)

// ExportFormat names a format of exports.
type ExportFormat string

// Export formats.
const (
	Markdown ExportFormat = "md"
	JSON     ExportFormat = "json" // all events, for Import
	HTML     ExportFormat = "html" // one self-contained page without scripts
)

// ExportFormats lists the formats.
var ExportFormats = []ExportFormat{Markdown, JSON, HTML}

// Export writes a session for other people. Every text passes through redact; provider-specific data and the files with
// complete outputs are omitted. The warnings name lines that could not be read.
func (s Store) Export(w io.Writer, id string, as ExportFormat, redact func(string) string) (warnings []string, err error) {
	if !slices.Contains(ExportFormats, as) {
		return nil, fmt.Errorf("unknown format %q (have: md, json, html)", as)
	}
	j, err := s.View(id)
	if err != nil {
		return nil, err
	}
	defer j.Close() //nolint:errcheck // nothing was written
	all, err := s.List()
	if err != nil {
		return nil, err
	}
	entry := Entry{ID: id, Header: j.Info().Header}
	if i := slices.IndexFunc(all, func(e Entry) bool { return e.ID == id }); i >= 0 {
		entry = all[i]
	}
	if strings.HasSuffix(entry.Title, "…") {
		entry.Title = withoutLastWord(entry.Title)
	}
	entry.Header.Format = j.info.Header.Format
	entry.Title, entry.Header.Cwd = redact(entry.Title), redact(entry.Header.Cwd)
	out := bufio.NewWriterSize(w, blockSize)
	var p printer
	switch as {
	case JSON:
		p = &jsonPrinter{w: out}
	case HTML:
		p = &transcript{paper: &htmlPage{w: out}}
	default:
		p = &transcript{paper: &markdownPage{w: out}}
	}
	rewinds, err := j.Rewinds()
	if err != nil {
		return nil, err
	}
	p.begin(entry)
	n := 1 // the header
	var failed error
	err = j.Lines(func(l Line) bool {
		n++
		env, err := l.Envelope()
		if err != nil {
			warnings = append(warnings, fmt.Sprintf("line %d is skipped: %v", n, err))
			return true
		}
		if env.Payload = exportable(env.Payload, redact); env.Payload != nil && (as == JSON || env.Branch != 0 || !rewinds.Gone(env.Seq)) {
			failed = p.print(env)
		}
		return failed == nil
	})
	p.end()
	return warnings, errors.Join(err, failed, out.Flush())
}

// printer writes events in a format.
type printer interface {
	begin(e Entry)
	print(env event.Envelope) error
	end()
}

// exportable returns an event without secrets and provider-specific data, or nil if the event must not be exported.
func exportable(e event.Event, redact func(string) string) event.Event {
	switch p := e.(type) {
	case event.Checkpoint:
		return nil // a delta may end within a secret; the complete text follows
	case event.TaskStarted:
		p.Title = cutTitle(p.Title)
		e = p
	case event.TaskQueued:
		p.Title = cutTitle(p.Title)
		e = p
	case event.ModelMessage:
		compacted := p.Message.Compacted()
		p.Message.Extra = nil
		if compacted {
			p.Message.MarkCompacted()
		}
		e = p
	case event.ModelPrefix:
		p.Message.Extra = nil
		e = p
	case event.Unknown: // from a later version, with unknown texts
		p.Raw = json.RawMessage(hideWithin(string(p.Raw), redact))
		return p
	}
	return eventTexts(e, func(text string) string { return hideWithin(text, redact) })
}

// cutTitle removes an incomplete last word from the title of a task, because redaction misses half a secret.
func cutTitle(title string) string {
	const cutAt = 80 - 4 // maximum bytes of a title, less one character
	if len(title) < cutAt {
		return title
	}
	return withoutLastWord(title)
}

func withoutLastWord(s string) string {
	return strings.TrimSpace(s[:strings.LastIndexByte(s, ' ')+1]) + "…"
}

// hideWithin redacts text and, if it is JSON, also its decoded strings: an escape such as \n before a secret hides the
// secret's start.
func hideWithin(text string, redact func(string) string) string {
	var v any
	if strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[") {
		d := json.NewDecoder(strings.NewReader(text))
		d.UseNumber()
		if d.Decode(&v) == nil {
			if _, err := d.Token(); err == io.EOF && hideStrings(&v, redact) {
				if out, err := texts.JSON(v); err == nil {
					text = string(out)
				}
			}
		}
	}
	return redact(text)
}

// hideStrings redacts all strings of a JSON value and reports whether any changed.
func hideStrings(v *any, redact func(string) string) (changed bool) {
	switch x := (*v).(type) {
	case string:
		hidden := redact(x)
		changed, *v = hidden != x, hidden
	case []any:
		for i := range x {
			changed = hideStrings(&x[i], redact) || changed
		}
	case map[string]any:
		for k, e := range x {
			changed = hideStrings(&e, redact) || changed
			x[k] = e
		}
	}
	return changed
}

// jsonPrinter writes the format that Import reads.
type jsonPrinter struct {
	w *bufio.Writer
	n int
}

// exportHead holds the fields before the events in a JSON export.
type exportHead struct {
	Version int    `json:"buddy_session"` // the format of the session's file
	Header  Header `json:"header"`
}

func (p *jsonPrinter) begin(e Entry) {
	e.Header.MAC = ""
	head, err := json.Marshal(exportHead{e.Header.Format, e.Header})
	if err == nil { // cannot fail: strings and numbers only
		_, _ = p.w.Write(texts.PrintableJSON(head[:len(head)-1])) // Flush returns the error at the end
		_, _ = p.w.WriteString(",\"events\":[\n")
	}
}

func (p *jsonPrinter) print(env event.Envelope) error {
	if u, ok := env.Payload.(event.Unknown); ok && !json.Valid(u.Raw) {
		return nil // redaction broke its JSON
	}
	line, err := env.MarshalJSON()
	if err != nil {
		return err
	}
	if p.n > 0 {
		_, _ = p.w.WriteString(",\n")
	}
	p.n++
	_, err = p.w.Write(texts.PrintableJSON(line))
	return err
}

func (p *jsonPrinter) end() { _, _ = p.w.WriteString("\n]}\n") }

// Import creates a session from a JSON export or an archive, with a new id if its id exists already. Open returns it
// read-only until a person trusts it, see Trust.
func (s Store) Import(r io.Reader) (id string, err error) {
	in := bufio.NewReaderSize(r, blockSize)
	if begin, _ := in.Peek(len(gzipBegin)); string(begin) == gzipBegin {
		return importArchive(s, in)
	}
	d := json.NewDecoder(in)
	h, err := importHead(d)
	if err != nil {
		return "", fmt.Errorf("not an exported session: %w", err)
	}
	if err := s.makeDir(); err != nil {
		return "", err
	}
	h.MAC = ""
	if CheckID(h.ID) != nil || exists(s.file(h.ID)) {
		h.ID = NewID()
	}
	j, err := s.create(h, nil)
	if err != nil {
		return "", fmt.Errorf("session %s: %w", h.ID, err)
	}
	s.register()
	err = importEvents(j, d)
	if err = errors.Join(err, j.Close()); err != nil {
		return "", errors.Join(err, os.Remove(s.file(h.ID)))
	}
	return h.ID, nil
}

// importHead reads up to the first event.
func importHead(d *json.Decoder) (Header, error) {
	var head exportHead
	for _, want := range []struct {
		key  string
		into any
	}{{"buddy_session", &head.Version}, {"header", &head.Header}, {"events", nil}} {
		if want.key == "buddy_session" {
			if t, err := d.Token(); err != nil || t != json.Delim('{') {
				return Header{}, errors.Join(errors.New("not a JSON object"), err)
			}
		}
		if t, err := d.Token(); err != nil || t != want.key {
			return Header{}, errors.Join(fmt.Errorf("%q is missing", want.key), err)
		}
		if want.into == nil {
			break
		}
		if err := d.Decode(want.into); err != nil {
			return Header{}, fmt.Errorf("%s: %w", want.key, err)
		}
	}
	if head.Version < formatPlain || head.Version > Format {
		return Header{}, fmt.Errorf("version %d, this program reads up to %d: %w", head.Version, Format, ErrFormat)
	}
	head.Header.Format = head.Version
	t, err := d.Token()
	if err != nil || t != json.Delim('[') {
		return Header{}, errors.Join(errors.New("events is not a list"), err)
	}
	return head.Header, nil
}

// importEvents appends the events up to the end of their list.
func importEvents(j *Journal, d *json.Decoder) error {
	n := 0
	for d.More() {
		n++
		var env event.Envelope
		if err := d.Decode(&env); err != nil {
			return fmt.Errorf("event %d: %w", n, err)
		}
		if env.Seq > maxSeq {
			return fmt.Errorf("event %d: seq %d is above %d", n, env.Seq, uint64(maxSeq))
		}
		env.Session = j.info.Header.ID
		if err := j.encode(env); err != nil {
			return fmt.Errorf("event %d: %w", n, err)
		}
		if err := j.write(j.line); err != nil {
			return err
		}
		j.last = env.Seq
	}
	for _, end := range []json.Delim{']', '}'} {
		if t, err := d.Token(); err != nil || t != end {
			return errors.Join(errors.New("the export is cut off"), err)
		}
	}
	if n == 0 {
		return errors.New("the export has no events")
	}
	return nil
}

// transcript writes events as readable text.
type transcript struct {
	paper   transcriptWriter
	answers map[int]string // the last answer of each branch
	record  record.Record
}

// transcriptWriter writes the parts of a transcript in a format. Texts are untrusted.
type transcriptWriter interface {
	head(e Entry)
	exchange(n int, ms int64, prompt string)
	prompt(text string) // sent during the exchange
	answer(text string)
	reasoning(text string)
	call(name, what string)
	result(status, text string)
	remark(text string)
	foot()
}

func (t *transcript) begin(e Entry) {
	t.answers = make(map[int]string)
	t.paper.head(e)
}

func (t *transcript) end() { t.paper.foot() }

func (t *transcript) print(env event.Envelope) error {
	t.record.Apply(env)
	if env.Branch != 0 {
		t.branch(env)
		return nil
	}
	switch p := env.Payload.(type) {
	case event.PromptSubmitted:
		t.prompt(env, p)
	case event.TaskFinished:
		t.finished(p)
	case event.ModelMessage:
		t.message(p)
	case event.ToolRequested:
		t.paper.call(p.Name, cmp.Or(p.Action.Command, p.Arguments))
	case event.ApprovalAnswered:
		t.answered(p)
	case event.ToolResult:
		t.result(p)
	default:
		t.remark(p)
	}
	return nil
}

// finished writes the end of a task, with its outcome unless it completed.
func (t *transcript) finished(p event.TaskFinished) {
	if p.Outcome != event.Completed {
		t.paper.remark(strings.TrimSpace(string(p.Outcome) + " " + p.Error))
	}
}

// answered writes that a call was not approved.
func (t *transcript) answered(p event.ApprovalAnswered) {
	switch {
	case p.Decision != event.Deny:
	case p.By == "cancel":
		t.paper.remark("cancelled before it was approved")
	default:
		t.paper.remark("not allowed" + because(p.Reason))
	}
}

func because(reason string) string {
	if reason == "" {
		return ""
	}
	return ": " + reason
}

func (t *transcript) prompt(env event.Envelope, p event.PromptSubmitted) {
	text := p.Text
	for _, i := range p.Images {
		text += "\n[" + i.MediaType + "]"
	}
	all := t.record.Exchanges()
	switch n := len(all); {
	case p.Queued:
	case n > 0 && all[n-1].Seq == env.Seq:
		t.paper.exchange(n, env.Time, text)
	default:
		t.paper.prompt(text)
	}
}

func (t *transcript) message(p event.ModelMessage) {
	if strings.TrimSpace(p.Reasoning) != "" {
		t.paper.reasoning(p.Reasoning)
	}
	if strings.TrimSpace(p.Message.Content) != "" {
		t.paper.answer(p.Message.Content)
	}
}

func (t *transcript) result(p event.ToolResult) {
	status, text := "done", p.Tail
	switch {
	case p.ExitCode != nil:
		status = fmt.Sprintf("exit code %d", *p.ExitCode)
	case p.IsError:
		status = "failed"
	}
	if text == "" {
		text = p.Text()
	}
	t.paper.result(status, text)
}

func (t *transcript) remark(e event.Event) {
	switch p := e.(type) {
	case event.Warning:
		t.paper.remark(p.Text)
	case event.Error:
		t.paper.remark(p.Text)
	case event.GoalChanged:
		if text := p.Text(); text != "" {
			t.paper.remark(text)
		}
	case event.ModelSwitched:
		t.paper.remark("switched to the model " + p.Model)
	case event.TargetSwitched:
		t.paper.remark("switched to the target " + p.Name)
	case event.ContextCompacted:
		t.paper.remark("context compacted")
	case event.HistoryRewound:
		t.paper.remark(p.Text())
	case event.SessionForked:
		t.paper.remark("from here on: a fork of session " + p.From)
	case event.ContextHealed, event.ContextWithheld: // only requests change, not the conversation
	case event.Remark:
		t.paper.remark(p.Line())
	}
}

// branch collects the last answer of a background task until the task ends.
func (t *transcript) branch(env event.Envelope) {
	switch p := env.Payload.(type) {
	case event.ModelMessage:
		t.answers[env.Branch] = p.Message.Content
	case event.TaskFinished:
		t.paper.remark(fmt.Sprintf("background task #%d %s", p.ID, p.Outcome))
		if text := t.answers[env.Branch]; strings.TrimSpace(text) != "" {
			t.paper.answer(text)
		}
		delete(t.answers, env.Branch)
	}
}
