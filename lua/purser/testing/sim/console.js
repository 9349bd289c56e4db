// SPDX-License-Identifier: MIT
// The script of the simulator's page (console.html): it shows what /console/data answers, once a second.
"use strict";
const $ = (id) => document.getElementById(id);
const list = (value) => Array.isArray(value) ? value : []; // an empty list arrives as an empty object
const make = (name, attributes, ...children) => {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (key === "class") element.className = value; else element.setAttribute(key, value);
  }
  element.append(...children); // text only: nothing that arrives is ever read as HTML
  return element;
};
const utc = (ms) => new Date(ms).toISOString().replace("T", " ").replace("Z", "");
const plural = (n, word) => n + " " + word + (n === 1 ? "" : "s");

/* Talking to the simulator. */
const call = async (method, path, body) => {
  const answer = await fetch(path, { method, headers: body && { "Content-Type": "application/json" },
    body: body && JSON.stringify(body) });
  const value = await answer.json();
  if (!answer.ok) throw new Error(value.error || "HTTP " + answer.status);
  return value;
};
let quiet;
const say = (text, failed) => {
  $("said").textContent = text;
  $("said").className = failed ? "failed" : "";
  clearTimeout(quiet);
  quiet = setTimeout(() => { $("said").textContent = ""; }, failed ? 12000 : 5000);
};
const act = async (what, method, path, body) => {
  let value = null;
  try { value = await call(method, path, body); say(what); } catch (error) { say(error.message, true); }
  await refresh();
  return value;
};

/* Clock. */
const span = (ms) => {
  const steps = [[86400000, "day"], [3600000, "hour"], [60000, "minute"], [1000, "second"]];
  const [size, word] = steps.find(([size]) => ms >= size) || steps[3];
  return plural(Math.round(ms / size), word);
};
const showClock = (data) => {
  $("now").textContent = utc(data.now).slice(0, 19) + " UTC";
  $("mode").textContent = data.clock === "real" ? "goes with the wall clock" : "stands still until moved";
  const ahead = data.now - Date.now();
  $("ahead").hidden = Math.abs(ahead) < 2000;
  $("ahead").textContent = span(Math.abs(ahead)) + (ahead > 0 ? " ahead of" : " behind")
    + " this machine: a client must sign with the simulator's time.";
};

