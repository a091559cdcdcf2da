'use strict';
(() => {
  const $ = id => document.getElementById(id);
  const field = $('field'), found = $('found'), mostMarks = 5000;
  const sections = [...document.querySelectorAll('main > section')].map(section => ({
    section, text: '', entry: section.id && document.querySelector(`nav a[href="#${section.id}"]`)?.parentElement,
  }));
  let opened = [], marks = [], current = -1, timer;

  function mark(section, what) {
    const walker = document.createTreeWalker(section, NodeFilter.SHOW_TEXT);
    for (let node; (node = walker.nextNode());) {
      const text = node.data.toLowerCase(), parent = node.parentElement;
      for (let at = text.indexOf(what); at >= 0; at = text.indexOf(what, at + what.length)) {
        const details = parent.closest('details');
        if (details && !details.open && !parent.closest('summary')) {
          details.open = true;
          opened.push(details);
        }
        if (marks.length >= mostMarks) break;
        const range = new Range();
        range.setStart(node, Math.min(at, node.length));
        range.setEnd(node, Math.min(at + what.length, node.length));
        marks.push(range);
      }
    }
  }

  function highlight(name, ranges) {
    if (window.Highlight) CSS.highlights.set(name, new Highlight(...ranges));
  }

  function search() {
    clearTimeout(timer);
    const what = field.value.trim().toLowerCase();
    opened.forEach(details => { details.open = false; });
    [opened, marks, current] = [[], [], -1];
    let shown = 0;
    for (const s of sections) {
      s.text ||= s.section.textContent.toLowerCase();
      const matches = s.text.includes(what);
      s.section.hidden = !matches;
      if (s.entry) s.entry.hidden = !matches;
      if (matches) shown++;
      if (matches && what) mark(s.section, what);
    }
    highlight('found', marks);
    highlight('current', []);
    const matches = marks.length === 1 ? '1 match' : `${marks.length}${marks.length < mostMarks ? '' : '+'} matches`;
    found.value = what ? `${shown} of ${sections.length} exchanges · ${matches} · Enter: next match · Esc: clear` : 'Press / to search.';
  }

  function step(by) {
    if (!marks.length) return;
    current = (Math.max(current, by < 0 ? 0 : -1) + by + marks.length) % marks.length;
    highlight('current', [marks[current]]);
    scrollBy(0, marks[current].getBoundingClientRect().top - innerHeight / 2);
    found.value = `Match ${current + 1} of ${marks.length}`;
  }

  field.addEventListener('input', () => { clearTimeout(timer); timer = setTimeout(search, 150); current = -1; });
  field.addEventListener('keydown', event => {
    if (event.key !== 'Enter') return;
    if (current < 0) search();
    step(event.shiftKey ? -1 : 1);
  });
  document.addEventListener('keydown', event => {
    if (event.key === 'Escape' && field.value) {
      field.value = '';
      search();
    } else if (event.key === '/' && event.target !== field && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      field.focus();
    }
  });
  $('all').addEventListener('click', () => {
    const all = [...document.querySelectorAll('details')], open = all.some(details => !details.open);
    all.forEach(details => { details.open = open; });
    opened = [];
  });
  $('search').hidden = false;
  search();
})();
