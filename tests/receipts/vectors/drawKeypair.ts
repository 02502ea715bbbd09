import { Keypair } from '@solana/web3.js';
import type { Random } from '../../../testing/random.ts';

export const drawKeypair = (random: Random): Keypair => Keypair.fromSeed(random.bytes(32));
