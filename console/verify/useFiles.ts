import { useEffect, useEffectEvent, useState } from 'react';

/** A file, or a pasted text, as bytes; undefined where it cannot be read, such as a folder. */
export interface NamedBytes {
  readonly name: string;
  readonly bytes: Uint8Array | undefined;
}

/** A little above what the reader takes: the rest of a larger file is not read. */
const BYTES_MAX = 65 * 1_024 * 1_024;
const PASTED = 'answer.txt';

/**
 * Takes files that are dropped anywhere on the page or pasted, and texts that are pasted outside of a
 * field.
 *
 * @returns whether files are held over the page, and how to take those of a file field
 */
export function useFiles(onFiles: (files: readonly NamedBytes[]) => void): {
  readonly isOver: boolean;
  readonly take: (files: FileList) => void;
} {
  const [isOver, setOver] = useState(false);
  const take = (files: FileList) => {
    void Promise.all(Array.from(files, read)).then(onFiles);
  };
  const onDrag = useEffectEvent((event: DragEvent) => {
    if (!event.dataTransfer?.types.includes('Files')) return;
    // Else the browser leaves the page for the file.
    event.preventDefault();
    setOver(event.type === 'dragover');
    if (event.type === 'drop') take(event.dataTransfer.files);
  });
  const onLeave = useEffectEvent((event: DragEvent) => {
    if (event.relatedTarget === null) setOver(false);
  });
  const onPaste = useEffectEvent((event: ClipboardEvent) => {
    const { clipboardData, target } = event;
    if (clipboardData === null) return;
    const text = clipboardData.getData('text/plain');
    if (clipboardData.files.length > 0) take(clipboardData.files);
    else if (!isField(target) && text) {
      onFiles([{ name: PASTED, bytes: new TextEncoder().encode(text) }]);
    } else return;
    event.preventDefault();
  });
  useEffect(() => {
    const ending = new AbortController();
    const { signal } = ending;
    window.addEventListener('dragover', (event) => onDrag(event), { signal });
    window.addEventListener('drop', (event) => onDrag(event), { signal });
    window.addEventListener('dragleave', (event) => onLeave(event), { signal });
    window.addEventListener('paste', (event) => onPaste(event), { signal });
    return () => ending.abort();
  }, []);
  return { isOver, take };
}

const isField = (target: EventTarget | null): boolean =>
  target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement;

async function read(file: File): Promise<NamedBytes> {
  const content = file.slice(0, BYTES_MAX).arrayBuffer();
  const bytes = await content.then((read) => new Uint8Array(read)).catch(() => undefined);
  return { name: file.name, bytes };
}
