package lsp

import (
	"maps"
	"slices"
	"sync"
	"time"
)

const (
	// quiet is the time without a new report after which the reports of a server that sends no versions count as final.
	quiet = 300 * time.Millisecond
	// firstQuiet replaces quiet for a server that has just started.
	firstQuiet = time.Second
	// calm is the required time without any report, because reports about other files that a change broke come after
	// reports about the changed files.
	calm = 50 * time.Millisecond
	// silence limits the wait for the first report about a text, if a server sends no versions, because some servers
	// report nothing about a correct text.
	silence = 800 * time.Millisecond
	// firstSilence replaces silence for a server that has just started and reads the project.
	firstSilence = 10 * time.Second
	// maxFiles limits the files whose reports are kept.
	maxFiles = 5000
)

// published is the last report of a server about a file.
type published struct {
	version  *int // version of the text that the report is about; nil: not reported
	barrier  int  // the last barrier answered before the report
	at       time.Time
	problems []problem
}

// findings holds the texts that a running server has and the problems that it reported. It is safe for concurrent use.
type findings struct {
	news chan struct{} // buffered: has a value after a change

	mu        sync.Mutex // guards the fields below
	docs      map[string]*document
	found     map[string]published
	known     map[string]map[same]int // problems from before a change, or reported to the model
	reported  map[string]map[same]int // problems reported to the model that are not gone yet
	versioned bool                    // the server reports versions
	based     bool                    // the server has checked the project without the model's changes
	barriers  int                     // barriers sent; see [wire.barrier]
	passed    int                     // the last answered barrier
	passedAt  time.Time
	last      time.Time // time of the last report about any file
}

func newFindings() *findings {
	return &findings{
		news: make(chan struct{}, 1), docs: make(map[string]*document), found: make(map[string]published), known: make(map[string]map[same]int), reported: make(map[string]map[same]int),
	}
}

// changed wakes the goroutine that waits for a change.
func (f *findings) changed() {
	select {
	case f.news <- struct{}{}:
	default:
	}
}

// publish stores a report about a file unless it is about an older text.
func (f *findings) publish(p publishParams) {
	path := pathOf(p.URI)
	if path == "" {
		return
	}
	f.mu.Lock()
	defer f.changed()
	defer f.mu.Unlock()
	if doc := f.docs[path]; doc != nil && p.Version != nil {
		f.versioned = true
		if *p.Version != doc.version {
			return
		}
	}
	f.last = time.Now()
	f.store(path, p.Version, problems(p.Diagnostics))
}

// calm returns the time until the last report is old enough, see the constant calm.
func (f *findings) calm() time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	return max(0, calm-time.Since(f.last))
}

// store keeps a report about a file. Reports about open files are always kept, because somebody waits for them; others
// only if they have problems or replace a report. The caller holds f.mu.
func (f *findings) store(path string, version *int, all []problem) {
	if _, there := f.found[path]; !there && f.docs[path] == nil && (len(all) == 0 || len(f.found) >= maxFiles) {
		return
	}
	f.found[path] = published{version: version, barrier: f.passed, at: time.Now(), problems: all}
}

// pulled stores the answer to a pull, which is about the present texts.
func (f *findings) pulled(all map[string][]diagnostic) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for uri, diagnostics := range all {
		path := pathOf(uri)
		if path == "" {
			continue
		}
		var version *int
		if doc := f.docs[path]; doc != nil {
			v := doc.version
			version = &v
		}
		f.store(path, version, problems(diagnostics))
	}
}

// pass records that the server has read everything up to a barrier.
func (f *findings) pass(barrier int) {
	f.mu.Lock()
	defer f.changed()
	defer f.mu.Unlock()
	f.passed, f.passedAt = max(f.passed, barrier), time.Now()
}

// due returns how long to wait until the reports about the text of a file are final, if no more come: 0 is now, below 0
// is unknown. busy means that the server is working; rested is the time when it last finished.
func (f *findings) due(path string, busy bool, rested time.Time) time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	doc := f.docs[path]
	if doc == nil {
		return 0
	}
	p, there := f.found[path]
	switch {
	case there && p.version != nil && *p.version == doc.version:
		return 0
	case f.versioned || f.passed < doc.barrier || !f.based && busy:
		return -1
	}
	answered := there && p.barrier >= doc.barrier
	since, wait := f.patience(answered)
	switch {
	case answered:
		since = p.at
	case rested.After(since):
		since = rested
	}
	return max(0, wait-time.Since(since))
}

