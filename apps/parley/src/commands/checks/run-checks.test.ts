import { ParleyError } from '@parley/core';
import { describe, expect, it } from 'vitest';
import { locateDataFolder } from '../../data-folder.ts';
import { toAuditReport } from './audit-report.ts';
import { type Check, type CheckFinding, defineAuditCheck, defineDoctorCheck, ok } from './check.ts';
import { collectOnce, type ExaminedAgent } from './facts.ts';
import { checkClocks } from './own-checks.ts';
import { runChecks } from './run-checks.ts';

const base = {
  ...{ folder: locateDataFolder('/data', {}), env: {} },
  ...{ clock: () => 0, monotonic: () => 0 },
};
const agent = (
  name: string | undefined,
  sources: ExaminedAgent['sources'] = {},
): ExaminedAgent => ({
  ...{ name, base, sources },
});

const run = (checks: readonly Check[], deadlineMs = 10_000, agents = [agent(undefined)]) =>
  runChecks(checks, agents, { deadlineMs, monotonic: () => 0 });

type Run = (signal: AbortSignal) => readonly CheckFinding[] | Promise<readonly CheckFinding[]>;

const check = (id: string, work: Run): Check =>
  defineDoctorCheck([], { id, title: 'It works.', run: (_facts, signal) => work(signal) });

const forever = () => new Promise<never>(() => {});

