package sessions

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// The entries of an archive, in this order, so that an imported session's file appears only after the files that it
// names.
const (
	archiveHead  = "buddy-session.json"
	archiveFiles = "files/" // the files in the session's folder, such as out/000001/out
	archiveLines = "session.jsonl"
)

const archiveVersion = 1

// Limits of an archive. They are far above those of a real session, and keep a small hostile file from filling the disk
// for hours.
const (
	maxArchiveBytes = 16 << 30 // of all files
	maxArchiveFiles = 500_000
	maxArchiveName  = 1000 // bytes
)

// archiveInfo is the first entry of an archive.
type archiveInfo struct {
	Version int    `json:"buddy_archive"`
	ID      string `json:"id"`
	Dir     string `json:"dir"` // the session's folder, which its events refer to
}

// Archive writes a session with its outputs as one compressed tar file, for Import on another machine. Unlike an export
// it contains the whole session without redaction. The session may be in use.
func (s Store) Archive(w io.Writer, id string) error {
	j, err := s.View(id)
	if err != nil {
		return err
	}
	defer j.Close() //nolint:errcheck // nothing was written
	z := gzip.NewWriter(w)
	a := archiving{tar: tar.NewWriter(z)}
	if err := a.session(s, j, id); err != nil {
		return fmt.Errorf("archive of session %s: %w", id, err)
	}
	return errors.Join(a.tar.Close(), z.Close())
}

// archiving holds the state of one Archive.
type archiving struct {
	tar  *tar.Writer
	left archiveRoom
}

func (a *archiving) session(s Store, j *Journal, id string) error {
	a.left = archiveRoom{maxArchiveBytes, maxArchiveFiles}
	dir := filepath.Join(s.dir, id)
	head, err := json.Marshal(archiveInfo{archiveVersion, id, dir})
	if err != nil {
		return err // cannot happen: a number and strings only
	}
	line, err := j.info.Header.line(nil) // the MAC is valid on this machine only
	if err != nil {
		return err
	}
	end := j.end() // later events may name files that the archive lacks
	if err := a.put(archiveHead, bytes.NewReader(head), int64(len(head))); err != nil {
		return err
	}
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() { // such as sockets of commands
			return ignoreMissing(err)
		}
		return a.file(dir, path)
	})
	if err != nil {
		return err
	}
	lines := io.MultiReader(bytes.NewReader(line), io.NewSectionReader(j.f, j.head, end-j.head))
	return a.put(archiveLines, lines, int64(len(line))+end-j.head)
}

func (a *archiving) file(dir, path string) error {
	rel, err := filepath.Rel(dir, path)
	if err != nil {
		return err
	}
	f, err := OpenPlain(path, os.O_RDONLY)
	if err != nil {
		return ignoreMissing(err)
	}
	defer f.Close() //nolint:errcheck // only read
	fi, err := f.Stat()
	if err != nil {
		return err
	}
	return a.put(archiveFiles+filepath.ToSlash(rel), f, fi.Size())
}

