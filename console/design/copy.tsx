import { useEffect, useState } from 'react';
import { Button, IconButton } from './button.tsx';
import { CheckIcon, CopyIcon } from './icons.tsx';

/** Falls back to `execCommand` where there is no clipboard API: over plain HTTP, in a sandboxed page. */
async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = document.createElement('textarea');
    area.value = text;
    area.className = 'offscreen';
    document.body.append(area);
    area.select();
    const isCopied = document.execCommand('copy');
    area.remove();
    return isCopied;
  }
}

const SHOWN_MS = 1_600;

function useCopy(text: string): ['copied' | 'refused' | undefined, () => void] {
  const [outcome, setOutcome] = useState<'copied' | 'refused'>();
  useEffect(() => {
    if (outcome === undefined) return;
    const timer = setTimeout(() => setOutcome(undefined), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [outcome]);
  const copy = () => {
    void copyText(text).then((isCopied) => setOutcome(isCopied ? 'copied' : 'refused'));
  };
  return [outcome, copy];
}

/** @param what as it is called in "Copy …" */
export function CopyIconButton({ text, what }: { text: string; what: string }) {
  const [outcome, copy] = useCopy(text);
  return (
    <>
      <IconButton label={`Copy ${what}`} onClick={copy}>
        {outcome === 'copied' ? <CheckIcon /> : <CopyIcon />}
      </IconButton>
      <Announced outcome={outcome} />
    </>
  );
}

export function CopyButton({ text, label = 'Copy' }: { text: string; label?: string }) {
  const [outcome, copy] = useCopy(text);
  const words = { copied: 'Copied', refused: 'Select it by hand' };
  return (
    <Button size="small" onClick={copy}>
      {outcome ? words[outcome] : label}
    </Button>
  );
}

function Announced({ outcome }: { outcome: string | undefined }) {
  return (
    <span role="status" className="offscreen">
      {outcome === 'copied' ? 'Copied' : ''}
      {outcome === 'refused' ? 'The browser refused to copy' : ''}
    </span>
  );
}
