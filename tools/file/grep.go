package file

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"

	"buddy/agent/action"
	"buddy/texts"
	"buddy/tmux/host"
	"buddy/tools"
	"buddy/tools/fs"
)

const (
	grepLimit = 100     // matching lines in a result
	fileLimit = 500     // files with matches
	maxCount  = 100_000 // matching lines counted per file
	grepQueue = 32      // open files waiting for a worker
	sniffed   = 8 << 10 // bytes at the start of a file in which a NUL makes it binary
	maxRegexp = 1000    // bytes of a pattern
)

//go:embed grep.md
var grepText string

type grepArgs struct {
	Pattern    string `json:"pattern" blank:"ok"`
	Path       string `json:"path,omitempty"`
	Glob       string `json:"glob,omitempty"`
	IgnoreCase bool   `json:"ignore_case,omitempty"`
	Context    int    `json:"context,omitempty" desc:"lines around a match" min:"0" max:"5"`
	Mode       string `json:"mode,omitempty" enum:"lines,files,count"`
	Why        string `json:"why,omitempty" schema:"-"`
}

type grep struct {
	ws *Workspace
	tools.Typed[grepArgs]
}

// NewGrep returns the tool grep, which lists the lines that match a pattern, sorted by path.
func NewGrep(ws *Workspace) tools.Tool {
	return tools.New(&grep{ws: ws}, "grep", grepText)
}

func (*grep) Parallel(tools.Call) bool { return true }

func (t *grep) PlanArgs(args grepArgs) (action.Action, error) {
	s, err := newSearch(t.ws, args)
	if err != nil {
		return action.Action{}, err
	}
	var act action.Action
	if t.ws.isOutput(args.Path) {
		act, err = t.ws.planOutput(t.Name(), args.Path, args.Why)
	} else {
		act, err = planSearch(t.ws, t.Name(), args.Path, s.glob, true, args.Why)
	}
	act.Preview = args.Pattern
	return act, err
}

func (t *grep) RunArgs(ctx context.Context, call tools.Call, args grepArgs) tools.Result {
	ws, path, err := t.ws.planned(call)
	if err != nil {
		return tools.Failure(err)
	}
	s, err := newSearch(ws, args)
	if err != nil {
		return tools.Failure(err)
	}
	s.remark = insteadOf(call)
	err = s.search(ctx, path)
	if tools.Missing(err) && s.glob != nil && s.glob.base != "" {
		s.remark, err = noFolder(ctx, ws, path), nil
	}
	if err != nil {
		return tools.Failure(fmt.Errorf("searching stopped after %s: %w", texts.Plural(s.files, "file"), tools.Sentence(err)))
	}
	return s.result()
}

// search is one run of grep. Files are opened in the order of their paths, and a few workers read and search them. Once
// there are enough matches, search opens no more files, but finishes the open ones, so that the result always holds the
// first matches in that order.
type search struct {
	matcher
	ws     *Workspace
	mode   string     // of grepArgs
	glob   *pattern   // nil for all files
	have   host.Texts // texts: a target sends only files that have one of them
	walk   fs.Walker
	files  int    // opened so far
	remark string // "" for none

	mu    sync.Mutex // guards the fields below
	hits  []fileHits
	count int // matching lines in hits, or files
	left  leftOut
}

// fileHits holds the lines found in one file; index is the file's number in the order of opening.
type fileHits struct {
	index int
	path  string
	lines []hit // in mode lines
	count int   // matching lines
}

