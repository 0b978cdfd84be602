(() => {
  const toc = document.querySelector(".toc details");
  if (toc && matchMedia("(max-width: 63.99rem)").matches) toc.open = false;
  const touch = matchMedia("(hover: none)");
  const close = except => {
    for (const cite of document.querySelectorAll(".cite.open")) if (cite !== except) cite.classList.remove("open");
  };
  const fit = cite => {
    const card = cite.querySelector(".card");
    card.classList.remove("up");
    cite.style.setProperty("--shift", "0px");
    cite.style.removeProperty("--room");
    const sheet = card.firstElementChild, head = sheet.querySelector(".head"), words = head && sheet.querySelector("mark");
    const room = innerHeight - sheet.getBoundingClientRect().top - 12;
    if (room > 150) cite.style.setProperty("--room", room + "px");
    sheet.scrollTop = 0;
    if (words) sheet.scrollTop = words.getBoundingClientRect().top - head.getBoundingClientRect().bottom - 8;
    const box = card.getBoundingClientRect();
    const over = box.right - (document.documentElement.clientWidth - 12);
    cite.style.setProperty("--shift", (box.left < 12 ? 12 - box.left : over > 0 ? -over : 0) + "px");
    card.classList.toggle("up", box.bottom > innerHeight - 8 && box.top > box.height + 40);
  };
  for (const cite of document.querySelectorAll(".cite")) {
    cite.addEventListener("pointerenter", () => fit(cite));
    cite.addEventListener("focusin", () => fit(cite));
    cite.addEventListener("pointerleave", () => cite.classList.remove("shut"));
    cite.addEventListener("focusout", () => cite.classList.remove("shut"));
    cite.querySelector(":scope > a, :scope > button").addEventListener("click", event => {
      if (!touch.matches || cite.classList.contains("open")) return;
      event.preventDefault();
      close(cite);
      cite.classList.add("open");
      fit(cite);
    });
  }
  document.addEventListener("click", event => close(event.target.closest(".cite")));
  document.addEventListener("keydown", event => {
    if (event.key !== "Escape") return;
    close(null);
    for (const cite of document.querySelectorAll(".cite:hover, .cite:focus-within")) cite.classList.add("shut");
  });
  const tools = document.querySelector(".tools");
  const textOf = root => {
    const copy = root.cloneNode(true);
    for (const extra of copy.querySelectorAll(".card, .cite > button, .tools, .uses")) extra.remove();
    for (const part of copy.querySelectorAll(".byline > span + span")) part.prepend(" · ");
    for (const part of copy.querySelectorAll(".n + span, .about, .url")) part.prepend(" ");
    const blocks = [...copy.querySelectorAll("h1, h2, h3, h4, h5, h6, p, li")];
    return blocks.map(block => block.textContent.replace(/\s+/g, " ").trim()).filter(Boolean).join("\n\n");
  };
  const copied = text => {
    const area = document.body.appendChild(document.createElement("textarea"));
    area.value = text;
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    return done;
  };
  const tell = (button, message) => {
    const label = button.dataset.label ??= button.textContent;
    button.textContent = message;
    setTimeout(() => { button.textContent = label; }, 1500);
  };
  for (const button of tools?.querySelectorAll("[data-copy]") ?? []) {
    const root = document.querySelector(button.dataset.copy);
    button.hidden = !root;
    button.addEventListener("click", async () => {
      const text = textOf(root);
      const done = await navigator.clipboard?.writeText(text).then(() => true, () => false);
      tell(button, done || copied(text) ? "Copied" : "Could not copy");
    });
  }
  tools?.querySelector("[data-save]")?.addEventListener("click", () => {
    const page = "<!doctype html>\n" + document.documentElement.outerHTML;
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([page], { type: "text/html" }));
    link.download = (document.title.replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "") || "article") + ".html";
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  });
  if (tools) tools.hidden = false;
  const links = new Map([...document.querySelectorAll(".toc a")].map(a => [a.hash.slice(1), a]));
  const heads = [...links.keys()].map(id => document.getElementById(id)).filter(Boolean);
  let waiting = false;
  const follow = () => {
    waiting = false;
    const here = heads.filter(head => head.getBoundingClientRect().top < innerHeight / 3).pop();
    for (const [id, a] of links) {
      if (here && id === here.id) a.setAttribute("aria-current", "location"); else a.removeAttribute("aria-current");
    }
  };
  addEventListener("scroll", () => { if (!waiting) { waiting = true; requestAnimationFrame(follow); } }, { passive: true });
  follow();
})();
