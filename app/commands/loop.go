package commands

import (
	"context"
	"slices"

	"buddy/agent"
	"buddy/agent/event"
	"buddy/app/show"
	"buddy/app/slash"
)

func init() {
	add(slash.Command{
		Name: "loop", Means: []string{"repeat", "schedule", "cron", "every", "interval", "watch"}, Args: "[INTERVAL PROMPT [--runs N] [--turns N] [--cost DOLLARS] [--time 2h]|stop]", Brief: "repeat a prompt at an interval",
		Help:   "repeat a prompt, a custom command or !COMMAND: the first run starts at once, the others at this interval (at least 10s) while the session is idle; ends with the session, at $5 or after 24h unless you set other limits; without arguments, show the loop",
		Events: slash.One(slash.Loop),
	}, showLoop)
}

// showLoop shows the running loop.
func showLoop(ctx context.Context, s *Session, _ []string) (show.Answer, error) {
	work, err := ask(ctx, s, agent.WorkOf)
	i := slices.IndexFunc(work.Running, func(t agent.RunningTask) bool { return t.Kind == event.LoopTask })
	if err != nil || i < 0 {
		return show.Say("No loop is running. /loop 10m PROMPT repeats the prompt every 10 minutes."), err
	}
	t := work.Running[i]
	values := []show.Value{
		{Label: "Prompt", Text: t.Title},
		{Label: "State", Text: t.State, Line: "The loop: " + t.State, Deeds: []show.Deed{{Label: "stop it", Run: []string{"loop", "stop"}}}},
		{Label: "Started", Text: t.Began.Format("15:04:05")},
	}
	if !t.Until.IsZero() {
		values = append(values, show.Value{Label: "Until", Text: t.Until.Local().Format("Mon 2 Jan 15:04:05")})
	}
	return show.Answer{Document: &show.Document{Title: "Loop", Usage: "/loop stop ends it", Sections: []show.Section{{Values: values}}}}, nil
}
