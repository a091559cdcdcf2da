package host

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strconv"
	"strings"
	"syscall"
	"time"
)

//go:embed files.sh
var filesSh string

// Limits of file operations.
const (
	PathMax = 4096    // bytes of a path
	ListMax = 1 << 20 // bytes of the names and metadata in a folder's list
)

// causes maps the exit codes of files.sh to errors.
var causes = map[int]error{
	91: fs.ErrNotExist,
	92: fs.ErrPermission,
	93: errors.New("not a regular file"),
	94: syscall.ENOTDIR,
	95: errors.New("is a symbolic link, or a folder on the way to it is one"),
	96: errors.New("a symbolic link that leads to nothing"),
	89: ErrHalf,
	90: ErrLoses,
	97: errors.New("the content did not arrive completely; the file is unchanged"),
	98: syscall.ELOOP,
}

var (
	// ErrLoses means that WriteFile, which replaces a file by renaming a new one, would lose attributes of the old
	// file. The file is unchanged.
	ErrLoses = errors.New("a rename would lose attributes of the file")
	// ErrHalf means that Overwrite failed and could not restore the old content, so the file may be incomplete.
	ErrHalf = errors.New("neither its new content nor the old one could be written")
)

// FileInfo describes a file on a target.
type FileInfo struct {
	Name    string      // last element of its path
	Size    int64       // bytes
	Mode    fs.FileMode // kind and permissions
	ModTime time.Time   // in whole seconds
	Links   int         // number of hard links; 0 in lists
}

// files runs a function of files.sh. Errors are of type [fs.PathError].
func (h *Host) files(ctx context.Context, op, path string, out io.Writer, call ...string) error {
	if err := checkPath(op, path); err != nil {
		return err
	}
	var message lastBytes
	code, err := h.Run(ctx, filesSh+Line(call...), out, &message)
	return pathError(op, path, code, string(message.b), err)
}

func checkPath(op, path string) error {
	if !strings.HasPrefix(path, "/") || len(path) > PathMax || strings.IndexByte(path, 0) >= 0 {
		return &fs.PathError{Op: op, Path: path, Err: fmt.Errorf("must be an absolute path of at most %d bytes", PathMax)}
	}
	return nil
}

func pathError(op, path string, code int, message string, err error) error {
	switch {
	case err != nil:
		return &fs.PathError{Op: op, Path: path, Err: err}
	case code == 0:
		return nil
	case causes[code] != nil:
		return &fs.PathError{Op: op, Path: path, Err: causes[code]}
	case strings.Contains(message, "No space left on device"):
		return &fs.PathError{Op: op, Path: path, Err: fmt.Errorf("the disk there is full: %w", syscall.ENOSPC)}
	case message == "":
		return &fs.PathError{Op: op, Path: path, Err: fmt.Errorf("exit code %d", code)}
	}
	return &fs.PathError{Op: op, Path: path, Err: errors.New(lastLine(message))}
}

// Read copies at most count bytes from an offset of the regular file at path to w, in constant memory. path must be as
// [Host.RealPath] returns it: Read fails if it contains a symbolic link. If fewer than count bytes remain, Read copies
// those, without an error.
func (h *Host) Read(ctx context.Context, path string, offset, count int64, w io.Writer) error {
	return h.files(ctx, "read", path, w, "slice", path, strconv.FormatInt(offset, 10), strconv.FormatInt(count, 10))
}

// Stat describes the file at path, following links.
func (h *Host) Stat(ctx context.Context, path string) (FileInfo, error) {
	return h.facts(ctx, "stat", path, "-L")
}

// Lstat describes the file at path without following a link at its end.
func (h *Host) Lstat(ctx context.Context, path string) (FileInfo, error) {
	return h.facts(ctx, "lstat", path, "")
}

func (h *Host) facts(ctx context.Context, op, name, follow string) (FileInfo, error) {
	var out bytes.Buffer
	if err := h.files(ctx, op, name, &out, "facts", name, follow); err != nil {
		return FileInfo{}, err
	}
	info, links, err := parseFacts(strings.TrimSuffix(out.String(), "\n"))
	if err == nil {
		info.Links, err = strconv.Atoi(links)
	}
	if err != nil {
		return FileInfo{}, &fs.PathError{Op: op, Path: name, Err: err}
	}
	info.Name = path.Base(name)
	return info, nil
}

// parseFacts reads "MODE SIZE TIME " and returns the rest.
func parseFacts(text string) (info FileInfo, rest string, err error) {
	f := strings.SplitN(text, " ", 4)
	if len(f) < 4 {
		return info, "", fmt.Errorf("unexpected output of stat: %q", clean(text))
	}
	mode, err := strconv.ParseUint(f[0], 16, 32)
	if err != nil {
		return info, "", fmt.Errorf("mode %q: not a hexadecimal number", clean(f[0]))
	}
	if info.Size, err = strconv.ParseInt(f[1], 10, 64); err != nil {
		return info, "", fmt.Errorf("size %q: not a number", clean(f[1]))
	}
	at, err := strconv.ParseInt(f[2], 10, 64)
	if err != nil {
		return info, "", fmt.Errorf("time %q: not a number", clean(f[2]))
	}
	info.Mode, info.ModTime = fileMode(uint32(mode)), time.Unix(at, 0)
	return info, f[3], nil
}

