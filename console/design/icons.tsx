import type { ReactNode } from 'react';

/** Line icons on a grid of 16, drawn in the colour of the text. */
function icon(paths: ReactNode) {
  return () => (
    <svg
      viewBox="0 0 16 16"
      width="16"
      height="16"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.5"
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
    >
      {paths}
    </svg>
  );
}

export const CopyIcon = icon(
  <>
    <rect x="5.75" y="5.75" width="7.5" height="7.5" rx="1.5" />
    <path d="M10.25 5.5V4.25a1.5 1.5 0 0 0-1.5-1.5h-4.5a1.5 1.5 0 0 0-1.5 1.5v4.5a1.5 1.5 0 0 0 1.5 1.5H5.5" />
  </>,
);
export const CheckIcon = icon(<path d="m3.5 8.5 3 3 6-7" />);
export const CrossIcon = icon(<path d="m4 4 8 8m0-8-8 8" />);
export const ExternalIcon = icon(
  <path d="M9.5 3h3.5v3.5M13 3 7.5 8.5M6.5 3.5H4.25A1.25 1.25 0 0 0 3 4.75v7A1.25 1.25 0 0 0 4.25 13h7a1.25 1.25 0 0 0 1.25-1.25V9.5" />,
);
export const MenuIcon = icon(<path d="M2.5 4.5h11M2.5 8h11M2.5 11.5h11" />);
