package themes

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestBuiltInThemesAreComplete(t *testing.T) {
	names := Names("")
	if len(names) < 2 {
		t.Fatalf("Names = %v, want dark and light at least", names)
	}
	for _, name := range names {
		theme, err := Load("", name)
		if err != nil {
			t.Errorf("Load(%q): %v", name, err)
			continue
		}
		if theme.Name != name {
			t.Errorf("Load(%q).Name = %q", name, theme.Name)
		}
	}
}

func TestRoleNamesAreDistinct(t *testing.T) {
	seen := make(map[string]Role)
	for _, r := range Roles {
		if other, dup := seen[r.String()]; dup || r.String() == "" {
			t.Errorf("roles %d and %d are both named %q", other, r, r)
		}
		seen[r.String()] = r
	}
}

// A role that a theme leaves out gets the style of an earlier role, which has been read by then.
func TestOptionalRoles(t *testing.T) {
	dark, err := Load("", "dark")
	if err != nil {
		t.Fatal(err)
	}
	for r, like := range likes {
		if like >= r {
			t.Errorf("%s is like %s, which comes later", r, like)
		}
	}
	if got := dark.Style(Heading); got != dark.Style(Accent) || got == dark.Style(Text) {
		t.Errorf("headings: %+v", got)
	}
}

// Colours must be readable on the background that the theme is made for: WCAG AA asks
// for a contrast of 4.5 for text. Borders are no text.
func TestThemesAreLegible(t *testing.T) {
	for name, background := range map[string]uint32{"dark": 0x1e1e1e, "light": 0xffffff, "solarized": 0x002b36, "high-contrast": 0} {
		theme, err := Load("", name)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range Roles {
			s := theme.Style(r)
			least := 4.5
			if r == Border {
				least = 1.5
			}
			if r == Muted || r == SynComment {
				least = 4 // less important on purpose
			}
			if name == "high-contrast" && r != Border {
				least = 7 // WCAG AAA
			}
			bg := background
			if s.BG.Set {
				bg = s.BG.RGB
			}
			if s.FG.Set && contrast(s.FG.RGB, bg) < least {
				t.Errorf("%s: %s has contrast %.1f, want %.1f", name, r, contrast(s.FG.RGB, bg), least)
			}
			if s.BG.Set && !s.FG.Set {
				t.Errorf("%s: %s sets a background and leaves the text colour to the terminal", name, r)
			}
		}
	}
}

func TestDocumentation(t *testing.T) {
	text, err := os.ReadFile("../docs/themes.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range Roles {
		if !strings.Contains(string(text), "`"+r.String()+"`") {
			t.Errorf("docs/themes.md does not have %s", r)
		}
	}
	for _, name := range Names("") {
		if !strings.Contains(string(text), "`"+name+"`") {
			t.Errorf("docs/themes.md does not have the theme %s", name)
		}
	}
}

// Where two roles tell good from bad, colour must not be the only difference that a
// theme makes invisible by using it twice.
func TestOppositeRolesDiffer(t *testing.T) {
	for _, name := range Names("") {
		theme, err := Load("", name)
		if err != nil {
			t.Fatal(err)
		}
		for _, pair := range [][2]Role{{ToolOK, ToolError}, {DiffAdd, DiffDelete}, {Text, User}, {Border, Focus}, {Text, Control}, {Warning, Error}} {
			if theme.Style(pair[0]) == theme.Style(pair[1]) {
				t.Errorf("%s: %s and %s look the same", name, pair[0], pair[1])
			}
		}
	}
}

