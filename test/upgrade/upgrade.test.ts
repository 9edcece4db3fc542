import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDueToday } from '@parley/core/testing';
import { openStore } from '@parley/store';
import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { runCommand } from '../e2e/parley-process.ts';
import { createWebClient } from '../e2e/web-client.ts';
import { CLEO, DORA } from './earlier-work.ts';
import { OWNER, SECOND_OWNER } from './later-work.ts';
import type { ServerAddresses } from './left-work.ts';
import { findNumbers } from './model-words.ts';
import {
  findChangedMeanings,
  readStoredSettings,
  resolveAllSettings,
} from './resolved-settings.ts';
import { CHATS, type ResumedWork, resumeWork } from './resumed-work.ts';

const [postgresUrl, redisUrl] = [inject('postgresUrl'), inject('redisUrl')];
const FIXTURES = join(import.meta.dirname, 'fixtures');
/** Questions in the backup that have no answer yet. */
const UNANSWERED = [
  'q10',
  'q11',
  'q12',
  'q13',
  'q14',
  'q16',
  'q17',
  'q20',
  'q25',
  'q26',
  'q28',
  'q32',
  'q33',
  'q42',
];

const DATABASES = [
  { name: 'SQLite', servers: null, isThere: true },
  {
    name: 'PostgreSQL',
    servers: { postgresUrl: postgresUrl ?? '', redisUrl: redisUrl ?? '' },
    isThere: postgresUrl !== null && redisUrl !== null,
  },
] as const;

for (const version of readdirSync(FIXTURES)) {
  const fixture = join(FIXTURES, version);

  describe(`the settings of ${version}`, () => {
    it('[D12] keep the meaning of each name and keyword, or list the setting that replaced it', () => {
      const now = resolveAllSettings(join(fixture, 'settings'));
      const before = readStoredSettings(join(fixture, 'settings'));
      expect(Object.keys(now)).toEqual(Object.keys(before));
      const changed = Object.entries(before).flatMap(([name, values]) =>
        findChangedMeanings(values, now[name] ?? {}).map((line) => `${name}: ${line}`),
      );
      expect(changed).toEqual([]);
    });
  });

  describe(`the backup of ${version}`, () => {
    it('[D06] is restored into an empty folder, where all unfinished work can be replayed', async () => {
      const folder = mkdtempSync(join(tmpdir(), 'parley-upgrade-'));
      onTestFinished(() => rmSync(folder, { recursive: true }));
      const data = ['--data', folder];
      const restored = await runCommand([...data, 'restore', join(fixture, 'backup.tar.gz')]);
      expect([restored.code, restored.err]).toEqual([0, '']);
      const dead = await runCommand([...data, 'dead', 'list', '--json']);
      const { letters } = Letters.parse(JSON.parse(dead.out));
      const inLetters = (kind: string) =>
        letters
          .filter((letter) => letter.kind === kind)
          .flatMap((letter) => findNumbers(JSON.stringify(letter)));
      expect(inLetters('unanswered').toSorted()).toEqual(UNANSWERED);
      expect(inLetters('uncertain').toSorted()).toEqual(['q23', 'q24', 'q27', 'q29', 'q9']);
      expect(inLetters('refused')).toEqual(['q8']);
      const memory = join(folder, 'workspace/memory/user.md');
      expect(readFileSync(memory, 'utf8')).toContain('I like green tea.');
      expect(readFileSync(join(folder, 'parley.yaml'), 'utf8')).toContain('./plugins/games');
    });
  });

  // A normal run tests only one of the two, because the stored data is the same and the store tests
  // cover both databases.
  for (const { name, servers, isThere } of DATABASES.filter((_, nth) => isDueToday(nth, 2))) {
    describe.runIf(isThere)(`the installation of ${version} on ${name}, killed mid-work`, () => {
      finishesWork(fixture, servers);
    });
  }
}

const Letters = z.object({ letters: z.array(z.looseObject({ kind: z.string() })) });

