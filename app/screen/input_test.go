package screen

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/gdamore/tcell/v2"
)

// Shift+Tab and F1 of the Linux console have no other encoding.
func TestKeysOfTheLinuxConsole(t *testing.T) {
	r := newRecord()
	r.in.linux = true
	const typed = "\x1b\t\x1b[[A"
	r.in.feed([]byte(typed))
	if got := string(r.in.out); got != typed {
		t.Errorf("%q", got)
	}
}

// record holds the output of an input.
type record struct {
	in      input
	pastes  []Paste
	replies []string
}

func newRecord() *record {
	r := &record{}
	r.in.pasted = func(p Paste) { r.pastes = append(r.pastes, p) }
	r.in.reply = func(s string) { r.replies = append(r.replies, s) }
	r.in.key = func(ev *tcell.EventKey) { r.in.out = append(r.in.out, "<"+ev.Name()+">"...) }
	return r
}

func (r *record) String() string { return fmt.Sprintf("%q %+v %q", r.in.out, r.pastes, r.replies) }

func TestInput(t *testing.T) {
	const marks = "\x1b[200~\x1b[201~"
	for _, tt := range []struct{ name, typed, want string }{
		{"keys", "a\x1b[A\x1bOP\x1b[1;5C\x1b[97;5ub", fmt.Sprintf("%q [] []", "a\x1b[A\x1bOP\x1b[1;5C\x1b[97;5ub")},
		{"paste", "x\x1b[200~a\nb\r\nc\rd\te\x1b[201~y", fmt.Sprintf("%q [{Text:a\nb\nc\nd\te Dropped:0}] []", "x"+marks+"y")},
		{
			"paste with sequences", "\x1b[200~\x1b[31mred\x1b]52;c;x\a\x1b[201\x1b[201~",
			fmt.Sprintf("%q [{Text:[31mred]52;c;x[201 Dropped:0}] []", marks),
		},
		{"paste, invalid", "\x1b[200~\xff\u009b\x1b[201~", fmt.Sprintf("%q [{Text:\ufffd Dropped:0}] []", marks)},
		{"no paste", "\x1b[2~\x1b[20~\x1b[2000~", fmt.Sprintf("%q [] []", "\x1b[2~\x1b[20~\x1b[2000~")},
		{"Alt+]", "\x1b]a", fmt.Sprintf("%q [] []", "\x1b[93;3ua")},
		{"Alt+_ twice", "\x1b_\x1b_x", fmt.Sprintf("%q [] []", "\x1b[95;3u\x1b[95;3ux")},
		{"Alt+P", "\x1bPa", fmt.Sprintf("%q [] []", "\x1b[80;3ua")},
		{"Alt+O and Enter", "\x1bO\r", fmt.Sprintf("%q [] []", "\x1b[79;3u\r")},
		{"Alt with letters and keys", "\x1bb\x1b\r\x1b\x7f", fmt.Sprintf("%q [] []", "\x1bb\x1b\r\x1b\x7f")},
		{"Alt with a letter of two bytes", "\x1bé", fmt.Sprintf("%q [] []", "é")},
		{"Alt with an arrow", "\x1b\x1b[A", fmt.Sprintf("%q [] []", "\x1b\x1b[A")},
		{"Esc and the mouse", "\x1b\x1b[<0;3;3M", fmt.Sprintf("%q [] []", escKey+"\x1b[<0;3;3M")},
		{"Esc and Tab", "\x1b\ta", fmt.Sprintf("%q [] []", "\x1b[27u\ta")},
		{"Esc and Alt with a letter", "\x1b\x1bb", fmt.Sprintf("%q [] []", escKey+"\x1bb")},
		{"Esc and an answer", "\x1b\x1b]11;x\a\x1b\x1b[?62cb", fmt.Sprintf("%q [] %q", escKey+escKey+"b", []string{"11;x"})},
		{"Esc three times and a letter", "\x1b\x1b\x1bb", fmt.Sprintf("%q [] []", escKey+escKey+"\x1bb")},
		{"answer", "a\x1b]11;rgb:0/0/0\x1b\\b", fmt.Sprintf("%q [] %q", "ab", []string{"11;rgb:0/0/0"})},
		{"answer with bell", "\x1b]11;rgb:0/0/0\ab", fmt.Sprintf("%q [] %q", "b", []string{"11;rgb:0/0/0"})},
		{"title", "\x1b]lcafé 漢\x1b\\b", fmt.Sprintf("%q [] %q", "b", []string{"lcafé 漢"})},
		{"answer cut by Ctrl+C", "\x1b]11;\x03", fmt.Sprintf("%q [] []", "\x03")},
		{"answer cut by a key", "\x1b]11;\x1b[A", fmt.Sprintf("%q [] []", "\x1b[A")},
		{"answer cut by an answer", "\x1b]11;\x1b]10;x\ab", fmt.Sprintf("%q [] %q", "b", []string{"10;x"})},
		{"report cut by a key", "\x1b[?6\rb", fmt.Sprintf("%q [] []", "\rb")},
		{"letters", "é 漢\U0001f600", fmt.Sprintf("%q [] []", "é 漢\U0001f600")},
		{"U+FFFD", "a\ufffdb", fmt.Sprintf("%q [] []", "a\x1b[65533ub")},
		{"Latin-1", "caf\xe9 ol\xe9\r", fmt.Sprintf("%q [] []", "caf\x1b[65533u ol\x1b[65533u\r")},
		{"8-bit CSI", "\x9bA", fmt.Sprintf("%q [] []", "\x1b[65533uA")},
		{"letter cut by a letter", "\xe2\x82é", fmt.Sprintf("%q [] []", "\x1b[65533u\x1b[65533ué")},
		{"letter cut by a key", "\xf0\x1b[A", fmt.Sprintf("%q [] []", "\x1b[65533u\x1b[A")},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, size := range []int{1, 3, len(tt.typed)} {
				r := newRecord()
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

// answers lists replies of terminals to queries. None of them is a key.
var answers = []string{
	"\x1b]10;rgb:e4e4/e4e4/e4e4\x1b\\", "\x1b]11;rgb:1e1e/1e1e/1e1e\a", "\x1b]4;1;rgb:cd/00/00\x1b\\", "\x1b]52;c;aGVsbG8=\a",
	"\x1b]lbash: ~/src — 漢\x1b\\", "\x1b]Lbash\x1b\\", // the title and the icon
	"\x1b[?62;22;52c", "\x1b[?1;2c", "\x1b[>41;354;0c", "\x1b[=0c", // device attributes
	"\x1bP>|iTerm2 3.5.0\x1b\\", "\x1bP!|00000000\x1b\\", "\x1bP1+r544e=787465726d\x1b\\", "\x1bP1$r0m\x1b\\", "\x1bP0$r\a",
	"\x1b_Gi=31;OK\x1b\\", "\x1b_25a1;fmt=glyf\x1b\\", "\x1b^a private message\x1b\\", "\x1bXa string\x1b\\",
	"\x1b[12;40R", "\x1b[1;40R", "\x1b[?12;40;1R", "\x1b[0n", "\x1b[?997;1n", "\x1b[?1u", "\x1b[?31u", "\x1b[?2026;2$y", "\x1b[4;1$y",
	"\x1b[8;36;120t", "\x1b[4;720;1440t", "\x1b[48;36;120;720;1440t", "\x1b[?2;0;800;600S", "\x1b[?4;2m", "\x1b[>4;2m", "\x1b[2;1;1;112;112;1;0x",
	"\x1b[M !!", "\x1b[M\x23\xc0\xff",
}

// A reply leaves nothing behind, wherever it is cut.
func TestAnswers(t *testing.T) {
	for _, answer := range answers {
		for cut := range len(answer) {
			r := newRecord()
			for _, p := range []string{"A", answer[:cut], answer[cut:], "B"} {
				r.in.feed([]byte(p))
			}
			if got := string(r.in.out); got != "AB" || len(r.pastes) > 0 {
				t.Errorf("%q, cut after %q: %s", answer, answer[:cut], r)
			}
		}
	}
}

// Keys and replies in any order, cut anywhere, with pauses: the keys arrive as typed, the replies not at all.
func TestAnswersBetweenKeys(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		keys := []string{"a", "é", "\r", "\x1b[A", "\x1bOP", "\x1b[1;2R", "\x1b[<0;3;3M", "\x1b[I", "\x1bb", "\x7f", "\x03"}
		for seed := range uint64(2000) {
			random := rand.New(rand.NewPCG(seed, 51))
			var stream, typed string
			for range 20 {
				if random.IntN(2) == 0 {
					key := keys[random.IntN(len(keys))]
					stream, typed = stream+key, typed+key
				} else {
					answer := answers[random.IntN(len(answers))]
					stream += answer + answer
				}
			}
			r := newRecord()
			for rest := []byte(stream); len(rest) > 0; {
				n := min(1+random.IntN(12), len(rest))
				r.in.feed(rest[:n])
				rest = rest[n:]
				time.Sleep(time.Duration(random.IntN(int(keyTime))))
			}
			if got := string(r.in.out); got != typed {
				t.Fatalf("seed %d: %q\nread  %q\ntyped %q", seed, stream, got, typed)
			}
		}
	})
}

// Bytes that may be a key or the start of a sequence are a key if nothing follows.
func TestKeysByTime(t *testing.T) {
	const esc = "<Esc>"
	for _, tt := range []struct {
		name  string
		reads []string
		pause time.Duration
		want  string
	}{
		{"Esc", []string{"\x1b"}, keyTime, esc},
		{"Esc twice at once", []string{"\x1b\x1b"}, keyTime, esc + esc},
		{"Esc twice", []string{"\x1b", "\x1b", "a"}, 30 * time.Millisecond, escKey + "\x1ba"},
		{"Esc held", []string{"\x1b", "\x1b", "\x1b", "\x1b"}, 30 * time.Millisecond, escKey + escKey},
		{"Esc twice, slowly", []string{"\x1b", "\x1b", "a"}, time.Second, esc + esc + "a"},
		{"Esc before Alt with a letter", []string{"\x1b", "\x1ba"}, 30 * time.Millisecond, escKey + "\x1ba"},
		{"Esc before an answer", []string{"\x1b", "\x1b]11;x\a", "a"}, 30 * time.Millisecond, escKey + "a"},
		{"Esc before letters", []string{"\x1b", "N", "^", "]"}, time.Second, esc + "N^]"},
		{"Esc before letters at once", []string{"\x1b", "]ab"}, 60 * time.Millisecond, esc + "]ab"},
		{"Alt+]", []string{"\x1b]"}, keyTime, "<Alt+Rune[]]>"},
		{"F1 in two reads", []string{"\x1bO", "P"}, 200 * time.Millisecond, "\x1bOP"},
		{"Alt+_ before a letter", []string{"\x1b_", "1"}, keyTime, "<Alt+Rune[_]>1"},
		{"an arrow in two reads", []string{"\x1b", "[A"}, 49 * time.Millisecond, "\x1b[A"},
		{"an answer whose rest is late", []string{"\x1b", "]11;rgb:0/0/0\x1b\\", "a"}, 200 * time.Millisecond, esc + "a"},
		{"a report whose rest is late", []string{"\x1b", "[?62;22c", "a"}, 200 * time.Millisecond, esc + "a"},
		{"an answer that is late after two bytes", []string{"\x1bP", ">|iTerm2\x1b\\", "a"}, 200 * time.Millisecond, "<Alt+Rune[P]>a"},
		{"half an answer", []string{"\x1b]11;rgb:0", "a"}, 2 * time.Second, "a"},
		{"half a report", []string{"\x1b[?62", "a"}, 2 * time.Second, "a"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRecord()
				for _, p := range tt.reads {
					r.in.feed([]byte(p))
					timer := time.AfterFunc(keyTime, r.in.expire)
					time.Sleep(tt.pause)
					synctest.Wait()
					timer.Stop()
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

// A paste without an end marker must not block the keyboard.
func TestPasteWithoutEnd(t *testing.T) {
	r := newRecord()
	r.in.feed([]byte("\x1b[200~text"))
	r.in.feed([]byte{ctrlC})
	r.in.feed([]byte("k"))
	if got, want := r.String(), fmt.Sprintf("%q [{Text:text Dropped:0}] []", "\x1b[200~\x1b[201~k"); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// An endless reply is bounded, and ends with a key.
func TestAnswerLimit(t *testing.T) {
	r := newRecord()
	r.in.feed([]byte("\x1b]52;c;" + strings.Repeat("A", 3*maxAnswer) + "\x1b[" + strings.Repeat("1", 3*maxAnswer)))
	if len(r.in.text)+len(r.in.held) > maxAnswer+maxSequence+8 {
		t.Error("an endless answer is not bounded")
	}
	r.in.feed([]byte("\r\x1b[A"))
	if got := string(r.in.out); got != "\r\x1b[A" {
		t.Errorf("read %q", got)
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

// Bytes that tcell would not accept, or would split, do not reach it. However the bytes are cut into reads, the output
// is the same, and no key is held back.
func FuzzInput(f *testing.F) {
	f.Add([]byte("a\x1b[200~b\nc\x1b[201~d\x1b]11;rgb:0/0/0\x1b\\"), 3)
	f.Add([]byte("\x1b\x1b]\x1b_\x1b[<0;1;1M\x1b[20"), 1)
	for _, answer := range answers {
		f.Add([]byte("a\x1b"+answer+answer+"\x1b[A"), 4)
	}
	f.Add([]byte("\xc3\xa9\xe9\xe2\x82\x1b\x1b\x1b\xf0\x9f\x98\x80\xef\xbf\xbd"), 5)
	f.Fuzz(func(t *testing.T, p []byte, cut int) {
		if len(p) == 0 || bytes.IndexByte(p, ctrlC) >= 0 {
			return // alone in a read it means something else
		}
		whole, parts := newRecord(), newRecord()
		whole.in.feed(p)
		at := int(uint(cut) % uint(len(p)))
		parts.in.feed(p[:at])
		parts.in.feed(p[at:])
		if whole.String() != parts.String() {
			t.Errorf("in one piece %s\ncut at %d   %s", whole, at, parts)
		}
		if i := bytes.LastIndexByte(whole.in.out, esc); i >= 0 && len(whole.in.out) == i+1 {
			t.Errorf("tcell waits for the rest of %q", whole.in.out)
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
