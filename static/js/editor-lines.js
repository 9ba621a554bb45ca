// Line numbers beside a textarea that does not wrap.

/**
 * Puts numbers beside the text and keeps them there.
 * @param {HTMLTextAreaElement} text
 * @returns {(lines: number[]) => void} marks the lines that have problems
 */
export function addGutter(text) {
  const frame = document.createElement("div");
  frame.className = "with-gutter";
  const gutter = document.createElement("pre");
  gutter.className = "gutter";
  gutter.setAttribute("aria-hidden", "true");
  text.before(frame);
  frame.append(gutter, text);
  let marked = new Set();
  let drawn = "";

  function draw() {
    const count = text.value.split("\n").length;
    const wanted = `${count}:${[...marked]}`;
    if (wanted === drawn) return;
    drawn = wanted;
    gutter.replaceChildren(
      ...Array.from({ length: count }, (_, index) => {
        const number = document.createElement(marked.has(index + 1) ? "b" : "span");
        number.textContent = `${index + 1}\n`;
        return number;
      }),
    );
    follow();
  }
  function follow() {
    gutter.style.height = `${text.clientHeight}px`;
    gutter.scrollTop = text.scrollTop;
  }

  text.addEventListener("input", draw);
  text.addEventListener("scroll", follow);
  new ResizeObserver(follow).observe(text);
  draw();
  return (lines) => {
    marked = new Set(lines);
    draw();
  };
}

/**
 * Selects a line and scrolls to it.
 * @param {HTMLTextAreaElement} text
 * @param {number} line counted from 1
 */
export function goToLine(text, line) {
  const lines = text.value.split("\n");
  const start = lines.slice(0, line - 1).reduce((sum, one) => sum + one.length + 1, 0);
  text.setSelectionRange(start, start + (lines[line - 1] ?? "").length);
  const height = text.scrollHeight / Math.max(lines.length, 1);
  text.scrollTop = Math.max(0, (line - 4) * height);
}
