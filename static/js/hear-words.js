// The words of a cut: asked of a machine by a button, put where none stand, and never over a person's own.
import { send } from "./post.js";

const form = /** @type {HTMLFormElement} */ (document.querySelector("[data-cut]"));
const button = /** @type {HTMLButtonElement} */ (form.querySelector("[data-words]"));
const says = form.querySelector("[data-words-says]");
const text = form.elements.text;
let written = ""; // what the machine wrote last

const tell = (words, wrong = false) => {
  says.textContent = words;
  says.classList.toggle("wrong", wrong);
};

async function ask() {
  const answer = await send(button.formAction, new FormData(form), { Accept: "application/json" });
  return (await answer.json()).text;
}

button.addEventListener("click", async (event) => {
  event.preventDefault();
  if (text.value.trim() && text.value !== written) return tell("Words stand there already. Empty the field first.", true);
  if (!form.elements.file.files.length) return tell("Choose the recording first.", true);
  button.disabled = true;
  tell("A machine listens …");
  try {
    text.value = written = await ask();
    tell("Read it against the recording: machines mishear.");
  } catch (error) {
    tell(`The words are left empty: ${error.message}.`, true);
  } finally {
    button.disabled = false;
  }
  return undefined;
});
