// Sending a form from a script: with the token of the page, and with the server's own words when it refuses.

/**
 * @param {string} url
 * @param {Record<string, string | number>} fields
 * @returns {Promise<any>} the JSON answered, or null without one
 */
export async function post(url, fields) {
  const headers = JSON.parse(document.body.getAttribute("hx-headers") ?? "{}");
  const answer = await fetch(url, { method: "POST", headers, body: new URLSearchParams(fields) });
  if (answer.redirected) throw new Error("you are signed out: load the page again");
  const json = answer.headers.get("Content-Type")?.includes("json") ? await answer.json() : null;
  if (!answer.ok) throw new Error(json?.error ?? `the site answered ${answer.status}`);
  return json;
}
