package main

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"handloom/proof/browser"
)

// queries maps searches to a page or section among the first three results; after "first ", it is the first.
var queries = map[string]string{
	"undo": "undo.html", "redo": "undo.html", "undoing": "undo.html", "revert": "undo.html", "ctrl-z": "undo.html",
	"kill -9": "survive-a-kill.html", "power failure": "survive-a-kill.html", "crash": "survive-a-kill.html", "WAL": "survive-a-kill.html",
	"collision": "find-items.html#collisions", "collis": "find-items.html#collisions", "collision detection": "find-items.html#collisions",
	"spatial hash": "find-items.html#by-place", "quadtree": "find-items.html#by-place", "find by key": "find-items.html",
	"thread safe": "phases.html#calls-allowed-in-each-phase", "is it thread-safe?": "phases.html", "deadlock": "phases.html#calls-allowed-in-each-phase",
	"timer": "timers.html", "timers": "timers.html", "cooldown": "timers.html", "How do I pause?": "timers.html",
	"multiplayer": "server.html", "many players": "server.html", "lag compensation": "netcode.html", "rollback": "netcode.html",
	"lockstep": "netcode.html", "prediction": "netcode.html", "serialization": "save-and-load.html", "serialize": "save-and-load.html",
	"save game": "save-and-load.html", "rng": "random.html", "dice": "random.html", "random numbers": "random.html",
	"ebiten": "engine.html", "wasm": "engine.html#in-a-browser", "window": "engine.html", "game loop": "frames.html",
	"unit test": "test-your-program.html", "race detector": "rules.html#checks", "entity component system": "from-an-ecs.html",
	"idempotent": "durable-server.html", "backup": "losses.html", "memory usage": "memory-and-disk.html", "pprof": "profile.html",
	"time travel debugging": "find-out-why.html", "root cause": "find-out-why.html", "post mortem": "find-out-why.html",
	"failover": "several-machines.html", "raft": "several-machines.html", "distributed": "several-machines.html",
	"sharding": "many-cells.html", "dead letter": "many-cells.html",
	"how do I save a game": "save-and-load.html#save-and-load", "how does it handle a crash": "survive-a-kill.html#survive-a-kill",
	"what is a handle": "handles.html#handles", "how do I test my program": "test-your-program.html",
	"ErrDuplicate": "errors.html#errduplicate", "name of a new": "spawn-and-kill.html#the-name-of-a-new-item", "install": "quick-start.html",
	"wrong value": "find-out-why.html", "remove while iterating": "first rules.html", "erase during iteration": "first rules.html", "structural change inside All": "first rules.html",
	"shrink memory": "first memory-and-disk.html", "give memory back": "first memory-and-disk.html", "memory stays at its peak": "first memory-and-disk.html",
	"interest management": "first what-clients-see.html", "area of interest": "first what-clients-see.html", "fog of war": "first what-clients-see.html",
	"delta compression": "first what-clients-see.html", "left my view": "first what-clients-see.html",
	"join in progress": "first netcode.html", "player joins a running game": "first netcode.html",
	"where do I read the lists": "first changes.html#read-the-lists", "every third frame": "first changes.html#read-the-lists",
	"when is the inbox applied": "first server.html#the-tick", "groups as a resource": "first systems.html",
	"score of the attacker": "first events.html#record-for-the-attacker-groupby", "lost events": "events.html", "slow reader of events": "first events.html",
	"how many shards": "first size-a-table.html", "floats across processors": "first determinism.html", "handled twice": "first from-an-ecs.html", "orphans": "first parents-and-children.html", "close the store": "first server.html#serve-it",
}

func TestSearch_FindsPagesByWordsOfUsers(t *testing.T) {
	files, err := build()
	noError(t, err)
	search := slices.Concat(files["index.js"], files["find.js"])
	asked, err := json.Marshal(queries)
	noError(t, err)
	script := fmt.Sprintf("%s\nfunction answers() {\n\treturn Object.fromEntries(Object.keys(%s).map(q => [q, findSections(sections, q, 3).sections.map(s => s.to)]));\n}\n", search, asked)
	found := make(map[string][]string)
	if node, err := exec.LookPath("node"); err == nil {
		cmd := exec.Command(node, "-")
		cmd.Stdin = strings.NewReader(script + "console.log(JSON.stringify(answers()));\n")
		out, err := cmd.Output()
		noError(t, err)
		noError(t, json.Unmarshal(out, &found))
	} else {
		b := browser.Open(t)
		b.Eval(fmt.Sprintf("(() => {\n%s\nreturn answers();\n})()", script), &found)
	}
	for query, want := range queries {
		page, first := strings.CutPrefix(want, "first ")
		if at := slices.IndexFunc(found[query], func(to string) bool { return strings.HasPrefix(to, page) }); at < 0 || first && at > 0 {
			t.Errorf("%q: got %q, want %s among them", query, found[query], want)
		}
	}
}

// The button of a block copies its code, unchanged.
func TestCopy_HasTheCode(t *testing.T) {
	files, err := build()
	noError(t, err)
	web := httptest.NewServer(handler(files, nil))
	defer web.Close()
	b := browser.Open(t)
	for _, p := range read(t).Pages {
		if len(p.Blocks) == 0 {
			continue
		}
		b.Show(web.URL+"/"+strings.TrimSuffix(strings.Replace(p.File, "README", "index", 1), ".md")+".html", 1280)
		var copied []string
		b.Eval(`(() => {
			const all = [];
			Object.defineProperty(navigator, "clipboard", {value: {writeText: async text => { all.push(text); }}});
			document.querySelectorAll(".code button").forEach(button => button.click());
			return all;
		})()`, &copied)
		for i, block := range p.Blocks {
			if i >= len(copied) || copied[i] != block.Text {
				t.Errorf("%s: copied %q, want the text of block %d, %q", p.File, copied, i, block.Text)
				break
			}
		}
	}
}
