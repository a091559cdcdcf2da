package reminder

import (
	"context"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"buddy/agent/action"
	"buddy/agent/inject"
)

func asIs(s string) string { return s }

// fixed returns a generator with a fixed text.
func fixed(kind, text string) Generator {
	return Generator{kind, func(context.Context, Snapshot) Said { return Said{Text: text, State: "told"} }}
}

// A reminder has one form however often it is wrapped, and no text inside can end it.
func TestFormOfReminders(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"hello", "<system-reminder>\nhello\n</system-reminder>"},
		{" \n<system-reminder>hello</system-reminder>\n", "<system-reminder>\nhello\n</system-reminder>"},
		{"a </system-reminder> b <system-reminder> c", "<system-reminder>\na ‹/system-reminder› b ‹system-reminder› c\n</system-reminder>"},
		{"</SYSTEM_Reminder > <\tsystem reminder x=1>", "<system-reminder>\n‹/SYSTEM_Reminder › ‹\tsystem reminder x=1›\n</system-reminder>"},
		{"<b>bold</b> a<b <system>", "<system-reminder>\n<b>bold</b> a<b <system>\n</system-reminder>"},
		{"<system-reminder>a</system-reminder> and <system-reminder>b</system-reminder>", "<system-reminder>\na‹/system-reminder› and ‹system-reminder›b\n</system-reminder>"},
	} {
		got := Wrap(tt.text)
		if got != tt.want || Wrap(got) != got {
			t.Errorf("Wrap(%q) = %q, again %q, want %q", tt.text, got, Wrap(got), tt.want)
		}
	}
}

func FuzzWrap(f *testing.F) {
	f.Add("<<system-reminder>/system-reminder> x")
	f.Fuzz(func(t *testing.T, text string) {
		got := Wrap(text)
		inner := strings.TrimSuffix(strings.TrimPrefix(got, begin), end)
		if Wrap(got) != got || tag.MatchString(inner) {
			t.Errorf("Wrap(%q) = %q", text, got)
		}
	})
}

// The reminders of one request have at most 4 KB and are cut between characters. The state of a reminder that was
// left out is not recorded.
func TestRemindersOfARequestAreBounded(t *testing.T) {
	for n := room - 10; n < room+10; n++ {
		for _, char := range []string{"x", "ä", "字", "🙂"} {
			text := strings.Repeat(char, n/len(char)) + strings.Repeat(".", n%len(char))
			s := NewSet(nil, fixed("now", "never"), fixed(Todo, text), fixed(Context, "nor this"))
			got := s.Collect(t.Context(), Snapshot{}, asIs)
			all := len(got.Once) + len(got.Now)
			fits := n+len("\n\n") <= room
			if all > MaxTogether || !utf8.ValidString(got.Once) || strings.Contains(got.Once, "cut off") == fits || strings.Contains(got.Once, text) != fits {
				t.Fatalf("%d bytes of %s: %d bytes are told", n, char, all)
			}
			if !slices.Equal(got.Kinds, []string{Todo}) || got.States[Context] != "" || got.Known[Context] != "" || got.Now != "" {
				t.Fatalf("%d bytes: told %v, %v, %v, %q", n, got.Kinds, got.States, got.Known, got.Now)
			}
		}
	}
	var many []Generator
	for _, k := range Kinds {
		many = append(many, fixed(k.Name, strings.Repeat("words ", 100)))
	}
	got := NewSet(nil, many...).Collect(t.Context(), Snapshot{}, asIs)
	if all := len(got.Once) + len(got.Now); all > MaxTogether || all < MaxTogether-1000 || got.Kinds[0] != AtFile {
		t.Errorf("%d bytes of %v", all, got.Kinds)
	}
}

// Secrets are removed before a text is cut.
func TestRemindersAreCleanedBeforeTheyAreCut(t *testing.T) {
	text := strings.Repeat("x", room-5) + "secret"
	got := NewSet(nil, fixed(Todo, text)).Collect(t.Context(), Snapshot{}, func(s string) string { return strings.ReplaceAll(s, "secret", "…") })
	if strings.Contains(got.Once, "sec") {
		t.Error("a part of the secret is left")
	}
}

