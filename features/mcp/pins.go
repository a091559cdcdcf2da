package mcp

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"

	udiff "github.com/aymanbagabas/go-udiff"
	"github.com/google/renameio/v2"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"buddy/owners"
)

// maxPins limits the file of pins, in bytes.
const maxPins = 32 << 20

// pins stores the definition with which each tool was first run, so that a server can't replace a known tool by another
// of the same name. Several processes may use the file at once.
type pins struct {
	path string
	mu   sync.Mutex // held during changes

	last   sync.Mutex // guards the fields below
	seen   fs.FileInfo
	latest pinFile // content of the file when its info was seen; must not be changed
}

type pinned struct {
	Hash string `json:"hash"`
	Text string `json:"text"` // the hashed text, for a diff
}

// pinFile is the content of the file; servers are identified by their keys.
type pinFile struct {
	Tools  map[string]map[string]pinned `json:"tools"`  // by the server's name of the tool
	Read   map[string][]string          `json:"read"`   // hashes of the texts that the person has read
	Legacy map[string]bool              `json:"legacy"` // servers that answer only the old handshake
}

// fingerprint returns the part of a tool that the person approves, and its hash.
func fingerprint(t *sdk.Tool) pinned {
	known := struct {
		Name        string               `json:"name"`
		Title       string               `json:"title,omitempty"`
		Description string               `json:"description,omitempty"`
		Input       any                  `json:"inputSchema"`
		Output      any                  `json:"outputSchema,omitempty"`
		Annotations *sdk.ToolAnnotations `json:"annotations,omitempty"`
	}{t.Name, t.Title, t.Description, t.InputSchema, t.OutputSchema, t.Annotations}
	var text bytes.Buffer
	to := json.NewEncoder(&text)
	to.SetEscapeHTML(false)
	to.SetIndent("", "  ")
	if err := to.Encode(known); err != nil {
		panic(err) // can't happen, because it came as JSON
	}
	return pinned{Hash: hashOf(text.String()), Text: text.String()}
}

func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// changed returns the diff between a tool and its pin, or "" if it is the same or has no pin. If the file can't be
// read, every tool counts as changed.
func (p *pins) changed(server string, t *sdk.Tool, now pinned) string {
	all, err := p.read()
	if err != nil {
		return "the version that you approved can't be read: " + err.Error()
	}
	before, ok := all.Tools[server][t.Name]
	if !ok || before.Hash == now.Hash {
		return ""
	}
	return udiff.Unified("approved", "now", before.Text, now.Text)
}

// pin stores the definition of a tool.
func (p *pins) pin(server string, t *sdk.Tool, now pinned) error {
	all, err := p.read()
	if err == nil && all.Tools[server][t.Name].Hash == now.Hash {
		return nil
	}
	return p.change(func(all *pinFile) {
		if all.Tools[server] == nil {
			all.Tools[server] = make(map[string]pinned)
		}
		all.Tools[server][t.Name] = now
	})
}

// setLegacy stores whether a server answers only the old handshake.
func (p *pins) setLegacy(server string, legacy bool) error {
	return p.change(func(all *pinFile) {
		if legacy {
			all.Legacy[server] = true
		} else {
			delete(all.Legacy, server)
		}
	})
}

// markRead stores the hashes of a server's texts that the person has read.
func (p *pins) markRead(server string, hashes []string) error {
	return p.change(func(all *pinFile) { all.Read[server] = hashes })
}

// read returns the content of the file, which the caller must not change. It loads the file only when it was replaced.
// The content is empty if the file is missing or there is an error.
func (p *pins) read() (pinFile, error) {
	now, err := os.Stat(p.path)
	p.last.Lock()
	defer p.last.Unlock()
	if err == nil && p.seen != nil && os.SameFile(now, p.seen) && now.ModTime().Equal(p.seen.ModTime()) && now.Size() == p.seen.Size() {
		return p.latest, nil
	}
	all, err := p.load()
	p.seen, p.latest = now, all
	if err != nil {
		p.seen = nil
	}
	return all, err
}

// load reads the file.
func (p *pins) load() (pinFile, error) {
	empty := func() pinFile {
		return pinFile{Tools: map[string]map[string]pinned{}, Read: map[string][]string{}, Legacy: map[string]bool{}}
	}
	f, err := os.Open(p.path)
	if errors.Is(err, fs.ErrNotExist) {
		return empty(), nil
	}
	if err != nil {
		return empty(), err
	}
	defer f.Close() //nolint:errcheck // it was only read
	if info, err := f.Stat(); err != nil || info.Size() > maxPins || !info.Mode().IsRegular() {
		return empty(), fmt.Errorf("%s is not a file of at most %d MiB", p.path, maxPins>>20)
	}
	if err := owners.CheckOwn(p.path); err != nil {
		return empty(), fmt.Errorf("%s: %w", p.path, err)
	}
	all := empty()
	if err := json.NewDecoder(f).Decode(&all); err != nil || all.Tools == nil || all.Read == nil || all.Legacy == nil {
		return empty(), fmt.Errorf("%s is damaged: %w", p.path, cmp.Or(err, errors.New("a part is null")))
	}
	return all, nil
}

// change replaces the file under a lock against other processes. It also replaces a damaged file, because the person
// has approved what is pinned now.
func (p *pins) change(edit func(*pinFile)) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := os.MkdirAll(filepath.Dir(p.path), 0o700); err != nil {
		return err
	}
	lock, err := os.OpenFile(p.path+".lock", os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer lock.Close() //nolint:errcheck // nothing is written to it; closing unlocks
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return fmt.Errorf("%s: lock: %w", p.path, err)
	}
	all, _ := p.load() // empty if damaged
	edit(&all)
	data, err := json.Marshal(all)
	if err != nil {
		return err
	}
	return renameio.WriteFile(p.path, data, 0o600)
}
