"use strict";
// The page of the playground. play.wasm computes; this script draws, and turns clicks and
// keys into acts of the next tick.

const motes = 20000;
const shown = 6; // ticks in the table of digests
const first = 8; // rows shown
const mine = 5; // handles
const slowly = 400; // milliseconds for a phase
const $ = id => document.getElementById(id);
const plane = $("plane"), status = $("status");

let places = new Uint8Array(4 * motes * 2), canvas, image, colors;
let acts = [], paused = false, slow = false, step = false, hand = null;
let taken = []; // handles, the last one first
let digests = []; // of the last ticks
let equal = 0; // ticks compared
let dragged = null; // tick to go back to

function fail(text) {
	status.textContent = text;
	status.hidden = false;
	throw new Error(text);
}

// ask calls the program and fails with its error.
function ask(name, ...args) {
	const answer = handloom[name](...args);
	if (answer && answer.error) fail(answer.error);
	return answer;
}

function readColors() {
	const probe = name => {
		const [r, g, b] = getComputedStyle(document.documentElement).getPropertyValue(name).trim().match(/[0-9a-f]{2}/gi).map(h => parseInt(h, 16));
		return (255 << 24 | b << 16 | g << 8 | r) >>> 0;
	};
	colors = {back: probe("--paper"), mote: probe("--link"), hand: getComputedStyle(document.documentElement).getPropertyValue("--keyword")};
}

function draw() {
	let n = ask("places", places);
	while (4 * n === places.length) { // there may be more
		places = new Uint8Array(2 * places.length);
		n = ask("places", places);
	}
	const pixels = new Uint32Array(image.data.buffer);
	pixels.fill(colors.back);
	const at = new Uint16Array(places.buffer);
	const width = image.width;
	for (let i = 0; i < 2 * n; i += 2) {
		const p = at[i + 1] * width + at[i];
		pixels[p] = pixels[p + 1] = colors.mote;
	}
	canvas.putImageData(image, 0, 0);
	taken.forEach((handle, i) => {
		const look = ask("look", handle);
		$("handles").children[i].textContent = look.says;
		if (look.x !== undefined) ring(look.x, look.y, 8);
	});
	if (hand) ring(hand.x, hand.y, 12);
}

function ring(x, y, r) {
	canvas.strokeStyle = colors.hand;
	canvas.lineWidth = 2;
	canvas.beginPath();
	canvas.arc(x, y, r, 0, 2 * Math.PI);
	canvas.stroke();
}

function show(state) {
	if (state.one !== undefined && state.tick > 0) {
		digests = digests.filter(d => d.tick < state.tick).concat(state).slice(-shown);
		equal = state.one === state.many ? equal + 1 : -Infinity;
	}
	const slider = $("time");
	slider.min = state.first;
	slider.max = state.tick;
	slider.value = state.tick;
	$("timeIs").textContent = "tick " + state.tick + ", " + state.live.toLocaleString("en") + " motes";
	$("many").textContent = $("workers").value + " workers, shuffled";
	$("digests").replaceChildren(...digests.toReversed().map(d => {
		const row = document.createElement("tr");
		for (const text of [d.tick, d.one === d.many ? "equal" : "NOT EQUAL", d.one, d.many]) row.insertCell().textContent = text;
		return row;
	}));
	$("verdict").textContent = equal >= 0 ? equal.toLocaleString("en") + " states compared, all equal." : "They differ: that is a bug.";
}

// makeRows makes the cells of the first rows. The handles are buttons, which stay while
// their text changes.
function makeRows() {
	for (let i = 0; i < first; i++) {
		const row = $("rows").insertRow();
		for (let cell = 0; cell < 6; cell++) row.insertCell();
		const button = document.createElement("button");
		button.type = "button";
		row.cells[1].append(button);
		button.addEventListener("click", () => {
			take(button.textContent);
			acts.push({erase: button.textContent});
		});
	}
}

function showRows() {
	const rows = ask("rows", first);
	[...$("rows").rows].forEach((row, i) => {
		row.hidden = i >= rows.length;
		if (!row.hidden) rows[i].forEach((text, cell) => { (cell === 1 ? row.cells[cell].firstChild : row.cells[cell]).textContent = text; });
	});
}

function take(handle) {
	taken = [handle, ...taken.filter(h => h !== handle)].slice(0, mine);
	$("handles").replaceChildren(...taken.map(() => document.createElement("li")));
}

// The phases of the last tick with their mean times: a stage of the graph
// and a line with a bar for each.
let phases = [];

function makePhases() {
	phases = [...document.querySelectorAll("#graph .frame > li")].map(stage => {
		const line = document.createElement("li"), name = document.createElement("span"), lane = document.createElement("span");
		const bar = document.createElement("span"), took = document.createElement("span");
		const flush = stage.classList.contains("flush");
		line.className = flush ? "flush" : "";
		name.textContent = stage.querySelector("h3").textContent;
		[lane.className, bar.className, took.className] = ["lane", "bar", "took"];
		lane.append(bar);
		line.append(name, lane, took);
		return {line, bar, took, flush, systems: [...stage.querySelectorAll(".system > b")].map(b => b.textContent), mean: 0, says: ""};
	});
	$("phases").replaceChildren(...phases.map(p => p.line));
}

