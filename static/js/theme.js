// Runs before the page is drawn, so that a chosen theme never flashes. Without a choice the system decides.
try {
  const chosen = localStorage.getItem("theme");
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
} catch {
  // storage may be forbidden; then the system decides
}
