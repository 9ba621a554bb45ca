// The comparison page: its address is the comparison, so sharing is copying it.

const share = document.getElementById("share");
share?.addEventListener("click", async () => {
  try {
    await navigator.clipboard.writeText(location.href);
    share.textContent = "Copied";
    setTimeout(() => (share.textContent = "Share"), 2000);
  } catch {
    prompt("The address of this comparison", location.href);
  }
});
