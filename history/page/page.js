// The slider, the arrows beside it and Play show other ticks without a reload. Links and forms do
// the same without this file.
"use strict";
(() => {
	const slider = document.getElementById("slider");
	if (!slider) return;
	document.documentElement.classList.add("script");
	const play = document.createElement("button");
	play.id = "play";
	play.type = "button";
	play.textContent = "Play";
	slider.form.firstElementChild.append(play);

	const patience = 1000; // milliseconds, until another tick replaces one that is not answered
	let wanted = null; // address to show next
	let running = null; // the request, with its start
	let playing = 0;

	const addressOf = tick => {
		const values = new URLSearchParams(new FormData(slider.form));
		values.set("tick", tick);
		return "?" + values;
	};

	const replace = html => {
		const next = new DOMParser().parseFromString(html, "text/html");
		const focused = document.activeElement.id;
		const open = document.querySelector("details")?.open;
		for (const id of ["where", "lanes", "state"]) {
			const part = next.getElementById(id);
			if (part) document.getElementById(id).replaceWith(part);
		}
		document.title = next.title;
		if (open) document.querySelector("details").open = true;
		if (focused) document.getElementById(focused)?.focus();
	};

	const stop = () => {
		clearInterval(playing);
		playing = 0;
		play.textContent = "Play";
	};

	const show = async address => {
		wanted = address;
		if (running && performance.now() - running.since < patience) return;
		running?.abort.abort();
		while (wanted) {
			const mine = {abort: new AbortController(), since: performance.now()};
			const now = wanted;
			[running, wanted] = [mine, null];
			const busy = setTimeout(() => document.getElementById("state").setAttribute("aria-busy", "true"), 300);
			try {
				const answer = await fetch(now, {signal: mine.abort.signal});
				const html = await answer.text();
				if (running !== mine) return;
				replace(html);
				history.replaceState(null, "", now);
			} catch {
				if (running !== mine) return; // a later request replaced this one
				location.assign(now);
				return;
			} finally {
				clearTimeout(busy);
			}
		}
		running = null;
	};

	const go = tick => {
		slider.value = tick;
		return show(addressOf(slider.value));
	};

	slider.addEventListener("input", () => {
		stop();
		go(slider.value);
	});
	play.addEventListener("click", () => {
		if (playing) return stop();
		if (slider.value === slider.max) go(slider.min);
		play.textContent = "Stop";
		playing = setInterval(() => {
			if (running) return; // not faster than the answers
			if (slider.value === slider.max) return stop();
			go(Number(slider.value) + 1);
		}, 100);
	});
	document.addEventListener("click", event => {
		const link = event.target.closest("#where nav a");
		if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
		event.preventDefault();
		stop();
		go(new URL(link.href).searchParams.get("tick"));
	});
})();