func TestParseErrorsNameThemeRoleAndValue(t *testing.T) {
	whole, err := files.ReadFile("dark.toml")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, data, want string }{
		{"missing role", strings.Replace(string(whole), "muted ", "mutex ", 1), `role "muted" is missing`},
		{"unknown role", string(whole) + "\nnope = \"bold\"\n", `unknown role "nope"`},
		{"bad colour", strings.Replace(string(whole), "#5fb3f3 bold", "#5fb3 bold", 1), `"#5fb3" is not a colour`},
		{"bad word", strings.Replace(string(whole), "default bold", "default fat", 1), `"fat" is not a colour`},
		{"no TOML", "text = ", `theme "x"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := parse("x", "x.toml", []byte(c.data), nil); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("parse = %v, want an error with %q", err, c.want)
			}
		})
	}
	if _, err := Load("", "nope"); err == nil || !strings.Contains(err.Error(), "have: auto, dark") {
		t.Errorf("Load(nope) = %v, want the list of themes", err)
	}
}

func TestThemesOfAPerson(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name+".toml"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("mine", "base = \"light\"\nerror = \"#ff0000 bold\"\n")
	write("dark", "nonsense")
	write("wrong", "mutde = \"bold\"\nerror = \"#ff00\"\nuser = \"fat\"\n")
	write("based", "base = \"mine\"\n")
	write("long", "# "+strings.Repeat("x", maxFile))
	if got := strings.Join(Names(dir), " "); got != "dark high-contrast light solarized based long mine wrong" {
		t.Errorf("Names = %s", got)
	}
	mine, err := Load(dir, "mine")
	if err != nil {
		t.Fatal(err)
	}
	light, _ := Load("", "light")
	if mine.Name != "mine" || mine.Style(User) != light.Style(User) || mine.Style(Error) != (Style{FG: Color{0xff0000, true}, Bold: true}) {
		t.Errorf("mine: %+v", mine)
	}
	if dark, err := Load(dir, "dark"); err != nil || dark.Name != "dark" {
		t.Errorf("a file hides a built-in theme: %v", err)
	}
	for name, want := range map[string]string{
		"wrong": `wrong.toml: role "user" (line 3): "fat" is not a colour or attribute (have: default, #rrggbb, on, bold, dim, italic, underline, reversed); role "error" (line 2): "#ff00" is not`,
		"based": `base "mine" is not a built-in theme (have: dark, high-contrast, light, solarized)`,
		"long":  "more than 64 KB",
		"../x":  `unknown theme "../x"`,
	} {
		if _, err := Load(dir, name); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("Load(%s) = %v, want %s", name, err, want)
		}
	}
	if _, err := Load(dir, "wrong"); !strings.Contains(err.Error(), `unknown role "mutde" (line 1)`) {
		t.Errorf("one mistake hides another: %v", err)
	}
}

// A theme with a background of its own has it everywhere, and none without colours.
func TestBackground(t *testing.T) {
	s, err := Load("", "solarized")
	if err != nil {
		t.Fatal(err)
	}
	if bg := s.Style(Muted).BG; bg != s.Style(Text).BG || !bg.Set {
		t.Errorf("background of muted text: %+v", bg)
	}
	plain := s.WithoutColor()
	if plain.Style(Muted).Reversed || !plain.Style(Match).Reversed {
		t.Errorf("without colours: muted %+v, match %+v", plain.Style(Muted), plain.Style(Match))
	}
}

// contrast is the WCAG contrast ratio of two colours, 1 to 21.
func contrast(a, b uint32) float64 {
	la, lb := luminance(a), luminance(b)
	return (max(la, lb) + 0.05) / (min(la, lb) + 0.05)
}

func luminance(rgb uint32) float64 {
	part := func(shift uint) float64 {
		c := float64(rgb>>shift&0xff) / 255
		if c <= 0.04045 {
			return c / 12.92
		}
		return math.Pow((c+0.055)/1.055, 2.4)
	}
	return 0.2126*part(16) + 0.7152*part(8) + 0.0722*part(0)
}

// A special file such as a FIFO is an error and does not hang the program.
func TestNoFile(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe.toml"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "folder.toml"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"pipe", "folder"} {
		if _, err := Load(dir, name); err == nil || !strings.Contains(err.Error(), name+".toml: is not a regular file") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The colours of code must be readable on the bands of a diff, too.
func TestCodeIsLegibleInDiffs(t *testing.T) {
	for _, name := range Names("") {
		theme, err := Load("", name)
		if err != nil {
			t.Fatal(err)
		}
		least := 3.6 // as comments have elsewhere
		if name == "high-contrast" {
			least = 7
		}
		for _, band := range []Role{DiffAddBand, DiffDeleteBand} {
			for _, r := range []Role{SynKeyword, SynString, SynComment, SynNumber, SynName} {
				if got := contrast(theme.Style(r).FG.RGB, theme.Style(band).BG.RGB); got < least {
					t.Errorf("%s: %s on %s has contrast %.1f, want %.1f", name, r, band, got, least)
				}
			}
		}
	}
}

// Without colours the words that changed are still set off, and no line is all reversed.
func TestDiffsWithoutColor(t *testing.T) {
	dark, err := Load("", "dark")
	if err != nil {
		t.Fatal(err)
	}
	plain := dark.WithoutColor()
	if plain.Style(DiffAddBand).Reversed || !plain.Style(DiffAddWord).Reversed {
		t.Errorf("line %+v, word %+v", plain.Style(DiffAddBand), plain.Style(DiffAddWord))
	}
}
