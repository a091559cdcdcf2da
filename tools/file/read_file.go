package file

import (
	"bufio"
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"buddy/agent/action"
	"buddy/tools"
	"buddy/tools/fs"
)

//go:embed read_file.md
var readFileText string

type readArgs struct {
	Path   string `json:"path"`
	Offset int    `json:"offset,omitempty" min:"1"`
	Limit  int    `json:"limit,omitempty" min:"1"`
	Number bool   `json:"number,omitempty" schema:"-"`     // prefix lines with their numbers
	Depth  int    `json:"depth,omitempty" min:"1" max:"3"` // of a folder
	Why    string `json:"why,omitempty" schema:"-"`
}

type readFile struct {
	ws *Workspace
	tools.Typed[readArgs]
}

// NewReadFile returns the tool read_file, which returns lines of a text file, at most a page per call. It reads a file
// only up to the last requested line.
func NewReadFile(ws *Workspace) tools.Tool {
	return tools.New(&readFile{ws: ws}, "read_file", readFileText)
}

func (*readFile) Parallel(tools.Call) bool { return true }

func (t *readFile) PlanArgs(args readArgs) (action.Action, error) {
	if t.ws.plan.is(t.ws, args.Path) {
		return t.ws.plan.planRead(t.Name(), args.Why)
	}
	if t.ws.isOutput(args.Path) {
		return t.ws.planOutput(t.Name(), args.Path, args.Why)
	}
	return t.ws.planRead(t.Name(), args.Path, args.Why)
}

func (t *readFile) RunArgs(ctx context.Context, call tools.Call, args readArgs) tools.Result {
	ws, path, err := t.ws.planned(call)
	if err != nil {
		return tools.Failure(err)
	}
	if info, err := ws.files.Lstat(ctx, path); err == nil && info.Mode.IsDir() {
		return ws.list(ctx, path, args.Depth, insteadOf(call))
	}
	return ws.read(ctx, path, args, call)
}

func (w *Workspace) read(ctx context.Context, path string, args readArgs, call tools.Call) tools.Result {
	f, err := w.files.Open(ctx, path)
	if err != nil {
		return tools.Failure(err)
	}
	defer fs.Release(f)
	name := w.show(path)
	s, err := snapOpen(f)
	if err != nil {
		return tools.Failure(fmt.Errorf("%q: %w", name, fs.Cause(err)))
	}
	start := s.data
	in := bufio.NewReaderSize(f, sniffedText)
	if !s.whole() {
		start, _ = in.Peek(sniffedText) // a failed read is reported below
		start = bytes.Clone(start)
	}
	start = start[:min(len(start), sniffedText)]
	pictured := start
	if s.whole() {
		pictured = s.data // metadata before the size in a JPEG may be long
	}
	if size, ok := imageOf(pictured); ok {
		res := imageResult(size, s, insteadOf(call))
		res.Seen = see(w, call, path, s)
		return res
	}
	content := textOf(in, s, start)
	if isNotebook(path) && s.whole() {
		decoded, _ := decode(s.data)
		if n := notebookOf(path, decoded); n != nil {
			content = notebookText(n)
		}
	}
	p := page{offset: max(args.Offset, 1), limit: args.Limit, most: call.PageBytes(), number: args.Number}
	err = p.read(ctx, content.from)
	binary := errors.Is(err, errNotText)
	switch {
	case errors.Is(err, tools.ErrArguments):
		return tools.Failure(err)
	case err != nil && !binary:
		return tools.Failure(fmt.Errorf("%q: %w", name, fs.Cause(err)))
	}
	seen := see(w, call, path, s)
	var res tools.Result
	if binary { // the model gets at least the type
		res = tools.Failure(fmt.Errorf("%q is not text: %d bytes of %s", name, s.size, http.DetectContentType(start)))
	} else {
		content.note = w.seen.once(call.Reader, path, content.note)
		res = p.result(content, s.size, insteadOf(call), another(ctx, w, args.Path, path))
	}
	res.Seen = seen
	return res
}

func countLines(text string) int {
	n := strings.Count(text, "\n")
	if text != "" && !strings.HasSuffix(text, "\n") {
		n++
	}
	return n
}

var errNotText = errors.New("not text")

