const page = document.getElementById("page"), link = document.getElementById("link");
const events = new EventSource("events");
events.onopen = () => { link.textContent = "live"; };
events.onerror = () => { link.textContent = "connection lost"; };
events.onmessage = (e) => {
	const scroll = document.querySelector(".scroll")?.scrollTop ?? 0;
	page.innerHTML = e.data;
	const box = document.querySelector(".scroll");
	if (box) box.scrollTop = scroll;
};
events.addEventListener("end", () => { events.close(); link.textContent = "the run has ended"; });
