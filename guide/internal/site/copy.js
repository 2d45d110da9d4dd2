"use strict";
// A button in each block of code copies it.

for (const figure of document.querySelectorAll("figure.code")) {
	const code = figure.querySelector("code");
	const button = document.createElement("button");
	button.type = "button";
	button.className = "copy";
	button.textContent = "Copy";
	button.addEventListener("click", async () => {
		try {
			await navigator.clipboard.writeText(code.textContent);
		} catch { // the clipboard is only for localhost and https
			getSelection().selectAllChildren(code);
			document.execCommand("copy");
		}
		button.textContent = "Copied";
		setTimeout(() => { button.textContent = "Copy"; }, 2000);
	});
	figure.append(button);
}
