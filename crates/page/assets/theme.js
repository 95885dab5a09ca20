// A chosen theme holds from the first paint on.
try {
  const theme = localStorage.getItem("oneiro-theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
} catch {}
document.documentElement.classList.add("js");