describe('checks', () => {
  it('[U02] run concurrently, but their results keep the order of the table', async () => {
    const second = Promise.withResolvers<void>();
    const first = check('first', async () => {
      await second.promise;
      return [ok('one')];
    });
    const release = check('second', async () => {
      second.resolve();
      return [{ ...ok('two'), subject: 'of several' }];
    });
    expect(await run([first, release])).toEqual([
      { check: first, severity: 'ok', found: 'one', tookMs: 0 },
      { check: release, subject: 'of several', severity: 'ok', found: 'two', tookMs: 0 },
    ]);
  });

  it('[U02] are reported when they never finish, while the other checks return their results', async () => {
    const polite = (signal: AbortSignal) =>
      new Promise<readonly CheckFinding[]>((resolve) => {
        signal.addEventListener('abort', () => resolve([ok('gave up')]));
      });
    const results = await run(
      [check('polite', polite), check('deaf', forever), check('quick', () => [ok('fine')])],
      20,
    );
    expect(results.map(({ found }) => found)).toEqual([
      'gave up',
      'no result within 0.02 s',
      'fine',
    ]);
    expect(results[1]).toMatchObject({ severity: 'failed', advice: expect.stringMatching(/\w/) });
  });

  it('[U02] report each account, even if another one does not answer', async () => {
    const accounts = defineDoctorCheck([], {
      ...{ id: 'channel', title: 'Every account works.' },
      run: () => [() => [{ ...ok('fine'), subject: 'a' }], forever, () => [ok('c')]],
    });
    const results = await run([accounts], 20);
    expect(results).toMatchObject([
      { subject: 'a', severity: 'ok', found: 'fine' },
      { severity: 'failed', found: 'no result within 0.02 s' },
      { severity: 'ok', found: 'c' },
    ]);
  });

  it('[U02] are reported when they throw, with the error and advice', async () => {
    const known = new ParleyError({ code: 'x', message: 'It broke. Fix it.', retryable: false });
    const fails = (error: Error) => () => {
      throw error;
    };
    const results = await run([
      check('known', () => Promise.reject(known)),
      check('defect', fails(new TypeError('x is not a function'))),
    ]);
    expect(results).toMatchObject([
      { severity: 'failed', found: 'It broke.', advice: 'Fix it.' },
      {
        ...{ severity: 'failed', found: expect.stringContaining('x is not a function') },
        advice: expect.stringContaining('report this as a bug'),
      },
    ]);
  });

  it('[U05] become warnings of the audit when they throw or never finish, and the audit continues', async () => {
    const common = { severity: 'info', title: 'It is safe.', advice: 'Look at it.' } as const;
    const settings = async () => ({}) as never;
    const results = await run(
      [
        defineAuditCheck('settings', {
          ...common,
          id: 'a.throws',
          run: () => Promise.reject(new Error('lost')),
        }),
        defineAuditCheck('settings', { ...common, id: 'b.hangs', run: forever }),
        defineAuditCheck('files', { ...common, id: 'c.needs', run: () => ['never gathered'] }),
        defineAuditCheck('settings', { ...common, id: 'd.finds', run: () => ['It is open.'] }),
      ],
      20,
      [agent(undefined, { settings, files: forever })],
    );
    expect(toAuditReport(results, 0)).toMatchObject({
      counts: { critical: 0, warning: 3, info: 1 },
      findings: [
        { id: 'a.throws', severity: 'warning', found: expect.stringContaining('lost') },
        { id: 'b.hangs', severity: 'warning', found: 'no result within 0.02 s' },
        { id: 'c.needs', severity: 'warning', found: 'no result within 0.02 s' },
        { id: 'd.finds', severity: 'info', found: 'It is open.', remedy: 'Look at it.' },
      ],
    });
  });

  it('[U02] are omitted if the data they need is not available', async () => {
    const needy = defineDoctorCheck(['gateway'], {
      id: 'x',
      title: 'It works.',
      run: () => [ok('y')],
    });
    expect(await run([needy])).toEqual([]);
    const gateway = async () => ({ gateway: { kind: 'none' } }) as const;
    expect(await run([needy], 10_000, [agent(undefined, { gateway })])).toHaveLength(1);
  });

  it('[U02] gather each source once, and run the check marked `last` after all others', async () => {
    const clocks: { readonly server: string; readonly aheadMs: number }[] = [];
    let gathered = 0;
    const network = collectOnce(async () => {
      gathered += 1;
      return { clocks };
    });
    const late = defineDoctorCheck(['network'], {
      ...{ id: 'late', title: 'It works.', last: true },
      run: (facts) => facts.clocks.map(({ server }) => ok(server)),
    });
    const asks = defineDoctorCheck(['network'], {
      ...{ id: 'asks', title: 'It works.' },
      async run(facts) {
        await Promise.resolve();
        facts.clocks.push({ server: 'a.org', aheadMs: 0 });
        return [];
      },
    });
    const results = await run([late, asks], 10_000, [agent(undefined, { network })]);
    expect(results).toMatchObject([{ found: 'a.org' }]);
    expect(gathered).toBe(1);
  });

  it('[F14] name the agent, unless the check runs only once or all agents share the finding', async () => {
    const agents = [undefined, 'support'].map((name) =>
      agent(name, { settings: async () => ({ agent: name }) as never }),
    );
    const texts = async (tested: Check) =>
      (await run([tested], 10_000, agents)).map(({ subject, found }) => [subject, found]);
    const row = { id: 'x', title: 'It works.' };
    const each = defineDoctorCheck(['settings'], {
      ...row,
      agents: 'each',
      run: () => [ok('fine')],
    });
    expect(await texts(each)).toEqual([
      [undefined, 'fine'],
      ['support', 'fine'],
    ]);
    expect(await texts(check('x', () => [ok('fine')]))).toEqual([[undefined, 'fine']]);
    const common = { ...row, severity: 'info', advice: '' } as const;
    const differing = defineAuditCheck('settings', {
      ...common,
      run: (facts) => ['same', `own of ${facts.agent}`],
    });
    expect(await texts(differing)).toEqual([
      [undefined, 'same'],
      [undefined, 'own of undefined'],
      ['support', 'own of support'],
    ]);
  });
});

describe("this machine's clock", () => {
  const clock = (server: string, aheadMs: number) => ({ server, aheadMs });
  it.each([
    ['agrees with a server outside', [clock('api.telegram.org', 900)], 'ok'],
    ['is ahead', [clock('api.telegram.org', 20_000)], 'warning'],
    ['is far behind', [clock('api.telegram.org', -3_600_000)], 'failed'],
    [
      'is right when one of two servers agrees',
      [clock('a.org', 90_000), clock('b.org', -100)],
      'ok',
    ],
    ['is unknown when only a server on this machine agrees', [clock('127.0.0.1:1', 0)], 'skipped'],
    [
      'is compared with outside servers only',
      [clock('localhost:1', 0), clock('a.org', 90_000)],
      'warning',
    ],
    ['is unknown without an answer', [], 'skipped'],
  ])('[U02] %s', (_what, readings, severity) => {
    expect(checkClocks(readings)).toMatchObject([{ severity }]);
  });
});