// put writes the first size bytes of r, which may grow meanwhile.
func (a *archiving) put(name string, r io.Reader, size int64) error {
	if err := a.left.use(name, size); err != nil {
		return err
	}
	if err := a.tar.WriteHeader(&tar.Header{Name: name, Size: size, Mode: 0o600, Typeflag: tar.TypeReg}); err != nil {
		return err
	}
	if _, err := io.CopyN(a.tar, r, size); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// archiveRoom counts the entries and bytes that an archive may still contain.
type archiveRoom struct {
	bytes int64
	files int
}

func (r *archiveRoom) use(name string, size int64) error {
	r.files--
	if size < 0 || size > r.bytes || r.files < 0 || len(name) > maxArchiveName {
		return fmt.Errorf("%.100q: an archive has at most %d files with names of %d bytes and %d bytes in all", name, maxArchiveFiles, maxArchiveName, int64(maxArchiveBytes))
	}
	r.bytes -= size
	return nil
}

// gzipBegin is the start of each archive.
const gzipBegin = "\x1f\x8b"

// importArchive creates a session from an archive. Only regular files below the session's own folder are extracted; an
// archive with anything else is refused.
func importArchive(s Store, r io.Reader) (id string, err error) {
	z, err := gzip.NewReader(r)
	if err != nil {
		return "", fmt.Errorf("not an archive of a session: %w", err)
	}
	in := unpacking{store: s, zip: z, tar: tar.NewReader(z), left: archiveRoom{maxArchiveBytes, maxArchiveFiles}}
	if err := in.begin(); err != nil {
		return "", fmt.Errorf("not an archive of a session: %w", err)
	}
	if err := in.session(); err != nil {
		return "", errors.Join(fmt.Errorf("the archive was not imported: %w", err), in.undo())
	}
	s.register()
	return in.id, nil
}

// unpacking holds the state of one import.
type unpacking struct {
	store Store
	zip   *gzip.Reader
	tar   *tar.Reader
	left  archiveRoom
	info  archiveInfo
	id    string   // of the new session
	root  *os.Root // its folder
	made  bool     // its file was created
}

// next returns the next entry, which must be a regular file with a name inside the archive.
func (u *unpacking) next() (*tar.Header, error) {
	h, err := u.tar.Next()
	switch {
	case errors.Is(err, io.EOF):
		return nil, errors.New("it is incomplete")
	case err != nil:
		return nil, err
	case h.Typeflag != tar.TypeReg:
		return nil, fmt.Errorf("%.100q is not a plain file", h.Name)
	case !filepath.IsLocal(h.Name):
		return nil, fmt.Errorf("%.100q is a path outside the archive", h.Name)
	}
	return h, u.left.use(h.Name, h.Size)
}

func (u *unpacking) begin() error {
	h, err := u.next()
	if err != nil {
		return err
	}
	if h.Name != archiveHead || h.Size > maxHeader {
		return fmt.Errorf("it starts with %.100q, want %q", h.Name, archiveHead)
	}
	if err := json.NewDecoder(u.tar).Decode(&u.info); err != nil {
		return fmt.Errorf("%s: %w", archiveHead, err)
	}
	if v := u.info.Version; v != archiveVersion {
		return fmt.Errorf("version %d, this program reads %d: %w", v, archiveVersion, ErrFormat)
	}
	if d := u.info.Dir; !filepath.IsAbs(d) || filepath.Clean(d) != d {
		return fmt.Errorf("%s: the folder %.100q is not a clean absolute path", archiveHead, d)
	}
	return nil
}

// session creates the folder, its files and then the session's own file.
func (u *unpacking) session() error {
	s := u.store
	if err := s.makeDir(); err != nil {
		return err
	}
	id := u.info.ID
	if CheckID(id) != nil || strings.HasPrefix(id, ".") || exists(s.file(id)) || exists(filepath.Join(s.dir, id)) {
		id = NewID()
	}
	if err := os.Mkdir(filepath.Join(s.dir, id), 0o700); err != nil {
		return err
	}
	u.id = id
	var err error
	if u.root, err = os.OpenRoot(filepath.Join(s.dir, id)); err != nil {
		return err
	}
	defer u.root.Close() //nolint:errcheck // no pending writes
	for {
		h, err := u.next()
		if err != nil {
			return err
		}
		if h.Name == archiveLines {
			if err := u.lines(); err != nil {
				return err
			}
			return u.end()
		}
		if err := u.file(h.Name); err != nil {
			return err
		}
	}
}

// end checks that nothing follows, and verifies the checksum.
func (u *unpacking) end() error {
	if h, err := u.tar.Next(); err == nil {
		return fmt.Errorf("%.100q comes after the session", h.Name)
	} else if !errors.Is(err, io.EOF) {
		return err
	}
	_, err := io.Copy(io.Discard, io.LimitReader(u.zip, 1<<20)) // a tar file may be padded with zeros
	return err
}

// file writes an entry to a new file in the session's folder. The os.Root keeps the path inside that folder.
func (u *unpacking) file(name string) error {
	path, ok := strings.CutPrefix(name, archiveFiles)
	if !ok || !filepath.IsLocal(path) || filepath.Clean(path) != path {
		return fmt.Errorf("%.100q is not a file of a session", name)
	}
	if err := u.root.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := u.root.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, u.tar)
	return errors.Join(err, f.Close())
}

// lines writes the session's file: its events with the new id and the new folder.
func (u *unpacking) lines() error {
	br := bufio.NewReaderSize(u.tar, maxHeader)
	line, err := br.ReadSlice('\n')
	if err != nil {
		return fmt.Errorf("%w: it is incomplete", ErrHeader)
	}
	h, err := parseHeader(line)
	if err != nil {
		return err
	}
	h.ID = u.id
	j, err := u.store.create(h, nil)
	if err != nil {
		return err
	}
	u.made = true
	err = u.events(j, br)
	return errors.Join(err, j.Close())
}

func (u *unpacking) events(j *Journal, br *bufio.Reader) error {
	f := forking{to: u.id, oldOut: filepath.Join(u.info.Dir, "out"), newOut: u.store.OutDir(u.id), dirs: make(map[string]bool), file: j}
	old, longer := escaped(f.oldOut+"/"), len(escaped(f.newOut))-len(escaped(f.oldOut))
	n := 0
	var failed error
	_, err := scan(br, maxLine, func(_ int64, raw []byte) bool {
		env, bad := decode(raw)
		switch {
		case bad != nil:
			return true // drops a damaged line
		case env.Seq <= j.last:
			failed = fmt.Errorf("event %d comes after event %d", env.Seq, j.last)
		case len(raw)+bytes.Count(raw, old)*max(0, longer) > maxLine:
			failed = fmt.Errorf("event %d: with its new folder it has more than %d bytes", env.Seq, maxLine)
		default:
			n, j.last = n+1, env.Seq
			failed = f.line(Line{Raw: raw})
		}
		return failed == nil
	})
	if err = errors.Join(err, failed); err == nil {
		err = f.flush()
	}
	if err == nil && n == 0 {
		err = errors.New("it has no events")
	}
	return err
}

// undo removes the files of a session whose import failed.
func (u *unpacking) undo() error {
	if u.id == "" {
		return nil
	}
	err := os.RemoveAll(filepath.Join(u.store.dir, u.id))
	if u.made {
		err = errors.Join(err, os.Remove(u.store.file(u.id)))
	}
	return err
}