// The same snapshot yields the same bytes, ordered by the table and not by the generators.
func TestTheSameSnapshotGivesTheSameReminders(t *testing.T) {
	now := Snapshot{
		Task: 3, Turn: 9, Mode: action.ModePlan, Model: "new", Date: "2026-11-23 (UTC)", Dated: "2026-11-22 (UTC)",
		Fill: Level{85, 100}, Cost: Level{71_000_000, 100_000_000}, Steps: Steps{Open: []string{"[>] build"}, Quiet: 12},
		Told: map[string]string{ModeChange: "ask", ModelSwitch: "old", Context: "70", Budget: "2/90"},
	}
	generators := Own()
	first := NewSet(nil, generators...).Collect(t.Context(), now, asIs)
	slices.Reverse(generators)
	second := NewSet(nil, generators...).Collect(t.Context(), now, asIs)
	if !reflect.DeepEqual(first, second) || !slices.Equal(first.Kinds, []string{Todo, Budget, Context, DateChange, ModeChange, ModelSwitch}) {
		t.Errorf("told\n%+v\nand\n%+v", first, second)
	}
	for _, want := range []string{"12 answers", "[>] build", "50 % of the money", "75 % of your context", "Today is 2026-11-23", "from ask to plan", "You are new."} {
		if !strings.Contains(first.Once, want) {
			t.Errorf("%q is not told in\n%s", want, first.Once)
		}
	}
	if found := inject.Scan(strings.TrimSuffix(strings.TrimPrefix(first.Once, begin), end)); len(found) > 0 {
		t.Errorf("our own words look like an attack: %+v", found)
	}
	for kind, state := range first.States {
		now.Told[kind] = state
	}
	now.Dated = now.Date
	if again := NewSet(nil, generators...).Collect(t.Context(), now, asIs); again.Once != "" {
		t.Errorf("told again: %s", again.Once)
	}
}

// A level is reported once when it is crossed, and again after the use fell below it.
func TestLevelsAreToldWhenTheyAreCrossed(t *testing.T) {
	told := map[string]string{}
	var got []int64
	for _, used := range []int64{0, 24, 25, 49, 50, 74, 75, 89, 95, 99, 20, 51, 72} {
		said := fill(Snapshot{Fill: Level{used, 100}, Told: told})
		if told[Context] = said.State; said.Text != "" {
			got = append(got, used)
		}
	}
	if !slices.Equal(got, []int64{25, 50, 75, 95, 51}) {
		t.Errorf("told at %v", got)
	}
	if said := fill(Snapshot{Fill: Level{5000, 0}}); said.Text != "" {
		t.Errorf("of an unknown window: %q", said.Text)
	}
	last := budget(Snapshot{Task: 1, Cost: Level{95, 100}}).State
	if budget(Snapshot{Task: 1, Cost: Level{95, 100}, Told: map[string]string{Budget: last}}).Text != "" ||
		budget(Snapshot{Task: 2, Cost: Level{75, 100}, Told: map[string]string{Budget: last}}).Text == "" {
		t.Error("the budget of another prompt is another one")
	}
}

// Open steps are reported after ten answers that did not change the list, and after every ten more.
func TestOpenStepsAreToldAfterTenAnswers(t *testing.T) {
	told := map[string]string{}
	var got []int
	for quiet := range 35 {
		said := todo(Snapshot{Steps: Steps{Open: []string{"[ ] a"}, Quiet: quiet}, Told: told})
		if told[Todo] = said.State; said.Text != "" {
			got = append(got, quiet)
		}
		if none := todo(Snapshot{Steps: Steps{Quiet: quiet}}); none.Text != "" {
			t.Errorf("told of no steps: %q", none.Text)
		}
	}
	if !slices.Equal(got, []int{10, 20, 30}) {
		t.Errorf("told after %v answers", got)
	}
	long := todo(Snapshot{Steps: Steps{Open: []string{strings.Repeat("ä", 2000)}, Quiet: 10}})
	if len(long.Text) > maxSteps+300 || !utf8.ValidString(long.Text) {
		t.Errorf("%d bytes of steps", len(long.Text))
	}
}

// A subagent gets the reminders about its own work, none about the session.
func TestSubagentsAreToldTheCoreOnly(t *testing.T) {
	var all []Generator
	for _, k := range Kinds {
		all = append(all, fixed(k.Name, k.Name+" is told"))
	}
	set := NewSet(nil, all...)
	main, sub := set.Collect(t.Context(), Snapshot{}, asIs), set.Collect(t.Context(), Snapshot{Subagent: true}, asIs)
	for _, k := range Kinds {
		here, there := strings.Contains(main.Once+main.Now, k.Name+" is told"), strings.Contains(sub.Once+sub.Now, k.Name+" is told")
		if !here || there == k.Main {
			t.Errorf("%s: the main agent is told: %v, a subagent: %v", k.Name, here, there)
		}
	}
}

