package campaign

import (
	"time"

	"handloom/proof/model"
)

type Profile struct {
	Name     string
	About    string
	Duration time.Duration // 0: until interrupted
	Steps    int
	Configs  int
	Promises []model.Seen
}

var Profiles = []Profile{
	{
		Name: "smoke", About: "random programs for 20 seconds",
		Duration: 20 * time.Second, Steps: 400, Configs: 3, Promises: common,
	},
	{
		Name: "pr", About: "random programs for 2 minutes",
		Duration: 2 * time.Minute, Steps: 500, Configs: 4, Promises: model.AllSeen(),
	},
	{
		Name: "nightly", About: "random programs for 4 hours",
		Duration: 4 * time.Hour, Steps: 1000, Configs: 8, Promises: model.AllSeen(),
	},
	{
		Name: "long", About: "random programs of 5,000 operations for 10 minutes",
		Duration: 10 * time.Minute, Steps: 5000, Configs: 3, Promises: common,
	},
}

func Find(name string) (Profile, bool) {
	for _, p := range Profiles {
		if p.Name == name {
			return p, true
		}
	}
	return Profile{}, false
}

// common are the states that a short campaign reaches on any machine.
var common = []model.Seen{
	model.Depletion, model.HoldBack, model.SlotLimit, model.ItemLimit, model.StaleReused,
	model.StaleDepleted, model.ForgedVacant, model.ForgedFree, model.ForeignHandle, model.ChunkFull, model.ChunkOneMore,
	model.ManyChunks, model.UnevenDeal, model.CancelInPlan, model.CancelTooLate,
	model.DefragmentPaused, model.RolledBackOverDepletion, model.MisuseRefused,
}