/* Accounts: a card is drawn again only when something changed; amounts that changed are marked for a moment. */
const amounts = new Map(), cards = new Map(), folded = new Map();
const FOLDED_FROM = 7; // accounts: then their cards begin folded
const balanceTable = (uid, business, balances, isNew) => {
  const body = make("tbody");
  for (const balance of balances) {
    const cells = ["free", "locked"].map((kind) => {
      const key = [uid, business, balance.asset, kind].join(" "), amount = balance[kind];
      const cell = make("td", { class: "num" + (amount === "0" ? " zero" : "") }, amount);
      if (!isNew && amounts.get(key) !== amount) cell.classList.add("changed");
      amounts.set(key, amount);
      return cell;
    });
    body.append(make("tr", null, make("td", null, balance.asset), ...cells));
  }
  const column = (text) => make("th", { scope: "col", class: "num" }, text);
  const heads = make("tr", null, make("th", { scope: "col" }, "Asset"), column("Free"), column("Locked"));
  return make("table", null, make("caption", null, business), make("thead", null, heads), body);
};
const cardOf = (account, count) => {
  const name = account.name || account.uid, text = JSON.stringify(account), old = cards.get(account.uid);
  if (old && old.text === text) return old.element;
  const facts = [account.role, "uid " + account.uid, account.email, account.parent && "of " + account.parent];
  const summary = make("summary", null, make("h3", null, name));
  if (account.frozen) summary.append(" ", make("span", { class: "tag bad" }, "frozen"));
  summary.append(make("span", { class: "facts" }, facts.filter(Boolean).join(" · ")));
  const details = make("details", null, summary), spot = list(account.spot), futures = list(account.futures);
  details.open = folded.has(account.uid) ? !folded.get(account.uid) : count < FOLDED_FROM;
  details.addEventListener("toggle", () => folded.set(account.uid, !details.open));
  if (spot.length) details.append(balanceTable(account.uid, "SPOT", spot, !old));
  if (futures.length) details.append(balanceTable(account.uid, "FUTURES", futures, !old));
  if (!spot.length && !futures.length) details.append(make("p", { class: "note" }, "no funds"));
  const freeze = make("button", { type: "button", class: "small freeze", "aria-label":
    (account.frozen ? "Unfreeze " : "Freeze ") + name }, account.frozen ? "Unfreeze" : "Freeze");
  freeze.addEventListener("click", () => act(name + (account.frozen ? " is active again." : " is frozen."), "POST",
    "/sim/freeze", { account: account.uid, frozen: !account.frozen }));
  details.append(make("div", { class: "row" }, freeze));
  const element = make("article", null, details);
  element.words = [...facts, account.name, account.frozen && "frozen", ...[...spot, ...futures].map((one) => one.asset)]
    .filter(Boolean).join(" ").toLowerCase();
  cards.set(account.uid, { text, element });
  return element;
};
const isMatch = (words, text) => words.toLowerCase().split(/\s+/).filter(Boolean).every((word) => text.includes(word));
const filterAccounts = () => {
  for (const { element } of cards.values()) element.hidden = !isMatch($("account-filter").value, element.words);
};
let drawn = "";
const showAccounts = (data) => {
  const accounts = list(data.accounts), text = JSON.stringify(accounts);
  $("account-count").textContent = accounts.length < data.account_count
    ? "the first " + accounts.length + " of " + data.account_count : plural(accounts.length, "account");
  filterAccounts();
  if (text === drawn) return;
  const elements = accounts.map((account) => cardOf(account, accounts.length));
  elements.forEach((element, i) => { // what did not change stays where it is, with its focus
    const there = $("accounts").children[i];
    if (there !== element) if (there) there.replaceWith(element); else $("accounts").append(element);
  });
  while ($("accounts").children.length > elements.length) $("accounts").lastElementChild.remove();
  if (!elements.length) {
    $("accounts").append(make("p", { class: "empty" }, "No account yet: open one, or start with --demo."));
  }
  filterAccounts();
  $("accounts").classList.toggle("many", elements.length >= FOLDED_FROM);
  $("fold").textContent = $("accounts").querySelector("details[open]") ? "Fold all" : "Unfold all";
  const offer = (select, some) => {
    const chosen = select.value;
    select.replaceChildren(...some.map((account) =>
      make("option", { value: account.uid }, account.name || account.uid)));
    if (some.some((account) => account.uid === chosen)) select.value = chosen;
  };
  offer($("deposit").elements.account, accounts);
  offer($("open").elements.parent, accounts.filter((account) => account.role !== "sub"));
  drawn = text;
};

/* Records: deposits, withdrawals, transfers and keys. */
const labelled = (label, text) => make("td", text ? { "data-label": label } : null, text || "");
const stateTag = (status) => make("td", null, make("span", { class: "tag " + (/SUCCESS|COMPLETED/.test(status) ? "good"
  : /FAIL|REJECT|CANCEL|INVALID/.test(status) ? "bad" : "plain") }, status));
