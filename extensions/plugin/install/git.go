package install

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unicode"

	"buddy/extensions/plugin"
	"buddy/texts"
	"buddy/texts/searchpath"
)

const (
	fetchTime = 10 * time.Minute // for one repository
	maxList   = 2 << 20          // bytes of a list of files
	maxLink   = 4096             // bytes of a link's target
)

// maxPack limits the bytes of a fetched repository. Only tests change it.
var maxPack int64 = 256_000_000

// repository is one commit of a git repository, in a temporary bare repository. Its files are read with plumbing
// commands and never checked out, so no filter, hook, attribute or submodule of it has an effect.
type repository struct {
	dir    string
	from   Source
	commit string
}

// fetch fetches the commit of a source into a new folder.
func fetch(ctx context.Context, dir string, from Source) (*repository, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, fetchTime, fmt.Errorf("it took longer than %s", fetchTime))
	defer cancel()
	r := &repository{dir: dir, from: from}
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, err
	}
	if _, err := r.read(ctx, "init", "--quiet", "--bare", "--template="); err != nil {
		return nil, err
	}
	ref := from.Ref
	if ref == "" {
		ref = "HEAD"
	}
	_, err := r.read(ctx, "fetch", "--quiet", "--depth=1", "--no-tags", "--no-recurse-submodules", "--no-auto-maintenance", "--", from.URL, ref)
	if err == nil {
		r.commit, err = r.line(ctx, "rev-parse", "--verify", "--end-of-options", "FETCH_HEAD^{commit}")
	}
	switch {
	case err != nil && r.full():
		return nil, fmt.Errorf("fetching %s: the repository has more than %s; buddy stopped", from, texts.ByteCount(maxPack))
	case err != nil:
		return nil, fmt.Errorf("fetching %s: %w (check the address and your access: git ls-remote %s)", from, err, from.URL)
	}
	return r, nil
}

// full reports whether git stopped at the limit for the size of a pack.
func (r *repository) full() bool {
	packs, _ := filepath.Glob(filepath.Join(r.dir, "objects", "pack", "*"))
	for _, name := range packs {
		if info, err := os.Stat(name); err == nil && info.Size() >= maxPack {
			return true
		}
	}
	return false
}

// command returns a git that asks for nothing, and uses only the transports that the source may use. The settings,
// keys and credential helpers of the person work. It has a session of its own, so ssh has no terminal to ask on.
func (r *repository) command(ctx context.Context, args ...string) (*exec.Cmd, error) {
	git, err := searchpath.Look("git")
	if err != nil {
		return nil, fmt.Errorf("git is needed to fetch plugins: %w", err)
	}
	// ulimit counts blocks of 512 bytes.
	argv := []string{"-c", fmt.Sprintf(`ulimit -f %d && exec "$@"`, maxPack/512), "sh", git, "--no-pager"}
	for _, s := range []string{
		"core.hooksPath=/dev/null", "core.fsmonitor=false", "submodule.recurse=false", "gc.auto=0", "maintenance.auto=false", "fetch.unpackLimit=1",
		"fetch.writeCommitGraph=false", "transfer.bundleURI=false", "http.followRedirects=initial", "http.lowSpeedLimit=1000", "http.lowSpeedTime=60",
	} {
		argv = append(argv, "-c", s)
	}
	c := searchpath.Command(ctx, "sh", append(argv, args...)...)
	protocols := "https:ssh"
	if r.from.local() {
		protocols = "file"
	}
	c.Dir, c.WaitDelay = r.dir, time.Second
	c.Env = append(texts.WithoutGit(c.Env), "GIT_DIR="+r.dir, "GIT_ALLOW_PROTOCOL="+protocols, "GIT_TERMINAL_PROMPT=0", "GIT_ASKPASS=", "SSH_ASKPASS=",
		"SSH_ASKPASS_REQUIRE=never", "GIT_NO_LAZY_FETCH=1", "LC_ALL=C")
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGTERM) }
	return c, nil
}

// read returns git's output, at most maxList bytes.
func (r *repository) read(ctx context.Context, args ...string) (data []byte, err error) {
	err = r.stream(ctx, "", func(out io.Reader) (err error) {
		if data, err = io.ReadAll(io.LimitReader(out, maxList+1)); len(data) > maxList {
			err = errTooLong
		}
		return err
	}, args...)
	return data, err
}

var errTooLong = fmt.Errorf("git printed more than %d MB", maxList>>20)

// stream runs git and calls use with its output. If use fails, git is stopped.
func (r *repository) stream(ctx context.Context, stdin string, use func(io.Reader) error, args ...string) error {
	stopped, stop := context.WithCancel(ctx)
	defer stop()
	c, err := r.command(stopped, args...)
	if err != nil {
		return err
	}
	var stderr strings.Builder
	c.Stdin, c.Stderr = strings.NewReader(stdin), &stderr
	out, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		return fmt.Errorf("git %s: %w", args[0], err)
	}
	if err = use(out); err != nil {
		stop()
	}
	ended := c.Wait()
	said, _, _ := strings.Cut(stderr.String(), "\nPlease make sure")
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case ended != nil && strings.TrimSpace(said) != "":
		return fmt.Errorf("git %s: %s", args[0], texts.Clip(texts.OneLine(said), 400))
	case err != nil:
		return err
	case ended != nil:
		return fmt.Errorf("git %s: %w", args[0], ended)
	}
	return nil
}

func (r *repository) line(ctx context.Context, args ...string) (string, error) {
	out, err := r.read(ctx, args...)
	return strings.TrimSpace(string(out)), err
}

