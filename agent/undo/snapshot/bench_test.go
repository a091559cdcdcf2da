package snapshot

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// BenchmarkScan measures a scan of folders in which nothing or ten files have changed since the last one.
func BenchmarkScan(b *testing.B) {
	for _, n := range []int{5_000, 60_000} {
		tree, root := newTree(b, "")
		for i := range n {
			dir := filepath.Join(root, fmt.Sprintf("dir%03d", i/100))
			if i%100 == 0 {
				if err := os.Mkdir(dir, 0o700); err != nil {
					b.Fatal(err)
				}
			}
			if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("file%05d.go", i)), fmt.Appendf(nil, "package p%d\n%6000d\n", i, i), 0o600); err != nil {
				b.Fatal(err)
			}
		}
		scanned(b, tree)
		scanned(b, tree)
		b.Run(fmt.Sprintf("%d/unchanged", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				scanned(b, tree)
			}
		})
		b.Run(fmt.Sprintf("%d/changed", n), func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				for j := range 10 {
					if err := os.WriteFile(filepath.Join(root, "dir000", fmt.Sprintf("file%05d.go", j)), fmt.Appendf(nil, "%d\n", i), 0o600); err != nil {
						b.Fatal(err)
					}
				}
				scanned(b, tree)
			}
		})
	}
}
