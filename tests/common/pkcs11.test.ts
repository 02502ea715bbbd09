import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SHARE_ENV, Worker } from 'node:worker_threads';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Keypair, LAMPORTS_PER_SOL, PublicKey } from '@solana/web3.js';
import { loadConfig } from '../../api/config.ts';
import { startApi } from '../../api/start.ts';
import { fetchConfig } from '../../programs/client/accounts.ts';
import { createAddresses } from '../../programs/client/addresses.ts';
import { gatewayUpdate } from '../../programs/client/instructions.ts';
import { type MessageSigner, verifySignature } from '../../programs/client/proof.ts';
import { submit } from '../../stack/operator.ts';
import { registerWorker } from '../../stack/participants.ts';
import { type StartedProcess, startProcess } from '../../testing/childProcess.ts';
import { needs } from '../../testing/machine/needs.ts';
import { findSoftHsm } from '../../testing/machine/tools.ts';
import { type RunningService, startRunningService } from '../../testing/service/runningService.ts';
import { loadConfig as loadWorkerConfig } from '../../worker/config.ts';

const MODULE = findSoftHsm();
const PIN = '4711';
/** `ed25519` as a printable string, and what this key pair is for, in the numbers of PKCS#11 3.0. */
const MAKE_KEY = `
  const { PKCS11 } = require('pkcs11js');
  const [path, label, pin] = process.argv.slice(1);
  const module_ = new PKCS11();
  module_.load(path);
  module_.C_Initialize();
  const slot = module_.C_GetSlotList(true)[0];
  const session = module_.C_OpenSession(slot, 4 | 2);
  module_.C_Login(session, 1, pin);
  const common = [{ type: 1, value: true }, { type: 3, value: label }];
  module_.C_GenerateKeyPair(session, { mechanism: 0x1055 },
    [...common, { type: 0x180, value: Buffer.from('130c656477617264733235353139', 'hex') }, { type: 0x10a, value: true }],
    [...common, { type: 2, value: true }, { type: 0x103, value: true }, { type: 0x162, value: false }, { type: 0x108, value: true }]);
`;

/** Jest gives a test a copy of the environment; modules and child processes read the real one. */
async function setForModules(name: string, value: string): Promise<void> {
  const source = 'Object.assign(process.env, require("node:worker_threads").workerData)';
  const workerData = { [name]: value };
  await once(new Worker(source, { eval: true, env: SHARE_ENV, workerData }), 'exit');
}

needs('softhsm2').describe('a signer in a PKCS#11 module', () => {
  let folder: string;
  let SOFTHSM2_CONF: string;
  let service: RunningService;
  const uriOf = (object: string, token = 'svc') =>
    `pkcs11:token=${token};object=${object}?module-path=${MODULE}&pin-source=${join(folder, 'pin')}`;
  const settingsWith = (SVC_SIGNER_KEY: string) => ({ ...service.apiEnvironment, SVC_SIGNER_KEY });

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'softhsm-'));
    mkdirSync(join(folder, 'tokens'));
    writeFileSync(join(folder, 'pin'), `${PIN}\n`);
    SOFTHSM2_CONF = join(folder, 'softhsm2.conf');
    writeFileSync(SOFTHSM2_CONF, `directories.tokendir = ${folder}/tokens\nlog.level = ERROR\n`);
    await setForModules('SOFTHSM2_CONF', SOFTHSM2_CONF);
    const label = ['--init-token', '--free', '--label', 'svc'];
    spawnSync('softhsm2-util', [...label, '--pin', PIN, '--so-pin', PIN]);
    for (const object of ['hot', 'proof']) {
      const made = spawnSync(process.execPath, ['-e', MAKE_KEY, String(MODULE), object, PIN], {
        encoding: 'utf8',
        cwd: join(import.meta.dirname, '../..'),
      });
      expect(made.stderr).toBe('');
    }
    service = await startRunningService({ workers: [] });
  });

  afterAll(async () => {
    await service?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it('signs as the public key that it shows, also many messages at once', async () => {
    const signer = loadConfig(settingsWith(uriOf('hot'))).SVC_SIGNER_KEY as MessageSigner;
    const messages = Array.from({ length: 20 }, (_, index) => Buffer.from(`message ${index}`));
    const signatures = await Promise.all(messages.map((message) => signer.signMessage(message)));
    const { publicKey } = signer;
    for (const [index, message] of messages.entries()) {
      const signature = signatures[index] as Uint8Array;
      expect(verifySignature({ publicKey, message, signature })).toBe(true);
    }
  });

  /** A worker whose proof key is in the module, on the ledger and in a process of its own. */
  async function startModuleWorker(): Promise<StartedProcess> {
    const authority = Keypair.generate();
    const { SOLANA_RPC_URL = '', SVC_GATEWAY = '' } = service.apiEnvironment;
    const settings = {
      WORKER_PORT: '0',
      WORKER_ENGINE: 'builtin',
      WORKER_GATEWAYS: SVC_GATEWAY,
      WORKER_AUTHORITY: authority.publicKey.toBase58(),
      WORKER_PROOF_KEY: uriOf('proof'),
      SOLANA_RPC_URL,
    };
    const started = await startProcess('worker/main.ts', { ...settings, SOFTHSM2_CONF });
    const { connection } = service.ledger;
    const config = await fetchConfig(connection, createAddresses().config);
    if (!config) throw new Error('the program has no config');
    await registerWorker(service.operator, {
      authority,
      proofKey: loadWorkerConfig(settings).WORKER_PROOF_KEY.publicKey,
      endpoint: started.url,
      modelIds: [service.model.id],
      stakeTokens: 1_000n,
      mints: { credit: config.creditMint, stake: config.stakeMint },
    });
    return started;
  }

  it("settles jobs as an API's hot signer and a worker's proof key", async () => {
    const worker = await startModuleWorker();
    const config = loadConfig(settingsWith(uriOf('hot')));
    const { operator, gatewayOperator, hotSigner } = service;
    const signers = [hotSigner.publicKey, config.SVC_SIGNER_KEY.publicKey];
    const update = gatewayUpdate({
      operator: gatewayOperator.publicKey,
      signers,
      stopped: false,
    });
    await submit(operator, [update], [gatewayOperator]);
    await service.ledger.fundLamports(config.SVC_SIGNER_KEY.publicKey, LAMPORTS_PER_SOL);
    const api = await startApi(config);
    const answer = await fetch(`${api.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${service.apiKey}` },
      body: JSON.stringify({
        model: service.model.id,
        messages: [{ role: 'user', content: 'Say hello.' }],
      }),
    });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('x-svc-settlement-tx')).not.toBeNull();
    expect(answer.headers.get('x-svc-delivery-receipt')).toContain(
      new PublicKey(config.SVC_SIGNER_KEY.publicKey).toBase58(),
    );
    await service.expectConserved();
    await api.shutdown.run();
    expect(await worker.terminate()).toBe(0);
  });

  it('is refused with one sentence where its token, key or URI is wrong', () => {
    const load = (uri: string) => () => loadConfig(settingsWith(uri));
    expect(load(uriOf('cold'))).toThrow('SVC_SIGNER_KEY: has no key pairs cold there');
    expect(load(uriOf('hot', 'other'))).toThrow('SVC_SIGNER_KEY: has no token other');
    expect(load('pkcs11:token=svc')).toThrow('SVC_SIGNER_KEY: must name its object');
  });
});
