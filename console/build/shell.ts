import { navigationFor } from '../app/navigation.ts';

/** Gives the class of `layout.module.css` that has this name. */
export type ClassOf = (name: string) => string;

/**
 * What stands in a document of the app before its script has run: the navigation in its place, as the
 * app then draws it, so that something is there at once and nothing moves.
 */
export function renderShell(classOf: ClassOf): string {
  return renderLayout(classOf, {
    menu: `
        <div class="${classOf('menu')}">
          ${renderNavigation(classOf)}
          <div class="${classOf('account')}"></div>
        </div>`,
  });
}

/**
 * Puts the app's header and navigation around a document of its own, which knows of no session and has
 * no script of the app: where there is no room, the browser itself opens the menu.
 *
 * @param path of the document, which the navigation shows as the current one
 * @param content what stands in the document's body
 */
export function renderFrame(
  classOf: ClassOf,
  { path, content }: { readonly path: string; readonly content: string },
): string {
  const tools = `
          <div class="${classOf('tools')}">
            <button type="button" popovertarget="menu" class="${classOf('popoverButton')}" aria-label="Open the menu">
              <svg viewBox="0 0 16 16" width="16" height="16" fill="none" stroke="currentColor" stroke-width="1.5" stroke-linecap="round" aria-hidden="true">
                <path d="M2.5 4.5h11M2.5 8h11M2.5 11.5h11" />
              </svg>
            </button>
          </div>`;
  return renderLayout(classOf, {
    tools,
    menu: `
        <div id="menu" popover class="${classOf('menu')} ${classOf('popover')}">
          ${renderNavigation(classOf, path)}
        </div>`,
    main: `
      <main id="main" class="${classOf('main')}">${content}</main>`,
  });
}

function renderLayout(
  classOf: ClassOf,
  { tools = '', menu, main = '' }: { tools?: string; menu: string; main?: string },
): string {
  return `
    <div class="${classOf('layout')}">
      <header class="${classOf('side')}">
        <div class="${classOf('top')}">
          <a href="/console" class="${classOf('brand')}">
            <svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
              <rect width="16" height="16" rx="3.5" fill="var(--accent-fill)" />
              <path d="M4.25 8.25 7 11l4.75-6" fill="none" stroke="#fff" stroke-width="1.75" />
            </svg>
            svc
          </a>${tools}
        </div>${menu}
      </header>${main}
    </div>`;
}

/** @param current the path that is open, if that is known */
function renderNavigation(classOf: ClassOf, current?: string): string {
  const groups = navigationFor(null).map(
    ({ name, destinations }) => `
      <div>
        <p class="${classOf('group')}">${name}</p>
        <ul>${destinations
          .map(({ path, name: words }) => {
            const mark = path === current ? ' aria-current="page"' : '';
            return `<li><a href="${path}" class="${classOf('link')}"${mark}>${words}</a></li>`;
          })
          .join('')}</ul>
      </div>`,
  );
  return `<nav aria-label="Pages" class="${classOf('nav')}">${groups.join('')}</nav>`;
}
