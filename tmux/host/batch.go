package host

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"
)

const (
	manyMax    = 16 << 20 // bytes of names and metadata that ReadDirs accepts
	filesMax   = 64 << 20 // bytes of files that ReadFiles accepts
	unwanted   = 99       // exit code of files.sh for a file with none of the texts
	searchWith = "LC_ALL=C grep -l -F"
)

// errTooMuch ends a read that returns more than expected.
var errTooMuch = errors.New("more than expected")

// limited is a buffer that refuses to grow beyond max.
type limited struct {
	bytes.Buffer
	max int
}

func (l *limited) Write(p []byte) (int, error) {
	if l.Len()+len(p) > l.max {
		return 0, errTooMuch
	}
	return l.Buffer.Write(p)
}

// ReadDirs lists many folders in one round trip, each as [Host.ReadDir] does. top must be a path without symbolic
// links, as [Host.RealPath] returns it; dirs are relative to top, "." for top itself. lists has no entry for a folder
// that cannot be read. more means that the lists are incomplete. If one of dirs has just been replaced by a link,
// ReadDirs may follow the link.
func (h *Host) ReadDirs(ctx context.Context, top string, dirs []string) (lists map[string][]FileInfo, more bool, err error) {
	call := []string{"lists", strconv.Itoa(manyMax), top}
	lists = make(map[string][]FileInfo, len(dirs))
	for _, d := range dirs {
		lists[d] = nil
		if d != "." {
			d = "./" + d
		}
		call = append(call, d)
	}
	out := limited{max: manyMax}
	if err := h.files(ctx, "list", top, &out, call...); err != nil {
		return nil, false, err
	}
	records := strings.Split(out.String(), "//")[1:]
	if more = out.Len() >= manyMax; more {
		records = records[:len(records)-1] // may be incomplete
	}
	for _, r := range records {
		if dir, failed := strings.CutPrefix(r, "- "); failed {
			delete(lists, strings.TrimPrefix(strings.TrimSuffix(dir, "\n"), "./"))
			continue
		}
		info, name, err := parseFacts(r)
		if err != nil {
			return nil, more, &fs.PathError{Op: "list", Path: top, Err: err}
		}
		dir, base, ok := strings.Cut(strings.TrimSuffix(name, "\n"), "/./")
		if dir = strings.TrimPrefix(dir, "./"); !ok {
			return nil, more, &fs.PathError{Op: "list", Path: top, Err: fmt.Errorf("unexpected output of find: %q", clean(name))}
		}
		info.Name = base
		if _, asked := lists[dir]; asked {
			lists[dir] = append(lists[dir], info)
		}
	}
	return lists, more, nil
}

// Texts selects files that contain at least one of the texts in Any. The zero value selects all files.
type Texts struct {
	Any  []string
	Fold bool // ignores the case of ASCII letters
}

// FileData is the result of ReadFiles for one file.
type FileData struct {
	Data []byte
	Skip bool  // the file contains none of the texts
	Err  error // an [fs.PathError] with the reason why the file cannot be read
}

// ReadFiles reads many regular files in one round trip, at most limit bytes of each and 64 MiB in all. The paths must
// be free of symbolic links, as [Host.RealPath] returns them. have selects the files whose content is transferred.
func (h *Host) ReadFiles(ctx context.Context, paths []string, limit int64, have Texts) ([]FileData, error) {
	filter := ""
	if len(have.Any) > 0 {
		test := searchWith
		if have.Fold {
			test += " -i"
		}
		for _, t := range have.Any {
			test += " -e " + Quote(t)
		}
		// Check again: a file that was regular when it was listed may now be something that blocks grep, such as a
		// pipe.
		filter = `find_texts() { for f; do shift; [ ! -f "$f" ] || [ -L "$f" ] || set -- "$@" "$f"; done; ` + test + ` -- "$@"; }` + "\n"
	}
	token := rand.Text()
	call := []string{"slices", strconv.FormatInt(limit, 10), token}
	for _, p := range paths {
		if err := checkPath("read", p); err != nil {
			return nil, err
		}
		call = append(call, p)
	}
	out := limited{max: filesMax}
	var message lastBytes
	code, err := h.Run(ctx, filesSh+filter+Line(call...), &out, &message)
	if err != nil || code != 0 {
		return nil, pathError("read", path.Dir(paths[0]), code, string(message.b), err)
	}
	return parseFiles(out.Bytes(), token, paths)
}

// parseFiles parses the output of the shell function slices.
func parseFiles(out []byte, token string, paths []string) ([]FileData, error) {
	all := make([]FileData, len(paths))
	for i, p := range paths {
		data, rest, ok := bytes.Cut(out, []byte("\n"+token+" "))
		number, rest, end := bytes.Cut(rest, []byte("\n"))
		code, err := strconv.Atoi(string(number))
		if !ok || !end || err != nil {
			return nil, &fs.PathError{Op: "read", Path: p, Err: errors.New("the target's answer is incomplete")}
		}
		out = rest
		if code == unwanted {
			all[i].Skip = true
			continue
		}
		all[i] = FileData{Data: data, Err: pathError("read", p, code, "", nil)}
	}
	return all, nil
}

// Remove removes the regular file at path, which must contain no symbolic links.
func (h *Host) Remove(ctx context.Context, path string) error {
	return h.change(ctx, "remove", path, "remove", path)
}

// Rename moves the regular file at path, which must contain no symbolic links, to another path. Missing folders are
// created.
func (h *Host) Rename(ctx context.Context, from, to string) error {
	return h.change(ctx, "rename", from, "rename", from, to)
}

// Chmod sets the permissions of the regular file at path, which must contain no symbolic links.
func (h *Host) Chmod(ctx context.Context, path string, perm fs.FileMode) error {
	return h.change(ctx, "chmod", path, "mode", path, strconv.FormatUint(uint64(perm.Perm()), 8))
}
