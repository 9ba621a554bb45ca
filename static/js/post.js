// Sending from a script: with the token of the page, and with the server's own words when it refuses.

const TOLD = { 413: "that is larger than this site takes" }; // by pages, without JSON

const isJson = (answer) => answer.headers.get("Content-Type")?.includes("json") ?? false;

/**
 * @param {string} url
 * @param {FormData | URLSearchParams} body
 * @param {Record<string, string>} [headers]
 * @returns {Promise<Response>} whatever the server answered but a refusal, whose words are the error's
 */
export async function send(url, body, headers = {}) {
  const token = JSON.parse(document.body.getAttribute("hx-headers") ?? "{}");
  const asked = fetch(url, { method: "POST", headers: { ...token, ...headers }, body });
  const answer = await asked.catch(() => {
    throw new Error("the site cannot be reached");
  });
  if (answer.redirected) throw new Error("you are signed out: load the page again");
  if (answer.ok) return answer;
  const json = isJson(answer) ? await answer.json() : null;
  throw new Error(json?.error ?? TOLD[answer.status] ?? `the site answered ${answer.status}`);
}

/**
 * @param {string} url
 * @param {Record<string, string | number>} fields
 * @returns {Promise<any>} the JSON answered, or null without one
 */
export async function post(url, fields) {
  const answer = await send(url, new URLSearchParams(fields));
  return isJson(answer) ? answer.json() : null;
}

/** What an error says, where it stands alone. */
export const sentence = (error) => error.message.replace(/^[a-z]+(?= )/, (word) => word[0].toUpperCase() + word.slice(1)).replace(/[^.!?]$/, "$&.");
