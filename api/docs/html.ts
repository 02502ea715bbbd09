/** Text that is HTML already and is not escaped again. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** Nothing is shown for undefined and false, so that parts can be left out by `&&`. */
type Value = Html | string | number | readonly Html[] | undefined | false;

/** HTML from a template; every value that is not HTML is escaped. */
export function html(parts: TemplateStringsArray, ...values: Value[]): Html {
  return new Html(parts.reduce((text, part, index) => text + render(values[index - 1]) + part));
}

function render(value: Value): string {
  if (value === undefined || value === false) return '';
  if (value instanceof Html) return value.text;
  if (typeof value === 'object') return value.map(({ text }) => text).join('');
  return String(value).replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
}
