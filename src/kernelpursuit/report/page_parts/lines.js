// Lines of Python: they follow the size that is shown, and can be copied.
views.push((state) => {
  const size = states.sizes[state], rule = states.rules.find((one) => one.state === state)?.name;
  let model = "model";
  if (state !== states.kept) model = isSlid(state) ? `model.at(${size})` : `model.select("${rule}")`;
  document.querySelectorAll("code[data-code]").forEach((code) => {
    code.textContent = code.dataset.code.replaceAll("{model}", model);
  });
});

document.querySelectorAll("button.copy").forEach((button) => {
  button.addEventListener("click", async () => {
    const code = button.closest(".snippet").querySelector("code");
    let isDone = true;
    try {
      await navigator.clipboard.writeText(code.textContent);
    } catch {
      // Where a page may not write to the clipboard by itself, a selection can still be copied.
      getSelection().selectAllChildren(code);
      isDone = document.execCommand("copy");
    }
    button.textContent = isDone ? "Copied" : "Press Ctrl+C";
    setTimeout(() => (button.textContent = "Copy"), 1600);
  });
});