// patience returns how long to wait for a server that reports no versions, and from when. answered reports whether it
// has reported anything after the last text. The caller holds f.mu.
func (f *findings) patience(answered bool) (since time.Time, wait time.Duration) {
	switch {
	case answered && f.based:
		wait = quiet
	case answered:
		wait = firstQuiet
	case f.based:
		wait = silence
	default:
		wait = firstSilence
	}
	return f.passedAt, wait
}

// current reports whether a report is about the present text of the file. The caller holds f.mu.
func (f *findings) current(doc *document, p published) bool {
	if p.version != nil {
		return *p.version == doc.version
	}
	return !f.versioned && p.barrier >= doc.barrier || f.passed >= doc.barrier && time.Since(f.passedAt) >= silence
}

// fresh returns the problems that are not known yet, by file. The caller holds f.mu.
func (f *findings) fresh() map[string]map[same]int {
	all := make(map[string]map[same]int)
	for path, p := range f.found {
		if n := counts(without(p.problems, f.known[path])); len(n) > 0 {
			all[path] = n
		}
	}
	return all
}

// accept marks all problems as known, except the problems in before.
func (f *findings) accept(before map[string]map[same]int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for path, p := range f.found {
		f.known[path] = counts(without(p.problems, before[path]))
	}
}

// addTo adds the new problems of files that the function inside accepts. The function show returns a file's name.
func (f *findings) addTo(r *report, server string, inside func(string) bool, show func(string) string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	added := false
	for _, path := range f.paths() {
		p, doc := f.found[path], f.docs[path]
		if !inside(path) || doc != nil && !f.current(doc, p) {
			continue
		}
		fresh := without(p.problems, f.known[path])
		f.known[path] = counts(p.problems)
		if doc == nil {
			fresh = slices.DeleteFunc(fresh, func(p problem) bool { return p.severity != severityError })
		}
		if len(fresh) > 0 {
			r.files, added = append(r.files, fileReport{name: show(path), text: f.text(path), changed: doc != nil, problems: fresh}), true
		}
		if f.cleared(path, p.problems, fresh) {
			r.cleared, added = append(r.cleared, show(path)), true
		}
	}
	if added && !slices.Contains(r.servers, server) {
		r.servers = append(r.servers, server)
	}
}

// cleared records the fresh problems that the model gets for a file, and reports whether none of those that the model
// knows is left. The caller holds f.mu.
func (f *findings) cleared(path string, all, fresh []problem) bool {
	if len(fresh) > 0 {
		if f.reported[path] == nil {
			f.reported[path] = make(map[same]int)
		}
		maps.Copy(f.reported[path], counts(fresh))
	}
	if len(f.reported[path]) == 0 || slices.ContainsFunc(all, func(p problem) bool { return f.reported[path][p.same()] > 0 }) {
		return false
	}
	delete(f.reported, path)
	return true
}

// text returns the server's text of a file. The caller holds f.mu.
func (f *findings) text(path string) string {
	if doc := f.docs[path]; doc != nil {
		return doc.text
	}
	text, _ := readText(path)
	return text
}

// opened returns the server's text of an open file and the version of that text; ok is false if the file is not open.
func (f *findings) opened(path string) (text string, version int, ok bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	doc := f.docs[path]
	if doc == nil {
		return "", 0, false
	}
	return doc.text, doc.version, true
}

// paths returns the files with reports, sorted. The caller holds f.mu.
func (f *findings) paths() []string {
	return slices.Sorted(maps.Keys(f.found))
}

// list returns all problems of one file, or of all files if path is "". It skips files that the function inside does
// not accept. The function show returns a file's name.
func (f *findings) list(path string, inside func(string) bool, show func(string) string) []fileReport {
	f.mu.Lock()
	defer f.mu.Unlock()
	var all []fileReport
	for _, one := range f.paths() {
		p, doc := f.found[one], f.docs[one]
		if path != "" && one != path || !inside(one) || doc != nil && !f.current(doc, p) || len(p.problems) == 0 {
			continue
		}
		all = append(all, fileReport{name: show(one), text: f.text(one), problems: p.problems})
	}
	return all
}