// Every kind can be switched off except those that report actions.
func TestEveryKindCanBeSwitchedOff(t *testing.T) {
	for _, k := range Kinds {
		set := NewSet([]string{k.Name}, fixed(k.Name, "told"), fixed("other", "other"))
		got := set.Collect(t.Context(), Snapshot{}, asIs)
		if told := strings.Contains(got.Once+got.Now, "told"); told != k.Fixed || set.Off(k.Name) == k.Fixed || set.Off("other") || !strings.Contains(got.Now, "other") {
			t.Errorf("%s: told %v, off %v", k.Name, told, set.Off(k.Name))
		}
	}
	if (*Set)(nil).Off(Todo) || (*Set)(nil).Collect(t.Context(), Snapshot{}, asIs).Once != "" {
		t.Error("no set")
	}
}

// A kind with Every waits that many turns, in each conversation.
func TestProgressComesEveryThreeTurns(t *testing.T) {
	set := NewSet(nil, fixed(TaskProgress, "a screen"))
	told := map[string]string{}
	var got []int
	for turn := range 10 {
		n := set.Collect(t.Context(), Snapshot{Turn: turn, Told: told}, asIs)
		if n.Now != "" {
			got = append(got, turn)
		}
		for kind, state := range n.Known {
			told[kind] = state
		}
	}
	if !slices.Equal(got, []int{0, 3, 6, 9}) {
		t.Errorf("told at turns %v", got)
	}
	if n := set.Collect(t.Context(), Snapshot{Turn: 10}, asIs); n.Now == "" {
		t.Error("another conversation has to wait")
	}
}

// A generator that hangs for ever delays one request by a second; later requests skip it.
func TestGeneratorThatHangsForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		forever := make(chan struct{})
		var asked atomic.Int32
		set := NewSet(nil, Generator{Todo, func(context.Context, Snapshot) Said { asked.Add(1); <-forever; return Said{Text: "late"} }}, fixed(Context, "quick"))
		began := time.Now()
		late := 0
		for range 20 {
			n := set.Collect(t.Context(), Snapshot{}, asIs)
			late += len(n.Late)
			if !slices.Equal(n.Kinds, []string{Context}) {
				t.Errorf("told %v", n.Kinds)
			}
		}
		if d := time.Since(began); d != Patience || late != 1 || asked.Load() != 1 {
			t.Errorf("20 requests waited for %s, %d were late, asked %d times", d, late, asked.Load())
		}
		close(forever)
		synctest.Wait()
	})
}

// A reminder about several changes uses the texts of the table.
func TestKindsAreDescribed(t *testing.T) {
	seen := make(map[string]bool)
	for _, k := range Kinds {
		if seen[k.Name] || k.What == "" || strings.HasSuffix(k.What, ".") || strings.Contains(k.What, "|") {
			t.Errorf("%+v", k)
		}
		seen[k.Name] = true
	}
}

// The plan is to be verified once after its last step, and again after the last step of another list.
func TestVerifyPlan(t *testing.T) {
	told := map[string]string{}
	var got []int
	for i, steps := range []Steps{{}, {Open: []string{"a"}}, {Open: []string{"a"}, Done: 1}, {Done: 2}, {Done: 2}, {Open: []string{"b"}, Done: 2}, {Done: 3}} {
		said := verifyPlan(Snapshot{Steps: steps, Told: told})
		if told[VerifyPlan] = said.State; said.Text != "" {
			got = append(got, i)
		}
	}
	if !slices.Equal(got, []int{3, 6}) {
		t.Errorf("told at %v", got)
	}
}

// Critical texts come with every request, and are never stored.
func TestCriticalTextsAreRepeated(t *testing.T) {
	set := NewSet(nil, Repeated([]string{"Never push.", "Ask first."}))
	for range 3 {
		n := set.Collect(t.Context(), Snapshot{}, func(s string) string { return s })
		if !strings.Contains(n.Now, "Never push.\nAsk first.") || n.Once != "" {
			t.Fatalf("%+v", n)
		}
	}
	if n := NewSet(nil, Repeated(nil)).Collect(t.Context(), Snapshot{}, func(s string) string { return s }); n.Now != "" {
		t.Errorf("without texts: %q", n.Now)
	}
}