function showPhases() {
	const {systems, flushes} = ask("took");
	let whole = 0;
	for (const p of phases) {
		const done = p.flush ? flushes.shift() ?? {took: 0, says: "nothing was recorded"} : null;
		const took = p.flush ? done.took : p.systems.reduce((sum, name) => sum + systems[name], 0);
		p.says = p.flush ? done.says : p.systems.join(" and ");
		p.mean += (took - p.mean) / (p.mean ? 16 : 1);
		whole += p.mean;
	}
	let before = 0;
	for (const p of phases) {
		p.bar.style.marginLeft = 100 * before / whole + "%";
		p.bar.style.width = 100 * p.mean / whole + "%";
		p.took.textContent = (p.mean / 1000).toFixed(2) + " ms";
		before += p.mean;
	}
}

// mark marks phase n as running; no phase if n is out of range.
function mark(n) {
	document.querySelectorAll("#graph .frame > li").forEach((stage, i) => stage.classList.toggle("now", i === n));
	phases.forEach((p, i) => p.line.classList.toggle("now", i === n));
	$("phase").textContent = n < phases.length ? phases[n].line.firstChild.textContent + ": " + phases[n].says : "";
}

function details() {
	const left = $("graph").firstElementChild?.scrollLeft ?? 0;
	$("graph").innerHTML = ask("graph"); // the program escapes its text
	$("reasons").replaceChildren(...document.querySelectorAll("#graph .reasons"));
	$("graph").firstElementChild.scrollLeft = left;
	if (phases.length === 0) makePhases();
	showPhases();
	document.querySelectorAll("#graph .frame > li").forEach((stage, i) => {
		if (phases[i].flush) stage.append(Object.assign(document.createElement("span"), {className: "does", textContent: phases[i].says}));
	});
	showRows();
}

let frames = 0, phase = 0, since = 0, begun = 0;
function tick() {
	const state = ask("play", +$("workers").value, acts);
	acts = [];
	draw();
	show(state);
	if (frames++ === 0) begun = performance.now(); // since the page was requested
}

function frame(now) {
	if (dragged !== null) {
		show(ask("back", dragged, +$("workers").value));
		dragged = null;
		draw();
		details();
	} else if (step || (!paused && !slow)) {
		step = false;
		tick();
		if (paused || frames % 30 === 1) details(); else showPhases();
	} else if (!paused && now - since > slowly) {
		since = now;
		if (phase++ >= phases.length) {
			phase = 0;
			tick();
			details();
		}
		mark(phase);
	} else {
		draw();
	}
	requestAnimationFrame(frame);
}

function pause(yes) {
	paused = yes;
	$("pause").textContent = yes ? "Continue" : "Pause";
	$("pause").setAttribute("aria-pressed", String(yes));
}

function act(x, y) {
	const kind = document.querySelector("input[name=act]:checked").value;
	if (kind === "pick") take(ask("pick", x, y));
	else acts.push({x, y, kill: kind === "kill"});
}

function placeOf(event) {
	const box = plane.getBoundingClientRect();
	const scale = image.width / box.width;
	const inside = (v, n) => Math.max(0, Math.min(n - 1, Math.floor(v * scale)));
	return [inside(event.clientX - box.left, image.width), inside(event.clientY - box.top, image.height)];
}

function listen() {
	plane.addEventListener("pointerdown", event => { hand = null; act(...placeOf(event)); });
	plane.addEventListener("pointermove", event => {
		if (event.buttons && document.querySelector("input[name=act]:checked").value === "kill") act(...placeOf(event));
	});
	plane.addEventListener("keydown", event => {
		const step = {ArrowLeft: [-12, 0], ArrowRight: [12, 0], ArrowUp: [0, -12], ArrowDown: [0, 12]}[event.key];
		if (!step && event.key !== "Enter") return;
		event.preventDefault();
		hand ??= {x: image.width / 2, y: image.height / 2};
		if (!step) { act(hand.x, hand.y); return; }
		hand.x = Math.max(0, Math.min(image.width - 1, hand.x + step[0]));
		hand.y = Math.max(0, Math.min(image.height - 1, hand.y + step[1]));
	});
	$("workers").addEventListener("input", () => { $("workersIs").textContent = $("workers").value; });
	$("shuffle").addEventListener("input", () => {
		$("shuffleIs").textContent = $("shuffle").value;
		ask("shuffle", +$("shuffle").value);
	});
	$("time").addEventListener("input", () => { pause(true); dragged = +$("time").value; });
	$("pause").addEventListener("click", () => pause(!paused));
	$("step").addEventListener("click", () => { pause(true); step = true; });
	$("slow").addEventListener("click", () => {
		slow = !slow;
		$("slow").setAttribute("aria-pressed", String(slow));
		pause(false);
		mark(phases.length);
	});
	matchMedia("(prefers-color-scheme: dark)").addEventListener("change", readColors);
}

async function main() {
	const answer = await fetch("play.wasm");
	if (!answer.ok) fail("Cannot load the program: " + await answer.text());
	const go = new Go();
	const program = await WebAssembly.instantiateStreaming(answer, go.importObject);
	go.run(program.instance).then(() => fail("The program has ended."));
	plane.width = handloom.width;
	plane.height = handloom.height;
	canvas = plane.getContext("2d");
	image = canvas.createImageData(plane.width, plane.height);
	readColors();
	show(ask("start", motes));
	makeRows();
	listen();
	status.hidden = true;
	$("stage").hidden = false;
	requestAnimationFrame(frame);
}

main().catch(error => fail(String(error)));
