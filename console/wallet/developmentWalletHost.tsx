import { useEffect } from 'react';
import { useStore } from '../data/browserStore.ts';
import { onUse } from '../design/onUse.tsx';
import { developmentQuestion, registerDevelopmentWallet } from './developmentWallet.ts';

const DevelopmentWalletDialog = onUse(() => import('./developmentWalletDialog.tsx'));

let isRegistered = false;

function registerOnce(url: string, chain: string): void {
  if (isRegistered) return;
  isRegistered = true;
  registerDevelopmentWallet(url, chain);
}

/** Registers the development wallet; its window is loaded when it asks something. */
export default function DevelopmentWalletHost({ url, chain }: { url: string; chain: string }) {
  useEffect(() => registerOnce(url, chain), [url, chain]);
  const question = useStore(developmentQuestion);
  return question && <DevelopmentWalletDialog question={question} />;
}
