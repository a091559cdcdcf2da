package fs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"buddy/tmux/host"
)

const (
	treeFolders = 5000 // folders of a target that one search reads
	treeBatch   = 400  // folders listed by one command
	fetchBatch  = 50   // files read by one command
)

// remoteFS accesses the files of a machine or a container through a host.
type remoteFS struct {
	host  *host.Host
	title string

	mu    sync.Mutex  // guards what follows
	umask os.FileMode // for new files
	asked bool        // umask is known
}

// On returns the files that a host reaches; name is for display.
func On(h *host.Host, name string) FS { return &remoteFS{host: h, title: name} }

func (t *remoteFS) Name() string { return t.title }

func (t *remoteFS) Home(ctx context.Context) (string, error) { return t.host.Home(ctx) }

// localError converts errors of the host to those that local files return.
func localError(err error) error {
	if down, ok := errors.AsType[*host.DownError](err); ok {
		return down
	}
	p, ok := errors.AsType[*os.PathError](err)
	if !ok {
		return err
	}
	switch {
	case errors.Is(p.Err, syscall.ELOOP):
		p.Err = errors.New("too many links")
	case errors.Is(p.Err, os.ErrNotExist):
		p.Err = syscall.ENOENT
	case errors.Is(p.Err, os.ErrPermission):
		p.Err = syscall.EACCES
	}
	return p
}

func (t *remoteFS) RealPath(ctx context.Context, path string) (string, error) {
	real, err := t.host.RealPath(ctx, path)
	if err != nil {
		return "", withName(path, localError(err))
	}
	return real, nil
}

// withName adds the file to an error, unless the error is about the whole target.
func withName(path string, err error) error {
	if _, ok := errors.AsType[*host.DownError](err); ok {
		return err
	}
	return fmt.Errorf("%q: %w", path, Cause(err))
}

func (t *remoteFS) Lstat(ctx context.Context, path string) (Info, error) {
	info, err := t.host.Lstat(ctx, path)
	if err != nil {
		return Info{}, localError(err)
	}
	return infoOfRemote(info), nil
}

func infoOfRemote(info host.FileInfo) Info {
	return Info{Size: info.Size, Mode: info.Mode, Modified: info.ModTime, Links: info.Links}
}

func (t *remoteFS) Open(ctx context.Context, path string) (*File, error) {
	info, err := t.Lstat(ctx, path)
	if err != nil {
		return nil, err
	}
	if !info.Mode.IsRegular() {
		return nil, notRegular(path, info.Mode)
	}
	return t.file(ctx, path, info), nil
}

func (t *remoteFS) file(ctx context.Context, path string, info Info) *File {
	return &File{&content{ctx: ctx, host: t.host, path: path, size: info.Size}, path, info}
}

// content reads a file of a target. It does nothing before the first Read.
type content struct {
	ctx  context.Context // of the call that opened the file
	host *host.Host
	path string
	size int64
	from io.ReadCloser // nil before the first Read
}

// Read fetches a file that fits into memory at once. A larger file comes through a pipe, so that the target sends only
// the bytes that are read.
func (c *content) Read(p []byte) (int, error) {
	if c.from == nil {
		c.from = c.begin()
	}
	return c.from.Read(p)
}

func (c *content) begin() io.ReadCloser {
	if c.size <= MaxText {
		var buf bytes.Buffer
		err := c.host.Read(c.ctx, c.path, 0, MaxText+1, &buf)
		return failingBuffer{&buf, localError(err)}
	}
	r, w := io.Pipe()
	go func() {
		const all = 1 << 60
		w.CloseWithError(localError(c.host.Read(c.ctx, c.path, 0, all, w)))
	}()
	return r
}

func (c *content) Close() error {
	if c.from == nil {
		return nil
	}
	return c.from.Close()
}

// failingBuffer returns its bytes, then an error.
type failingBuffer struct {
	*bytes.Buffer
	err error
}

func (e failingBuffer) Read(p []byte) (int, error) {
	n, err := e.Buffer.Read(p)
	if errors.Is(err, io.EOF) && e.err != nil {
		err = e.err
	}
	return n, err
}

func (failingBuffer) Close() error { return nil }

func (t *remoteFS) BatchSize() int { return fetchBatch }

func (t *remoteFS) Fetch(ctx context.Context, files []*File, need host.Texts) {
	if len(files) < 2 {
		return
	}
	paths := make([]string, len(files))
	for i, f := range files {
		paths[i] = f.Path
	}
	all, err := t.host.ReadFiles(ctx, paths, MaxText+1, need)
	for i, f := range files {
		got := failingBuffer{Buffer: &bytes.Buffer{}, err: err}
		if err == nil {
			got = failingBuffer{bytes.NewBuffer(all[i].Data), localError(all[i].Err)}
		}
		f.ReadCloser = got
	}
}