const failButton = (record, kind) => {
  const cell = make("td");
  if (!record.can_fail) return cell;
  const label = "Fail the " + kind + " of " + record.amount + " " + (record.coin || record.asset);
  const button = make("button", { type: "button", class: "small", "aria-label": label }, "Fail");
  button.addEventListener("click", () => act("The " + kind + " failed; its funds are back.", "POST",
    kind === "withdrawal" ? "/sim/states" : "/sim/failures", { [kind]: record.id, status: "FAILED" }));
  cell.append(button);
  return cell;
};
const timeCell = (ms) => make("td", { class: "time" }, utc(ms).slice(0, 19));
const kinds = {
  deposits: { heads: ["Time (UTC)", "Account", "Amount", "Network", "State", "Confirmations"], cells: (one) => [
    make("td", null, one.account), make("td", null, one.amount + " " + one.coin), make("td", null, one.network),
    stateTag(one.status), labelled("Confirmations", one.confirmations)] },
  withdrawals: { heads: ["Time (UTC)", "Account", "Amount", "Network", "State", "Own id", ""], cells: (one) => [
    make("td", null, one.account), make("td", null, one.amount + " " + one.coin + ", fee " + one.fee),
    make("td", null, one.network), stateTag(one.status), labelled("Own id", one.order_id),
    failButton(one, "withdrawal")] },
  transfers: { heads: ["Time (UTC)", "From", "To", "Amount", "State", "Own id", ""], cells: (one) => [
    labelled("From", one.from), labelled("To", one.to), make("td", null, one.amount + " " + one.asset),
    stateTag(one.status), labelled("Own id", one.client_id), failButton(one, "transfer")] },
  keys: { heads: ["Made (UTC)", "Account", "Key", "Note", "IP list", "Days left"], cells: (one) => {
    const key = make("td", { title: one.permissions.replaceAll(",", ", ") }, one.key);
    return [make("td", null, one.account), key, make("td", null, one.note || ""), labelled("IP", one.ip),
      labelled("Days left", one.days_left === undefined ? "" : String(one.days_left))];
  } },
};
let kind = "deposits", listed = "";
const showRecords = (data) => {
  const records = list(data.records[kind]), text = kind + JSON.stringify(records);
  for (const button of $("kinds").children) {
    button.textContent = button.dataset.name + " " + list(data.records[button.dataset.kind]).length;
    button.setAttribute("aria-pressed", String(button.dataset.kind === kind));
  }
  if (text === listed) return;
  listed = text;
  $("records").tHead.replaceChildren(make("tr", null, ...kinds[kind].heads.map((head) => head
    ? make("th", { scope: "col" }, head) : make("td", null))));
  $("records").tBodies[0].replaceChildren(...records.map((record) =>
    make("tr", null, timeCell(record.time), ...kinds[kind].cells(record))));
  $("records").hidden = records.length === 0;
  $("no-records").hidden = records.length > 0;
  $("no-records").textContent = "There are no " + kind + " yet.";
};
let latest = null;
for (const name of ["Deposits", "Withdrawals", "Transfers", "Keys"]) {
  const button = make("button", { type: "button", "data-kind": name.toLowerCase(), "data-name": name }, name);
  button.addEventListener("click", () => { kind = button.dataset.kind; if (latest) showRecords(latest); });
  $("kinds").append(button);
}

