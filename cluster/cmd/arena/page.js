"use strict";
const at = (id) => document.getElementById(id);
const canvas = at("field"), draw = canvas.getContext("2d");
const dark = matchMedia("(prefers-color-scheme: dark)");
const unit = 10; // pixels of a place

function cell(row, text, kind) {
	const c = row.insertCell();
	c.textContent = text;
	if (kind) c.className = kind;
	return c;
}

const count = (n) => n.toLocaleString("en");

function showNodes(state) {
	const rows = state.Nodes.map((n, i) => {
		const row = document.createElement("tr"), kind = !n.Up ? "down" : n.Owner ? "owner" : "";
		cell(row, n.Name);
		cell(row, kind || "follower", kind);
		cell(row, n.Workers);
		cell(row, n.Up ? n.Term : "");
		cell(row, n.Up ? count(n.Tick) : "");
		cell(row, n.Up ? count(Math.max(0, state.Tick - n.Tick)) + " ticks" : "");
		cell(row, n.Kills);
		const b = document.createElement("button");
		b.textContent = "kill";
		b.setAttribute("aria-label", "kill node " + n.Name);
		b.dataset.node = i;
		b.disabled = !n.Up;
		cell(row, "").append(b);
		return row;
	});
	const focused = document.activeElement?.dataset?.node;
	at("nodes").replaceChildren(...rows);
	if (focused !== undefined) document.querySelector(`button[data-node="${focused}"]`)?.focus();
}

at("nodes").addEventListener("click", (e) => {
	if (e.target.dataset.node !== undefined) fetch("kill/" + e.target.dataset.node, { method: "POST" });
});

// showEqual shows the figure that matters: whether the states of all nodes are equal.
function showEqual(state) {
	const found = state.Findings.Faults?.[0], compared = state.Findings.Reported;
	at("equal").className = found ? "bad" : compared ? "good" : "";
	at("equal").textContent = found ? "Fault: " + found : compared ? count(compared) + " states compared, all equal" : "No states compared yet";
}

function showFacts(state) {
	const facts = [
		["tick", count(state.Tick)],
		["orders answered", count(state.Answered)],
		["repeated", count(state.Again)],
	];
	at("facts").replaceChildren(...facts.map(([name, value]) => {
		const div = document.createElement("div"), dt = document.createElement("dt"), dd = document.createElement("dd");
		dt.textContent = name;
		dd.textContent = value;
		div.append(dt, dd);
		return div;
	}));
}

function showEvents(state) {
	at("events").replaceChildren(...state.Events.toReversed().slice(0, 30).map((e) => {
		const li = document.createElement("li");
		li.textContent = e;
		return li;
	}));
}

// kills are the kills of the last seconds.
let kills = [], killed = null;
const marked = 5000; // milliseconds

function noteKills(state) {
	const now = performance.now();
	state.Nodes.forEach((n, i) => {
		if (killed && n.Kills > killed[i]) kills.push({text: "node " + n.Name + " killed", since: now});
	});
	killed = state.Nodes.map(n => n.Kills);
	kills = kills.filter(k => now - k.since < marked);
}

// markKills frames the field and names the killed nodes.
function markKills() {
	if (kills.length === 0) return;
	draw.strokeStyle = draw.fillStyle = dark.matches ? "#ff8f8f" : "#a11a1a";
	draw.lineWidth = 12;
	draw.strokeRect(0, 0, canvas.width, canvas.height);
	draw.font = "600 28px system-ui, sans-serif";
	kills.forEach((k, i) => draw.fillText(k.text, 24, 44 + 34 * i));
}

function showField(field) {
	const ink = dark.matches ? ["#ff8f8f", "#f0c060", "#6fce9a"] : ["#a11a1a", "#8a5a00", "#14663a"];
	draw.clearRect(0, 0, canvas.width, canvas.height);
	draw.fillStyle = dark.matches ? "#ececf1" : "#1b1b1f";
	for (const b of field.Bullets) draw.fillRect(b.X * unit + 2, b.Y * unit + 2, 6, 6);
	for (const f of field.Fighters) {
		const x = f.X * unit + unit / 2, y = f.Y * unit + unit / 2, turn = f.Heading * Math.PI / 2;
		draw.fillStyle = ink[Math.max(0, Math.min(2, f.Hull - 1))];
		draw.beginPath();
		draw.moveTo(x + 16 * Math.cos(turn), y + 16 * Math.sin(turn));
		draw.arc(x, y, 10, turn + 0.7, turn - 0.7);
		draw.closePath();
		draw.fill();
	}
}

async function show() {
	try {
		const state = await (await fetch("state")).json();
		at("says").textContent = state.Says;
		showEqual(state);
		showNodes(state);
		noteKills(state);
		showFacts(state);
		showEvents(state);
		if (state.Field) showField(state.Field);
		markKills();
	} catch {
		at("says").textContent = "the program has ended";
	}
	setTimeout(show, 100);
}
show();
