// The player of a trial for pages that show one after the other.

/**
 * @param {string} trial
 * @returns {Promise<string>} templates/runs_app/player.html of it. Raises an Error in words when it cannot be had.
 */
export async function playerHtml(trial) {
  const answer = await fetch(`/trials/${trial}/player/`);
  if (answer.redirected) throw new Error("you are signed out: load the page again");
  if (!answer.ok) throw new Error(`the site answered ${answer.status}`);
  return answer.text();
}