/** The tests of one installation: Parley starts once for all of them. */
function finishesWork(fixture: string, servers: ServerAddresses | null): void {
  let work: ResumedWork;
  beforeAll(async () => {
    work = await resumeWork(fixture, servers);
  });
  afterAll(() => work?.close());

  it('[D01] [D02] answers each waiting message once, in the order in which they were written', async () => {
    await expect.poll(() => work.answered(603)).toEqual(['q12', 'q13', 'q14', 'q15']);
    await expect.poll(() => work.answered(604)).toEqual(['q18']);
    await expect.poll(() => work.answered(609)).toEqual(['q25']);
    await expect.poll(() => work.answered(610)).toEqual(['q26']);
    await expect.poll(() => work.answeredIn('busy')).toEqual(['q16', 'q17']);
    const inWeb = async () => (await createWebClient(work.parley).history()).join('\n');
    await expect.poll(inWeb).toContain('This answers q28.');
    await expect.poll(() => work.asked('q42')).toBe(1);
  });

  it('[G16] resumes a running turn from its journal, and does not repeat the effects of its calls', async () => {
    await expect.poll(() => work.answered(601)).toEqual(['q10']);
    await expect.poll(() => work.answered(602)).toEqual(['q11']);
    expect(work.said(601).join()).toContain('It is not known whether it took effect');
    expect(work.said(602).join()).toContain('It rang for q11.');
    expect([
      work.asked('q10'),
      work.asked('q10 then'),
      work.asked('q11'),
      work.asked('q11 then'),
    ]).toEqual([0, 1, 0, 1]);
    expect(work.left.rings()).toEqual(['q10', 'q11']);
  });

  it('[G05] accepts the pending decision and choice, and resumes both turns', async () => {
    const file = join(work.left.data, 'workspace/notes/birds.md');
    work.write(SECOND_OWNER, `/approve ${work.left.made.approval}`);
    work.write(605, 'Blue');
    await expect.poll(() => work.answered(SECOND_OWNER)).toEqual(['q33']);
    await expect.poll(() => work.answered(605)).toEqual(['q20']);
    expect(readFileSync(file, 'utf8')).toContain('Parrots talk.');
    expect(work.said(605).join()).toContain('Blue');
    expect([work.asked('q33'), work.asked('q20')]).toEqual([0, 0]);
  });

  it('[G07] [H01] [H08] [H09] finishes the sub-agent, the heartbeat task, the event and the jobs, each once', async () => {
    await expect.poll(() => work.answered(606)).toEqual(['q22']);
    await expect.poll(() => work.answered(-7)).toEqual(['q32', 'q30']);
    const alert = '⚙️ The landlord asks for an answer today.';
    await expect.poll(() => work.said(OWNER).filter((text) => text === alert)).toHaveLength(1);
    await expect.poll(() => work.answered(OWNER)).toEqual(expect.arrayContaining(['q27', 'q41']));
    expect([work.asked('task q22'), work.asked('mail'), work.asked('q41')]).toEqual([1, 1, 1]);
    expect(work.said(OWNER).join()).not.toContain('dentist');
  });

  it('[D04] [D05] sends each pending part once, and does not repeat parts that may have arrived', async () => {
    await expect.poll(() => work.answered(607)).toEqual(['q23']);
    await expect.poll(() => work.answeredIn('sending')).toEqual(['q29']);
    const files = () =>
      ['sendPhoto', 'sendDocument'].flatMap((name) => work.world.telegram.calls(name));
    await expect.poll(files).toHaveLength(1);
    await expect.poll(() => work.said(608)).toHaveLength(1);
    expect(work.said(608)[0]).toMatch(/^⚙️/);
    // Both are from before the kill: one failed, and one may have arrived, as its chat was told.
    expect([work.said(503), work.said(504)]).toEqual([[], []]);
  });

  it('[P16] uses each part of the plugin: tool, skill, layer, hook, source and channel', async () => {
    writeFileSync(join(work.left.data, 'workspace/house-rules.md'), 'Be fair.');
    work.write(607, 'q51 tool ring_bell {"who":"q51"}');
    await expect.poll(() => work.answered(607)).toEqual(['q23', 'q51']);
    expect(work.left.rings()).toEqual(['q10', 'q11', 'q51']);
    for (const words of ['## Games', 'fair-play', 'The lucky number of today is', 'House rules'])
      expect(work.told('q51')).toContain(words);
    expect(await work.stateOf('board')).toBe('paused');
    await work.cli('channels', 'resume', 'board');
    await expect.poll(() => work.stateOf('board')).toBe('connected');
    expect(await work.pin('q52 hello')).toBe(202);
    await expect.poll(work.board).toContain('This answers q52.');
  });

  it('[D06] [D08] [F05] [U10] keeps permissions, failures with their reasons, and sessions', async () => {
    const { letters } = Letters.parse(JSON.parse(await work.cli('dead', 'list', '--json')));
    expect(letters.map(({ kind }) => kind).toSorted()).toEqual([
      'refused',
      'uncertain',
      'uncertain',
    ]);
    expect(await work.cli('why', work.left.made.answered)).toContain('double');
    expect(await work.cli('why', work.left.made.refused)).toContain('group');
    expect(await work.cli('pair')).toContain('User 999');
    expect(await work.cli('memory', 'list')).toContain('I like green tea.');
    for (const token of [work.left.made.viewer, work.left.made.session])
      expect((await work.ask('/api/status/report', {}, token)).status).toBe(200);
    work.write(502, 'q50 am I known?');
    await expect.poll(() => work.answered(502)).toEqual(['q50']);
  });

  it('[G04] [G11] [G12] [G14] [F06] [F13] keeps the history, notes, choices and linked accounts', async () => {
    work.write(OWNER, 'q53 where do I get green tea?');
    await expect.poll(() => work.answered(OWNER)).toContain('q53');
    const known = work.told('q53');
    for (const words of [
      'They talked.',
      'This answers q4.',
      '[~] Buy green tea',
      'I like green tea.',
    ])
      expect(known).toContain(words);
    work.write(-5, `@${work.world.telegram.me.username} q54 hello`, 502);
    await expect.poll(() => work.answered(-5)).toEqual(['q54']);
    expect(work.told('q54')).toContain('The weather is fine.');
    work.write(502, '/mode');
    await expect.poll(() => work.said(502).at(-1)).toMatch(/\bask\b/);
    expect(work.requestsFor('q33 then').map(({ model }) => model)).toEqual(['double-two']);
    work.write(OWNER, `/link ${work.left.linkCode}`);
    await expect.poll(() => work.said(OWNER).at(-1)).toContain('Linked');
    // The adapter tries to resume the earlier Discord session a few times, and strangers' messages
    // arrive only through a session.
    await expect.poll(() => work.stateOf('discord')).toBe('connected');
    // From now on it is one of the owner's accounts, in one conversation with the other account.
    work.writeOnDiscord(DORA, 'q55 hello');
    await expect.poll(() => work.asked('q55')).toBe(1);
    work.write(OWNER, 'q56 hello');
    await expect.poll(() => work.asked('q56')).toBe(1);
    expect(work.told('q56')).toContain('This answers q55.');
    work.writeOnDiscord(CLEO, '/link off');
    const onDiscord = () => work.world.discord.sends().map(({ content }) => content);
    await expect.poll(() => onDiscord().join()).toContain('is no longer linked');
  });

  it('[D06] [H08] [W06] [U07] continues with dead letters, jobs and proposals, and includes earlier spending', async () => {
    await work.cli('dead', 'replay', '--all');
    await expect.poll(() => work.answered(503)).toEqual(['q8']);
    await work.cli('soul', 'apply', '1');
    expect(readFileSync(join(work.left.data, 'workspace/SOUL.md'), 'utf8')).toContain('Whistle');
    expect(await work.cli('cron', 'list')).toMatch(
      /q31 .*; next [\s\S]*q32 .*; over; [\s\S]*q30 .*; over; /,
    );
    expect(await work.cli('heartbeat')).toMatch(
      /mail .*\n.*sent to you[\s\S]*calendar .*\n.*held until 23:59/,
    );
    expect(await work.cli('hooks')).toMatch(/^ci: job for .*, sent\n$/);
    expect(await (await work.ask('/api/usage/report?by=person')).text()).toContain('telegram:501');
  });

  it('[D01] leaves nothing unfinished and sends nothing twice', async () => {
    const store = await openStore({ url: work.left.storeUrl, clock: work.clock });
    onTestFinished(() => store.close());
    const counts = async () => {
      const { pending, sending } = await store.outbox.counts();
      return { pending, sending, waiting: await store.inbox.totalWaiting() };
    };
    await expect.poll(counts).toEqual({ pending: 0, sending: 0, waiting: 0 });
    const all = CHATS.flatMap((chat) => work.answered(chat));
    expect(all.toSorted()).toEqual([...new Set(all)].toSorted());
    expect(all).toHaveLength(23);
  });
}