func newSearch(ws *Workspace, args grepArgs) (*search, error) {
	if args.Pattern == "" || len(args.Pattern) > maxRegexp {
		return nil, tools.Invalid("pattern: must have 1 to %d bytes", maxRegexp)
	}
	expr := args.Pattern
	if args.IgnoreCase {
		expr = "(?i)" + expr
	}
	re, err := regexp.Compile(expr)
	if err != nil {
		return nil, tools.Invalid("pattern: %v (the syntax is RE2)", err)
	}
	need := prefiltersOf(expr)
	s := &search{ws: ws, mode: args.Mode, have: textsOf(need), matcher: matcher{re: re, need: need, context: args.Context, most: grepLimit}}
	switch args.Mode {
	case "files":
		s.most, s.context = 0, 0 // one match per file is enough
	case "count":
		s.most, s.context = maxCount, 0
	}
	if args.Glob != "" {
		if s.glob, err = parsePattern("glob", args.Glob); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// job is an open file for a worker, which closes it.
type job struct {
	index int
	file  *fs.File
}

// queue passes files to the workers in batches of files that are read at once.
type queue struct {
	jobs    chan<- []job
	most    int // files per batch
	waiting []job
	size    int64 // bytes of waiting
}

func (q *queue) add(j job) {
	q.waiting = append(q.waiting, j)
	q.size += j.file.Size
	if len(q.waiting) == q.most || q.size > fs.MaxText {
		q.flush()
	}
}

func (q *queue) flush() {
	if len(q.waiting) > 0 {
		q.jobs <- q.waiting
	}
	q.waiting, q.size = nil, 0
}

// errEnough ends a walk early.
var errEnough = errors.New("enough matches")

func (s *search) search(ctx context.Context, path string) error {
	jobs := make(chan []job, grepQueue/s.ws.files.BatchSize())
	var workers sync.WaitGroup
	for range min(max(runtime.GOMAXPROCS(0), 2), 4) {
		workers.Go(func() {
			var buf []byte
			for batch := range jobs {
				if ctx.Err() == nil {
					s.fetch(ctx, batch)
				}
				for _, j := range batch {
					if ctx.Err() == nil {
						buf = s.file(j, buf)
					}
					fs.Release(j.file)
				}
			}
		})
	}
	q := &queue{jobs: jobs, most: s.ws.files.BatchSize()}
	err := s.feed(ctx, path, q)
	q.flush()
	close(jobs)
	workers.Wait()
	if errors.Is(err, errEnough) {
		err = nil
	}
	return errors.Join(err, ctx.Err())
}

// feed opens the files to search.
func (s *search) feed(ctx context.Context, path string, q *queue) error {
	rules := fs.RulesAbove(ctx, s.ws.files, path)
	dir, err := s.ws.files.OpenTree(ctx, path, rules, nil)
	if err != nil { // perhaps a file; if not, opening it gives a better error
		f, err := s.ws.files.Open(ctx, path)
		if err == nil {
			q.add(job{0, f})
			s.files = 1
		}
		return err
	}
	s.walk.Stop = func() error {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.count > s.limit() {
			return errEnough
		}
		return ctx.Err()
	}
	files := s.glob
	if files != nil && files.literal() { // path is already the named file
		files = nil
	}
	ignored := s.left.ignored(files)
	s.walk.Ignored = func(rel string, e os.DirEntry) bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return ignored(rel, e)
	}
	s.walk.Visit = func(dir fs.Folder, rel string, e os.DirEntry) error {
		matches := files == nil || files.match(rel)
		switch {
		case e.Type()&os.ModeSymlink != 0 && (matches || files.mayHold(rel)):
			s.leave(leftLinked, rel)
		case matches && e.Type().IsRegular():
			s.open(dir, path, rel, q)
		}
		return nil
	}
	return s.walk.Walk(dir, "", rules, 1)
}

// open opens the file rel below path and queues it; dir is the open folder of the file.
func (s *search) open(dir fs.Folder, path, rel string, q *queue) {
	if s.ws.secret(rel) != "" || s.ws.Secret(filepath.Join(path, rel)) != "" && s.ws.Secret(path) == "" {
		s.leave(leftSecret, rel)
		return
	}
	f, err := dir.Open(filepath.Base(rel))
	if err != nil {
		s.leave(leftUnreadable, "")
		return
	}
	q.add(job{s.files, f})
	s.files++
}

// leave counts a file, folder or link that is not searched.
func (s *search) leave(why reason, rel string) {
	s.mu.Lock()
	s.left.add(why, rel)
	s.mu.Unlock()
}

// fetch reads a batch of files at once. If a file could not be read, a worker that reads it later gets the error.
func (s *search) fetch(ctx context.Context, batch []job) {
	files := make([]*fs.File, 0, len(batch))
	for _, j := range batch {
		if j.file.Size <= fs.MaxText {
			files = append(files, j.file)
		}
	}
	s.ws.files.Fetch(ctx, files, s.have)
}

// textsOf returns texts that let a target skip a file: it sends the content only if the file contains one of them.
// Files that begin with the byte order mark of UTF-16 are always sent, because the texts do not occur there byte for
// byte; UTF-16 files without the mark are missed.
func textsOf(need []prefilter) host.Texts {
	if len(need) == 0 {
		return host.Texts{}
	}
	texts := host.Texts{Any: []string{littleUTF16.mark, bigUTF16.mark}}
	for _, l := range need {
		texts.Fold = texts.Fold || l.fold != nil
		for _, c := range []*charset{nil, windows1252, windows1251, koi8R, gbk, big5, shiftJIS, eucJP, eucKR} {
			text, err := c.encode(string(l.text))
			if err == nil && !slices.Contains(texts.Any, string(text)) {
				texts.Any = append(texts.Any, string(text))
			}
		}
	}
	return texts
}

// file searches one file. It reads into buf and returns it for reuse.
func (s *search) file(j job, buf []byte) []byte {
	if j.file.Size > fs.MaxText && s.ws.holdsOutputs {
		return s.inPieces(j, buf)
	}
	if j.file.Size > fs.MaxText {
		s.leave(leftLarge, "") // not named, because the order of workers is random
		return buf
	}
	data, err := fs.ReadInto(buf, j.file, j.file.Size)
	if err != nil {
		s.leave(leftUnreadable, "")
		return buf
	}
	text := data
	if c := charsetOf(data); c != nil {
		text = []byte(c.decode(data))
	}
	if isBinary(text) {
		s.leave(leftBinary, "")
		return data
	}
	lines, count := s.findIn(j.file.Path, text)
	if count > 0 {
		s.mu.Lock()
		found := fileHits{index: j.index, path: s.ws.show(j.file.Path), count: count}
		if s.count++; s.byLine() {
			found.lines = lines
			s.count += count - 1
		}
		s.hits = append(s.hits, found)
		s.mu.Unlock()
	}
	return data
}

// findIn finds lines of a file. In a notebook, it searches the lines that read_file shows and, if none matches, the
// lines of the JSON.
func (s *search) findIn(path string, text []byte) ([]hit, int) {
	if isNotebook(path) {
		if n := notebookOf(path, string(text)); n != nil {
			if lines, count := s.find([]byte(n.Text())); count > 0 {
				return lines, count
			}
		}
	}
	return s.find(text)
}

// byLine reports whether the result shows lines, not just files.
func (s *search) byLine() bool { return s.mode != "files" && s.mode != "count" }

// limit returns the largest number of lines or files in the result.
func (s *search) limit() int {
	if s.byLine() {
		return grepLimit
	}
	return fileLimit
}

// fileList returns the result in mode files (one path per line) or count (path:number).
func (s *search) fileList() tools.Result {
	var out strings.Builder
	n := 0
	for _, f := range s.hits {
		if n == fileLimit || out.Len() > tools.OutputBytes {
			break
		}
		out.WriteString(quoteName(f.path))
		if s.mode == "count" {
			fmt.Fprintf(&out, ":%s", atMost(f.count, maxCount+1))
		}
		out.WriteByte('\n')
		n++
	}
	return s.found(out.String(), n, n < len(s.hits))
}

// result returns the matches: path:line:text, path-line-text for context lines, -- between groups.
func (s *search) result() tools.Result {
	slices.SortFunc(s.hits, func(a, b fileHits) int { return a.index - b.index })
	if !s.byLine() {
		return s.fileList()
	}
	var out strings.Builder
	count := 0
	more := false
	for _, f := range s.hits {
		last := -1
		for _, h := range f.lines {
			if out.Len() > tools.OutputBytes || count == grepLimit && (h.match || h.number != last+1) {
				more = true
				break
			}
			if s.context > 0 && out.Len() > 0 && h.number != last+1 {
				out.WriteString("--\n")
			}
			sep := "-"
			if h.match {
				sep = ":"
				count++
			}
			fmt.Fprintf(&out, "%s%s%d%s%s\n", quoteName(f.path), sep, h.number, sep, h.text)
			last = h.number
		}
		if more {
			break
		}
	}
	return s.found(out.String(), count, more)
}

// found returns the result with the number of matching lines, or files; more means that there are others.
func (s *search) found(text string, count int, more bool) tools.Result {
	res := tools.Success(text, s.remarks(count, more))
	res.Outcome = texts.Plural(count, "match")
	return res
}

func (s *search) remarks(count int, more bool) string {
	found := ""
	switch {
	case more:
		found = fmt.Sprintf("there are more matches than these %d; narrow pattern, path or glob", count)
	case count == 0:
		found = "no match in " + texts.Plural(s.files, "file")
	}
	return tools.JoinNotes(found, s.left.note("give one as path to search it"), unread(s.walk.Failed), s.remark)
}

// unread returns a note on folders that could not be read, "" for none.
func unread(folders int) string {
	if folders == 0 {
		return ""
	}
	return texts.Plural(folders, "folder") + " could not be read"
}
