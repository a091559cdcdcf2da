package config

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"buddy/texts"
)

// Limits of a part.
const (
	maxDefinition = 64 << 10 // bytes; a person can't review more
	maxPartName   = 256      // bytes
	maxPartFile   = 32 << 20 // bytes
	maxPartSize   = 64 << 20 // bytes of all its files
	maxPartFiles  = 2000
)

// Part is one element of a project that runs a program or grants rights: a hook, a server, a skill with commands. It is
// inactive until a person trusts it, and again after its definition or one of its files has changed.
type Part struct {
	Kind       string   // hook, mcp, skill, command, plugin, lsp, agent or style
	Name       string   // unique in its kind and folder
	Definition string   // canonical and complete, as displayed; at most 64 KiB
	Files      []string // of the project, as FilesNamed returns them
	Seen       string   // the print that the person saw, for TrustParts; "" accepts any
}

// String returns the name of the part for buddy trust --part.
func (p Part) String() string { return p.Kind + ":" + p.Name }

// TrustedPart is a part that a person trusted, with its print at that time.
type TrustedPart struct {
	Kind  string            `json:"kind"`
	Name  string            `json:"name"`
	Print string            `json:"print"` // SHA-256 over the definition and the files' contents
	At    time.Time         `json:"at"`
	Text  string            `json:"text,omitempty"`  // SHA-256 of the definition, if its text is kept
	Files map[string]string `json:"files,omitempty"` // SHA-256 of the files whose texts are kept
}

// PartState is a part with its state of trust.
type PartState struct {
	Part
	Print   string // of its present form; "" with Err
	Trusted bool   // by the person, in its present form
	Changed bool   // since the person trusted it
	Err     error  // why it can't be trusted at all
}

// CheckParts returns the states of parts of a folder, in their order. An error means that the file of trusted folders
// can't be read, and that nothing is trusted.
func (s TrustStore) CheckParts(dir string, parts ...Part) ([]PartState, error) {
	all, err := s.List()
	if err != nil {
		return nil, err
	}
	var before, inMain []TrustedPart
	if i := indexDir(all, dir); i >= 0 {
		before = all[i].Parts
	}
	if i := s.inMain(all, dir); i >= 0 {
		inMain = all[i].Parts
	}
	states := make([]PartState, 0, len(parts))
	for _, p := range parts {
		state := PartState{Part: p}
		state.Print, _, state.Err = readPart(dir, p, "")
		if i := indexPart(inMain, p); i >= 0 && state.Err == nil {
			if print, _, err := readPart(dir, p, s.Main(dir)); err == nil && print == inMain[i].Print {
				state.Print, state.Trusted = print, true
			}
		}
		if i := indexPart(before, p); i >= 0 && !state.Trusted {
			state.Trusted = state.Err == nil && before[i].Print == state.Print
			state.Changed = !state.Trusted
		}
		states = append(states, state)
	}
	return states, nil
}

// PartTrusted reports whether a part of a folder is trusted, and whether it was trusted in another form. An error is
// the reason why the part can't be trusted, such as an unreadable file.
func (s TrustStore) PartTrusted(dir string, p Part) (trusted, changed bool, err error) {
	states, err := s.CheckParts(dir, p)
	if err != nil {
		return false, false, err
	}
	return states[0].Trusted, states[0].Changed, states[0].Err
}

// TrustParts stores parts of a folder as trusted: all of them, or none if one can't be read or differs from what the
// person saw.
func (s TrustStore) TrustParts(dir string, parts ...Part) error {
	kept := keptTexts{}
	var add []TrustedPart
	for _, p := range parts {
		print, files, err := readPart(dir, p, "")
		if err != nil {
			return err
		}
		if p.Seen != "" && p.Seen != print {
			return fmt.Errorf("%s changed while you looked at it: look at it again", p)
		}
		one := TrustedPart{Kind: p.Kind, Name: p.Name, Print: print, At: now(), Text: kept.add(p.Definition), Files: map[string]string{}}
		room := maxKeptPart
		for _, f := range files {
			if room -= len(f.text); f.text != "" && room >= 0 {
				one.Files[f.name] = kept.add(f.text)
			}
		}
		add = append(add, one)
	}
	return s.changeDir(dir, kept, func(old []TrustedPart) []TrustedPart {
		return append(withoutParts(old, parts), add...)
	})
}

// ForgetParts removes parts of a folder.
func (s TrustStore) ForgetParts(dir string, parts ...Part) error {
	return s.changeDir(dir, nil, func(old []TrustedPart) []TrustedPart { return withoutParts(old, parts) })
}

// TrustsPrint reports whether a part of a folder is trusted with a print. It reads no file of the part.
func (s TrustStore) TrustsPrint(dir string, p Part, print string) (bool, error) {
	all, err := s.List()
	if err != nil {
		return false, err
	}
	for _, d := range []int{indexDir(all, dir), s.inMain(all, dir)} {
		if d < 0 {
			continue
		}
		if i := indexPart(all[d].Parts, p); i >= 0 && all[d].Parts[i].Print == print {
			return true, nil
		}
	}
	return false, nil
}

