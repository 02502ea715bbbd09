import { storage } from '../data/storage.ts';

export const THEMES = ['system', 'light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];

const NAME = 'svc.theme';

/** Draws the page in the theme that was chosen in this browser, or else the system's. */
export function applyTheme(): void {
  const chosen = storage.get(NAME);
  if (chosen === 'light' || chosen === 'dark') document.documentElement.dataset.theme = chosen;
  else delete document.documentElement.dataset.theme;
}

/** Takes over the theme that another tab chooses. */
export function followTheme(): void {
  addEventListener('storage', ({ key }) => {
    if (key === NAME || key === null) applyTheme();
  });
}

export function chooseTheme(theme: Theme): void {
  storage.set(NAME, theme === 'system' ? null : theme);
  applyTheme();
}
