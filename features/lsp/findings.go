package lsp

import (
	"maps"
	"slices"
	"sync"
	"time"
)

const (
	// quiet says how long a server that does not say which text it means must have added nothing.
	quiet = 300 * time.Millisecond
	// firstQuiet is the same when it has just started: nobody waits that long for what comes then.
	firstQuiet = time.Second
	// calm says how long nothing must have been said of any file: the files that a change has broken
	// follow those that were changed.
	calm = 50 * time.Millisecond
	// silence limits how long such a server may need for its first word about a text: some say nothing
	// where nothing is wrong.
	silence = 800 * time.Millisecond
	// firstSilence is the same when the server has just started and reads the project.
	firstSilence = 10 * time.Second
	// maxFiles limits the files that a server may have something to say about.
	maxFiles = 5000
)

// published holds what a server has said of a file last.
type published struct {
	version  *int // of the text that it means; nil: it did not say
	barrier  int  // the last one that it had answered then
	at       time.Time
	problems []problem
}

// findings holds what a running server was told and has found. It is safe for concurrent use.
type findings struct {
	news chan struct{} // gets one value when something has come

	mu        sync.Mutex // guards what follows
	docs      map[string]*document
	found     map[string]published
	known     map[string]map[same]int // was there before a change, or the model was told
	told      map[string]map[same]int // the model was told and it is not gone
	versioned bool                    // the server says which text it means
	based     bool                    // it has seen the project without our changes
	barriers  int                     // that were sent; see [wire.barrier]
	passed    int                     // the last one that it has answered
	passedAt  time.Time
	last      time.Time // when something was said of a file
}

func newFindings() *findings {
	return &findings{
		news: make(chan struct{}, 1), docs: make(map[string]*document), found: make(map[string]published), known: make(map[string]map[same]int), told: make(map[string]map[same]int),
	}
}

// changed wakes those who wait for something new.
func (f *findings) changed() {
	select {
	case f.news <- struct{}{}:
	default:
	}
}

// publish takes up what the server says of a file. What it says of an older text is dropped.
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

// calm returns how long it takes until nothing was said for a moment, if nothing is said.
func (f *findings) calm() time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	return max(0, calm-time.Since(f.last))
}

// store keeps what the server says of a file: always of an open one, because somebody waits for it; of another that
// something is wrong in it, and when that is gone. The caller holds f.mu.
func (f *findings) store(path string, version *int, all []problem) {
	if _, there := f.found[path]; !there && f.docs[path] == nil && (len(all) == 0 || len(f.found) >= maxFiles) {
		return
	}
	f.found[path] = published{version: version, barrier: f.passed, at: time.Now(), problems: all}
}

// pulled takes up the answer to a pull, which is about the text that the server had then.
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

// pass notes that the server has read everything up to a barrier.
func (f *findings) pass(barrier int) {
	f.mu.Lock()
	defer f.changed()
	defer f.mu.Unlock()
	f.passed, f.passedAt = max(f.passed, barrier), time.Now()
}

// due returns how long it takes until what the server has said of the text of a file counts, if it adds
// nothing: 0 is now, below 0 that only the server knows. busy says that it works on something, and
// rested when it did last.
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

// patience returns from when and how long a server is waited for that does not say which text it
// means, and has said something of the last one or not. The caller holds f.mu.
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

// current reports whether what the server has said of a file is about its text. The caller holds f.mu.
func (f *findings) current(doc *document, p published) bool {
	if p.version != nil {
		return *p.version == doc.version
	}
	return !f.versioned && p.barrier >= doc.barrier || f.passed >= doc.barrier && time.Since(f.passedAt) >= silence
}

// fresh returns what was found and nobody knows, by file. The caller holds f.mu.
func (f *findings) fresh() map[string]map[same]int {
	all := make(map[string]map[same]int)
	for path, p := range f.found {
		if n := counts(without(p.problems, f.known[path])); len(n) > 0 {
			all[path] = n
		}
	}
	return all
}

// accept makes known all that was found, except what was fresh before.
func (f *findings) accept(before map[string]map[same]int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for path, p := range f.found {
		f.known[path] = counts(without(p.problems, before[path]))
	}
}

// tell adds to a report what is new. inside chooses the files, and show names them.
func (f *findings) tell(r *report, server string, inside func(string) bool, show func(string) string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	said := false
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
			r.files, said = append(r.files, fileReport{name: show(path), text: f.text(path), changed: doc != nil, problems: fresh}), true
		}
		if f.cleared(path, p.problems, fresh) {
			r.cleared, said = append(r.cleared, show(path)), true
		}
	}
	if said && !slices.Contains(r.servers, server) {
		r.servers = append(r.servers, server)
	}
}

// cleared notes what the model is told of a file, and reports whether all that it was told before is
// gone. The caller holds f.mu.
func (f *findings) cleared(path string, all, fresh []problem) bool {
	if len(fresh) > 0 {
		if f.told[path] == nil {
			f.told[path] = make(map[same]int)
		}
		maps.Copy(f.told[path], counts(fresh))
	}
	if len(f.told[path]) == 0 || slices.ContainsFunc(all, func(p problem) bool { return f.told[path][p.same()] > 0 }) {
		return false
	}
	delete(f.told, path)
	return true
}

// text returns the text of a file as the server has it. The caller holds f.mu.
func (f *findings) text(path string) string {
	if doc := f.docs[path]; doc != nil {
		return doc.text
	}
	text, _ := readText(path)
	return text
}

// paths returns the files that something was said of, in order. The caller holds f.mu.
func (f *findings) paths() []string {
	return slices.Sorted(maps.Keys(f.found))
}

// list returns all that was found, in one file or all (""). inside chooses the files, and show names
// them.
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
