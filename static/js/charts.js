// Draws the figures of the page. A figure names tokens, not colours: it is painted anew when the theme changes.

const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/** A copy of the trace with the colour of its token wherever Plotly wants one. */
function painted(trace) {
  const color = css(trace.meta.token);
  const copy = structuredClone(trace);
  if (copy.line) copy.line.color = color;
  if (copy.marker) copy.marker = { ...copy.marker, color, line: { ...copy.marker.line, color } };
  if (copy.error_y) copy.error_y.color = color;
  return copy;
}

function layout(figure) {
  const axis = { color: css("--ink-2"), gridcolor: css("--line"), linecolor: css("--line-strong") };
  return {
    ...figure.layout,
    font: { family: css("--font-ui"), size: 12, color: css("--ink-2") },
    hoverlabel: { bgcolor: css("--panel"), bordercolor: css("--line-strong"), font: { color: css("--ink") } },
    xaxis: { ...figure.layout.xaxis, ...axis },
    yaxis: { ...figure.layout.yaxis, ...axis },
  };
}

function draw(figures) {
  for (const { id, figure } of figures) {
    const box = document.getElementById(id);
    if (box) Plotly.react(box, figure.data.map(painted), layout(figure), { displayModeBar: false, responsive: true });
  }
}

const source = document.getElementById("figures");
if (source) {
  const figures = JSON.parse(source.textContent);
  draw(figures);
  document.addEventListener("themechange", () => draw(figures));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => draw(figures));
}
