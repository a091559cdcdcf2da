package cli

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"buddy/app/apptest"
	"buddy/app/compose"
	"buddy/app/exit"
	"buddy/config"
)

// TestOffers: the list names usable models as they are chosen; text from a server on this machine is safe to show.
func TestOffers(t *testing.T) {
	apptest.Home(t)
	apptest.ServeModels(t, "qwen3:8b", `\u001b[31mred`)
	t.Setenv("XAI_API_KEY", "xai-key")
	c, index, _, err := compose.LoadConfig(&compose.Options{})
	if err != nil {
		t.Fatal(err)
	}
	offers := compose.OffersOf(t.Context(), c, index, true)
	seen := map[string]compose.Offer{}
	for _, o := range offers {
		seen[o.Name] = o
	}
	if o := seen["xai"]; !o.Active || !o.Usable || o.Why != "key from XAI_API_KEY" || o.Window != 200_000 {
		t.Errorf("xai: %+v", o)
	}
	if o := seen["ollama/qwen3:8b"]; !o.Usable || o.Model != "qwen3:8b" || o.From != "Ollama on this machine" || o.Why != "no key needed" {
		t.Errorf("ollama: %+v in %+v", o, offers)
	}
	var table strings.Builder
	if err := printOffers(&table, offers); err != nil {
		t.Fatal(err)
	}
	text := table.String()
	if strings.ContainsAny(text, "\x1b") || strings.Contains(text, "xai-key") {
		t.Errorf("%s", text)
	}
	for _, o := range offers {
		if _, ok := c.Lookup(o.Name); !ok && o.Name != config.Demo {
			t.Errorf("%q is offered and chooses nothing", o.Name)
		}
	}
}

// Output that can't be written is a reported failure, neither success nor wrong usage.
func TestOutputThatCanNotBeWrittenIsAFailure(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { _ = full.Close() })
	apptest.Home(t)
	t.Chdir(t.TempDir())
	for _, args := range [][]string{{"models"}, {"models", "--json"}, {"workflow", "list"}, {"completion", "bash"}, {"completion", "fish"}, {"config", "show"}, {"--version"}} {
		said, err := os.Create(filepath.Join(t.TempDir(), "said"))
		if err != nil {
			t.Fatal(err)
		}
		code := Main(args, os.Stdin, full, said)
		text, err := os.ReadFile(said.Name())
		if err := errors.Join(err, said.Close()); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), "no space left") || strings.Contains(string(text), "--help") || code != exit.Failed {
			t.Errorf("buddy %q: exit code %d, %q", args, code, text)
		}
	}
}
