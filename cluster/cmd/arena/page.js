"use strict";
const at = (id) => document.getElementById(id);
const canvas = at("field"), draw = canvas.getContext("2d");
const dark = matchMedia("(prefers-color-scheme: dark)");
const columns = 3, width = 32, height = 27, unit = 10; // unit: pixels of a place

const count = (n) => n.toLocaleString("en");
const milliseconds = (ns) => count(Math.round(ns / 1e6)) + " ms";

function element(name, text, kind) {
	const e = document.createElement(name);
	e.textContent = text;
	if (kind) e.className = kind;
	return e;
}

function summary(state) {
	if (!state.Answered) return "Three servers and three nodes start, and share the cells.";
	if (state.Open > 250e6) return `A player waits for ${(state.Open / 1e9).toFixed(1)} s: a cell or its log elects a leader.`;
	return "Orders are carried out. Kill a node or a server and watch.";
}

function showProcesses(state) {
	const focused = document.activeElement?.dataset?.name;
	at("processes").replaceChildren(...Object.entries(state.Up).map(([name, up]) => {
		const row = document.createElement("tr"), isNode = name[0] === "n";
		const button = element("button", "kill");
		button.setAttribute("aria-label", "kill " + name);
		button.dataset.name = name;
		button.disabled = !up;
		const last = document.createElement("td");
		last.append(button);
		row.append(
			element("td", (isNode ? "node " : "server ") + name, isNode ? name : ""), element("td", up ? "up" : "down", up ? "up" : "down"),
			element("td", isNode ? state.Cells.filter(c => c.Leader === name).length : ""), last);
		return row;
	}));
	if (focused) document.querySelector(`button[data-name="${focused}"]`)?.focus();
}

at("processes").addEventListener("click", (e) => {
	if (e.target.dataset.name) fetch("kill/" + e.target.dataset.name, { method: "POST" });
});

function showFacts(state) {
	const fault = state.Faults?.[0];
	at("verdict").className = fault ? "bad" : state.Answered ? "good" : "";
	at("verdict").textContent = fault ? "Fault: " + fault : state.Answered ? count(state.Answered) + " orders answered, none lost" : "";
	const facts = [["crossings", count(state.Crossed)], ["longest wait of a player since the last kill", milliseconds(state.Longest)], ["longest wait now", milliseconds(state.Open)]];
	at("facts").replaceChildren(...facts.map(([name, value]) => {
		const div = document.createElement("div");
		div.append(element("dt", name), element("dd", value));
		return div;
	}));
	at("events").replaceChildren(...(state.Events ?? []).slice(-30).reverse().map(e => element("li", e)));
}

function showCell(cell, i) {
	const x0 = i % columns * width * unit, y0 = Math.floor(i / columns) * height * unit;
	const style = getComputedStyle(document.documentElement);
	draw.fillStyle = style.getPropertyValue("--" + (cell.Leader || "none"));
	draw.fillRect(x0 + 1, y0 + 1, width * unit - 2, height * unit - 2);
	draw.fillStyle = dark.matches ? "#ececf1" : "#1b1b1f";
	draw.font = "600 16px system-ui, sans-serif";
	draw.fillText(`cell ${i + 1}: ${cell.Leader || "no leader"}, ${(cell.Followers ?? []).join(" ")}`, x0 + 8, y0 + 20);
	for (const r of cell.Runners ?? []) {
		const x = x0 + r.X * unit + unit / 2, y = y0 + r.Y * unit + unit / 2, turn = r.Heading * Math.PI / 2;
		draw.fillStyle = `hsl(${r.Player * 15} 70% ${dark.matches ? 70 : 35}%)`;
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
		at("says").textContent = summary(state);
		showProcesses(state);
		showFacts(state);
		draw.clearRect(0, 0, canvas.width, canvas.height);
		state.Cells.forEach(showCell);
	} catch {
		at("says").textContent = "the program has ended";
	}
	setTimeout(show, 100);
}
show();
