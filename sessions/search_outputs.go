package sessions

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"

	"buddy/agent/event"
	"buddy/texts"
)

// wholeInFile is the size up to which a complete output is also in the session's file, in bytes.
const wholeInFile = 64 << 10

// outputFiles returns the files of output streams that are not complete in the session's file.
func outputFiles(s Store, id string) (files []outputFile) {
	dirs, err := os.ReadDir(s.OutDir(id))
	if err != nil {
		return nil
	}
	for _, dir := range dirs {
		for _, stream := range []string{"out", "err"} {
			path := filepath.Join(s.OutDir(id), dir.Name(), stream)
			if info, err := os.Lstat(path); err == nil && info.Mode().IsRegular() && info.Size() > wholeInFile {
				files = append(files, outputFile{path: path, bytes: info.Size(), written: info.ModTime()})
			}
		}
	}
	return files
}

// searchOutput searches a part of an output. A part has at most one hit, whose event is the call's.
func searchOutput(ctx context.Context, s Store, q *query, r *rawScanner, p *part) []Hit {
	f, err := os.Open(p.output)
	if err != nil {
		return nil // it was just removed
	}
	defer f.Close() //nolint:errcheck // only read
	buf := make([]byte, searchPart+len(q.text)-1)
	n, err := f.ReadAt(buf, p.from)
	if notEOF(err) != nil || ctx.Err() != nil {
		return nil
	}
	at := q.findPlain(buf[:n])
	if at < 0 {
		return nil
	}
	env, left, ok := callOf(s, r, p)
	if !ok {
		return nil
	}
	from, to := max(at-2*hitAround, 0), min(at+len(q.text)+2*hitAround, n)
	text := strings.ToValidUTF8(string(buf[from:to]), "")
	if i := q.findPlain([]byte(text)); i >= 0 {
		text = around(text, i, len(q.text))
	}
	if left {
		text = "(left) " + text
	}
	return []Hit{{Entry: *p.entry, Envelope: env, Text: text}}
}

// findPlain returns the index of the query in printed text, or -1.
func (q *query) findPlain(text []byte) int {
	if q.exact {
		return bytes.Index(text, []byte(q.text))
	}
	fold := texts.NewFold([]byte(q.text))
	return fold.Index(text)
}

// callOf returns the event of the call that printed an output: its result, or its start if it has none. left reports
// whether a rewind abandoned the call.
func callOf(s Store, r *rawScanner, p *part) (env event.Envelope, left, ok bool) {
	f, err := s.openFile(p.entry.ID, os.O_RDONLY)
	if err != nil {
		return env, false, false
	}
	defer f.Close() //nolint:errcheck // only read
	dir := filepath.Dir(p.output)
	dir, _, _ = strings.Cut(filepath.Base(dir), "-") // a command without a pane of its own has another folder
	folder := "/" + p.entry.ID + "/out/" + dir
	of := func(path string) bool {
		_, rest, found := strings.Cut(path, folder)
		return found && (rest == "" || rest[0] == '/' || rest[0] == '-')
	}
	raw := escaped(folder)
	_, _ = r.lines(f, 0, p.entry.Size, func(line []byte) int { return bytes.Index(line, raw) }, func(line []byte) bool {
		e, err := event.Decode(line)
		if err != nil {
			return true
		}
		switch c := e.Payload.(type) {
		case event.ToolStarted:
			if of(c.Dir) {
				env, ok = e, true
			}
		case event.ToolResult:
			if c.FullOutput != nil && of(c.FullOutput.Path) {
				env, ok = e, true
				return false
			}
		}
		return true
	})
	gone := leftEvents{file: f, size: p.entry.Size}
	return env, ok && gone.has(env), ok
}
