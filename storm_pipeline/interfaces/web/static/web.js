(() => {
  const later = (seconds, work) => setTimeout(work, 1000 * seconds);

  const offerCopies = () => {
    for (const button of document.querySelectorAll("[data-copy-from][hidden]")) {
      const area = document.getElementById(button.dataset.copyFrom);
      button.hidden = false;
      button.addEventListener("click", async () => {
        area.select();
        const done = await navigator.clipboard?.writeText(area.value).then(() => true, () => false) || document.execCommand("copy");
        button.textContent = done ? "Copied" : "Press Ctrl+C to copy";
      });
    }
  };
  offerCopies();

  document.addEventListener("submit", async event => {
    const form = event.target, button = event.submitter, { busy, stay } = form.dataset;
    if (busy && button) later(0, () => { [button.disabled, button.textContent] = [true, busy]; });
    if (stay === undefined) return;
    event.preventDefault();  // a form that changes its own page: Back leads to the page before it
    const address = new URL(button?.getAttribute("formaction") ?? form.action, form.action);
    const body = new URLSearchParams(new FormData(form, button));
    const answer = await fetch(address, { method: "POST", body, headers: { Accept: "text/html" } }).catch(() => null);
    if (!answer) return;
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const fresh = stay && page.getElementById(stay);
    if (answer.redirected && !fresh) return location.assign(answer.url);
    if (fresh) document.getElementById(stay).replaceWith(fresh);
    else document.querySelector("main").replaceWith(page.querySelector("main"));
    document.getElementById(address.hash.slice(1))?.focus();
    offerCopies();
  });

  const local = () => {
    for (const time of document.querySelectorAll("time[datetime*=T]")) {
      time.textContent = new Date(time.dateTime).toLocaleString("en-GB", { dateStyle: "long", timeStyle: "short" });
    }
  };
  local();

  // Whether the server answers, and knows the session.
  const lost = document.querySelector("[data-lost]");
  if (lost) {
    const [gone, out] = lost.children;
    let status = 204;
    const look = async () => {
      if (document.hidden) return;
      const answer = await fetch("/alive", { signal: AbortSignal.timeout(2000) }).catch(() => null);
      const before = status;
      status = answer?.status ?? 0;
      [lost.hidden, gone.hidden, out.hidden] = [status !== 0 && status !== 401, status !== 0, status !== 401];
      if (status === 204 && before !== 204) document.dispatchEvent(new Event("storm:back"));
    };
    setInterval(look, 2500);
    document.addEventListener("visibilitychange", look);
  }

  // The library while a run is under way.
  const runs = document.querySelector("[data-refresh]");
  if (runs) {
    setInterval(async () => {
      if (document.hidden || runs.querySelector("details[open]") || runs.contains(document.activeElement)) return;
      const answer = await fetch(location.href).catch(() => null);
      const page = answer?.ok && new DOMParser().parseFromString(await answer.text(), "text/html");
      const fresh = page && page.querySelector(".runs");
      if (fresh) runs.replaceChildren(...fresh.children);
      local();
    }, 5000);
  }

  // A run under way: each event of its stream asks the server for the part of the page that changes.
  const live = document.querySelector("[data-live]");
  if (live) {
    const title = document.title;
    const opened = new Map();  // what the reader opened or closed stays so
    let due = 0, asked = 0, isOver = false;
    const show = async () => {
      due = 0;
      asked = Date.now();
      await htmx.ajax("GET", live.dataset.live, { target: live, swap: "innerMorph" });
      for (const [id, open] of opened) {
        const part = document.getElementById(id);
        if (part) part.open = open;
      }
      const state = live.querySelector("[data-is]")?.dataset.is;
      if (state && state !== "running" && state !== "queued") end(state);
    };
    const refresh = () => { due ||= later(Math.max(0, 1.5 - (Date.now() - asked) / 1000), show); };
    const end = state => {
      if (isOver) return;
      isOver = true;
      document.title = `${state === "finished" ? "✓" : "!"} ${title}`;
      document.querySelector(".tell")?.remove();
      if (self.Notification?.permission === "granted") new Notification(title, { body: `The run is ${state}.` });
    };
    let told = "", since = 0;
    setInterval(() => {  // the clock, between two refreshes
      const shown = live.querySelector("[data-seconds]");
      if (!shown) return;
      if (shown.dataset.seconds !== told) [told, since] = [shown.dataset.seconds, Date.now()];
      const seconds = Math.floor(+told + (Date.now() - since) / 1000);
      const parts = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
      shown.textContent = parts.slice(parts[0] ? 0 : 1).map((part, n) => n ? String(part).padStart(2, "0") : part).join(":");
    }, 1000);
    live.addEventListener("click", event => {
      const part = event.target.closest("summary")?.parentElement;
      if (part?.id) later(0, () => opened.set(part.id, part.open));
    });
    document.addEventListener("htmx:sse:before:message", event => {
      if (event.detail.message.event !== "end") event.preventDefault();
      refresh();
    });
    document.addEventListener("storm:back", refresh);
    const button = document.querySelector("[data-notify]");
    if (button && self.Notification && Notification.permission !== "denied") {
      button.hidden = Notification.permission === "granted";
      button.addEventListener("click", async () => { button.hidden = await Notification.requestPermission() !== "default"; });
    }
    // The stream is closed while the page is hidden: look for the end now and then.
    setInterval(async () => {
      if (!document.hidden || isOver) return;
      const view = await fetch(live.dataset.state).then(answer => answer.json(), () => null);
      if (view?.state && view.state !== "running" && view.state !== "queued") end(view.state);
    }, 15000);
    document.addEventListener("visibilitychange", () => { if (!document.hidden) refresh(); });
  }

  // Documents: dropped or chosen files become a set of documents at once, of which the form sends the name alone.
  const drop = document.querySelector("[data-drop]");
  if (drop) {
    const input = drop.querySelector("input[type=file]"), name = drop.querySelector("[name=documents]"), list = drop.querySelector("ul");
    const without = drop.querySelector("[data-without]");
    without.addEventListener("change", () => {  // of the files that were sent, nothing stays in the form
      name.value = "";
      list.replaceChildren();
      without.hidden = true;
      without.querySelector("input").checked = false;
    });
    const say = (line, text) => { line.textContent = text; };
    const problem = async answer => answer.status === 422 ? "its name or format cannot be used; save it as PDF, Word or text" : (await answer.json().catch(() => ({}))).error || `the server answered ${answer.status}`;
    const keep = async files => {
      input.disabled = true;
      for (const file of files) {
        const line = list.appendChild(document.createElement("li"));
        say(line, `${file.name} …`);
        try {
          if (!name.value) {
            const made = await fetch("/documents", { method: "POST" });
            if (!made.ok) throw new Error(await problem(made));
            name.value = (await made.json()).documents;
          }
          const answer = await fetch(`/documents/${name.value}/${encodeURIComponent(file.name)}`, { method: "PUT", body: file });
          if (!answer.ok) throw new Error(await problem(answer));
          say(line, `${file.name} ✓`);
          without.hidden = false;
        } catch (error) {
          say(line, error.message.startsWith(file.name) ? error.message : `${file.name} was not added: ${error.message}`);
          line.className = "refused";
        }
      }
      input.value = "";
      input.disabled = false;
    };
    input.addEventListener("change", () => keep([...input.files]));
    drop.addEventListener("dragover", event => { event.preventDefault(); drop.classList.add("over"); });
    drop.addEventListener("dragleave", () => drop.classList.remove("over"));
    drop.addEventListener("drop", event => { event.preventDefault(); drop.classList.remove("over"); keep([...event.dataTransfer.files]); });
  }
})();
