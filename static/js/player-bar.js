// The bar of the player: which of its buttons are pressed.

/**
 * @param {HTMLElement} box the player
 * @param {{paused: boolean, solo: string, rate: number, zoom: string, loop: boolean}} state
 */
export function drawBar(box, { paused, solo, rate, zoom, loop }) {
  const pressed = (selector, holds) => {
    for (const one of box.querySelectorAll(selector)) one.setAttribute("aria-pressed", String(holds(one)));
  };
  const play = /** @type {HTMLElement} */ (box.querySelector('[data-part="play"]'));
  play.setAttribute("aria-label", paused ? "Play" : "Pause");
  play.dataset.state = paused ? "paused" : "playing";
  pressed("[data-solo]", (one) => one.dataset.solo === solo);
  pressed("[data-speed]", (one) => Number(one.dataset.speed) === rate);
  pressed("[data-zoom]", (one) => one.dataset.zoom === zoom);
  pressed('[data-part="loop"]', () => loop);
}