// changeDir edits the trusted parts of a folder. A folder without trust and parts is removed from the list.
func (s TrustStore) changeDir(dir string, kept keptTexts, edit func([]TrustedPart) []TrustedPart) error {
	return s.change(kept, func(all []TrustedDir) []TrustedDir {
		one := TrustedDir{Dir: dir, At: now()}
		if i := indexDir(all, dir); i >= 0 {
			one = all[i]
		}
		one.Parts = edit(one.Parts)
		all = without(all, dir)
		if one.Print == "" && len(one.Parts) == 0 {
			return all
		}
		return append(all, one)
	})
}

func now() time.Time { return time.Now().UTC().Truncate(time.Second) }

func indexDir(all []TrustedDir, dir string) int {
	return slices.IndexFunc(all, func(d TrustedDir) bool { return d.Dir == dir })
}

func indexPart(all []TrustedPart, p Part) int {
	return slices.IndexFunc(all, func(t TrustedPart) bool { return t.Kind == p.Kind && t.Name == p.Name })
}

func withoutParts(all []TrustedPart, parts []Part) []TrustedPart {
	return slices.DeleteFunc(slices.Clone(all), func(t TrustedPart) bool {
		return slices.ContainsFunc(parts, func(p Part) bool { return t.Kind == p.Kind && t.Name == p.Name })
	})
}

// partFile is a file of a part as it was read.
type partFile struct {
	name string
	real string // its real path; "" when the file is missing
	data []byte // nil for a file outside the project
	text string // "" when it is too long to keep, or not text
}

// readPart returns the print of a part, and its files. An error names the part. If main is not "", the print is the one
// that the part would have with the same files in that folder.
func readPart(dir string, p Part, main string) (print string, files []partFile, err error) {
	switch {
	case p.Kind == "" || p.Name == "" || len(p.Name) > maxPartName || !utf8.ValidString(p.Name):
		return "", nil, fmt.Errorf("%.20q: %.40q is not the name of a part (at most %d bytes)", p.Kind, p.Name, maxPartName)
	case len(p.Definition) > maxDefinition:
		return "", nil, fmt.Errorf("%s has a definition of %d KiB (at most %d): too long for a person to check", p, len(p.Definition)>>10, maxDefinition>>10)
	case len(p.Files) > maxPartFiles:
		return "", nil, fmt.Errorf("%s has %d files (at most %d)", p, len(p.Files), maxPartFiles)
	}
	h := sha256.New()
	field := func(name string, data []byte) {
		_, _ = fmt.Fprintf(h, "%d %s %d\n", len(name), name, len(data))
		_, _ = h.Write(data)
	}
	field("kind", []byte(p.Kind))
	field("name", []byte(p.Name))
	field("definition", []byte(p.Definition))
	size, root := 0, projectRoot(dir)
	names := slices.Clone(p.Files)
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		real, data, err := readPartFile(root, filepath.Join(dir, name))
		if size += len(data); err == nil && size > maxPartSize {
			err = fmt.Errorf("exceeds, with the other files, %d MiB", maxPartSize>>20)
		}
		if err != nil {
			return "", nil, fmt.Errorf("%s: %q %w", p, name, err)
		}
		as := real
		if rest, below := strings.CutPrefix(real, root+"/"); below && main != "" {
			as = filepath.Join(projectRoot(main), rest)
		}
		field(name, []byte(as))
		field("content", data)
		f := partFile{name: name, real: real, data: data}
		if len(data) <= maxKeptText && utf8.Valid(data) {
			f.text = string(data)
		}
		files = append(files, f)
	}
	return hex.EncodeToString(h.Sum(nil)), files, nil
}

// readPartFile reads a file of a project and resolves links. Files outside the project did not come with it, so only
// their name is returned. A missing file has an empty name.
func readPartFile(root, path string) (real string, data []byte, err error) {
	real, err = filepath.EvalSymlinks(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", nil, nil
	case err != nil:
		return "", nil, cause(err)
	case !texts.Below(real, root):
		return real, nil, nil
	}
	data, _, err = readRegular(real, maxPartFile)
	return real, data, err
}

// projectRoot returns the root of the repository around dir, or dir. It resolves no links.
func projectRoot(dir string) string {
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			return at
		}
		if at == filepath.Dir(at) {
			return dir
		}
	}
}

// PartChange is a text of a part that differs from the trusted one.
type PartChange struct {
	Name          string // of a file; "" for the definition
	Before, After string // "" if the text is missing or was not kept
}

// PartChanges returns what changed in a part since it was trusted, if the old texts were kept: the definition and files
// of at most 64 KiB, 256 KiB in total. It is empty for a part that was not trusted.
func (s TrustStore) PartChanges(dir string, p Part) ([]PartChange, error) {
	all, err := s.List()
	if err != nil {
		return nil, err
	}
	d := indexDir(all, dir)
	if d < 0 {
		return nil, nil
	}
	i := indexPart(all[d].Parts, p)
	if i < 0 {
		return nil, nil
	}
	was := all[d].Parts[i]
	var changes []PartChange
	compare := func(name, hash, after string) {
		if before := s.keptText(hash); before != after {
			changes = append(changes, PartChange{name, before, after})
		}
	}
	compare("", was.Text, p.Definition)
	_, files, err := readPart(dir, p, "")
	if err != nil {
		return changes, err
	}
	for _, f := range files {
		compare(f.name, was.Files[f.name], f.text)
	}
	for name, hash := range was.Files {
		if !slices.Contains(p.Files, name) {
			compare(name, hash, "")
		}
	}
	slices.SortStableFunc(changes, func(a, b PartChange) int { return strings.Compare(a.Name, b.Name) })
	return changes, nil
}
