// SPDX-License-Identifier: MIT
// The manual's search, its menu on narrow screens and its colours. The index (index.js) comes when the search is used.
"use strict";
(() => {
  const page = document.documentElement, root = page.dataset.root;
  const $ = (id) => document.getElementById(id);
  const make = (name, attributes, ...children) => {
    const element = Object.assign(document.createElement(name), attributes);
    element.append(...children);
    return element;
  };
  page.classList.add("script");

  /* Search. A section matches when each word occurs in its page's title or file name, its heading or its text; where no
     section has all words, those with most of them match. */
  let sections = null, loading = false;
  const load = () => {
    if (loading) return;
    loading = true;
    document.head.append(make("script", { src: root + "index.js", onload: () => {
      sections = window.manual.map(([path, title, anchor, heading, text]) => ({ path, title, anchor, heading, text,
        at: { title: (title + " " + path).toLowerCase(), heading: heading.toLowerCase(), text: text.toLowerCase() } }));
      search();
    } }));
  };
  const idle = new Set(("a after am an and are as at be by can do does during for from get go has have how i in is it its "
    + "make many me my need needs not now of on only or run see should so some than the there they this to until us use want "
    + "was we what when where which who why will with you your").split(" ")); // of a whole question: they name nothing
  const wordsOf = (text) => {
    const all = text.toLowerCase().split(/(?:'s)?[\s?,!]+/).filter(Boolean);
    const some = all.filter((word) => !idle.has(word));
    return (some.length > 0 ? some : all).map((word) => ({ text: word }));
  };
  const escaped = (word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const scoreOf = (section, words, missing) => {
    let score = section.anchor === "" ? 2 : 0; // the top of a page before its parts
    for (const word of words) {
      const start = new RegExp("(^|[^a-z0-9])" + escaped(word.text)); // of a word: "book" is not in "cookbook"
      const whole = new RegExp("(^|[^a-z0-9_])" + escaped(word.text) + "($|[^a-z0-9_])");
      const rank = (text, exact, part) => whole.test(text) ? exact : start.test(text) ? part : 0;
      const found = rank(section.at.title, section.anchor === "" ? 60 : 12, section.anchor === "" ? 30 : 6)
        + rank(section.at.heading, 20, 8)
        + Math.min(rank(section.at.text, 3, 1) * section.at.text.split(word.text).length, 12);
      if (!found && missing-- === 0) return 0;
      score += found;
    }
    return /\/(reference|contributing)\/|CHANGELOG|CONTRIBUTING/.test(section.path) ? score / 3 : score; // written for fewer readers
  };
  const excerpt = (section, words) => {
    const first = Math.min(...words.map((word) => section.at.text.indexOf(word.text)).filter((at) => at >= 0));
    const from = Number.isFinite(first) ? Math.max(0, section.text.lastIndexOf(" ", Math.max(0, first - 50))) : 0;
    const to = section.text.length <= from + 170 ? section.text.length : section.text.lastIndexOf(" ", from + 170);
    const text = (from > 0 ? "… " : "") + section.text.slice(from, to).trim()
      + (to < section.text.length ? " …" : "");
    const pattern = new RegExp("(" + words.map((word) => escaped(word.text)).join("|") + ")", "gi");
    return text.split(pattern).map((part, i) => i % 2 ? make("mark", {}, part) : part);
  };
  const search = () => {
    const words = wordsOf($("words").value);
    $("found").hidden = words.length === 0 || !sections;
    if ($("found").hidden) return;
    let found = [];
    for (let missing = 0; found.length === 0 && missing < words.length; missing++) {
      found = sections.map((section) => [scoreOf(section, words, missing), section]).filter(([score]) => score > 0)
        .sort(([one], [other]) => other - one);
    }
    $("count").textContent = found.length === 0 ? "Nothing was found." : found.length === 1 ? "1 place"
      : found.length + " places" + (found.length > 30 ? ", the best 30" : "");
    $("results").replaceChildren(...found.slice(0, 30).map(([, section]) => make("li", {},
      make("a", { href: root + section.path + (section.anchor && "#" + section.anchor) },
        make("b", {}, section.title), section.heading !== section.title ? " › " + section.heading : "",
        make("small", {}, ...excerpt(section, words))))));
  };
  const close = () => { $("found").hidden = true; };
  $("words").addEventListener("focus", () => { load(); search(); });
  $("words").addEventListener("input", () => { load(); search(); });
  $("search").addEventListener("submit", (event) => {
    event.preventDefault();
    const first = $("results").querySelector("a");
    if (first) first.click();
  });
  $("results").addEventListener("click", (event) => { if (event.target.closest("a")) close(); });
  document.addEventListener("click", (event) => { if (!$("search").contains(event.target)) close(); });
  document.addEventListener("keydown", (event) => {
    const typing = /^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement.tagName);
    if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      $("words").focus();
    } else if (event.key === "Escape" && !$("found").hidden) {
      close();
      $("words").blur();
    } else if ((event.key === "ArrowDown" || event.key === "ArrowUp") && $("search").contains(document.activeElement)
        && !$("found").hidden) {
      event.preventDefault();
      const stops = [$("words"), ...$("results").querySelectorAll("a")];
      const next = stops.indexOf(document.activeElement) + (event.key === "ArrowDown" ? 1 : -1);
      if (stops[next]) stops[next].focus();
    }
  });

  /* Menu, colours. */
  $("menu").hidden = !matchMedia("(max-width: 56rem)").matches;
  matchMedia("(max-width: 56rem)").addEventListener("change", (event) => { $("menu").hidden = !event.matches; });
  $("menu").addEventListener("click", () => {
    $("menu").setAttribute("aria-expanded", String($("pages").classList.toggle("open")));
  });
  const dark = () => page.dataset.theme ? page.dataset.theme === "dark"
    : matchMedia("(prefers-color-scheme: dark)").matches;
  const label = () => {
    $("theme").textContent = dark() ? "Light" : "Dark";
    $("theme").setAttribute("aria-label", $("theme").textContent + " colours");
  };
  $("theme").hidden = false;
  label();
  $("theme").addEventListener("click", () => {
    page.dataset.theme = dark() ? "light" : "dark";
    try { localStorage.setItem("theme", page.dataset.theme); } catch (error) { /* it lasts as long as the page */ }
    label();
  });

  for (const part of document.querySelectorAll(".contents")) if (!$("menu").hidden) part.open = false;

  /* The page: links to headings, copies of code, parts that scroll can be reached by the keyboard. */
  for (const heading of document.querySelectorAll("main :is(h2, h3, h4)[id]")) {
    heading.append(make("a", { className: "here", href: "#" + heading.id, textContent: "#",
      ariaLabel: "Link to " + heading.textContent }));
  }
  for (const block of document.querySelectorAll("div.code")) {
    const copy = make("button", { type: "button", className: "copy", textContent: "Copy" });
    copy.addEventListener("click", () => navigator.clipboard.writeText(block.querySelector("pre").textContent)
      .then(() => { copy.textContent = "Copied"; }, () => { copy.textContent = "Not allowed"; }));
    if (navigator.clipboard) block.append(copy);
  }
  for (const table of document.querySelectorAll("main table")) { // three columns and more are stacked on narrow screens
    const heads = [...table.querySelectorAll("thead th")].map((head) => head.textContent);
    if (!table.rows[0] || table.rows[0].cells.length < 3) continue;
    table.parentNode.classList.add("stacked");
    for (const row of table.tBodies[0].rows) {
      for (const [i, cell] of [...row.cells].entries()) if (i > 0 && heads[i]) cell.dataset.label = heads[i];
    }
  }
  const reach = () => {
    for (const part of document.querySelectorAll(".scroll, pre")) {
      part.toggleAttribute("tabindex", false);
      if (part.scrollWidth > part.clientWidth) part.tabIndex = 0;
    }
  };
  reach();
  addEventListener("resize", reach);
  const here = $("pages").querySelector("[aria-current]");
  if (here && getComputedStyle($("pages")).position === "sticky") {
    $("pages").scrollTop = here.offsetTop - $("pages").clientHeight / 2;
  }
})();
