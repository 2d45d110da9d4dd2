"use strict";
// The field above each page that searches all pages.

{ // a scope

const field = document.getElementById("search");
const list = document.getElementById("found");
const most = 12;
let chosen = -1;

function search(query) {
	const found = findSections(sections, query, most);
	return found.words.length === 0 ? null : found;
}

// around returns the part of a text around the first word that it has.
function around(text, words) {
	const lower = text.toLowerCase();
	const has = words.flatMap(word => [word, stem(word)]).find(word => lower.includes(word));
	const before = Math.max(0, lower.indexOf(has ?? "") - 40);
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
	if (!found.whole) add(list, "li", "No section has all these words.").className = "none";
	found.sections.forEach((section, i) => {
		const item = add(list, "li", "");
		item.id = "found" + i;
		item.setAttribute("role", "option");
		const a = add(item, "a", "");
		a.href = section.to;
		a.tabIndex = -1;
		add(a, "b", section.heading === section.page ? section.page : section.page + " · " + section.heading);
		add(a, "small", around(section.text, found.words));
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