/* Requests: a row is made once and never changes; new ones go on top. */
let last = 0;
const colours = { applied: "good", rejected: "bad", fault: "warn" };
const difference = (one, other) => { // where two texts part, from both ends
  let head = 0, tail = 0;
  const shorter = Math.min(one.length, other.length);
  while (head < shorter && one[head] === other[head]) head++;
  while (tail < shorter - head && one[one.length - 1 - tail] === other[other.length - 1 - tail]) tail++;
  return [head, tail];
};
const marked = (text, head, tail) => {
  const middle = text.slice(head, text.length - tail);
  return make("pre", null, text.slice(0, head), ...(middle ? [make("mark", null, middle)] : []),
    text.slice(text.length - tail));
};
const signatureDetail = (request) => {
  const known = request.signed_received !== undefined, expected = request.signed_expected;
  const arrived = known ? request.signed_received
    : (request.target.split("?")[1] || "").replace(/&?signature=[^&]*/, "");
  const [head, tail] = arrived === expected ? [arrived.length, 0] : difference(arrived, expected);
  return [
    make("p", { class: "note" }, known
      ? "The client signed " + request.mistake + "."
      : "No usual mistake explains this signature, so the client probably signed with another secret key."),
    make("div", { class: "texts" },
      make("div", null, make("h4", null, known ? "The text the client signed"
        : "The query that arrived, without its signature"), marked(arrived, head, tail)),
      make("div", null, make("h4", null, "The text the service signs"), marked(expected, head, tail))),
  ];
};
const answerDetail = (request) => {
  const parts = [];
  const lost = ["lost_answer", "reset"].includes(request.fault);
  if (lost) parts.push(make("p", { class: "note" }, "The client had no answer."));
  else if (request.answer !== undefined) {
    parts.push(make("p", { class: "note" }, "Answer, HTTP " + request.status + ":"),
      make("pre", { class: "answer" }, request.answer));
  } else parts.push(make("p", { class: "note" }, "HTTP " + request.status + ". Answers of applied requests are not kept."));
  if (request.cure && !lost) {
    parts.push(make("p", { class: "note cure" }, "What to do: " + request.cure.replaceAll("`", "") + "."));
  }
  return parts;
};
const detailOf = (request) => {
  const cell = make("td", { colspan: "5" }, make("pre", null, request.method + " " + request.target));
  if (request.signed_expected !== undefined) cell.append(...signatureDetail(request));
  cell.append(...answerDetail(request));
  return make("tr", { class: "detail", id: "detail-" + request.number }, cell);
};
const rowOf = (request) => {
  const name = request.operation || request.target.split("?")[0];
  const open = make("button", { type: "button", class: "open", "aria-expanded": "false" }, name);
  const outcome = make("td", null, make("span", { class: "tag " + (colours[request.outcome] || "plain") },
    request.outcome || "unknown"));
  if (request.fault) outcome.append(" ", make("span", { class: "tag warn" }, request.fault.replace("_", " ")));
  const row = make("tr", { "data-number": request.number },
    make("td", { class: "time" }, utc(request.time).slice(5)), make("td", null, open), outcome,
    labelled("HTTP", ["lost_answer", "reset"].includes(request.fault) ? "none" : String(request.status)),
    labelled("code", request.code));
  row.words = [name, request.outcome, request.fault, request.status, request.code, request.method].join(" ").toLowerCase();
  row.addEventListener("click", () => { // a press of the button is a click in its row
    if (!getSelection().isCollapsed) return; // a text was marked, to be copied
    const shown = open.getAttribute("aria-expanded") === "true";
    open.setAttribute("aria-expanded", String(!shown));
    if (shown) row.nextElementSibling.remove(); else row.after(detailOf(request));
  });
  return row;
};
const filterRows = () => {
  let hidden = false;
  for (const row of $("requests").tBodies[0].rows) {
    if (!row.classList.contains("detail")) hidden = !isMatch($("filter").value, row.words);
    row.hidden = hidden;
  }
};
const showRequests = (data) => {
  const body = $("requests").tBodies[0], requests = list(data.requests);
  for (const request of requests) {
    if (request.number <= last) continue;
    last = request.number;
    body.prepend(rowOf(request));
  }
  const oldest = requests.length ? requests[0].number : 0;
  for (const row of [...body.querySelectorAll("tr[data-number]")].reverse()) {
    if (Number(row.dataset.number) >= oldest) break;
    if (row.nextElementSibling && row.nextElementSibling.classList.contains("detail")) row.nextElementSibling.remove();
    row.remove();
  }
  $("no-requests").hidden = requests.length > 0;
  $("requests").hidden = requests.length === 0;
  filterRows();
};

/* Faults. */
const showFaults = (data) => {
  const armed = list(data.armed);
  $("armed").replaceChildren(...armed.map((fault) => make("li", null, make("span", { class: "tag warn" },
    fault.kind.replace("_", " ")), " " + (fault.operation || "any operation")
    + (fault.left === undefined ? "" : ", " + plural(fault.left, "time")))));
  $("disarm").disabled = armed.length === 0;
  $("faulty").hidden = armed.length === 0;
  $("faulty").textContent = plural(armed.length, "fault") + " armed";
  $("totals").textContent = plural(last, "request") + ", " + plural(data.injected, "fault") + " happened";
};

