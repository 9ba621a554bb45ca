// The scenarios to pick by hand: finds them by id, title or tag, and counts what is picked.
const list = document.getElementById("picks");
const search = document.getElementById("pick-search");
const count = document.getElementById("pick-count");

function find() {
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  for (const box of list.querySelectorAll(".box")) {
    const text = box.dataset.text;
    box.hidden = !words.every((word) => text.includes(word)) && !box.querySelector("input").checked;
  }
}

function counted() {
  const picked = list.querySelectorAll("input:checked").length;
  count.textContent = picked ? `${picked} picked` : "";
}

if (search) {
  search.hidden = false;
  search.addEventListener("input", (event) => {
    event.stopPropagation(); // it changes what is shown and not the run
    find();
  });
  search.addEventListener("change", (event) => event.stopPropagation());
  search.addEventListener("keydown", (event) => {
    if (event.key === "Enter") event.preventDefault();
  });
  list.addEventListener("change", counted);
  counted();
}