// file returns a file of the commit; found is false if there is none.
func (r *repository) file(ctx context.Context, name string) (data []byte, found bool, err error) {
	out, err := r.read(ctx, "ls-tree", "-z", r.commit, "--", name)
	if err != nil || len(out) == 0 {
		return nil, false, err
	}
	data, err = r.read(ctx, "cat-file", "blob", r.commit+":"+name)
	if errors.Is(err, errTooLong) {
		err = fmt.Errorf("%s of %s has more than %d MB", name, r.from, maxList>>20)
	}
	return data, true, err
}

// entryFile is a file of the commit.
type entryFile struct {
	mode, id, name string
	size           int64
}

// list returns the files below a folder of the commit, and the names of submodules, which are left out. Anything that
// must not be written is an error.
func (r *repository) list(ctx context.Context, dir string) (files []entryFile, submodules []string, err error) {
	out, err := r.read(ctx, "ls-tree", "-r", "-l", "-z", r.commit+":"+dir)
	switch {
	case errors.Is(err, errTooLong):
		return nil, nil, fmt.Errorf("%s has more than %d files", r.from, plugin.MaxFiles)
	case err != nil && dir != "":
		return nil, nil, fmt.Errorf("%s has no folder %q at %.12s: %w", r.from, dir, r.commit, err)
	case err != nil:
		return nil, nil, err
	}
	size := int64(0)
	for line := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		about, name, _ := strings.Cut(line, "\t")
		fields := strings.Fields(about) // mode, type, id, size
		if len(fields) != 4 {
			continue // an empty folder
		}
		e := entryFile{mode: fields[0], id: fields[2], name: name}
		e.size, _ = strconv.ParseInt(fields[3], 10, 64) // submodules have none
		if e.mode == "160000" {
			submodules = append(submodules, name)
			continue
		}
		if why := e.problem(); why != "" {
			return nil, nil, fmt.Errorf("%s: the file %q %s", r.from, texts.Clip(name, 200), why)
		}
		files = append(files, e)
		if size += e.size; size > plugin.MaxBytes {
			return nil, nil, fmt.Errorf("the files of %s have more than %d MB; a plugin may have that much at most", r.from, plugin.MaxBytes>>20)
		}
	}
	if len(files) > plugin.MaxFiles {
		return nil, nil, fmt.Errorf("%s has %d files; a plugin may have at most %d", r.from, len(files), plugin.MaxFiles)
	}
	return files, submodules, nil
}

// problem returns why a file must not be written; "" if it may. A folder .git is refused because the print of a plugin
// leaves it out.
func (e entryFile) problem() string {
	switch {
	case strings.ContainsFunc(e.name, func(r rune) bool { return !unicode.IsPrint(r) }) || strings.ToValidUTF8(e.name, "") != e.name:
		return "has control characters in its name"
	case !filepath.IsLocal(e.name) || path.Clean(e.name) != e.name:
		return "leads out of the plugin's folder"
	case e.mode != "100644" && e.mode != "100755" && e.mode != "100664" && e.mode != "120000":
		return "is not a regular file"
	case e.mode == "120000" && e.size > maxLink:
		return "is a link with a very long target"
	}
	for part := range strings.SplitSeq(e.name, "/") {
		if strings.EqualFold(part, ".git") {
			return "is in a folder of git"
		}
	}
	return ""
}

// write writes files to a folder, and links last, so that no file is written through a link.
func (r *repository) write(ctx context.Context, files []entryFile, dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close() //nolint:errcheck // nothing is left to write
	var ids strings.Builder
	for _, e := range files {
		ids.WriteString(e.id + "\n")
	}
	links := map[string]string{}
	err = r.stream(ctx, ids.String(), func(out io.Reader) error {
		in := bufio.NewReader(out)
		for _, e := range files {
			header, err := in.ReadString('\n')
			if want := fmt.Sprintf("%s blob %d\n", e.id, e.size); err != nil || header != want {
				return fmt.Errorf("git printed %q for %q: %w", header, e.name, errors.Join(err, io.ErrUnexpectedEOF))
			}
			body := io.LimitReader(in, e.size)
			if e.mode == "120000" {
				target, err := io.ReadAll(body)
				if err != nil {
					return err
				}
				links[e.name] = string(target)
			} else if err := writeFile(root, e, body); err != nil {
				return err
			}
			if _, err := in.Discard(1); err != nil { // the line's end
				return err
			}
		}
		return nil
	}, "cat-file", "--batch")
	for name, target := range links {
		if err == nil {
			err = writeLink(root, name, target)
		}
	}
	return err
}

func writeFile(root *os.Root, e entryFile, body io.Reader) error {
	mode := fs.FileMode(0o644)
	if e.mode == "100755" {
		mode = 0o755
	}
	if err := root.MkdirAll(path.Dir(e.name), 0o755); err != nil {
		return err
	}
	f, err := root.OpenFile(e.name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	n, err := io.Copy(f, body)
	if err == nil && n != e.size {
		err = io.ErrUnexpectedEOF
	}
	return errors.Join(err, f.Close())
}

func writeLink(root *os.Root, name, target string) error {
	if filepath.IsAbs(target) || !filepath.IsLocal(filepath.Join(path.Dir(name), target)) {
		return fmt.Errorf("the link %q leads out of the plugin's folder (to %q)", name, texts.Clip(target, 200))
	}
	if err := root.MkdirAll(path.Dir(name), 0o755); err != nil {
		return err
	}
	return root.Symlink(target, name)
}
