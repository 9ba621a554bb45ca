// What a spreadsheet puts on the clipboard: tabs between cells, line ends between rows, quotes around cells with either.

/**
 * @param {string} text
 * @returns {string[][]} at least one row with one cell
 */
export function parseCells(text) {
  const rows = [[""]];
  let quoted = false;
  const plain = text.replace(/\r\n?/g, "\n").replace(/\n$/, "");
  for (let at = 0; at < plain.length; at += 1) {
    const sign = plain[at];
    const row = rows[rows.length - 1];
    const last = row.length - 1;
    if (quoted && sign === '"' && plain[at + 1] === '"') {
      row[last] += '"';
      at += 1;
    } else if (quoted && sign === '"') quoted = false;
    else if (quoted) row[last] += sign;
    else if (sign === '"' && row[last] === "" && closes(plain, at)) quoted = true;
    else if (sign === "\t") row.push("");
    else if (sign === "\n") rows.push([""]);
    else row[last] += sign;
  }
  return rows;
}

/** Whether the quote at this place opens a quoted cell: its partner stands before a tab, a line end or the end. */
function closes(text, at) {
  return /^"(?:[^"]|"")*"(?=\t|\n|$)/.test(text.slice(at));
}