// page reads some lines of a text. It holds only the lines that it returns in memory.
type page struct {
	offset, limit int  // first line from 1; number of lines, 0 for as many as fit
	most          int  // size limit in bytes
	number        bool // prefix lines with their numbers

	text  []byte
	lines int  // number of lines in text
	more  bool // more lines follow
	cut   bool // the first line alone is too long; text is its start
}

func (p *page) read(ctx context.Context, from io.Reader) error {
	in := bufio.NewReaderSize(from, max(64<<10, p.most+1)) // add peeks at this much
	if err := skipLines(ctx, in, p.offset-1); err != nil {
		return err
	}
	for !p.cut && (p.limit == 0 || p.lines < p.limit) {
		if more, err := p.add(in); err != nil {
			return err
		} else if !more {
			break
		}
	}
	_, err := in.Peek(1)
	p.more = err == nil
	switch {
	case !isText(string(p.text)):
		return errNotText
	case p.lines == 0 && p.offset > 1:
		return pastEnd(p.offset, p.offset-1)
	default:
		return nil
	}
}

// add appends the next line if there is one and it fits; a first line that is too long is cut.
func (p *page) add(in *bufio.Reader) (bool, error) {
	before := ""
	if p.number {
		before = fmt.Sprintf("%d\t", p.offset+p.lines)
	}
	room := max(p.most-len(p.text)-len(before), 0)
	line, err := in.Peek(room + 1)
	if err != nil && !errors.Is(err, io.EOF) {
		return false, err
	}
	if end := bytes.IndexByte(line, '\n'); end >= 0 {
		line = line[:end+1]
	}
	if len(line) > room && p.lines == 0 {
		line = line[:len(tools.Head(string(line), room))]
		p.cut = true
	}
	if len(line) == 0 || len(line) > room {
		return false, nil
	}
	p.text = append(append(p.text, before...), line...)
	p.lines++
	_, _ = in.Discard(len(line)) // Peek has returned these bytes, so it can't fail
	return true, nil
}

func pastEnd(offset, lines int) error {
	return tools.Invalid("offset: %d, but the file has %d lines", offset, lines)
}

// skipLines discards n lines. A NUL byte in them is an error, so that reading a large binary file ends early.
func skipLines(ctx context.Context, in *bufio.Reader, n int) error {
	for skipped := 0; skipped < n; {
		if err := ctx.Err(); err != nil {
			return err
		}
		piece, err := in.ReadSlice('\n')
		if bytes.IndexByte(piece, 0) >= 0 {
			return errNotText
		}
		switch {
		case err == nil:
			skipped++
		case errors.Is(err, bufio.ErrBufferFull): // the line continues
		case errors.Is(err, io.EOF):
			if len(piece) > 0 {
				skipped++
			}
			return pastEnd(n+1, skipped)
		default:
			return err
		}
	}
	return nil
}

// result returns the lines of the page, as UTF-8 with LF line ends and without a byte order mark; its remarks tell
// where the file itself differs from that. size is the size of the file in bytes; more are further remarks.
func (p *page) result(in text, size int64, more ...string) tools.Result {
	text, last := string(p.text), p.offset+p.lines-1
	part, note, marks, ends := "", "", "", ""
	if p.lines > 0 {
		part = fmt.Sprintf("lines %d-%d", p.offset, last)
		if in.lines > 0 {
			part += fmt.Sprintf(" of %d", in.lines)
		}
	}
	switch {
	case size == 0 && p.lines == 0:
		note = "the file is empty"
	case p.cut && p.more:
		note = fmt.Sprintf("line %d is too long and was cut after %d bytes; grep finds parts of it", last, len(p.text))
		text += tools.Truncated
	case p.more:
		note = fmt.Sprintf("%s; continue with offset %d", part, last+1)
	case p.offset > 1:
		note = part
	}
	if p.offset == 1 && in.marked {
		marks = "a byte order mark at the start is not shown; changes keep it"
	}
	if strings.Contains(text, "\r\n") {
		text = strings.ReplaceAll(text, "\r\n", "\n")
		ends = "line ends are CRLF, shown as LF; changes keep them"
	}
	res := tools.Success(text, append([]string{note, in.note, marks, ends}, more...)...)
	res.Outcome = part
	return res
}
