package fullscreen

import (
	"context"

	"buddy/app/compose"
	"buddy/app/host"
	"buddy/app/live"
)

// startSession starts the session that the options name: a new one, or the stored one.
func startSession(ctx context.Context, f *compose.Options, resume bool) (live.Session, error) {
	return host.Open(f, resume).Connect(ctx), nil
}
