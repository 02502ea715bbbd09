import { dirname, join, relative } from 'node:path';
import { listFiles, ROOT, readSource } from '../tidy/sourceTree.ts';

export const checkout = ROOT;

/** A document of the project, by its path from the checkout's root. */
export interface Document {
  path: string;
  text: string;
}

/** Every document: at the root, below docs, and beside the code. */
export const readDocuments = (): Document[] =>
  listFiles()
    .filter((path) => path.endsWith('.md'))
    .map((path) => ({ path, text: readSource(path) }));

/** What a document shows as code on lines of its own, without its indent in a list. */
export interface CodeBlock {
  path: string;
  /** Of its first line of code, from 1. */
  line: number;
  /** As its fence names it; empty where it does not. */
  language: string;
  text: string;
}

/** A fence, its language, and the code up to the fence with the same indent. */
const FENCED = /^( *)```([^\n`]*)\n(.*?)^\1```$/gms;

export const codeBlocksOf = ({ path, text }: Document): CodeBlock[] =>
  [...text.matchAll(FENCED)].map(({ 1: indent = '', 2: language = '', 3: code = '', index }) => ({
    path,
    line: text.slice(0, index).split('\n').length + 1,
    language: language.trim(),
    text: code.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
  }));

/** The code of a document's blocks in some languages. */
export const codeBlocks = (document: Document, languages: readonly string[]): string[] =>
  codeBlocksOf(document)
    .filter(({ language }) => languages.includes(language))
    .map(({ text }) => text);

/** Code on lines of its own is blanked out: a link in it is none. */
const proseOf = (text: string): string => text.replace(FENCED, '').replace(/`[^`\n]*`/g, '');

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
