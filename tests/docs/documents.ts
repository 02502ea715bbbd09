import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

export const checkout = join(import.meta.dirname, '../..');

/** A document of the project, by its path from the checkout's root. */
export interface Document {
  path: string;
  text: string;
}

const ROOT = ['README.md', 'ARCHITECTURE.md', 'SECURITY.md', 'CHANGELOG.md'];

/** Every document: those at the root, and all below docs. */
export const readDocuments = (): Document[] => {
  const below = readdirSync(join(checkout, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.md'))
    .map((path) => join('docs', path));
  return [...ROOT, ...below].map((path) => ({
    path,
    text: readFileSync(join(checkout, path), 'utf8'),
  }));
};

/** What is shown as code on lines of its own, without the lines of other languages. */
export const codeBlocks = ({ text }: Document, languages: readonly string[]): string[] =>
  [...text.matchAll(/^```(\w*)\n(.*?)^```$/gms)].flatMap(([, language = '', block = '']) =>
    languages.includes(language) ? [block] : [],
  );

/** Code on lines of its own is blanked out: a link in it is none. */
const proseOf = (text: string): string =>
  text.replace(/^```.*?^```$/gms, '').replace(/`[^`\n]*`/g, '');

/** Where a document links to within the project: a path, and perhaps an anchor. */
export const linksOf = ({
  path,
  text,
}: Document): { target: string; anchor: string | undefined }[] =>
  [...proseOf(text).matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, url = '']) => url)
    .filter((url) => !/^\w+:/.test(url))
    .map((url) => {
      const [file = '', anchor] = url.split('#');
      const target = file === '' ? path : relative('.', join(dirname(path), file));
      return { target, anchor };
    });

/** The anchors of a document's headings, as GitHub makes them. */
export const anchorsOf = (text: string): string[] =>
  [...proseOf(text.replace(/`([^`\n]*)`/g, '$1')).matchAll(/^#{1,6} (.+)$/gm)].map(
    ([, title = '']) =>
      title
        .toLowerCase()
        .replace(/[^\p{L}\p{N} _-]/gu, '')
        .replaceAll(' ', '-'),
  );
