package fullscreen

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"os"
	"path/filepath"

	"github.com/adrg/xdg"
	"github.com/google/renameio/v2"

	"buddy/app/ui"
	"buddy/sessions"
)

// shapeFile returns the file of the pane arrangement for a folder, in the user's state directory.
func shapeFile(dir string) string {
	sum := sha256.Sum256([]byte(dir))
	return filepath.Join(xdg.StateHome, "buddy", "layout", hex.EncodeToString(sum[:8])+".json")
}

// loadShape reads an arrangement. An unreadable arrangement is ignored.
func loadShape(path string) (s ui.Shape) {
	f, err := sessions.OpenPlain(path, os.O_RDONLY)
	if err != nil {
		return ui.Shape{}
	}
	defer func() { _ = f.Close() }()
	if json.NewDecoder(io.LimitReader(f, 64<<10)).Decode(&s) != nil {
		return ui.Shape{}
	}
	s.Bound()
	return s
}

// saveShape writes an arrangement to a file that only its owner can read.
func saveShape(path string, s ui.Shape) error {
	data, err := json.Marshal(s)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return renameio.WriteFile(path, append(data, '\n'), 0o600)
}