const show = (data) => {
  latest = data;
  showClock(data); showAccounts(data); showRequests(data); showRecords(data); showFaults(data);
  $("sound").textContent = data.sound ? "books balance" : "books do not balance";
  $("sound").title = data.wrong || "Every unit of every asset is accounted for.";
  $("sound").className = "tag " + (data.sound ? "good" : "bad");
};
const setConnected = (connected) => { // what cannot work is not offered
  const buttons = document.querySelectorAll("form button[type=submit], #jumps button");
  for (const button of buttons) button.disabled = !connected;
};
const refresh = async () => {
  try {
    show(await call("GET", "/console/data"));
    setConnected(true);
  } catch (error) {
    setConnected(false);
    $("sound").textContent = "no connection";
    $("sound").className = "tag bad";
  }
};

/* Controls. */
$("jumps").addEventListener("click", (event) => {
  const ms = Number(event.target.dataset.ms);
  if (ms) act("The clock moved on by " + span(ms) + ".", "POST", "/sim/advance", { ms });
});
$("deposit").addEventListener("submit", (event) => {
  event.preventDefault();
  const { account, coin, network, amount } = Object.fromEntries(new FormData(event.target));
  act("A deposit of " + amount + " " + coin + " is on its way.", "POST", "/sim/deposits", { account, coin, network, amount });
});
$("fault").addEventListener("submit", (event) => {
  event.preventDefault();
  const { kind, operation, times } = Object.fromEntries(new FormData(event.target));
  act("The fault is armed.", "POST", "/sim/faults", { kind, operation: operation || undefined, times: Number(times) });
});
$("disarm").addEventListener("click", () => act("No fault is armed any more.", "DELETE", "/sim/faults"));
$("filter").addEventListener("input", filterRows);
$("account-filter").addEventListener("input", filterAccounts);
$("accounts").addEventListener("toggle", () => {
  $("fold").textContent = $("accounts").querySelector("details[open]") ? "Fold all" : "Unfold all";
}, true);
$("fold").addEventListener("click", () => {
  const fold = $("accounts").querySelector("details[open]") !== null;
  for (const details of $("accounts").querySelectorAll("details")) details.open = !fold;
});
const opening = $("open").elements;
opening.role.addEventListener("change", () => { $("parent").hidden = opening.role.value !== "sub"; });
$("open").addEventListener("submit", async (event) => {
  event.preventDefault();
  const { name, role, parent, coin, amount } = Object.fromEntries(new FormData(event.target));
  const opened = await act(name + " is open.", "POST", "/sim/accounts", { name, role,
    parent: role === "sub" ? parent : undefined, balances: { [coin]: amount } });
  $("opened").replaceChildren(...(opened ? [make("p", { class: "note" }, "The keys of " + name + ", shown here only:"),
    make("pre", null, "export PURSER_API_KEY=" + opened.api_key + "\nexport PURSER_SECRET_KEY=" + opened.secret_key)] : []));
});

const setTheme = (theme) => {
  document.documentElement.dataset.theme = theme;
  $("theme").textContent = theme === "dark" ? "Light" : "Dark";
  $("theme").setAttribute("aria-label", $("theme").textContent + " colours");
};
let stored = null;
try { stored = localStorage.getItem("theme"); } catch (error) { /* storage may be closed */ }
setTheme(stored || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light"));
$("theme").addEventListener("click", () => {
  const theme = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
  setTheme(theme);
  try { localStorage.setItem("theme", theme); } catch (error) { /* the choice lasts as long as the page */ }
});

const start = async () => {
  const offered = await call("GET", "/console/catalogue");
  const { coin, network } = $("deposit").elements;
  const networks = () => {
    const chosen = offered.coins.find((one) => one.coin === coin.value);
    network.replaceChildren(...chosen.networks.filter((one) => one.open)
      .map((one) => make("option", { value: one.name }, one.name)));
  };
  coin.append(...offered.coins.filter((one) => one.networks.some((each) => each.open))
    .map((one) => make("option", { value: one.coin }, one.coin)));
  opening.coin.append(...offered.coins.map((one) => make("option", { value: one.coin }, one.coin)));
  coin.addEventListener("change", networks);
  networks();
  $("fault").elements.operation.append(...offered.operations.map((name) => make("option", { value: name }, name)));
  const loop = async () => {
    if (!document.hidden) await refresh();
    setTimeout(loop, 1000);
  };
  loop();
};
start();
