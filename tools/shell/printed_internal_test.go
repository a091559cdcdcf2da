package shell

import "testing"

// The output streams of a command share a limit: each gets half of it, and what the other one leaves.
func TestShares(t *testing.T) {
	for _, tt := range []struct {
		limit, out, errs  int64
		wantOut, wantErrs int
	}{
		{4000, 10, 20, 3980, 3990},
		{4000, 4000, 0, 4000, 0},
		{4000, 5000, 100, 3900, 100},
		{4000, 100, 5000, 100, 3900},
		{4000, 2500, 2500, 2000, 2000},
		{4000, 9000, 9000, 2000, 2000},
		{5, 9, 9, 3, 2},
	} {
		out, errs := shares(int(tt.limit), tt.out, tt.errs)
		if out != tt.wantOut || errs != tt.wantErrs {
			t.Errorf("%d for %d and %d: %d, %d, want %d, %d", tt.limit, tt.out, tt.errs, out, errs, tt.wantOut, tt.wantErrs)
		}
	}
}
