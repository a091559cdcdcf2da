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
	treeFolders = 5000 // folders of a target that one search looks into
	treeBatch   = 400  // of them that are listed in one go
	fetchBatch  = 50   // files that are read in one go
)

// target is a machine or a container that is reached through a host.
type remoteFS struct {
	host  *host.Host
	title string

	mu    sync.Mutex  // guards what follows
	umask os.FileMode // for new files
	asked bool        // umask is known
}

// On returns the files that a host reaches, which people call name.
func On(h *host.Host, name string) FS { return &remoteFS{host: h, title: name} }

func (t *remoteFS) Name() string { return t.title }

func (t *remoteFS) Home(ctx context.Context) (string, error) { return t.host.Home(ctx) }

// plainly makes errors of the host what those of this machine are.
func plainly(err error) error {
	var down *host.DownError
	if errors.As(err, &down) {
		return down
	}
	var p *os.PathError
	if !errors.As(err, &p) {
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
		return "", withName(path, plainly(err))
	}
	return real, nil
}

// withName names the file, unless it is about the target as a whole.
func withName(path string, err error) error {
	var down *host.DownError
	if errors.As(err, &down) {
		return err
	}
	return fmt.Errorf("%q: %w", path, Cause(err))
}

func (t *remoteFS) Lstat(ctx context.Context, path string) (Info, error) {
	info, err := t.host.Lstat(ctx, path)
	if err != nil {
		return Info{}, plainly(err)
	}
	return infoOfRemote(info), nil
}

func infoOfRemote(info host.FileInfo) Info {
	return Info{Size: info.Size, Mode: info.Mode, Modified: info.ModTime}
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

// content is what is in a file of a target. Nothing is read before the first Read.
type content struct {
	ctx  context.Context // of the call that opened the file
	host *host.Host
	path string
	size int64
	from io.ReadCloser // nil before the first Read
}

// Read reads a file that fits into memory at once; others come through a pipe, so that
// what nobody asks for is not sent.
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
		return ending{&buf, plainly(err)}
	}
	r, w := io.Pipe()
	go func() {
		const all = 1 << 60
		w.CloseWithError(plainly(c.host.Read(c.ctx, c.path, 0, all, w)))
	}()
	return r
}

func (c *content) Close() error {
	if c.from == nil {
		return nil
	}
	return c.from.Close()
}

// ending is a buffer behind which there is an error.
type ending struct {
	*bytes.Buffer
	err error
}

func (e ending) Read(p []byte) (int, error) {
	n, err := e.Buffer.Read(p)
	if errors.Is(err, io.EOF) && e.err != nil {
		err = e.err
	}
	return n, err
}

func (ending) Close() error { return nil }

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
		got := ending{Buffer: &bytes.Buffer{}, err: err}
		if err == nil {
			got = ending{bytes.NewBuffer(all[i].Data), plainly(all[i].Err)}
		}
		f.ReadCloser = got
	}
}

// targetStaged is written with its commit: on a target, one step that is whole is better
// than two of which the second may be cut off.
type remoteStaged struct {
	t    *remoteFS
	ctx  context.Context
	path string
	data []byte
	r    Rights
	perm os.FileMode // of a new file
}

func (t *remoteFS) Stage(ctx context.Context, file string, data []byte, r Rights) (Staged, error) {
	dir := path.Dir(file)
	real, err := t.host.RealPath(ctx, dir)
	if err == nil && real != dir {
		return nil, fmt.Errorf("%q was made a symbolic link since the call was planned", dir)
	}
	if err != nil {
		return nil, withName(file, plainly(err))
	}
	s := &remoteStaged{t: t, ctx: ctx, path: file, data: data, r: r, perm: r.Perm}
	info, err := t.Lstat(ctx, file)
	switch {
	case err == nil && !info.Mode.IsRegular():
		return nil, notRegular(file, info.Mode)
	case err != nil && !errors.Is(err, os.ErrNotExist):
		return nil, withName(file, err)
	case err != nil && s.perm == 0:
		if s.perm, err = t.usual(ctx, r.Executable); err != nil {
			return nil, err
		}
	}
	if err := t.host.MkdirAll(ctx, dir); err != nil {
		return nil, withName(file, plainly(err))
	}
	return s, nil
}

// usual are the permissions of a new file.
func (t *remoteFS) usual(ctx context.Context, executable bool) (os.FileMode, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.asked {
		var out bytes.Buffer
		if _, err := t.host.Run(ctx, "umask", &out, io.Discard); err != nil {
			return 0, plainly(err)
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

func (s *remoteStaged) Commit() error {
	err := s.t.host.WriteFile(s.ctx, s.path, bytes.NewReader(s.data), int64(len(s.data)), s.perm)
	if err == nil && s.r.Perm != 0 {
		err = s.t.host.Chmod(s.ctx, s.path, s.r.Perm)
	}
	if err != nil {
		return withName(s.path, plainly(err))
	}
	return nil
}

func (s *remoteStaged) Close() error { return nil }

func (t *remoteFS) Remove(ctx context.Context, path string) error {
	if err := t.host.Remove(ctx, path); err != nil {
		return withName(path, plainly(err))
	}
	return nil
}
