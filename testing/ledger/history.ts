import { type PublicKey, SystemProgram } from '@solana/web3.js';
import { creditBuy, creditWithdraw } from '../../programs/client/index.ts';
import { mintTo } from '../../stack/operator.ts';
import { REFUNDABLE_SECONDS } from './deadlines.ts';
import type { JobScene } from './jobScene.ts';

/** Jobs that have ended, one in each way that takes no verdict. */
export interface History {
  readonly settled: PublicKey;
  readonly refunded: PublicKey;
  readonly expired: PublicKey;
}

const ARBITRATION_SECONDS = 86_401;

/**
 * Jobs between a purchase and a withdrawal. Strangers mention a job before and after its end, prove
 * its text before the controller does, refund an overdue one and let a dispute expire.
 */
export async function makeHistory(scene: JobScene): Promise<History> {
  const { operator, mints, wallet } = scene.service;
  const buyer = operator.authority.publicKey;
  const purse = mintTo(operator, { mint: mints.credit, owner: buyer, baseUnits: 1_000_000n });
  const amount = { wallet: wallet.publicKey, credits: 100n };
  await scene.send(
    [...purse.instructions, creditBuy({ buyer, buyerTokenAccount: purse.account, ...amount })],
    [],
  );
  const locked = await scene.lock({ count: 3, tokenLimit: 2_000 });
  const [settled, refunded, expired] = locked.map(({ address }) => address) as [
    ...[PublicKey, PublicKey, PublicKey],
  ];
  await mention(scene, settled);
  await scene.acknowledge(settled);
  await scene.prove(settled);
  await scene.settle(settled);
  await scene.complete(expired);
  await mention(scene, settled);
  await scene.dispute(expired);
  await scene.wait(REFUNDABLE_SECONDS);
  await scene.refund(refunded);
  await scene.wait(ARBITRATION_SECONDS);
  await scene.expire(expired);
  await scene.send([creditWithdraw({ destination: purse.account, ...amount })], [wallet]);
  return { settled, refunded, expired };
}

/** A payment of a stranger that names the job, and does nothing to it. */
export async function mention(scene: JobScene, job: PublicKey): Promise<void> {
  const { publicKey } = scene.service.operator.authority;
  const gift = SystemProgram.transfer({ fromPubkey: publicKey, toPubkey: publicKey, lamports: 1 });
  gift.keys.push({ pubkey: job, isSigner: false, isWritable: false });
  await scene.send([gift], []);
}
