// The list's ticks: one for the whole page, ranges by Shift, and how many there are. Without it each is ticked by hand.
const boxes = [...document.querySelectorAll('input[type="checkbox"][form="chosen"]')];
const which = /** @type {HTMLSelectElement} */ (document.getElementById("id_which"));
const head = document.getElementById("tick-all");
const all = document.createElement("input");
let last = -1;

function told() {
  const count = boxes.filter((box) => box.checked).length;
  all.checked = count === boxes.length;
  all.indeterminate = count > 0 && count < boxes.length;
  which.options[0].textContent = count ? `the ticked ones: ${count}` : "the ticked ones";
  if (count) which.value = "ticked";
}

all.type = "checkbox";
all.setAttribute("aria-label", "Choose every scenario of this page");
head.append(all);
all.addEventListener("change", () => {
  for (const box of boxes) box.checked = all.checked;
  told();
});

boxes.forEach((box, index) => {
  box.addEventListener("click", (event) => {
    if (event.shiftKey && last >= 0) {
      for (const one of boxes.slice(Math.min(last, index), Math.max(last, index) + 1)) one.checked = box.checked;
    }
    last = index;
    told();
  });
});
told();