// remoteStaged holds the content in memory and writes it at commit in one atomic command, because the second of two
// commands could fail.
type remoteStaged struct {
	t    *remoteFS
	ctx  context.Context
	path string
	data []byte
	r    Rights
	perm os.FileMode // of a new file
	old  Info        // zero for a new file
}

func (t *remoteFS) Stage(ctx context.Context, file string, data []byte, r Rights) (Staged, error) {
	dir := path.Dir(file)
	real, err := t.host.RealPath(ctx, dir)
	if err == nil && real != dir {
		return nil, fmt.Errorf("%q has become a symbolic link since the call was planned", dir)
	}
	if err != nil {
		return nil, withName(file, localError(err))
	}
	s := &remoteStaged{t: t, ctx: ctx, path: file, data: data, r: r, perm: r.Perm}
	info, err := t.Lstat(ctx, file)
	s.old = info
	switch {
	case err == nil && !info.Mode.IsRegular():
		return nil, notRegular(file, info.Mode)
	case err != nil && !errors.Is(err, os.ErrNotExist):
		return nil, withName(file, err)
	case err != nil && s.perm == 0:
		if s.perm, err = t.defaultPerm(ctx, r.Executable); err != nil {
			return nil, err
		}
	}
	if err := t.host.MkdirAll(ctx, dir); err != nil {
		return nil, withName(file, localError(err))
	}
	return s, nil
}

// defaultPerm returns the permissions of a new file.
func (t *remoteFS) defaultPerm(ctx context.Context, executable bool) (os.FileMode, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.asked {
		var out bytes.Buffer
		if _, err := t.host.Run(ctx, "umask", &out, io.Discard); err != nil {
			return 0, localError(err)
		}
		mask, err := strconv.ParseUint(strings.TrimSpace(out.String()), 8, 32)
		if err != nil {
			return 0, fmt.Errorf("%s: umask said %q", t.Name(), out.String())
		}
		t.umask, t.asked = os.FileMode(mask).Perm(), true
	}
	if executable {
		return 0o777 &^ t.umask, nil
	}
	return 0o666 &^ t.umask, nil
}

func (s *remoteStaged) Commit(keep func() error) (dropped []string, err error) {
	err, torn := host.ErrLoses, false
	linked, breaks := s.old.Links > 1, BreaksLinks(s.path)
	if !linked || breaks {
		err = s.t.host.WriteFile(s.ctx, s.path, bytes.NewReader(s.data), int64(len(s.data)), s.perm, linked)
	}
	if errors.Is(err, host.ErrLoses) {
		if err := keep(); err != nil {
			return nil, err
		}
		// Overwrite is not cancelled: the state of a partly overwritten file would be unknown.
		err = s.t.host.Overwrite(context.WithoutCancel(s.ctx), s.path, bytes.NewReader(s.data), int64(len(s.data)))
		torn = errors.Is(err, host.ErrUnknown) || errors.Is(err, host.ErrHalf)
	}
	switch {
	case torn:
		return nil, &TornError{withName(s.path, localError(err))}
	case err != nil:
		return nil, changeError(s.path, "written", err)
	}
	if s.r.Perm != 0 && s.r.Perm != s.old.Mode.Perm() {
		if err := s.t.host.Chmod(s.ctx, s.path, s.r.Perm); err != nil {
			return nil, &UnsureError{withName(s.path, localError(err)), fmt.Sprintf("%q was written, but its permissions may not be set", s.path)}
		}
	}
	return droppedBits(s.old.Mode), nil
}

// changeError names the file in an error of a change on a target. If the change may have been made, it returns an
// UnsureError.
func changeError(path, done string, err error) error {
	named := withName(path, localError(err))
	if errors.Is(err, host.ErrUnknown) {
		return &UnsureError{named, fmt.Sprintf("it is not known whether %q was %s; read it", path, done)}
	}
	return named
}

func (s *remoteStaged) Close() error { return nil }

func (t *remoteFS) Remove(ctx context.Context, path string) error {
	if err := t.host.Remove(ctx, path); err != nil {
		return changeError(path, "removed", err)
	}
	return nil
}

func (t *remoteFS) Rename(ctx context.Context, from, to string) error {
	if err := t.host.Rename(ctx, from, to); err != nil {
		return changeError(from, "renamed", err)
	}
	return nil
}