// fileMode translates the mode bits that every Unix uses.
func fileMode(m uint32) fs.FileMode {
	mode := fs.FileMode(m & 0o777)
	switch m & 0o170000 {
	case 0o040000:
		mode |= fs.ModeDir
	case 0o120000:
		mode |= fs.ModeSymlink
	case 0o010000:
		mode |= fs.ModeNamedPipe
	case 0o140000:
		mode |= fs.ModeSocket
	case 0o020000:
		mode |= fs.ModeDevice | fs.ModeCharDevice
	case 0o060000:
		mode |= fs.ModeDevice
	}
	for bit, f := range map[uint32]fs.FileMode{0o4000: fs.ModeSetuid, 0o2000: fs.ModeSetgid, 0o1000: fs.ModeSticky} {
		if m&bit != 0 {
			mode |= f
		}
	}
	return mode
}

// Readlink returns the target of the link at path, which may be a relative path.
func (h *Host) Readlink(ctx context.Context, path string) (string, error) {
	var out bytes.Buffer
	if err := h.files(ctx, "readlink", path, &out, "target", path); err != nil {
		return "", err
	}
	return strings.TrimSuffix(out.String(), "\n.\n"), nil
}

// RealPath returns path without symbolic links. Missing names at its end stay unchanged; a dangling link is an error. A
// ".." after a link is resolved from the link's target.
func (h *Host) RealPath(ctx context.Context, name string) (string, error) {
	if err := checkPath("resolve", name); err != nil {
		return "", err
	}
	var out bytes.Buffer
	if err := h.files(ctx, "resolve", name, &out, "real", name); err != nil {
		return "", err
	}
	return path.Clean(strings.TrimSuffix(out.String(), ".")), nil
}

// ReadDir lists the folder at path, which must contain no symbolic links, in no particular order and without following
// links. more means that the list was cut after [ListMax] entries.
func (h *Host) ReadDir(ctx context.Context, path string) (list []FileInfo, more bool, err error) {
	var out bytes.Buffer
	if err := h.files(ctx, "list", path, &out, "list", path, strconv.Itoa(ListMax)); err != nil {
		return nil, false, err
	}
	list, err = parseList(out.String())
	if more = out.Len() >= ListMax; more && len(list) > 0 {
		list = list[:len(list)-1] // may be incomplete
		err = nil
	}
	if err != nil {
		err = &fs.PathError{Op: "list", Path: path, Err: err}
	}
	return list, more, err
}

func parseList(text string) ([]FileInfo, error) {
	var list []FileInfo
	records := strings.Split(text, "//")
	for _, r := range records[1:] {
		info, name, err := parseFacts(r)
		if err != nil {
			return list, err
		}
		info.Name = strings.TrimPrefix(strings.TrimSuffix(name, "\n"), "./")
		list = append(list, info)
	}
	return list, nil
}

// WriteFile writes content, of exactly size bytes, to the file at path, completely or not at all. An existing file
// keeps its mode and its owner; a new one gets perm. path must contain no symbolic links, and its folder must exist. If
// the write would lose attributes of the file, WriteFile fails with [ErrLoses], unless anyway is set.
func (h *Host) WriteFile(ctx context.Context, path string, content io.Reader, size int64, perm fs.FileMode, anyway bool) error {
	more := []string{strconv.FormatUint(uint64(perm.Perm()), 8)}
	if anyway {
		more = append(more, "anyway")
	}
	return h.write(ctx, path, content, size, "store", more...)
}

// Overwrite writes content, of exactly size bytes, into the existing file at path, which keeps its attributes except
// setuid and setgid. path must contain no symbolic links. The old bytes are copied first and restored if writing fails;
// after an [ErrHalf] or [ErrUnknown] the file may be incomplete.
func (h *Host) Overwrite(ctx context.Context, path string, content io.Reader, size int64) error {
	return h.write(ctx, path, content, size, "overwrite")
}

func (h *Host) write(ctx context.Context, path string, content io.Reader, size int64, function string, more ...string) error {
	const op = "write"
	if err := checkPath(op, path); err != nil {
		return err
	}
	call := append([]string{function, path, strconv.FormatInt(size, 10), tempName()}, more...)
	code, message, err := h.feed(ctx, filesSh+Line(call...), io.LimitReader(content, size+1))
	return changeError(op, path, code, message, err)
}

// changeError converts an error of an operation that changes a file, as pathError does. The error matches [ErrUnknown]
// after a lost connection, a signal, or an unexpected answer of the shell.
func changeError(op, path string, code int, message string, err error) error {
	failed := pathError(op, path, code, message, err)
	if err != nil && !errors.Is(err, ErrNotSent) || code > unwanted {
		return unknownError{failed}
	}
	return failed
}

// change runs a function of files.sh that changes the file at path.
func (h *Host) change(ctx context.Context, op, path string, call ...string) error {
	if err := checkPath(op, path); err != nil {
		return err
	}
	var message lastBytes
	code, err := h.Run(ctx, filesSh+Line(call...), io.Discard, &message)
	return changeError(op, path, code, string(message.b), err)
}

// MkdirAll creates the folder at path with its missing parents.
func (h *Host) MkdirAll(ctx context.Context, path string) error {
	return h.files(ctx, "make", path, io.Discard, "mkdir", "-p", "--", path)
}

// Home returns the real path of the home directory on the target, where commands start by
// default.
func (h *Host) Home(ctx context.Context) (string, error) {
	var out, message bytes.Buffer
	code, err := h.Run(ctx, `cd && pwd -P && echo .`, &out, &message)
	if err == nil && code != 0 {
		err = fmt.Errorf("%s: home directory: %s", h.Name(), lastLine(message.String()))
	}
	return strings.TrimSuffix(out.String(), "\n.\n"), err
}
