package file

import (
	"context"
	"fmt"
	"strings"

	"buddy/tools"
	"buddy/tools/fs"
)

// before describes a file that is about to get new content.
func before(path string, old snapshot, data []byte) tools.Before {
	return tools.Before{Path: path, Existed: old.exists, Data: old.data, Lost: !old.whole(), Perm: old.perm, After: tools.SumOf(data)}
}

// beforePatch describes the files of a patch.
func beforePatch(changes []change) []tools.Before {
	var all []tools.Before
	for _, c := range changes {
		if c.from != "" && c.from != c.to {
			gone := before(c.from, c.old, nil)
			gone.After = ""
			all = append(all, gone)
		}
		switch {
		case c.to == "":
		case c.from == c.to:
			all = append(all, before(c.to, c.old, c.data))
		default:
			all = append(all, before(c.to, snapshot{}, c.data))
		}
	}
	return all
}

// Restore restores files to their earlier state, all or none. Without force, Restore writes nothing if a file no longer
// matches After, and returns such files as changed. The model must read a restored file again before it changes it.
func (w *Workspace) Restore(ctx context.Context, files []tools.Before, force bool) (changed []string, err error) {
	w.writing.Lock()
	defer w.writing.Unlock()
	var changes []change
	for _, b := range files {
		if b.Lost {
			return nil, fmt.Errorf("%q: its earlier content is no longer stored", b.Path)
		}
		now, err := w.snap(ctx, b.Path)
		if err != nil {
			return nil, err
		}
		switch was := b.Sum(); {
		case now.sum() == was:
			continue // already restored
		case now.sum() != b.After && !force:
			changed = append(changed, b.Path)
		}
		changes = append(changes, putBack(b, now))
	}
	if len(changed) > 0 {
		return changed, nil
	}
	if _, err := w.commit(ctx, renames(changes)); err != nil {
		return nil, err
	}
	for _, b := range files {
		w.seen.forget(b.Path)
	}
	return nil, nil
}

// Forget marks files as changed: the model must read them again before it changes them.
func (w *Workspace) Forget(paths []string) {
	for _, path := range paths {
		w.seen.forget(path)
	}
}

// sum returns SumOf the content. Each file that is too large to read gets a sum of its own.
func (s snapshot) sum() string {
	switch {
	case !s.exists:
		return ""
	case !s.whole():
		return fmt.Sprintf("%d bytes of %s", s.size, s.modified.UTC())
	}
	return tools.SumOf(s.data)
}

// putBack returns the change that restores a file.
func putBack(b tools.Before, now snapshot) change {
	c := change{from: b.Path, to: b.Path, old: now, data: b.Data, rights: fs.Rights{Perm: b.Perm}}
	switch {
	case !now.exists:
		c.from = ""
	case now.perm == b.Perm:
		c.rights = fs.Rights{} // unchanged
	}
	if !b.Existed {
		c.to = ""
	}
	return c
}

// renames combines a created file and an adjacent removed file into one rename: a patch or /redo has probably renamed
// the file, and renaming it again keeps its attributes. The result has the right content even if they were two separate
// files.
func renames(changes []change) (all []change) {
	for i := 0; i < len(changes); i++ {
		c := changes[i]
		if i+1 < len(changes) {
			comes, goes := c, changes[i+1]
			if comes.from != "" {
				comes, goes = goes, comes
			}
			if comes.from == "" && goes.to == "" {
				c = change{from: goes.from, to: comes.to, old: goes.old, data: comes.data}
				if comes.rights.Perm != goes.old.perm {
					c.rights = comes.rights
				}
				i++
			}
		}
		all = append(all, c)
	}
	return all
}

// Limits of the diff of changes.
const (
	maxChanges  = 2 << 20   // bytes, of all files
	changeBytes = 256 << 10 // of one file
	changeLines = 2000
)

// Difference compares files with their earlier state. For each changed file, the text has a line with mark and the
// file's name, then a unified diff. files is the number of changed files.
func (w *Workspace) Difference(ctx context.Context, all []tools.Before, mark string) (text string, files int, err error) {
	var out strings.Builder
	for _, b := range all {
		now, err := w.snap(ctx, b.Path)
		if err != nil {
			return "", 0, err
		}
		body := difference(w, b, now)
		if body == "" {
			continue
		}
		files++
		if out.Len() > maxChanges {
			continue
		}
		sizes, lines, _ := strings.Cut(body, "\n")
		fmt.Fprintf(&out, "%s%s  %s\n%s", mark, w.show(b.Path), sizes, capped(lines))
	}
	if out.Len() > maxChanges {
		fmt.Fprintf(&out, "%s… the changes of more files are left out\n", mark)
	}
	return out.String(), files, nil
}

// capped cuts the diff of one file at its limits, with a note.
func capped(text string) string {
	end := 0
	for range changeLines {
		i := strings.IndexByte(text[end:], '\n')
		if i < 0 {
			end = len(text)
			break
		}
		end += i + 1
	}
	shown := tools.Head(text[:end], changeBytes)
	rest := text[len(shown):]
	if rest == "" {
		return text
	}
	if !strings.HasSuffix(shown, "\n") {
		shown += "\n"
	}
	return shown + fmt.Sprintf("… cut here: %d more bytes in %d lines\n", len(rest), strings.Count(rest, "\n"))
}

// difference returns a line with the sizes and the diff of one file, "" when it is unchanged.
func difference(w *Workspace, b tools.Before, now snapshot) string {
	return between(w.show(b.Path), b, now)
}

// Difference returns a line with the sizes and the diff of two contents of a file, "" if they are the same. Data is nil
// for a content that is too large or not that of a regular file; only its size is then shown.
func Difference(name string, was, is Content) string {
	old := tools.Before{Existed: was.Exists, Data: was.Data}
	if was.Exists && int64(len(was.Data)) != was.Size {
		return fmt.Sprintf("%d → %d bytes that are too many to compare\n", was.Size, is.Size)
	}
	return capped(between(name, old, snapshot{exists: is.Exists, size: is.Size, data: is.Data}))
}

// Content is a content of a file, see [Difference].
type Content struct {
	Exists bool
	Size   int64
	Data   []byte
}

// between implements difference, for a file with the given name.
func between(name string, b tools.Before, now snapshot) string {
	old := snapshot{exists: b.Existed, size: int64(len(b.Data)), data: b.Data, perm: b.Perm}
	was, charset := decode(b.Data)
	is, to := decodeAfter(charset, now.data)
	switch {
	case b.Sum() == now.sum() && !b.Lost:
		return ""
	case b.Lost:
		return "the file changed; its earlier content is no longer stored\n"
	case !now.exists && !isText(was):
		return fmt.Sprintf("deleted, %d bytes that are not text\n", len(b.Data))
	case !now.exists:
		return diff(name, "/dev/null", was, "", "deleted", fmt.Sprintf("%d bytes%s", len(b.Data), charset.in()))
	case !now.whole() || !isText(is) || !isText(was):
		return fmt.Sprintf("%d → %d bytes that are not text or too many to compare\n", len(b.Data), now.size)
	}
	return compare(name, old, now.data, to)
}

// Contents returns the current state of files. Files that are too large to read are Lost.
func (w *Workspace) Contents(ctx context.Context, paths []string) ([]tools.Before, error) {
	all := make([]tools.Before, len(paths))
	for i, path := range paths {
		now, err := w.snap(ctx, path)
		if err != nil {
			return nil, err
		}
		all[i] = before(path, now, nil)
		all[i].After = ""
	}
	return all, nil
}
