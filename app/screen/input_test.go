package screen

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"
)

// The Linux console has no other sign for Shift+Tab.
func TestShiftTabOfTheLinuxConsole(t *testing.T) {
	r := newRecord()
	r.in.linux = true
	r.in.feed([]byte("\x1b\t"))
	if got := string(r.in.out); got != "\x1b\t" {
		t.Errorf("%q", got)
	}
}

// record holds what an input gives away.
type record struct {
	in      input
	pastes  []Paste
	replies []string
}

func newRecord() *record {
	r := &record{}
	r.in.pasted = func(p Paste) { r.pastes = append(r.pastes, p) }
	r.in.reply = func(s string) { r.replies = append(r.replies, s) }
	return r
}

func (r *record) String() string { return fmt.Sprintf("%q %+v %q", r.in.out, r.pastes, r.replies) }

func TestInput(t *testing.T) {
	const marks = "\x1b[200~\x1b[201~"
	for _, tt := range []struct {
		name, typed string
		asked       bool
		want        string
	}{
		{"keys", "a\x1b[A\x1bOP\x1b", false, fmt.Sprintf("%q [] []", "a\x1b[A\x1bOP\x1b")},
		{"paste", "x\x1b[200~a\nb\r\nc\rd\te\x1b[201~y", false, fmt.Sprintf("%q [{Text:a\nb\nc\nd\te Dropped:0}] []", "x"+marks+"y")},
		{
			"paste with sequences", "\x1b[200~\x1b[31mred\x1b]52;c;x\a\x1b[201\x1b[201~", false,
			fmt.Sprintf("%q [{Text:[31mred]52;c;x[201 Dropped:0}] []", marks),
		},
		{"paste, invalid", "\x1b[200~\xff\u009b\x1b[201~", false, fmt.Sprintf("%q [{Text:\ufffd Dropped:0}] []", marks)},
		{"no paste", "\x1b[2~\x1b[20~\x1b[2000~", false, fmt.Sprintf("%q [] []", "\x1b[2~\x1b[20~\x1b[2000~")},
		{"Alt+]", "\x1b]a", false, fmt.Sprintf("%q [] []", "\x1b\\\x1b[93;3ua")},
		{"Alt+_", "\x1b_\x1bX", false, fmt.Sprintf("%q [] []", "\x1b\\\x1b[95;3u\x1b\\\x1b[88;3u")},
		{"Esc and Tab", "\x1b\ta", false, fmt.Sprintf("%q [] []", "\x1b\\\x1b[27u\ta")},
		{"answer", "a\x1b]11;rgb:0/0/0\x1b\\b", true, fmt.Sprintf("%q [] %q", "a\x1b\\b", []string{"11;rgb:0/0/0"})},
		{"answer with bell", "\x1b]11;rgb:0/0/0\ab", true, fmt.Sprintf("%q [] %q", "\x1b\\b", []string{"11;rgb:0/0/0"})},
		{"Alt+] instead of an answer", "\x1b]a", true, fmt.Sprintf("%q [] []", "\x1b\\\x1b[93;3ua")},
		{"half an answer", "\x1b]11;\x03", true, fmt.Sprintf("%q [] []", "\x1b\\\x1b[93;3u11;\x03")},
		{"letters", "é 漢\U0001f600", false, fmt.Sprintf("%q [] []", "é 漢\U0001f600")},
		{"U+FFFD", "a\ufffdb", false, fmt.Sprintf("%q [] []", "a\x1b[65533ub")},
		{"Latin-1", "caf\xe9 ol\xe9\r", false, fmt.Sprintf("%q [] []", "caf\x1b[65533u ol\x1b[65533u\r")},
		{"8-bit CSI", "\x9bA", false, fmt.Sprintf("%q [] []", "\x1b[65533uA")},
		{"letter cut by a letter", "\xe2\x82é", false, fmt.Sprintf("%q [] []", "\x1b[65533u\x1b[65533ué")},
		{"letter cut by a key", "\xf0\x1b[A", false, fmt.Sprintf("%q [] []", "\x1b[65533u\x1b[A")},
		{"answer that is no text", "\x1b]11;rgb:\xff\x1b\\", true, fmt.Sprintf("%q [] []", "\x1b\\\x1b[93;3u11;rgb:\x1b[65533u\x1b\\\x1b[92;3u")},
		{"answer cut by a key", "\x1b]11;\x1b[A", true, fmt.Sprintf("%q [] []", "\x1b\\\x1b[93;3u11;\x1b[A")},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, size := range []int{1, 3, len(tt.typed)} {
				r := newRecord()
				if tt.asked {
					r.in.awaited.Add(1)
				}
				for rest := []byte(tt.typed); len(rest) > 0; {
					n := min(size, len(rest))
					r.in.feed(rest[:n])
					rest = rest[n:]
				}
				if got := r.String(); got != tt.want {
					t.Errorf("in pieces of %d: got  %s\nwant %s", size, got, tt.want)
				}
			}
		})
	}
}

