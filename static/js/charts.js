// Draws the figures of the page. A figure names tokens, not colours: it is painted anew when the theme changes.

const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/** #rrggbb with an opacity, as a fill. */
const faint = (color) => `${color}33`;

/** A copy of the trace with the colour of its token wherever Plotly wants one. */
function painted(trace, layout) {
  const color = css(trace.meta.token);
  const copy = structuredClone(trace);
  if (copy.line) copy.line.color = color;
  if (copy.fill) copy.fillcolor = faint(color);
  if (trace.meta.role === "cells") {
    const scale = [css("--heat-poor"), css("--heat-middle"), css("--heat-good")];
    if (layout.meta.good === "low") scale.reverse();
    copy.marker.colorscale = scale.map((one, i) => [i / 2, one]);
    copy.insidetextfont = { color };
  } else if (copy.marker) copy.marker = { ...copy.marker, color, line: { ...copy.marker.line, color } };
  for (const name of ["error_x", "error_y"]) if (copy[name]) copy[name].color = color;
  return copy;
}

function layout(figure) {
  const axis = {
    color: css("--ink-2"),
    gridcolor: css("--line"),
    linecolor: css("--line-strong"),
    zerolinecolor: css("--ink-3"),
  };
  return {
    ...figure.layout,
    font: { family: css("--font-ui"), size: 12, color: css("--ink-2") },
    hoverlabel: { bgcolor: css("--panel"), bordercolor: css("--line-strong"), font: { color: css("--ink") } },
    xaxis: { ...figure.layout.xaxis, ...axis },
    yaxis: { ...figure.layout.yaxis, ...axis },
  };
}

async function draw(figures) {
  for (const { id, figure } of figures) {
    const box = document.getElementById(id);
    if (!box) continue;
    const isNew = !box.classList.contains("js-plotly-plot");
    const data = figure.data.map((trace) => painted(trace, figure.layout));
    await Plotly.react(box, data, layout(figure), { displayModeBar: false, responsive: true });
    if (isNew) box.on("plotly_click", ({ points }) => show(points[0]?.customdata));
  }
}

/** A point leads to its scenario's row. */
function show(scenario) {
  if (!scenario) return;
  const url = new URL(location.href);
  for (const name of ["view", "page", "trial"]) url.searchParams.delete(name);
  url.searchParams.set("open", scenario);
  url.searchParams.set("q", scenario);
  url.hash = scenario;
  location.assign(url);
}

/** As it stands, on the page's own background, as a file. */
function save(button) {
  const box = document.getElementById(button.dataset.chart);
  const paper = { ...box.layout, paper_bgcolor: css("--panel"), plot_bgcolor: css("--panel") };
  const size = { width: box.clientWidth, height: box.clientHeight, scale: 2 };
  return Plotly.downloadImage({ data: box.data, layout: paper }, { ...size, format: button.dataset.save, filename: box.id });
}

const source = document.getElementById("figures");
if (source) {
  const figures = JSON.parse(source.textContent);
  draw(figures);
  document.addEventListener("themechange", () => draw(figures));
  document.addEventListener("click", (event) => {
    const button = /** @type {HTMLElement} */ (event.target).closest("[data-save]");
    if (button) save(button);
  });
}
