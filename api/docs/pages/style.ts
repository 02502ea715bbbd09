/** The whole look of the pages; in each page itself, so that nothing else has to be loaded. */
export const style = `
:root {
  color-scheme: light dark;
  --text: light-dark(#1d2330, #e4e7ee);
  --soft: light-dark(#5b6577, #9aa4b6);
  --line: light-dark(#dfe3ea, #2c3340);
  --panel: light-dark(#f6f7f9, #171c25);
  --page: light-dark(#fff, #10141b);
  --link: light-dark(#1c5fc4, #7fb0ff);
}
* { box-sizing: border-box; }
html { scroll-padding-top: 1.5rem; }
body {
  margin: 0; background: var(--page); color: var(--text);
  font: 16px/1.6 system-ui, sans-serif;
}
a { color: var(--link); text-decoration-thickness: 1px; text-underline-offset: 2px; }
.layout { display: grid; grid-template-columns: 16rem minmax(0, 50rem); gap: 3.5rem; margin: 0 auto; max-width: 74rem; padding: 0 1.5rem; }
nav { position: sticky; top: 0; align-self: start; max-height: 100vh; overflow: auto; padding: 2.5rem 0; font-size: .9rem; }
nav b { display: block; margin: 1.4rem 0 .3rem; }
nav a { display: block; padding: .12rem 0; color: var(--soft); text-decoration: none; overflow-wrap: anywhere; }
nav a.inner { padding-left: .9rem; }
nav a:hover, nav a[aria-current] { color: var(--text); }
main { padding: 2.5rem 0 6rem; }
h1 { font-size: 2rem; line-height: 1.2; margin: 0 0 1rem; letter-spacing: -.015em; }
h2 { font-size: 1.45rem; line-height: 1.3; margin: 3.5rem 0 .75rem; padding-top: 1.5rem; border-top: 1px solid var(--line); }
h3 { font-size: 1.1rem; margin: 2.5rem 0 .5rem; }
h4 { font-size: .78rem; margin: 1.6rem 0 .4rem; color: var(--soft); text-transform: uppercase; letter-spacing: .06em; }
h3 code { font-size: 1em; background: none; padding: 0; }
code, pre { font-family: ui-monospace, 'SF Mono', Menlo, Consolas, monospace; font-size: .87em; }
code { background: var(--panel); padding: .12em .35em; border-radius: 4px; overflow-wrap: anywhere; }
pre { background: var(--panel); border: 1px solid var(--line); border-radius: 8px; padding: .9rem 1rem; overflow: auto; line-height: 1.5; }
pre code { background: none; padding: 0; overflow-wrap: normal; font-size: 1em; }
.table { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: .92rem; }
th, td { text-align: left; vertical-align: top; padding: .5rem .9rem .5rem 0; border-bottom: 1px solid var(--line); }
th { font-weight: 600; }
td:first-child { white-space: nowrap; }
td p { margin: 0; }
td p + p { color: var(--soft); font-size: .93em; }
small, .soft { color: var(--soft); font-size: .85em; }
.method { display: inline-block; min-width: 4.2rem; font-weight: 700; font-size: .8em; letter-spacing: .04em; }
@media (max-width: 60rem) {
  .layout { grid-template-columns: minmax(0, 1fr); gap: 0; }
  nav { position: static; max-height: none; padding: 1.5rem 0 0; columns: 2; }
  td:first-child { white-space: normal; }
}
`;