// Esc pressed twice is that in one read and in two, at once or after a pause, and after an Esc alone.
func TestEscTwice(t *testing.T) {
	for _, tt := range []struct {
		name  string
		reads []string
		pause time.Duration
		want  string
	}{
		{"one read", []string{"\x1b\x1b"}, 0, string(escKey) + "\x1b"},
		{"two reads", []string{"\x1b", "\x1b", "a"}, 30 * time.Millisecond, "\x1b" + string(escKey) + "a"},
		{"held", []string{"\x1b", "\x1b", "\x1b", "\x1b"}, 30 * time.Millisecond, "\x1b" + string(escKey) + "\x1b" + string(escKey)},
		{"slowly", []string{"\x1b", "\x1b"}, time.Second, "\x1b\x1b"},
		{"Esc alone before", []string{"\x1b", "\x1b\x1b"}, time.Second, "\x1b" + string(escKey) + "\x1b"},
		{"Esc and Alt with a letter", []string{"\x1b", "\x1ba"}, 30 * time.Millisecond, "\x1b\x1ba"},
		{"Alt with an arrow", []string{"\x1b", "\x1b[A"}, 0, "\x1b\x1b[A"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRecord()
				for _, p := range tt.reads {
					r.in.feed([]byte(p))
					time.Sleep(tt.pause)
				}
				if got := string(r.in.out); got != tt.want {
					t.Errorf("got %q, want %q", got, tt.want)
				}
			})
		})
	}
}

func TestPasteLimit(t *testing.T) {
	r := newRecord()
	r.in.feed([]byte("\x1b[200~" + strings.Repeat("x", MaxPaste+7) + "\x1b[201~k"))
	if len(r.pastes) != 1 || len(r.pastes[0].Text) != MaxPaste || r.pastes[0].Dropped != 7 {
		t.Errorf("paste of %d bytes, %d dropped; want %d and 7", len(r.pastes[0].Text), r.pastes[0].Dropped, MaxPaste)
	}
	if !bytes.HasSuffix(r.in.out, []byte("k")) {
		t.Error("the key after the paste is lost")
	}
}

// A paste whose end got lost must not take the keyboard with it.
func TestPasteWithoutEnd(t *testing.T) {
	r := newRecord()
	r.in.feed([]byte("\x1b[200~text"))
	r.in.feed([]byte{ctrlC})
	r.in.feed([]byte("k"))
	if got, want := r.String(), fmt.Sprintf("%q [{Text:text Dropped:0}] []", "\x1b[200~\x1b[201~k"); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestAnswerLimit(t *testing.T) {
	r := newRecord()
	r.in.awaited.Add(1)
	r.in.feed([]byte("\x1b]52;c;" + strings.Repeat("A", 3*maxReply)))
	r.in.feed([]byte("\x1b[A"))
	if len(r.in.text) > maxReply || !bytes.HasSuffix(r.in.out, []byte("\x1b[A")) {
		t.Error("an endless answer is not bounded, or swallows keys")
	}
}

func TestParseColor(t *testing.T) {
	for in, want := range map[string]int32{
		"rgb:ffff/0000/8080": 0xff0080, "rgb:f/0/8": 0xff0088, "rgb:1e/1e/2e": 0x1e1e2e,
		"rgb:1/2": -1, "rgb:12345/0/0": -1, "rgb://": -1, "#000000": -1, "rgb:g/0/0": -1,
	} {
		color, ok := parseColor(in)
		if got := color.Hex(); ok != (want >= 0) || ok && got != want {
			t.Errorf("parseColor(%q) = %06x, %v; want %06x", in, got, ok, want)
		}
	}
}

// What tcell would not take, or would take apart, does not reach it. However the bytes are cut into reads, the same
// comes out, and nothing is held back that a person waits for.
func FuzzInput(f *testing.F) {
	f.Add([]byte("a\x1b[200~b\nc\x1b[201~d\x1b]11;rgb:0/0/0\x1b\\"), 3)
	f.Add([]byte("\x1b\x1b]\x1b_\x1b[<0;1;1M\x1b[20"), 1)
	f.Add([]byte("\xc3\xa9\xe9\xe2\x82\x1b\x1b\x1b\xf0\x9f\x98\x80\xef\xbf\xbd"), 5)
	f.Fuzz(func(t *testing.T, p []byte, cut int) {
		if len(p) == 0 || bytes.IndexByte(p, ctrlC) >= 0 {
			return // alone in a read it means something else
		}
		whole, parts := newRecord(), newRecord()
		whole.in.awaited.Add(1)
		parts.in.awaited.Add(1)
		whole.in.feed(p)
		at := int(uint(cut) % uint(len(p)))
		parts.in.feed(p[:at])
		parts.in.feed(p[at:])
		sameKey := func(r *record) string { // Esc twice in one read is told from ESC before a key
			r.in.out = bytes.ReplaceAll(r.in.out, escKey, []byte{esc})
			return r.String()
		}
		if sameKey(whole) != sameKey(parts) {
			t.Errorf("in one piece %s\ncut at %d   %s", whole, at, parts)
		}
		if !utf8.Valid(whole.in.out) || bytes.ContainsRune(whole.in.out, utf8.RuneError) {
			t.Errorf("for tcell: %q", whole.in.out)
		}
		for _, paste := range whole.pastes {
			if strings.ContainsAny(paste.Text, "\x1b\r\x00\u009b") {
				t.Errorf("paste with controls: %q", paste.Text)
			}
		}
	})
}
