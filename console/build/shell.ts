import { isCurrent, navigationFor } from '../app/navigation.ts';
import { type PageHead, SIGN_IN_HEAD } from '../routes.ts';

/** Gives the class of a style's file that has this name. */
export type ClassOf = (name: string, file: string) => string;

interface Shown {
  /** Of the document, for the navigation. */
  readonly path: string;
  /** What stands in its main part, as HTML. */
  readonly content: string;
}

/** Draws what stands in documents before a script has run, with the classes that the build gives. */
export function createShell(classOf: ClassOf) {
  const ofLayout = (name: string) => classOf(name, 'layout.module.css');

  return {
    /**
     * The app's navigation and the head of a page, each as the app then draws it in its place. So
     * something is there at once, and nothing moves.
     */
    renderApp: ({ path, content }: Shown): string =>
      renderLayout(ofLayout, {
        menu: `
        <div class="${ofLayout('menu')}">
          ${renderNavigation(ofLayout, path)}
          <div class="${ofLayout('account')}"></div>
        </div>`,
        // Tests and assistive tools wait until this is gone.
        main: `
      <main id="main" class="${ofLayout('main')}" aria-busy="true">${content}</main>`,
      }),

    /**
     * The same around a document of its own, which knows of no session and has no script of the app.
     * Where there is no room, the browser itself opens the menu.
     */
    renderFrame: ({ path, content }: Shown): string =>
      renderLayout(ofLayout, {
        tools: renderMenuButton(ofLayout),
        menu: `
        <div id="menu" popover class="${ofLayout('menu')} ${ofLayout('popover')}">
          ${renderNavigation(ofLayout, path)}
        </div>`,
        main: `
      <main id="main" class="${ofLayout('main')}">${content}</main>`,
      }),

    /** As `PageHeader` draws it. */
    renderHead({ title, lead, size }: PageHead): string {
      const ofPage = (name: string) => classOf(name, 'page.module.css');
      const classes = [ofPage('header'), ...(size ? [ofPage(size)] : [])].join(' ');
      return `
        <header class="${classes}">
          <div class="${ofPage('heading')}">
            <h1>${escaped(title)}</h1>
            <p class="${ofPage('lead')}">${escaped(lead)}</p>
          </div>
        </header>`;
    },

    /** As `SignedIn` draws it without a session. */
    renderSignIn: (): string => `
        <div class="${classOf('panel', 'walletChoice.module.css')}">
          <h1>${escaped(SIGN_IN_HEAD.title)}</h1>
          <p class="soft">${escaped(SIGN_IN_HEAD.lead)}</p>
        </div>`,
  };
}

/** Gives the class of the layout's style that has this name. */
type OfLayout = (name: string) => string;

function renderLayout(
  ofLayout: OfLayout,
  { tools = '', menu, main }: { tools?: string; menu: string; main: string },
): string {
  return `
    <div class="${ofLayout('layout')}">
      <header class="${ofLayout('side')}">
        <div class="${ofLayout('top')}">
          <a href="/console" class="${ofLayout('brand')}">
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

const renderMenuButton = (ofLayout: OfLayout): string => `
          <button type="button" popovertarget="menu" class="${ofLayout('popoverButton')}" aria-label="Open the menu">
            <svg viewBox="0 0 16 16" width="16" height="16" fill="none" stroke="currentColor" stroke-width="1.5" stroke-linecap="round" aria-hidden="true">
              <path d="M2.5 4.5h11M2.5 8h11M2.5 11.5h11" />
            </svg>
          </button>`;

function renderNavigation(ofLayout: OfLayout, path: string): string {
  const groups = navigationFor(null).map(
    ({ name, destinations }) => `
      <div>
        <p class="${ofLayout('group')}">${name}</p>
        <ul>${destinations
          .map(({ path: target, name: words }) => {
            const mark = isCurrent(target, path) ? ' aria-current="page"' : '';
            return `<li><a href="${target}" class="${ofLayout('link')}"${mark}>${words}</a></li>`;
          })
          .join('')}</ul>
      </div>`,
  );
  return `<nav aria-label="Pages" class="${ofLayout('nav')}">${groups.join('')}</nav>`;
}

const SIGNS: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

/** Escapes the text of an element. */
function escaped(text: string): string {
  return text.replace(/[&<>]/g, (sign) => SIGNS[sign] ?? sign);
}
