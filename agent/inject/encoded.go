package inject

import (
	"encoding/base64"
	"strings"
)

// Limits of decoding base64.
const (
	minEncoded = 32      // minimal bytes of a decoded run
	maxEncoded = 4 << 10 // bytes decoded per run
	maxDecoded = 32      // runs decoded per text
)

func (p *plainText) encoded() []Finding {
	var found []Finding
	tries := 0
	for i := 0; i < len(p.source) && tries < maxDecoded; i++ {
		from := i
		for i < len(p.source) && base64Bytes[p.source[i]] {
			i++
		}
		if i-from < minEncoded {
			continue
		}
		text, ok := decoded(p.source[from:min(i, from+maxEncoded)])
		if !ok {
			continue
		}
		tries++
		for _, f := range scanPlain(plain(text)) {
			if f.Kind.instructs() && f.Severity == High {
				f.Kind, f.Reason = Payload, "in base64: "+f.Reason
				f.at = len(p.text) // far from other findings
				found = append(found, f)
				break
			}
		}
	}
	return found
}

var base64Bytes = func() (set [256]bool) {
	for _, c := range []byte("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_") {
		set[c] = true
	}
	return set
}()

// decoded returns the text that s encodes in base64. ok is false for anything else, such as a picture or a long word.
func decoded(s string) (text string, ok bool) {
	s = strings.NewReplacer("-", "+", "_", "/").Replace(s[:len(s)&^3])
	if !readable(s[:minEncoded]) {
		return "", false
	}
	data, err := base64.StdEncoding.DecodeString(s)
	return string(data), err == nil
}

// readable reports whether the bytes decoded from base64 are text.
func readable(s string) bool {
	var data [minEncoded]byte
	n, err := base64.StdEncoding.Decode(data[:], []byte(s))
	for _, c := range data[:n] {
		if c < ' ' && c != '\n' && c != '\t' && c != '\r' || c == 0x7f {
			return false
		}
	}
	return err == nil
}
