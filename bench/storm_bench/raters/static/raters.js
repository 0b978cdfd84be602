// Each answer is sent when it is given; a number key answers the question in focus and goes on to the next.
(() => {
  const form = document.querySelector("form[data-page]");
  if (!form) return;
  const status = document.querySelector("[data-saving]"), progress = document.querySelector("[data-progress]");
  const questions = [...form.querySelectorAll("fieldset[data-question]")];
  const unsaved = {};
  let isSending = false;
  const say = (text, isLost) => { status.textContent = text; status.classList.toggle("lost", isLost); };
  const send = async () => {
    if (isSending || !Object.keys(unsaved).length) return;
    isSending = true;
    const answers = { ...unsaved };
    let pause = 3000;
    try {
      const body = JSON.stringify({ page: form.dataset.page, answers });
      const answer = await fetch(`/api/answers?rater=${form.dataset.rater}`, { method: "POST", headers: { "Content-Type": "application/json" }, body });
      const told = await answer.json();
      const isLater = [401, 408, 429].includes(answer.status) || answer.headers.has("Retry-After");
      const isTaken = answer.status < 500 && !isLater;  // or refused for good
      if (isTaken) for (const name in answers) if (unsaved[name] === answers[name]) delete unsaved[name];
      if (answer.ok) {
        say("Saved", false);
        progress.textContent = `${told.done} of ${told.of} pages complete`;
        document.querySelector(".where progress").value = told.done;
      } else if (answer.status === 401) say("Not saved yet: open the address that you were given in another tab. It is tried again.", true);
      else say(`Not saved${isTaken ? "" : " yet"}: ${told.error || answer.status}`, true);
      if (isTaken) pause = 0;
    } catch {
      say("Not saved yet: the server does not answer. It is tried again.", true);
    }
    isSending = false;
    setTimeout(send, pause);
  };
  const save = (name, value) => { unsaved[name] = value; send(); };
  addEventListener("beforeunload", event => { if (Object.keys(unsaved).length) event.preventDefault(); });
  form.addEventListener("submit", event => {
    if (isSending) {  // else an answer under way could overwrite the form's later one
      event.preventDefault();
      setTimeout(() => form.requestSubmit(event.submitter), 50);
    } else for (const name in unsaved) delete unsaved[name];  // the form has them all
  });

  form.addEventListener("change", event => {
    const { name, type, value } = event.target;
    if (type === "radio" || type === "textarea") save(name, value);
    event.target.closest("fieldset")?.classList.remove("open");
  });

  const sentence = form.querySelector("#sentence"), kind = form.querySelector("#class");
  for (const button of document.querySelectorAll("[data-sentence]")) {
    button.addEventListener("click", () => { sentence.value = button.dataset.sentence; kind.focus(); });
  }
  form.querySelector("[data-mark]")?.addEventListener("click", event => {
    event.preventDefault();
    const text = document.getElementById(`s${sentence.value}`), list = form.querySelector("[data-marks]");
    if (!text) return sentence.focus();
    save(`error.${sentence.value}`, kind.value);
    list.querySelector(`[data-number="${sentence.value}"]`)?.remove();
    text.classList.toggle("marked", kind.value !== "");
    if (kind.value) {
      const line = list.appendChild(document.createElement("li")), link = document.createElement("a");
      line.dataset.number = sentence.value;
      link.href = `#s${sentence.value}`;
      link.textContent = `Sentence ${sentence.value}`;
      line.append(link, `: ${kind.selectedOptions[0].textContent}`);
    }
    sentence.value = "";
  });

  form.querySelector("[data-keys]").hidden = false;
  const focus = question => {
    const choice = question?.querySelector(":checked") || question?.querySelector("input") || form.querySelector("[data-next]");
    choice.focus({ preventScroll: true });
    (question || choice).scrollIntoView({ block: "nearest" });
  };
  document.addEventListener("keydown", event => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("textarea, select, input:not([type=radio])")) return;
    if (event.key === "n") return form.querySelector("[data-next]").click();
    if (event.key === "p") return form.querySelector("[data-before]")?.click();
    if (!/^[0-9]$/.test(event.key)) return;
    const question = event.target.closest("fieldset[data-question]") || questions.find(one => !one.querySelector(":checked"));
    const choices = [...(question?.querySelectorAll("input") || [])];
    const choice = choices.find(one => one.value === event.key) || (isNaN(choices[0]?.value) && choices[event.key - 1]);
    if (!choice) return;
    event.preventDefault();
    choice.click();
    focus(questions[questions.indexOf(question) + 1]);
  });
})();
