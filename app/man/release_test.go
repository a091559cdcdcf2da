package main

import (
	"os"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// The release configuration builds static programs for the four platforms and packs what
// this command writes. (`goreleaser check` looks at its form when a release is made.)
func TestReleaseConfiguration(t *testing.T) {
	data, err := os.ReadFile("../../.goreleaser.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var c struct {
		Version int
		Before  struct{ Hooks []string }
		Builds  []struct {
			Env, Goos, Goarch, Flags, Ldflags []string
		}
		Archives []struct {
			Files []struct{ Src string }
		}
		Checksum struct{ Algorithm string }
		Sboms    []struct{ Artifacts string }
	}
	if err := yaml.Unmarshal(data, &c); err != nil {
		t.Fatal(err)
	}
	if c.Version != 2 || len(c.Builds) != 1 || len(c.Archives) != 1 || len(c.Sboms) != 1 || c.Checksum.Algorithm != "sha256" {
		t.Fatalf("the configuration has %+v", c)
	}
	b := c.Builds[0]
	for _, has := range []bool{
		slices.Contains(b.Env, "CGO_ENABLED=0"), slices.Contains(b.Flags, "-trimpath"),
		slices.Equal(b.Goos, []string{"linux", "darwin"}), slices.Equal(b.Goarch, []string{"amd64", "arm64"}),
		strings.Contains(strings.Join(b.Ldflags, " "), "-X buddy/app/version.Number="),
		strings.HasSuffix(strings.Join(c.Before.Hooks, " "), "go run ./app/man build"),
	} {
		if !has {
			t.Errorf("the build is %+v after %q", b, c.Before.Hooks)
		}
	}
	var files []string
	for _, f := range c.Archives[0].Files {
		files = append(files, f.Src)
	}
	for _, want := range []string{"LICENSE", "build/man/*.1", "build/completions/*"} {
		if !slices.Contains(files, want) {
			t.Errorf("archives have %q, not %s", files, want)
		}
	}
}
