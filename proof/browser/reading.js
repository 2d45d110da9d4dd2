(() => {
	const r = {Window: innerWidth, Content: document.documentElement.scrollWidth, Charts: [], Texts: [], Smallest: 1e9, Overlaps: [], Pale: [], Outside: []};
	for (const svg of document.querySelectorAll("svg")) {
		const frame = svg.getBoundingClientRect();
		if (frame.width === 0) continue;
		r.Charts.push(svg.querySelector("title").textContent);
		const texts = [...svg.querySelectorAll("text")].map(e => ({text: e.textContent, box: e.getBoundingClientRect()}));
		r.Texts.push(...texts.map(t => t.text));
		texts.forEach((a, i) => {
			r.Smallest = Math.min(r.Smallest, a.box.height);
			if (a.box.left < frame.left || a.box.right > frame.right || a.box.top < frame.top || a.box.bottom > frame.bottom) r.Outside.push(a.text);
			for (const b of texts.slice(0, i))
				if (a.box.left < b.box.right && b.box.left < a.box.right && a.box.top + 2 < b.box.bottom - 2 && b.box.top + 2 < a.box.bottom - 2)
					r.Overlaps.push(a.text + " and " + b.text);
		});
	}
	const rgb = color => color.match(/[\d.]+/g).map(Number);
	const luminance = color => rgb(color).slice(0, 3).map(v => v / 255)
		.map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
		.reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
	const behind = e => {
		for (; e; e = e.parentElement) {
			const color = getComputedStyle(e).backgroundColor;
			if (rgb(color).length === 3) return color;
		}
		return "rgb(255, 255, 255)";
	};
	for (const e of document.querySelectorAll("h1, h2, p, a, pre, dt, dd, th, td, text")) {
		const style = getComputedStyle(e);
		const [low, high] = [luminance(e.tagName === "text" ? style.fill : style.color), luminance(behind(e))].sort((a, b) => a - b);
		if ((high + 0.05) / (low + 0.05) < 4.5) r.Pale.push(e.textContent.slice(0, 40));
	}
	for (const e of document.querySelectorAll("h1, h2, p, pre, dd, dt, td, th, figure")) {
		if (e.closest(".scroll")) continue;
		const box = e.getBoundingClientRect();
		if (box.left < 0 || box.right > innerWidth + 1) r.Outside.push(e.textContent.slice(0, 40));
	}
	return r;
})()
