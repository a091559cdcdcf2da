package file

import (
	"cmp"
	"context"
	"errors"
	"os"
	"slices"
	"strings"

	udiff "github.com/aymanbagabas/go-udiff"

	"buddy/agent/action"
	"buddy/tmux/host"
)

// Limits of the detection of files that were changed by commands and other programs.
const (
	maxWatched  = 200      // files checked before a request
	maxHeldFile = 64 << 10 // bytes of a text whose content is kept
	maxHeld     = 1 << 20  // bytes of all kept texts
	maxHeldDiff = 2 << 10  // bytes of a diff for the model
)

// Change is a file that the model has read or written and that something other than a file tool has changed since.
type Change struct {
	Path string          // as the model should use it
	Diff string          // unified; "" when it is too long or unknown
	Gone bool            // the file was deleted
	Seen action.SeenFile // the model's knowledge of the file after it has read about this change
}

// hold keeps the content of a file that the model knows, so that a later change can be shown as a diff. It drops the
// oldest contents over the limit. The caller holds f.mu.
func (f *seenFiles) hold(known *seenFile, s snapshot) {
	f.held -= len(known.text)
	known.text = nil
	if f.plain || !s.whole() || len(s.data) > maxHeldFile {
		return
	}
	text, _ := decode(s.data)
	if !isText(text) {
		return
	}
	known.text = []byte(text)
	f.held += len(known.text)
	for f.held > maxHeld {
		var oldest *seenFile
		for _, one := range f.files {
			if one.text != nil && (oldest == nil || one.order < oldest.order) {
				oldest = one
			}
		}
		f.held -= len(oldest.text)
		oldest.text = nil
	}
}

// Changed returns the files that the main conversation has read or written and that have changed or disappeared since,
// sorted by path. Each change is reported once. A change with a diff then counts as known to the model; a file without
// a diff is not reported again until the model has read it. Files with the same size and time are not opened; the times
// on a target are in whole seconds. At most the 200 most recent files are checked; on a target only four, because each
// check takes time.
func (w *Workspace) Changed(ctx context.Context) []Change {
	var changed []Change
	for _, s := range w.seen.by(0).watched(maxWatched / w.files.BatchSize()) { // each check costs time on a target
		info, err := w.files.Lstat(ctx, s.Path)
		if _, ok := errors.AsType[*host.DownError](err); ok || ctx.Err() != nil {
			break
		}
		if err == nil && info.Size == s.Bytes && info.Modified.Equal(s.Modified) {
			continue
		}
		now := snapshot{}
		if err == nil {
			now, err = w.snap(ctx, s.Path)
		}
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			continue
		}
		if one, ok := w.seen.by(0).change(s.Path, now); ok {
			one.Path, one.Seen.Target, one.Seen.Path = w.show(s.Path), w.files.Name(), s.Path
			changed = append(changed, one)
		}
	}
	slices.SortFunc(changed, func(a, b Change) int { return cmp.Compare(a.Path, b.Path) })
	return changed
}

// watched returns the n most recent files. It omits a file whose change was reported until the model has read the file
// again.
func (f *seenFiles) watched(n int) []State {
	f.mu.Lock()
	defer f.mu.Unlock()
	var recent []*seenFile
	for _, s := range f.files {
		if !s.reported {
			recent = append(recent, s)
		}
	}
	slices.SortFunc(recent, latest)
	var all []State
	for _, s := range recent[:min(len(recent), n)] {
		all = append(all, s.State)
	}
	return all
}

// change compares the file at path, as the model knows it, with its present state. It returns false if nothing changed
// or the change was reported before.
func (f *seenFiles) change(path string, now snapshot) (Change, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	was, ok := f.files[path]
	if !ok || was.reported {
		return Change{}, false
	}
	if now.exists && was.same(now) {
		was.Modified = now.modified // only the time changed
		return Change{}, false
	}
	diff := ""
	if now.exists && now.whole() && was.text != nil {
		diff = shortDiff(was.text, now.data)
	}
	if was.reported = diff == ""; was.reported {
		return Change{Gone: !now.exists}, true
	}
	f.know(was, now)
	was.call = "" // the knowledge does not come from a call
	return Change{Diff: diff, Seen: action.SeenFile{Sum: was.sum, Bytes: now.size, ModifiedNS: now.modified.UnixNano()}}, true
}

// shortDiff returns the diff of two texts without the file names, or "" if it is too long or the new content is not a
// text.
func shortDiff(before, after []byte) string {
	if len(after) > maxHeldFile {
		return ""
	}
	text, _ := decode(after)
	if !isText(text) {
		return ""
	}
	d := udiff.Unified("a", "b", string(before), text)
	d = strings.TrimPrefix(d, "--- a\n+++ b\n")
	if len(d) > maxHeldDiff {
		return ""
	}
	return d
}
