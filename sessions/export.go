package sessions

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"buddy/agent/event"
	"buddy/agent/redact"
	"buddy/texts"
)

// ExportFormat names a format of exports.
type ExportFormat string

// Export formats.
const (
	Markdown ExportFormat = "md"
	JSON     ExportFormat = "json" // all events, for Import
	HTML     ExportFormat = "html" // one self-contained page that loads nothing
)

// ExportFormats lists the formats.
var ExportFormats = []ExportFormat{Markdown, JSON, HTML}

// Exported describes a finished export.
type Exported struct {
	Warnings []string // name lines that could not be read
	Secrets  int      // places in which a mark replaces a secret
}

// Note describes the secrets in a few words.
func (e Exported) Note() string {
	if e.Secrets == 0 {
		return "no secrets found"
	}
	return "secrets replaced in " + texts.Plural(e.Secrets, "place")
}

// Export writes a session for other people. Every text passes through redact; provider-specific data and the files with
// complete outputs are omitted.
func (s Store) Export(w io.Writer, id string, as ExportFormat, redact func(string) string) (done Exported, err error) {
	if !slices.Contains(ExportFormats, as) {
		return done, fmt.Errorf("unknown format %q (have: md, json, html)", as)
	}
	j, err := s.View(id)
	if err != nil {
		return done, err
	}
	defer j.Close() //nolint:errcheck // nothing was written
	entry, err := exportedEntry(s, j, redact)
	if err != nil {
		return done, err
	}
	out := bufio.NewWriterSize(w, blockSize)
	p, err := newPrinter(out, as, j, redact)
	if err != nil {
		return done, err
	}
	rewinds, err := j.Rewinds()
	if err != nil {
		return done, err
	}
	p.begin(entry)
	n := 1 // the header
	var failed error
	err = j.Lines(func(l Line) bool {
		n++
		env, err := l.Envelope()
		if err != nil {
			done.Warnings = append(done.Warnings, fmt.Sprintf("line %d is skipped: %v", n, err))
			return true
		}
		if env.Payload = exportable(env.Payload, redact); env.Payload != nil && (as == JSON || env.Branch != 0 || !rewinds.Gone(env.Seq)) {
			failed = p.print(env)
		}
		return failed == nil
	})
	done.Secrets = p.end()
	return done, errors.Join(err, failed, out.Flush())
}

// exportedEntry returns what the head of an export has.
func exportedEntry(s Store, j *Journal, redact func(string) string) (Entry, error) {
	all, err := s.List()
	if err != nil {
		return Entry{}, err
	}
	h := j.Info().Header
	entry := Entry{ID: h.ID, Header: h}
	if i := slices.IndexFunc(all, func(e Entry) bool { return e.ID == h.ID }); i >= 0 {
		entry = all[i]
	}
	entry.Header.Format = h.Format
	entry.Title, entry.Header.Cwd = hideCut(entry.Title, redact), withoutSecrets(entry.Header.Cwd, redact)
	return entry, nil
}

// printer writes events in a format.
type printer interface {
	begin(e Entry)
	print(env event.Envelope) error
	end() (secrets int) // returns how many places have the mark of a secret
}

// newPrinter returns a printer for the session of a journal.
func newPrinter(w *bufio.Writer, as ExportFormat, j *Journal, redact func(string) string) (printer, error) {
	switch as {
	case JSON:
		return &jsonPrinter{w: w}, nil
	case HTML:
		prompts, err := j.Exchanges()
		for i := range prompts {
			prompts[i].Prompt = hideCut(prompts[i].Prompt, redact)
		}
		return &transcript{paper: &htmlPage{document: document{w: w}, prompts: prompts}}, err
	default:
		return &transcript{paper: &markdownPage{document{w: w}}}, nil
	}
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

// withoutSecrets redacts text. Escape sequences and invisible characters within a secret hide it from redact; a text with
// such a secret loses them.
func withoutSecrets(text string, redact func(string) string) string {
	text = redact(text)
	if visible := sanitize(text); visible != text {
		if hidden := redact(visible); hidden != visible {
			return hidden
		}
	}
	return text
}

// hideCut redacts a text that was cut off if it ends in an ellipsis.
func hideCut(text string, redact func(string) string) string {
	if strings.HasSuffix(text, "…") {
		text = withoutLastWord(text)
	}
	return withoutSecrets(text, redact)
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
	return withoutSecrets(text, redact)
}

// hideStrings redacts all strings of a JSON value and reports whether any changed.
func hideStrings(v *any, redact func(string) string) (changed bool) {
	switch x := (*v).(type) {
	case string:
		hidden := withoutSecrets(x, redact)
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
	w       *bufio.Writer
	n       int
	secrets int
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
	p.secrets += redact.Marks(string(line))
	_, err = p.w.Write(texts.PrintableJSON(line))
	return err
}

func (p *jsonPrinter) end() int {
	_, _ = p.w.WriteString("\n]}\n")
	return p.secrets
}

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
