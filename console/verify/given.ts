import { PROGRAM_ID } from '@svc-inference/client/verify';

/** What the page begins with: the job of its path, and what stands behind its `#` or in its head. */
export interface Given {
  readonly named: string;
  readonly wallet: string;
  readonly rpcUrl: string;
  readonly programId: string;
}

export function readGiven(document: Document, location: Location): Given {
  const facts = new URLSearchParams(location.hash.slice(1));
  const meta = (name: string) =>
    document.querySelector<HTMLMetaElement>(`meta[name="${name}"]`)?.content ?? '';
  const [, , named = ''] = location.pathname.split('/');
  return {
    named: decode(named),
    wallet: facts.get('wallet') ?? '',
    rpcUrl: facts.get('rpc') || meta('svc-rpc'),
    programId: facts.get('program') || meta('svc-program') || PROGRAM_ID.toBase58(),
  };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
