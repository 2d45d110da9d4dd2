"use strict";
// Search over the sections of all pages in index.js. It uses nothing of a browser.

// Words of questions, ignored if others are typed.
const small = new Set("a an and are can do does for how i in is it my of on or the to what with".split(" "));

// split returns the words of a text, also the parts of compounds.
function split(text) {
	return text.toLowerCase().split(/[\s,;:!?"()-]+/).filter(word => word !== "");
}

// stem returns a word without its ending: timers finds timer, serializing finds serialize.
function stem(word) {
	for (const ending of ["ations", "ation", "ings", "ing", "ers", "er", "ies", "ed", "es", "e", "s", "y"]) {
		if (word.endsWith(ending) && word.length - ending.length >= 4) return word.slice(0, -ending.length);
	}
	return word;
}

// rank returns the number of words that the section has anywhere, and its points.
function rank(section, words) {
	const names = (section.names ?? []).join("\n").toLowerCase();
	const weighted = [[section.heading.toLowerCase(), 8], [names, 8], [section.page.toLowerCase(), 4], [section.text.toLowerCase(), 1]];
	let has = 0, points = 0;
	for (const word of words) {
		const part = stem(word);
		let sum = 0;
		for (const [text, weight] of weighted) {
			if (text.includes(word)) sum += 2 * weight;
			else if (text.includes(part)) sum += weight;
		}
		if (sum > 0) has++;
		points += sum;
	}
	return {has, points};
}

// findSections returns the best sections for a query, and whether they have all its words.
// If no section has, it returns the sections with the most words.
function findSections(sections, query, most) {
	const typed = split(query);
	const words = typed.some(word => !small.has(word)) ? typed.filter(word => !small.has(word)) : typed;
	const ranked = sections.map((section, order) => ({section, order, ...rank(section, words)}));
	const best = ranked.reduce((best, f) => Math.max(best, f.has), 0);
	const found = best === 0 ? [] : ranked
		.filter(f => f.has === best)
		.sort((a, b) => b.points - a.points || a.order - b.order)
		.slice(0, most);
	return {words, whole: best === words.length, sections: found.map(f => f.section)};
}
