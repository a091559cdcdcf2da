package texts_test

import (
	"slices"
	"testing"

	"buddy/texts"
)

func TestMentions(t *testing.T) {
	plain := func(name string) texts.Mention { return texts.Mention{Name: name} }
	quoted := func(name string) texts.Mention { return texts.Mention{Name: name, Quoted: true} }
	for text, want := range map[string][]texts.Mention{
		"":                                nil,
		"nothing, ann@example.org":        nil,
		"@":                               nil,
		"@main.go":                        {plain("main.go")},
		"compare @a.go, (@b) and\n@c.go.": {plain("a.go"), plain("c.go")},
		`see @"two words.txt", please`:    {quoted("two words.txt")},
		`@"a b"@c @d`:                     {quoted("a b"), plain("c"), plain("d")},
		`@"say \"hi\" \\ there.txt"`:      {quoted(`say "hi" \ there.txt`)},
		`@"as it is!"`:                    {quoted("as it is!")},
		`@"no end of @it`:                 {plain(`"no`), plain("it")},
		"@\"two\nlines\"":                 {plain(`"two`)},
		`@""`:                             {plain(`""`)},
	} {
		if got := slices.Collect(texts.Mentions(text)); !slices.Equal(got, want) {
			t.Errorf("%q mentions %+v, want %+v", text, got, want)
		}
	}
}

// A completed name is read as that name.
func TestMentionIsReadAsItIsWritten(t *testing.T) {
	for name, want := range map[string]string{
		"main.go": "@main.go", `we"ird`: `@we"ird`, "two words": `@"two words"`, `"x"`: `@"\"x\""`, "why?": `@"why?"`,
		`back\slash`: `@back\slash`, `a \ b`: `@"a \\ b"`, "a\tb": "@\"a\tb\"", "größe 1": `@"größe 1"`,
	} {
		m := texts.Mention{Name: name}
		if got := m.String(); got != want {
			t.Errorf("%q is written %s, want %s", name, got, want)
		}
		if got := slices.Collect(texts.Mentions("see " + m.String() + ", and")); len(got) != 1 || got[0].Name != name {
			t.Errorf("%s is read as %+v", m, got)
		}
	}
}
