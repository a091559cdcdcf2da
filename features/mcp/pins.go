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

// maxPins is the size limit of the file of pins, in bytes.
const maxPins = 32 << 20

// pins is the file of what each tool was when it ran first, so that a server can't exchange a
// tool that a person knows for another of the same name. Any process may use it at any time.
type pins struct {
	path string
	mu   sync.Mutex // of changes

	last   sync.Mutex // guards what follows
	seen   fs.FileInfo
	latest pinFile // the content of the file that was seen; nobody changes it
}

// pinned is one tool that is known.
type pinned struct {
	Hash string `json:"hash"`
	Text string `json:"text"` // what the hash is of, for a comparison
}

// pinFile is the content of the file, by the keys of servers.
type pinFile struct {
	Tools  map[string]map[string]pinned `json:"tools"`  // by their names for the server
	Read   map[string][]string          `json:"read"`   // hashes of the texts that a person has read
	Legacy map[string]bool              `json:"legacy"` // it answers only the old handshake
}

// fingerprint returns the hash of what a person approves in a tool, and the text that it is of.
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
		panic(err) // it came as JSON
	}
	return pinned{Hash: hashOf(text.String()), Text: text.String()}
}

func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// changed returns how a tool differs from what was pinned, "" if it is the same or was never
// pinned. A file that can't be read counts as a change of every tool.
func (p *pins) changed(server string, t *sdk.Tool, now pinned) string {
	all, err := p.read()
	if err != nil {
		return "what it was when you approved it is not known: " + err.Error()
	}
	before, ok := all.Tools[server][t.Name]
	if !ok || before.Hash == now.Hash {
		return ""
	}
	return udiff.Unified("approved", "now", before.Text, now.Text)
}

// pin stores what a tool is now.
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

// setLegacy remembers whether a server answers only the old handshake.
func (p *pins) setLegacy(server string, legacy bool) error {
	return p.change(func(all *pinFile) {
		if legacy {
			all.Legacy[server] = true
		} else {
			delete(all.Legacy, server)
		}
	})
}

// markRead notes the hashes of the texts of a server that a person has read.
func (p *pins) markRead(server string, hashes []string) error {
	return p.change(func(all *pinFile) { all.Read[server] = hashes })
}

// read returns the content of the file, which nobody may change: it is read anew only when another
// one is there. One that is missing is empty, and so is what comes with an error.
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

// load is read without what was read before.
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
		return empty(), fmt.Errorf("%s is no file of at most %d MiB", p.path, maxPins>>20)
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

// change replaces the file under a lock against other processes. One that can't be read is
// begun anew: a person has approved what is pinned now.
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
	all, _ := p.load() // one that is damaged is empty
	edit(&all)
	data, err := json.Marshal(all)
	if err != nil {
		return err
	}
	return renameio.WriteFile(p.path, data, 0o600)
}
