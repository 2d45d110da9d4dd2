"use strict";
// Search over the sections of all pages in index.js. A section matches if it has every
// typed word; words in its heading count more.

{ // a scope

const field = document.getElementById("search");
const list = document.getElementById("found");
const most = 12;
let chosen = -1;

function rank(section, terms) {
	const heading = section.heading.toLowerCase(), page = section.page.toLowerCase(), text = section.text.toLowerCase();
	let sum = 0;
	for (const t of terms) {
		const points = (heading.includes(t) ? 8 : 0) + (page.includes(t) ? 4 : 0) + (text.includes(t) ? 1 : 0);
		if (points === 0) return 0;
		sum += points;
	}
	return sum;
}

function search(query) {
	const terms = query.toLowerCase().split(/\s+/).filter(t => t !== "");
	if (terms.length === 0) return null;
	return sections
		.map((section, order) => ({section, order, points: rank(section, terms)}))
		.filter(f => f.points > 0)
		.sort((a, b) => b.points - a.points || a.order - b.order)
		.slice(0, most)
		.map(f => ({section: f.section, around: around(f.section.text, terms)}));
}

// around returns the part of a text around the first word.
function around(text, terms) {
	const before = Math.max(0, text.toLowerCase().indexOf(terms[0]) - 40);
	const at = before && text.lastIndexOf(" ", before) + 1;
	const cut = text.slice(at, at + 140);
	return (at > 0 ? "… " : "") + cut + (at + 140 < text.length ? " …" : "");
}

function add(parent, tag, text) {
	const e = document.createElement(tag);
	e.textContent = text;
	parent.append(e);
	return e;
}

function show(found) {
	list.replaceChildren();
	chosen = -1;
	list.hidden = found === null;
	field.setAttribute("aria-expanded", String(!list.hidden));
	field.removeAttribute("aria-activedescendant");
	if (found === null) return;
	if (found.length === 0) add(list, "li", "No section has all these words.").className = "none";
	found.forEach(({section, around}, i) => {
		const item = add(list, "li", "");
		item.id = "found" + i;
		item.setAttribute("role", "option");
		const a = add(item, "a", "");
		a.href = section.to;
		a.tabIndex = -1;
		add(a, "b", section.heading === section.page ? section.page : section.page + " · " + section.heading);
		add(a, "small", around);
		a.addEventListener("click", () => show(null));
	});
}

function choose(n) {
	const items = list.querySelectorAll("[role=option]");
	if (items.length === 0) return;
	chosen = (n + items.length) % items.length;
	items.forEach((item, i) => item.setAttribute("aria-selected", String(i === chosen)));
	items[chosen].scrollIntoView({block: "nearest"});
	field.setAttribute("aria-activedescendant", items[chosen].id);
}

field.addEventListener("input", () => show(search(field.value)));
field.addEventListener("keydown", event => {
	switch (event.key) {
	case "ArrowDown": choose(chosen + 1); break;
	case "ArrowUp": choose(chosen < 0 ? -1 : chosen - 1); break;
	case "Enter": {
		const a = list.querySelectorAll("[role=option] a")[Math.max(0, chosen)];
		if (a) a.click();
		break;
	}
	case "Escape": field.value = ""; show(null); break;
	default: return;
	}
	event.preventDefault();
});
document.addEventListener("keydown", event => {
	const typing = event.target.closest("input, textarea, select");
	if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
		event.preventDefault();
		field.focus();
	}
});
document.addEventListener("click", event => {
	if (!event.target.closest(".search")) show(null);
});
document.querySelector(".search").hidden = false;

}
