package config

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// Limits of the texts that are kept to show changes, in bytes.
const (
	maxKeptText = 64 << 10
	maxKeptPart = 256 << 10 // of the files of one part
)

// keptTexts are texts of trusted parts to keep, by their SHA-256.
type keptTexts map[string]string

// add adds a text and returns its hash; "" if the text is too long.
func (k keptTexts) add(text string) string {
	if len(text) > maxKeptText {
		return ""
	}
	sum := sha256.Sum256([]byte(text))
	hash := hex.EncodeToString(sum[:])
	k[hash] = text
	return hash
}

// texts returns the folder of the kept texts. Their names are their hashes, so that any process may write them at any
// time.
func (s TrustStore) texts() string { return filepath.Join(filepath.Dir(s.path), "trusted-texts") }

// keptText returns the text with a hash; "" if it was not kept or was modified.
func (s TrustStore) keptText(hash string) string {
	if hash == "" {
		return ""
	}
	data, _, err := readRegular(filepath.Join(s.texts(), filepath.Base(hash)), maxKeptText)
	if sum := sha256.Sum256(data); err != nil || hex.EncodeToString(sum[:]) != hash {
		return ""
	}
	return string(data)
}

// keep writes texts. The caller holds the lock.
func (s TrustStore) keep(k keptTexts) error {
	if len(k) == 0 {
		return nil
	}
	if err := os.MkdirAll(s.texts(), 0o700); err != nil {
		return fmt.Errorf("trusted folders %q: %w", s.texts(), cause(err))
	}
	for hash, text := range k {
		// A crash may leave an incomplete text, which is never shown because its hash differs.
		if err := os.WriteFile(filepath.Join(s.texts(), hash), []byte(text), 0o600); err != nil {
			return fmt.Errorf("trusted folders %q: %w", s.texts(), cause(err))
		}
	}
	return nil
}

// sweep removes the texts that no trusted part refers to. The caller holds the lock.
func (s TrustStore) sweep(all []TrustedDir) error {
	named := map[string]bool{}
	for _, d := range all {
		for _, p := range d.Parts {
			named[p.Text] = true
			for _, hash := range p.Files {
				named[hash] = true
			}
		}
	}
	entries, err := os.ReadDir(s.texts())
	if err != nil {
		return nil //nolint:nilerr // there are no texts
	}
	var errs []error
	for _, e := range entries {
		if !named[e.Name()] {
			errs = append(errs, os.Remove(filepath.Join(s.texts(), e.Name())))
		}
	}
	return errors.Join(errs...)
}
