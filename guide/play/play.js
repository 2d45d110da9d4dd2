"use strict";
// The page of the playground. What is computed is computed by play.wasm; here it is
// drawn, and clicks and keys become acts of the next tick.

const motes = 20000;
const shown = 6; // ticks whose digests are in the table
const $ = id => document.getElementById(id);
const plane = $("plane"), status = $("status");

let places = new Uint8Array(4 * motes * 2), canvas, image, colors;
let acts = [], paused = false, taken = "", hand = null;
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
	while (4 * n === places.length) { // perhaps there are more
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
	if (taken) {
		const look = ask("look", taken);
		$("handle").textContent = look.says;
		if (look.x !== undefined) ring(look.x, look.y, 8);
	}
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

function details() {
	$("rows").textContent = ask("rows", 8);
	const says = ask("says");
	$("timings").textContent = says.timings + "\n" + says.report;
	$("explain").textContent = says.explain;
}

let frames = 0;
function frame() {
	if (dragged !== null) {
		show(ask("back", dragged, +$("workers").value));
		dragged = null;
		draw();
		details();
	} else if (!paused) {
		const state = ask("play", +$("workers").value, acts);
		acts = [];
		draw();
		show(state);
		if (frames++ % 30 === 0) details();
	} else {
		draw();
	}
	requestAnimationFrame(frame);
}

function pause(yes) {
	paused = yes;
	$("pause").textContent = yes ? "Go on" : "Pause";
	$("pause").setAttribute("aria-pressed", String(yes));
}

function act(x, y) {
	const kind = document.querySelector("input[name=act]:checked").value;
	if (kind === "pick") {
		taken = ask("pick", x, y);
		return;
	}
	acts.push(x, y, kind === "kill" ? 1 : 0);
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
	$("time").addEventListener("input", () => { pause(true); dragged = +$("time").value; });
	$("pause").addEventListener("click", () => pause(!paused));
	matchMedia("(prefers-color-scheme: dark)").addEventListener("change", readColors);
}

async function main() {
	const answer = await fetch("play.wasm");
	if (!answer.ok) fail("The program cannot be had: " + await answer.text());
	const go = new Go();
	const program = await WebAssembly.instantiateStreaming(answer, go.importObject);
	go.run(program.instance).then(() => fail("The program has ended."));
	plane.width = handloom.width;
	plane.height = handloom.height;
	canvas = plane.getContext("2d");
	image = canvas.createImageData(plane.width, plane.height);
	readColors();
	show(ask("start", motes));
	listen();
	status.hidden = true;
	$("stage").hidden = false;
	requestAnimationFrame(frame);
}

main().catch(error => fail(String(error)));
