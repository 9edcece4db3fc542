import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { isDueToday } from '@parley/core/testing';
import { hasNewerSchema } from '@parley/store/backup';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { runUpgrade } from '../../apps/parley/src/commands/upgrade/upgrade.ts';
import { readUpgradeState } from '../../apps/parley/src/commands/upgrade/upgrade-state.ts';
import { type BuildChange, type PackedBuilds, packBuilds, type Replacements } from './installed.ts';
import { type Production, startProduction } from './production.ts';

let builds: PackedBuilds;
beforeAll(async () => {
  builds = await packBuilds();
});
afterAll(() => builds?.remove());

/** The newer release has one table more, so its database cannot be used by the older one. */
const MIGRATION: Replacements = [
  ['[41,"inbox"]', '[41,"inbox"],[42,"more"]'],
  [
    'statements:dialect=>listMigrationStatements(number,dialect)',
    'statements:dialect=>number===42?["create table more_things (id text not null primary key)"]:listMigrationStatements(number,dialect)',
  ],
];
const LATER = "process.argv.includes('start') && process.env.PARLEY_REHEARSAL_FILE === undefined";

/** Builds that pass the rehearsal and fail only where people use them. */
const FAILING_LATER: readonly (BuildChange & { readonly name: string; readonly reason: RegExp })[] =
  [
    {
      ...{ name: 'errors', reason: /has logged \d+ errors/ },
      code: `if (${LATER}) setInterval(() => {
        const lines = '{"level":"error","time":"' + new Date().toISOString() + '","msg":"broken"}\\n';
        const data = process.argv[process.argv.indexOf('--data') + 1];
        require('node:fs').appendFileSync(data + '/logs/all-broken-1.log', lines.repeat(10));
      }, 300);`,
    },
    {
      ...{ name: 'silence', reason: /no message arrived/ },
      replace: [
        [
          'api.getUpdates(offset,seconds,signal)',
          'api.getUpdates(offset,seconds,signal).then(async all=>{if(process.env.PARLEY_REHEARSAL_FILE!==undefined)return all;await new Promise(wake=>setTimeout(wake,500));return[]})',
        ],
      ],
    },
    {
      ...{ name: 'crash', reason: /it is (silent|not ready)/ },
      code: `if (${LATER}) setTimeout(() => process.exit(1), 1_200);`,
    },
  ];

async function start(): Promise<Production> {
  const production = await startProduction(builds);
  onTestFinished(() => production.close());
  const first = production.keepWriting();
  await expect.poll(() => production.countAnswers([1]).length, { timeout: 20_000 }).toBe(1);
  const numbers = await first.stop();
  await expectAnswered(production, numbers);
  return production;
}

async function expectAnswered(production: Production, numbers: readonly number[]): Promise<void> {
  const counts = () => numbers.filter((_, nth) => production.countAnswers(numbers)[nth] !== 1);
  await expect.poll(counts, { timeout: 40_000, interval: 200 }).toEqual([]);
}

describe('an upgrade of a service', () => {
  it('[D18] switches to a good build while people write, and answers each message once', async () => {
    const production = await start();
    const { cli, context, printed } = production;
    const file = await builds.pack('good', { version: '0.2.0', replace: MIGRATION });
    const people = production.keepWriting();
    const code = await runUpgrade(cli, file, {}, context);
    expect([printed.slice(-1)[0], code]).toEqual([
      expect.stringMatching(/^Kept {7}Parley 0\.2\.0 runs/),
      0,
    ]);
    await expectAnswered(production, await people.stop());
    expect(production.runningRoot()).toContain('releases/0.2.0/parley');
    expect(readUpgradeState(cli.folder)).toBeNull();
    expect(
      readdirSync(cli.folder.path).filter((name) => /^(upgrading-|releases)/.test(name)),
    ).toEqual([]);
  });

  const due = FAILING_LATER.filter((_, nth) => isDueToday(nth, 3));
  it.each(due)(
    '[D18] returns by itself when a build fails only after the switch: $name',
    async ({ name, reason, ...change }) => {
      const production = await start();
      const { cli, context, printed } = production;
      const version = '0.3.0';
      const replace = [...MIGRATION, ...(change.replace ?? [])];
      const file = await builds.pack(name.replaceAll(' ', '-'), { ...change, version, replace });
      const people = production.keepWriting();
      // Few people write here, so a single missing message counts as silence.
      const expectedMessages = name === 'silence' ? 0.001 : context.watch.expectedMessages;
      const watch = { ...context.watch, expectedMessages };
      const code = await runUpgrade(cli, file, {}, { ...context, watch });
      const numbers = await people.stop();
      expect([printed.slice(-1)[0], code]).toEqual([
        expect.stringMatching(/^Returned {3}to Parley 0\.1\.0/),
        1,
      ]);
      expect(printed.at(-1)).toMatch(reason);
      await expectAnswered(production, numbers);
      expect(production.runningRoot()).toMatch(/node_modules\/parley$/);
      expect(hasNewerSchema(join(cli.folder.path, 'parley.db'))).toBe(false);
      expect(readUpgradeState(cli.folder)).toBeNull();
    },
  );
});

describe('an upgrade that is killed', () => {
  it('[D18] leaves a service that answers at every step, and continues with the next command', async () => {
    const production = await start();
    const { cli, context, printed } = production;
    const file = await builds.pack('killed', { version: '0.4.0', replace: MIGRATION });
    const people = production.keepWriting();
    const die = () => Promise.reject(new Error('killed'));

    // Before the service is restarted: the old release still runs.
    const beforeRestart = {
      ...context,
      time: {
        ...context.time,
        clock: createFailingClock(context.time.clock, () => readUpgradeState(cli.folder) !== null),
      },
    };
    await expect(runUpgrade(cli, file, {}, beforeRestart)).rejects.toThrow('killed');
    expect(readUpgradeState(cli.folder)?.step).toBe('switching');
    expect(production.runningRoot()).toMatch(/node_modules\/parley$/);

    // During the watch: the new release runs.
    const inWatch = { ...context, time: { ...context.time, wait: die } };
    await expect(runUpgrade(cli, undefined, {}, inWatch)).rejects.toThrow('killed');
    await expect.poll(production.runningRoot).toContain('releases/0.4.0');

    // While it returns: the old release converts the data by itself.
    const returning = {
      ...context,
      time: { ...context.time, wait: die },
      watch: { ...context.watch, errorLines: -1 },
    };
    await expect(runUpgrade(cli, undefined, {}, returning)).rejects.toThrow('killed');
    await expect.poll(() => readUpgradeState(cli.folder), { timeout: 30_000 }).toBeNull();
    await expect.poll(production.runningRoot).toMatch(/node_modules\/parley$/);
    await expectAnswered(production, await people.stop());
    expect(printed.filter((line) => line.includes('was interrupted'))).toHaveLength(2);
  });
});

/** A clock that fails like a process that is killed, once a condition holds. */
function createFailingClock(clock: () => number, isDead: () => boolean): () => number {
  return () => {
    if (isDead()) throw new Error('killed');
    return clock();
  };
}
