import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { formatJobId } from '../../programs/client/jobId.ts';
import { runCli } from '../../testing/cli.ts';
import type { RpcRequest } from '../../testing/ledger/interceptedConnection.ts';
import { type LedgerGate, startLedgerGate } from '../../testing/ledger/ledgerGate.ts';
import { needs } from '../../testing/machine/needs.ts';
import { ownFolder } from '../../testing/ownFolder.ts';
import { FORMS, openCompletion, readAnswer } from '../../testing/service/requestCompletion.ts';
import { type RunningService, startRunningService } from '../../testing/service/runningService.ts';
import { verifyInPython } from './runInPython.ts';

needs('python3-cryptography').describe('jobs of a running service, in Python', () => {
  let service: RunningService;
  const folder = ownFolder('svc-jobs');
  let answers: readonly string[];
  const pathOf = (name: string) => join(folder, name);
  const BODY = {
    messages: [
      { role: 'developer', content: 'Answer in one word.' },
      { role: 'user', content: [{ type: 'text', text: 'Say hello. é😀' }], name: 'ada' },
    ],
    ...{ temperature: 0.7, stop: 'END', logit_bias: {}, seed: 7, max_tokens: 300 },
  };

  beforeAll(async () => {
    service = await startRunningService();
    // One after the other: jobs at once may share a settlement, which then names no single job.
    answers = [];
    for (const form of FORMS) answers = [...answers, await save(form)];
    await service.untilJobs((jobs) => jobs.every(({ data }) => data.status === 'settled'));
  });
  afterAll(() => service?.close());

  /** An answer with its headers, as `curl -i` writes it, and the body that was sent. */
  async function save(form: (typeof FORMS)[number]): Promise<string> {
    const response = await openCompletion(service, { form, body: BODY });
    const { body } = await readAnswer(response);
    const head = response.rawHeaders.map((part, at) => `${part}${at % 2 === 0 ? ': ' : '\r\n'}`);
    writeFileSync(pathOf(form), `HTTP/1.1 200 OK\r\n${head.join('')}\r\n${body}`);
    const sent = { model: service.model.id, stream: form === 'stream', ...BODY };
    writeFileSync(pathOf('request'), JSON.stringify(sent, null, 2));
    return body;
  }

  /** What both commands say of the same job, by the same arguments. */
  const verify = (...args: string[]) => verifyAt(service.ledger.rpcUrl, ...args);

  async function verifyAt(rpcUrl: string, ...args: string[]) {
    const given = [...args, '--rpc', rpcUrl];
    const inPython = await verifyInPython([...given, '--json']);
    const ours = await runCli(['verify', ...given, '--json']);
    return [inPython, ours].map(({ code, output }) => {
      const { as_of: _, conclusion: __, checks, ...report } = JSON.parse(output) as Report;
      return { code, ...report, checks: checks.map(({ detail: _, ...one }) => one) };
    });
  }

  interface Report {
    readonly differences?: readonly string[];
    readonly result: string;
    readonly as_of: unknown;
    readonly conclusion: string;
    readonly checks: readonly {
      readonly name: string;
      readonly verdict: string;
      readonly detail: string;
      readonly evidence: readonly unknown[];
    }[];
  }

  it('are found by id, with a wallet or without, by address and transaction', async () => {
    for (const { address, data } of await service.jobs()) {
      const [found, ours] = await verify(address.toBase58());
      expect(found).toEqual(ours);
      expect(found?.result).toBe('holds');
      const id = formatJobId(data.jobId);
      const wallet = ['--wallet', service.wallet.publicKey.toBase58()];
      expect((await verify(id))[0]).toEqual(found);
      expect((await verify(id, ...wallet))[0]).toEqual(found);
      const [settlement] = await service.ledger.connection.getSignaturesForAddress(address);
      const [same] = await verify(settlement?.signature ?? '');
      expect(same).toEqual(found);
    }
  });

  interface Shown {
    readonly meta: object;
    readonly transaction: { readonly message: Record<string, unknown> };
  }

  /** A node that shows something else of each transaction. */
  async function gateTo(
    change: (shown: Shown, request: RpcRequest) => object,
  ): Promise<LedgerGate> {
    const gate = await startLedgerGate(service.ledger.rpcUrl);
    gate.intercept(async (request, forward) => {
      const answer = (await forward(request)) as { result?: Shown };
      if (request.method !== 'getTransaction' || !answer.result) return answer;
      return { ...answer, result: change(answer.result, request) };
    });
    return gate;
  }

  it('are compared by two nodes, which show the same or differ', async () => {
    const other = await gateTo((shown) => ({ ...shown, slot: 1 }));
    const [job] = await service.jobs();
    const by = (url: string) => verify(job?.address.toBase58() ?? '', '--rpc', url);
    const alike = await by(service.ledger.rpcUrl);
    const differing = await by(other.url).finally(other.close);
    for (const report of alike) expect(report).toMatchObject({ code: 0, differences: [] });
    for (const { code, differences } of differing) {
      expect([code, differences]).toEqual([1, expect.arrayContaining([expect.any(String)])]);
      expect(differences?.join()).toContain('history.sequence');
    }
  });

  /** What a transaction of a version without a known form may still show as JSON. */
  const SHOWN: Record<string, (message: Record<string, unknown>) => object> = {
    'its whole message': (message) => message,
    'no instructions': ({ instructions: _, ...rest }) => rest,
    'no accounts': ({ accountKeys: _, ...rest }) => rest,
  };

  it.each(Object.keys(SHOWN))(
    'are judged alike in an unknown version that shows %s',
    async (what) => {
      const node = await gateTo(({ transaction, ...rest }, { params }) => {
        const { encoding } = params[1] as { encoding: string };
        const shown =
          encoding === 'base64'
            ? ['AYc=', 'base64']
            : { ...transaction, message: SHOWN[what]?.(transaction.message) };
        return { ...rest, version: 7, transaction: shown };
      });
      const given = ['--response', pathOf('stream'), '--request', pathOf('request')];
      const [found, ours] = await verifyAt(node.url, ...given).finally(node.close);
      expect(found).toEqual(ours);
      expect(found?.result).toBe('not_checkable');
      const of = (name: string) => found?.checks.find((check) => check.name === name)?.verdict;
      expect(of('history.signatures')).toBe('not_checkable');
      expect(of('settlement.charge')).toBe(what === 'no accounts' ? 'not_checkable' : 'holds');
    },
  );

  /** What a node may say that no ledger does, in the metadata of a transaction or beside it. */
  const UNTRUE: Record<string, { meta?: object; transactionIndex?: string }> = {
    'lamports in words': { meta: { preBalances: ['many'] } },
    'calls of an instruction beyond a byte': {
      meta: { innerInstructions: [{ index: 2 ** 52, instructions: [] }] },
    },
    'keys in numbers': { meta: { loadedAddresses: { writable: [7], readonly: [] } } },
    'a position in words': { transactionIndex: 'first' },
  };

  it.each(Object.entries(UNTRUE))('are refused of a node that shows %s', async (_, untrue) => {
    const node = await gateTo((shown) => ({
      ...{ ...shown, ...untrue, meta: { ...shown.meta, ...untrue.meta } },
    }));
    const run = ['--response', pathOf('plain'), '--rpc', node.url];
    const { code, output } = await verifyInPython(run).finally(node.close);
    expect([code, output]).toEqual([1, expect.stringMatching(/^error: The ledger's node .+\n$/)]);
  });

  it('say what an answer says without the characters that steer a terminal', async () => {
    const said = { ...JSON.parse(answers[0] ?? ''), model: '\u001b[2J\r\u009b\ud800' };
    writeFileSync(pathOf('steering'), JSON.stringify(said));
    const [found, ours] = await verify('--response', pathOf('steering'));
    expect(found).toEqual(ours);
    expect(found?.result).toBe('differs');
    const run = ['--response', pathOf('steering'), '--rpc', service.ledger.rpcUrl];
    const { output } = await verifyInPython(run);
    expect(output).toContain('model is  [2J  \\ud800, not ');
    expect(output.replaceAll('\n', '')).not.toMatch(/\p{Cc}/u);
  });

  it('are refused in a sentence where node or file are not as they should be', async () => {
    writeFileSync(pathOf('page'), '<!doctype html>');
    const refused = async (...args: string[]) => {
      const { code, output } = await verifyInPython(args);
      expect(code).toBe(1);
      return output;
    };
    const rpc = ['--rpc', service.ledger.rpcUrl];
    expect(await refused(...rpc, '--response', pathOf('page'))).toMatch(
      /^error: It holds no answer/,
    );
    expect(await refused(...rpc, '--response', pathOf('none'))).toMatch(/^error: .*No such file/);
    expect(await refused(...rpc, 'job_1')).toMatch(/^error: job_1 is neither a job id/);
    expect(await refused(...rpc, `job_${'0'.repeat(12)}7${'8'.repeat(19)}`)).toMatch(
      /^error: No account has this job id\./,
    );
    const wallet = service.wallet.publicKey.toBase58();
    expect(await refused(...rpc, wallet)).toMatch(/^error: There is no job at .* key pair\.$/m);
    expect(await refused('--rpc', service.baseUrl, '--response', pathOf('plain'))).toMatch(
      /^error: The ledger's node/,
    );
    expect(await refused('--rpc', 'http://127.0.0.1:9', '--response', pathOf('plain'))).toMatch(
      /^error: The ledger's node cannot be reached/,
    );
  });
});
