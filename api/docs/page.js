// Stands in the head of every page of the documentation, behind `find`. Without it the form asks the service.
addEventListener('DOMContentLoaded', () => {
  const form = document.querySelector('[role=search]');
  const field = form.querySelector('input');
  const results = document.querySelector('.results');
  const status = form.querySelector('[role=status]');
  let reading;

  /** What can be found; nothing while it cannot be read. Then Enter asks the service. */
  const read = () => {
    reading ??= fetch('/docs/search.json').then((answer) => answer.json());
    return reading.catch(() => {
      reading = undefined;
      return [];
    });
  };

  const show = async () => {
    const query = field.value;
    const sections = await read();
    if (query !== field.value || !form.contains(document.activeElement)) return;
    const found = query.trim() === '' ? [] : find(sections, query).slice(0, 8);
    results.replaceChildren(...found.map(itemOf));
    results.hidden = found.length === 0;
    status.textContent = query.trim() === '' ? '' : `Results: ${found.length}`;
  };

  const itemOf = ({ path, page, heading, excerpt }) => {
    const link = document.createElement('a');
    link.href = path;
    const parts = [
      ['b', heading],
      ['span', heading === page ? '' : page],
      ['small', excerpt],
    ];
    for (const [name, text] of parts) {
      const part = document.createElement(name);
      part.textContent = text;
      link.append(part, ' ');
    }
    const item = document.createElement('li');
    item.append(link);
    return item;
  };

  const close = () => {
    results.hidden = true;
    field.focus();
  };

  /** From the field into the results, and back. */
  const move = (step) => {
    const places = [field, ...results.querySelectorAll('a')];
    const next = places.indexOf(document.activeElement) + step;
    places[Math.max(0, Math.min(next, places.length - 1))].focus();
  };

  const menu = document.querySelector('.menu');
  menu.addEventListener('click', () => menu.matches(':popover-open') && menu.hidePopover());
  field.addEventListener('focus', read);
  field.addEventListener('input', show);
  form.addEventListener('focusout', ({ relatedTarget }) => {
    if (!form.contains(relatedTarget)) results.hidden = true;
  });
  form.addEventListener('keydown', (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined && !results.hidden) {
      event.preventDefault();
      move(step);
    }
    if (event.key === 'Escape' && !results.hidden) {
      event.preventDefault();
      close();
    }
  });
  addEventListener('keydown', (event) => {
    if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey) return;
    if (document.activeElement === field) return;
    event.preventDefault();
    field.focus();
    field.select();
  });
});
